/* `catalog update`: fetch, judge, and put into the cache. */
#ifndef TRK_CLI_CATALOG_UPDATE_H
#define TRK_CLI_CATALOG_UPDATE_H

#include "cli/catalog_files.h"

struct cli_catalog_wanted {
	const char *from;    /* "keeper" (and NULL), or the id of a feed of catalog/feed.h */
	const char *url;     /* of the Keeper; NULL: its own */
	const char *regions; /* "aws/us-east-1,gcp/us-central1"; NULL: none is named */
	const char *eur_usd; /* USD for a euro; NULL: the European Central Bank is asked */
	bool force;
	bool json; /* what was done, as JSON */
};

/* An exit status, after having complained. */
int cli_catalog_update(const struct cli_catalog_choice *choice,
		       const struct cli_catalog_wanted *wanted);

#endif
