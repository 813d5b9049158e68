/* The catalogue of servers and prices: an image that is read in place.
 *
 * The program carries one image, made at build time from data/ (docs/catalog.md names where its
 * facts come from). A catalogue file from outside is text of the same format as data/ and is
 * turned into an image by catalog/text.h. An image is one block of memory: tables of fixed-size
 * records and a pool of texts that the records point into. */
#ifndef TRK_CATALOG_CATALOG_H
#define TRK_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRK_CATALOG_FORMAT = 1 };

enum trk_arch {
	TRK_ARCH_X86_64,
	TRK_ARCH_ARM64,
	TRK_ARCH_X86_64_MAC,
	TRK_ARCH_ARM64_MAC,
	TRK_ARCH_I386,
	TRK_ARCHES
};

enum trk_allocation {
	TRK_ALLOCATION_DEDICATED,
	TRK_ALLOCATION_SHARED,
	TRK_ALLOCATION_BURSTABLE,
	TRK_ALLOCATIONS
};

/* The quality of a fact. */
enum trk_fact {
	TRK_FACT_EXACT,
	TRK_FACT_EST,        /* estimated: a region's ratio, or a monthly price by its hours */
	TRK_FACT_CORRECTED,  /* the published figure was another product's and was replaced */
	TRK_FACT_LOW,        /* below 0.6 of the type's median over the regions */
	TRK_FACT_RULE,       /* from the vendor's naming of types */
	TRK_FACT_FAMILY,     /* the family's median per vCPU */
	TRK_FACT_NEGOTIATED, /* a site's own price */
	TRK_FACTS
};

enum {
	TRK_SERVER_METAL = 1,
	TRK_SERVER_MAC = 2,
	TRK_SERVER_ACCEL = 4, /* an accelerator other than a GPU */
	TRK_SERVER_FPGA = 8,
	TRK_SERVER_PREVIOUS = 16, /* of a previous generation: the vendor offers a successor */
};

/* Texts are offsets into the pool; offset 0 is the empty text. Dates are yyyymmdd. */
struct trk_catalog_vendor {
	uint32_t id, aliases, name, note;
	uint32_t step_s;    /* billed time is a multiple of this … */
	uint32_t minimum_s; /* … and at least this */
};

struct trk_catalog_region {
	uint32_t id, aliases, place;
	char country[4]; /* ISO 3166, or "EU", or "" where one price is for many countries */
	uint8_t vendor, restricted, reserved[2];
};

struct trk_catalog_source {
	uint32_t id, licence, title, date;
};

struct trk_catalog_server {
	uint32_t name;
	uint32_t gpu_model;   /* empty: not known */
	uint32_t memory_mib;  /* as advertised */
	uint32_t usable_mib;  /* as measured inside; 0: not measured */
	uint32_t vram_mib;    /* of each GPU, or of the share of one; 0: not known */
	uint32_t storage_gb;  /* local; 0: none or not known */
	uint32_t coremark;    /* iterations/s of all threads; 0: not known */
	uint32_t one_thread;  /* stress-ng div16 score of one thread; 0: not known */
	uint32_t all_threads; /* of all threads */
	uint16_t vcpus;
	uint16_t gpu_permille; /* 1000: whole GPUs; less: a share of one */
	uint16_t source;       /* of vCPUs and memory */
	uint8_t gpu_count, vendor, arch, allocation, threads_per_core, flags;
	uint8_t quality;                            /* of vCPUs and memory */
	uint8_t coremark_quality, stressng_quality; /* enum trk_fact */
};

/* Prices of one vendor in one region from one source. */
struct trk_catalog_block {
	uint32_t first, count; /* into the prices */
	uint32_t date;
	uint16_t region, source;
	uint16_t spot_source; /* UINT16_MAX: no spot figures */
	uint8_t quality, vendor;
};

enum { TRK_SAVING_UNKNOWN = 255, TRK_CLASS_UNKNOWN = 255 };

/* A price while an image is built. */
struct trk_catalog_price {
	uint32_t price;  /* 1e-5 USD an hour; 0: replaced by another price */
	uint16_t server; /* index */
	uint8_t saving;  /* typical spot saving in percent */
	uint8_t klass;   /* chance of interruption a month: 0 <5 %, 1 <10, 2 <15, 3 <20, 4 more */
};

