/* Which servers meet a set of needs, and where each is cheapest.
 *
 * Memory is matched against the usable memory (trk__catalog_usable_bytes), video memory against
 * that of each GPU. Price, spot saving and availability of an offer come from one region. */
#ifndef TRK_CATALOG_SEARCH_H
#define TRK_CATALOG_SEARCH_H

#include "catalog/catalog.h"

/* The needs that a server can miss; bits of a mask. */
enum trk_need {
	TRK_NEED_VCPUS = 1,
	TRK_NEED_MEMORY = 2,
	TRK_NEED_GPUS = 4,
	TRK_NEED_VRAM = 8,
	TRK_NEED_STORAGE = 16,
	TRK_NEED_ARCH = 32,
	TRK_NEED_ALLOCATION = 64,
};
/* "vCPUs", "memory" …; NULL if not exactly one need. */
const char *trk__catalog_need_name(unsigned int need);

struct trk_catalog_query {
	uint32_t vcpus;
	uint64_t memory_bytes;
	uint32_t gpus;
	uint64_t vram_bytes; /* of each GPU */
	uint64_t storage_gb;
	unsigned int archs;       /* bits 1 << enum trk_arch; 0: any but Apple's machines */
	unsigned int allocations; /* bits 1 << enum trk_allocation; 0: any */
	bool gpu_shares;          /* a share of one GPU counts as a GPU */
	bool spot;        /* price at the typical spot saving; offers without one drop out */
	bool near_misses; /* also servers that miss exactly one need */
	bool previous_generation;   /* also types with a successor */
	uint32_t today;             /* yyyymmdd, to mark old prices; 0: none is old */
	const uint8_t *vendors_ok;  /* one a vendor; NULL: all */
	const uint8_t *regions_ok;  /* one a region; NULL: all that are not restricted */
	const char *const *exclude; /* patterns (fnmatch) for vendors, regions, types */
	size_t excludes;
};

/* A price older than this many days may have changed: it is sorted after all newer ones. */
enum { TRK_PRICE_OLD_DAYS = 365 };

/* A server in its cheapest region, by a price that is not old if there is one. */
struct trk_catalog_offer {
	uint32_t units; /* 1e-5 USD an hour, at the spot saving if spot was requested */
	uint32_t price; /* index */
	uint16_t server, block;
	uint16_t unmet; /* enum trk_need: 0, or one bit with near_misses */
	bool old;       /* the price is older than TRK_PRICE_OLD_DAYS */
};

double trk__catalog_usd(uint32_t units);

/* All servers that fit: those with a price that is not old first, then the cheapest first (by name
 * where prices are equal). The caller frees *ret. Returns 0 or -ENOMEM. */
int trk__catalog_search(const struct trk_catalog *c, const struct trk_catalog_query *q,
			struct trk_catalog_offer **ret, size_t *retn);

/* The priced server that comes closest if none fits; ret->unmet is what it misses, *retbinding the
 * need with the largest shortfall. -ENOENT: no server is left in these places after exclusions. */
int trk__catalog_nearest(const struct trk_catalog *c, const struct trk_catalog_query *q,
			 struct trk_catalog_offer *ret, unsigned int *retbinding);

/* The price of one server in one region, never of another. 0 or -ENOENT. */
int trk__catalog_price_in(const struct trk_catalog *c, int server, int region,
			  struct trk_catalog_offer *ret);

/* Mark regions by id (of the vendors marked in vendors_ok, NULL: all) or by country ("EU": its
 * member states). Returns how many matched. */
int trk__catalog_mark_region(const struct trk_catalog *c, const uint8_t *vendors_ok, const char *id,
			     uint8_t *regions_ok);
int trk__catalog_mark_country(const struct trk_catalog *c, const char *country,
			      uint8_t *regions_ok);

#endif
