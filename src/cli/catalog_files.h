/* Which catalogue a verb works on: the one in the program or a file, with the scores that lie beside
 * the program and the site's own prices on top. */
#ifndef TRK_CLI_CATALOG_FILES_H
#define TRK_CLI_CATALOG_FILES_H

#include "base/buf.h"
#include "catalog/catalog.h"

struct cli_catalog_choice {
	const char *catalog; /* --catalog: a file instead of the embedded one */
	const char *scores;  /* --scores: FILE or "none"; NULL: the file that is installed */
	const char *prices;  /* --prices: FILE or "none"; NULL: what `catalog import` keeps */
	const char *update;  /* FILE or "none"; NULL: what `catalog update` keeps, of all sources */
	bool quiet;          /* do not complain */
};

/* What was loaded, for messages. */
struct cli_catalog {
	struct trk_catalog c;
	char scores_path[4096], update_path[4096], prices_path[4096]; /* "" where there is none */
	unsigned int feeds; /* bits 1 << index in trk__feeds: what was fetched of them is there */
};

/* Where `catalog import` keeps a site's prices. */
const char *cli_catalog_prices_path(char *text, size_t size);
/* And where `catalog update` keeps what it fetched: from the Keeper, from a feed. */
const char *cli_catalog_update_path(char *text, size_t size);
const char *cli_catalog_feed_path(const char *id, char *text, size_t size);
/* A new file in the place of the old one at once, so that a reader sees one or the other; its folders are
 * made. 0, or an exit status after having complained. */
int cli_catalog_replace(char *path, const struct trk_buf *b);

/* 0, or an exit status after having complained. The caller releases ret->c. */
int cli_catalog_load(const struct cli_catalog_choice *choice, struct cli_catalog *ret);

/* What `catalog update` and `catalog import` did. */
struct cli_catalog_change {
	const char *from, *path;
	size_t prices, savings, new_types, left_out;
	double eur_usd; /* NaN: it was not needed */
};

/* A line on stderr, or one JSON document on stdout. An exit status. */
int cli_catalog_tell(const struct cli_catalog_change *x, bool json);

#endif
