/* Build an image of the catalogue. */
#ifndef TRK_CATALOG_IMAGE_H
#define TRK_CATALOG_IMAGE_H

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "catalog/catalog.h"

#define TRK_CATALOG_MAGIC "RTKCAT2"

enum {
	TRK_CATALOG_VENDORS_MAX = 64,
	TRK_CATALOG_REGIONS_MAX = 1024,
	TRK_CATALOG_SOURCES_MAX = 256,
	TRK_CATALOG_SERVERS_MAX = 60000,
	TRK_CATALOG_BLOCKS_MAX = 60000,
	TRK_CATALOG_PRICES_MAX = 2000000,
	TRK_CATALOG_TEXTS_MAX = 16 << 20,
};

/* The end of a path, short enough for a message with line and column. */
static inline const char *trk__catalog_file_tail(const char *file)
{
	size_t len = strlen(file);

	return len > 90 ? file + len - 90 : file;
}

/* The line of a text file that is being read. */
struct trk_catalog_line {
	const char *file;
	struct trk_error *reterr; /* may be NULL */
	unsigned long line;
	const char *line_start;
};

/* -EBADMSG, with "file:line:column: " of this place and the message in *reterr. */
int trk__catalog_mistake(const struct trk_catalog_line *in, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Tables that grow. `hash` finds a server by vendor and name. */
struct trk_catalog_builder {
	struct trk_buf vendors, regions, sources, servers, blocks, prices, texts;
	uint32_t *hash; /* server index + 1; 0: free */
	size_t hash_size;
	uint32_t date;
	uint32_t *seen;   /* per server: the block + 1 that last priced it, to detect duplicates */
	uint32_t *priced; /* per server: its price + 1 in the region of the spot block being read */
};

void trk__catalog_builder_init(struct trk_catalog_builder *b);
/* Start from a copy of `base`. 0 or a negative errno. */
int trk__catalog_builder_copy(struct trk_catalog_builder *b, const struct trk_catalog *base);
void trk__catalog_builder_release(struct trk_catalog_builder *b);

/* Offset of a copy of text[0..len) in the pool. */
uint32_t trk__catalog_builder_text(struct trk_catalog_builder *b, const char *text, size_t len);
/* Index of the server, added when it is new. Negative errno when the tables are full. */
int trk__catalog_builder_server(struct trk_catalog_builder *b, uint8_t vendor, const char *name,
				size_t len, bool add);
/* Mark the prices of this server in this region from earlier blocks as replaced. */
void trk__catalog_builder_supersede(struct trk_catalog_builder *b, uint16_t region, uint16_t server,
				    size_t before_block);

/* Fill b->priced in for a region. 0 or -ENOMEM. */
int trk__catalog_builder_find_prices(struct trk_catalog_builder *b, uint16_t region);

/* Build the image in one block of memory. 0 or a negative errno; the caller releases *ret. */
int trk__catalog_builder_finish(struct trk_catalog_builder *b, struct trk_catalog *ret);

#endif
