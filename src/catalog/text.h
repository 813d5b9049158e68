/* The text format of the catalogue: of data/, of fetched prices and of a site's own prices.
 *
 * Lines of cells separated by tabs. A line that starts with a word opens a block or states a fact,
 * a line that starts with a tab is a row of the block above it, "-" or a missing last cell is "not
 * known", "#" starts a comment. The first fact is "catalogue FORMAT DATE", the last line is "end",
 * so that a truncated file is detected. docs/catalog.md lists the blocks and their columns. */
#ifndef TRK_CATALOG_TEXT_H
#define TRK_CATALOG_TEXT_H

#include "base/buf.h"
#include "base/error.h"
#include "catalog/catalog.h"
#include "catalog/image.h"

/* Add the facts of one file. An existing server gets the new facts; a price replaces those that the
 * builder was copied with. `file` is for messages, which name file, line and column. Returns 0,
 * -EBADMSG for a mistake, TRK_ERR_VERSION for a newer format, or -ENOMEM, -EFBIG; after a failure
 * call only _release on the builder. */
int trk__catalog_text_add(struct trk_catalog_builder *b, const char *file, const char *text,
			  size_t len, struct trk_error *reterr);

/* Make a catalogue from a text (base NULL), or from a text added to `base`, which may be released
 * afterwards. The caller releases *ret. */
int trk__catalog_text_load(const struct trk_catalog *base, const char *file, const char *text,
			   size_t len, struct trk_catalog *ret, struct trk_error *reterr);
/* The same from a file below dirfd, of at most 64 MiB. */
int trk__catalog_text_read(const struct trk_catalog *base, int dirfd, const char *path,
			   struct trk_catalog *ret, struct trk_error *reterr);
/* The same from an open file; path: its name, for messages. */
int trk__catalog_text_read_fd(const struct trk_catalog *base, int fd, const char *path,
			      struct trk_catalog *ret, struct trk_error *reterr);

#endif