/* The prices of an image: one array per field, because adjacent similar bytes compress best. This
 * makes the package 0.15 MB smaller. */
struct trk_catalog_prices {
	const uint32_t *price;
	const uint16_t *server;
	const uint8_t *saving, *klass;
};

struct trk_catalog_table {
	uint32_t offset, count;
};

struct trk_catalog_image {
	char magic[8]; /* "RTKCAT2" */
	uint32_t size, date;
	struct trk_catalog_table vendors, regions, sources, servers, blocks, prices, texts;
};

/* A view of an image. */
struct trk_catalog {
	const struct trk_catalog_image *image;
	void *owned; /* the image, where it lies on the heap; else NULL */
};

/* The catalogue inside the program; its pages are loaded on access. */
void trk__catalog_embedded(struct trk_catalog *ret);
void trk__catalog_release(struct trk_catalog *c);

/* retn: their number; may be NULL. */
const struct trk_catalog_vendor *trk__catalog_vendors(const struct trk_catalog *c, size_t *retn);
const struct trk_catalog_region *trk__catalog_regions(const struct trk_catalog *c, size_t *retn);
const struct trk_catalog_source *trk__catalog_sources(const struct trk_catalog *c, size_t *retn);
const struct trk_catalog_server *trk__catalog_servers(const struct trk_catalog *c, size_t *retn);
const struct trk_catalog_block *trk__catalog_blocks(const struct trk_catalog *c, size_t *retn);
struct trk_catalog_prices trk__catalog_prices(const struct trk_catalog *c, size_t *retn);
/* A text of the pool; never NULL. */
const char *trk__catalog_text(const struct trk_catalog *c, uint32_t offset);

/* The id of a vendor or region, or the name of a server, by its index. */
const char *trk__catalog_vendor_id(const struct trk_catalog *c, size_t vendor);
const char *trk__catalog_region_id(const struct trk_catalog *c, size_t region);
const char *trk__catalog_server_name(const struct trk_catalog *c, size_t server);
/* 20260731 as "2026-07-31"; "" for 0. Returns `text`. */
const char *trk__catalog_date(uint32_t date, char text[16]);

/* Days from `date` to `today`, both yyyymmdd; negative if either is 0 or `date` is later. */
long trk__catalog_age_days(uint32_t date, uint32_t today);
/* "12 days", "4 months", "3.3 years"; "" for a negative number. Returns `text`. */
const char *trk__catalog_age(long days, char text[16]);
/* Today as yyyymmdd, in UTC. */
uint32_t trk__catalog_today(void);

/* Index of a vendor by id or alias, of a region of that vendor by id or alias (a zone of a region
 * such as "us-east-1a" or "fsn1-dc14" counts as the region), of a server by name; ignoring case.
 * -ENOENT when unknown. */
int trk__catalog_find_vendor(const struct trk_catalog *c, const char *id);
int trk__catalog_find_region(const struct trk_catalog *c, int vendor, const char *id);
int trk__catalog_find_server(const struct trk_catalog *c, int vendor, const char *name);

/* Usable memory: the measured figure, else 0.93 of the advertised one less 128 MiB. */
uint64_t trk__catalog_usable_bytes(const struct trk_catalog_server *s);

/* The speed of a server by one of two measures: CoreMark iterations/s, or stress-ng scores scaled
 * to them. The ratio of the two differs between processors: compare speeds by the same measure. */
enum trk_speed_basis { TRK_SPEED_STRESSNG, TRK_SPEED_COREMARK, TRK_SPEED_BASES };

struct trk_catalog_speed {
	double one, all;   /* of one thread, of all */
	const char *basis; /* "stress-ng" or "CoreMark", with " of the family" for an estimate */
};
/* False, *ret untouched: no such score is known. */
bool trk__catalog_speed_by(const struct trk_catalog_server *s, enum trk_speed_basis basis,
			   struct trk_catalog_speed *ret);
/* By stress-ng if known, else by CoreMark. */
bool trk__catalog_speed_of(const struct trk_catalog_server *s, struct trk_catalog_speed *ret);

extern const char *const trk__catalog_arch_names[TRK_ARCHES];
extern const char *const trk__catalog_allocation_names[TRK_ALLOCATIONS];
extern const char *const trk__catalog_quality_names[TRK_FACTS];

#endif
