/* Requirements on a server as the user types them: an architecture, names of vendors, regions and
 * countries, patterns to exclude. */
#ifndef TRK_CATALOG_NEEDS_H
#define TRK_CATALOG_NEEDS_H

#include "base/error.h"
#include "catalog/image.h"
#include "catalog/search.h"

/* Lists are separated by commas. NULL and an empty list require nothing, "any" allows
 * everything. */
struct trk_need_words {
	const char *arch; /* "x86_64", "amd64", "arm64", "aarch64", "any"; NULL: this machine's */
	const char *allocation; /* "dedicated", "shared", "burstable" */
	const char *vendors, *regions;
	const char *countries; /* ISO 3166, or "EU" for its member states */
	const char *exclude;   /* patterns (fnmatch) for vendors, regions and types */
};

enum { TRK_NEEDS_LIST_MAX = 64, TRK_NEEDS_WORDS_MAX = 2048 };

/* A query and the arrays that it points to; do not copy it. */
struct trk_needs {
	struct trk_catalog_query query;
	uint8_t vendors[TRK_CATALOG_VENDORS_MAX], regions[TRK_CATALOG_REGIONS_MAX];
	const char *exclude[TRK_NEEDS_LIST_MAX];
	char words[TRK_NEEDS_WORDS_MAX];
};

/* Fill in the requirements; the numbers of the query stay as the caller set them. 0; -ENOENT for a
 * name that is not in the catalogue, -EINVAL for an unknown word, -E2BIG for a list that is too
 * long; with a sentence in *reterr, which suggests names. */
int trk__needs_read(struct trk_needs *needs, const struct trk_catalog *c,
		    const struct trk_need_words *words, struct trk_error *reterr);

/* The bits 1 << enum trk_arch for such a word, 0 for "any", or -EINVAL. */
int trk__needs_arch(const char *word);

#endif
