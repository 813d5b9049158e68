/* Options of `servers` and `recommend` that select servers. The names of the needs are those of
 * `run --request`: cpu, mem, gpu; both accept vcpus, memory and gpus as well. */
#ifndef TRK_CLI_SERVER_OPTIONS_H
#define TRK_CLI_SERVER_OPTIONS_H

#include "catalog/needs.h"
#include "cli/cli.h"
#include "model/place.h"
#include "service/prices.h"

enum { CLI_LIST_MAX = 4096 };

/* Names with commas between them. */
struct cli_list {
	char text[CLI_LIST_MAX];
	size_t len;
};

/* As typed; NULL, "" and false: not given. */
struct cli_server_wishes {
	const char *cpu, *mem, *gpu, *vram, *storage, *arch, *allocation;
	struct cli_list vendors, regions, countries, exclude;
	bool gpu_shares, spot, previous_generation;
};

/* A value, or several with commas between them; the option may be repeated. */
int cli_set_list(void *settings, const struct cli_option *o, const char *value);

/* Where the job runs, and where to search for servers. */
struct cli_server_place {
	struct trk_cloud instance; /* vendor "": not stated */
	struct cli_list vendors, regions;
};

/* A value of --instance, for the struct trk_cloud at the option's offset. */
int cli_set_instance_option(void *settings, const struct cli_option *o, const char *value);
#define CLI_INSTANCE_OPTION(offset)                                                                \
	{                                                                                          \
		"instance", 0, "VENDOR/REGION/TYPE", "server that the run ran on",                 \
			cli_set_instance_option, offset                                            \
	}

/* Rows of a table of options; at(field): the offset of a field of the wishes in the settings. */
/* clang-format off */
#define CLI_SERVER_OPTIONS(at) \
	{"cpu", 0, "N", "at least this many vCPUs", cli_set_text, at(cpu)}, \
	{"mem", 0, "SIZE", "at least this much memory for the job", cli_set_text, at(mem)}, \
	{"gpu", 0, "N", "at least this many GPUs", cli_set_text, at(gpu)}, \
	{"vram", 0, "SIZE", "memory of each GPU", cli_set_text, at(vram)}, \
	{"vcpus", 0, "N", NULL, cli_set_text, at(cpu)}, \
	{"cpus", 0, "N", NULL, cli_set_text, at(cpu)}, \
	{"memory", 0, "SIZE", NULL, cli_set_text, at(mem)}, \
	{"gpus", 0, "N", NULL, cli_set_text, at(gpu)}, \
	{"gpu-shares", 0, NULL, "a share of one GPU is enough", cli_set_flag, at(gpu_shares)}, \
	{"storage", 0, "GB", "at least this much local disk", cli_set_text, at(storage)}, \
	{"vendor", 0, "NAME,..", "only these vendors; any: all vendors", cli_set_list, at(vendors)}, \
	{"region", 0, "NAME,..", "only these regions; any: all regions", cli_set_list, at(regions)}, \
	{"country", 0, "CC,..", "only in these countries (DE, US, EU)", cli_set_list, at(countries)}, \
	{"exclude", 0, "PATTERN,..", "no vendor, region or type that matches this pattern", cli_set_list, at(exclude)}, \
	{"spot", 0, NULL, "price at the typical spot saving", cli_set_flag, at(spot)}, \
	{"previous-generation", 0, NULL, "also types of previous generations", cli_set_flag, at(previous_generation)}
/* clang-format on */

/* Rows of a table of options for the struct trk_named_prices at this offset of the settings. */
/* clang-format off */
#define CLI_PRICE_OPTIONS(at) \
	{"catalog", 0, "FILE", "this catalogue instead of the built-in one", cli_set_text, \
	 (at) + offsetof(struct trk_named_prices, catalog)}, \
	{"scores", 0, "FILE|none", "file with scores and further types", cli_set_text, \
	 (at) + offsetof(struct trk_named_prices, scores)}, \
	{"prices", 0, "FILE|none", "file with prices (that of catalog update --from)", cli_set_text, \
	 (at) + offsetof(struct trk_named_prices, prices)}
/* clang-format on */

/* Load the prices for a verb; the caller releases. 0, or an exit status after a complaint. */
int cli_prices_load(const char *verb, const struct trk_price_layers *layers,
		    struct trk_prices *ret);

/* Convert the options to needs as text (which point into `wishes`), and to the numbers and flags of
 * a query. 0, or EXIT_USAGE after a complaint in the name of the verb. */
int cli_server_wishes_read(const char *verb, const struct cli_server_wishes *wishes,
			   struct trk_need_words *retwords, struct trk_catalog_query *retquery);

/* "acme: --storage x: hint"; EXIT_USAGE. */
int cli_wrong_value(const char *verb, const char *option, const char *value, const char *hint);
/* Parse a whole number up to `max`; *ret is unchanged if text is NULL. */
int cli_parse_count(const char *verb, const char *option, const char *text, uint64_t max,
		    uint64_t *ret);

#endif
