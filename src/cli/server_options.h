/* Options of `catalog search` and `recommend` that select servers. The names of the needs are those of
 * `run --request`: cpu, mem, gpu; both accept vcpus, memory and gpus as well. */
#ifndef TRK_CLI_SERVER_OPTIONS_H
#define TRK_CLI_SERVER_OPTIONS_H

#include "cli/cli.h"
#include "service/prices.h"

/* Setters. A value, or several with commas between them; the option may be repeated. Settings with
 * lists are static: the list is on the heap until the program ends. */
int cli_set_list(void *settings, const struct cli_option *o, const char *value);
int cli_set_whole(void *settings, const struct cli_option *o, const char *value);  /* uint32_t */
int cli_set_memory(void *settings, const struct cli_option *o, const char *value); /* uint64_t */

/* A value of --instance, for the struct trk_cloud at the option's offset. */
int cli_set_instance_option(void *settings, const struct cli_option *o, const char *value);
#define CLI_INSTANCE_OPTION(offset)                                                                \
	{                                                                                          \
		"instance", 0, "VENDOR/REGION/TYPE", "server that the run ran on",                 \
			cli_set_instance_option, offset                                            \
	}

/* Rows of a table of options; words(field), query(field): the offsets of a field of struct
 * trk_need_words and struct trk_catalog_query in the settings. */
/* clang-format off */
#define CLI_SERVER_OPTIONS(words, query) \
	{"cpu", 0, "N", "at least this many vCPUs", cli_set_whole, query(vcpus)}, \
	{"mem", 0, "SIZE", "at least this much memory for the job", cli_set_memory, query(memory_bytes)}, \
	{"gpu", 0, "N", "at least this many GPUs", cli_set_whole, query(gpus)}, \
	{"vram", 0, "SIZE", "memory of each GPU", cli_set_memory, query(vram_bytes)}, \
	{"vcpus", 0, "N", NULL, cli_set_whole, query(vcpus)}, \
	{"cpus", 0, "N", NULL, cli_set_whole, query(vcpus)}, \
	{"memory", 0, "SIZE", NULL, cli_set_memory, query(memory_bytes)}, \
	{"gpus", 0, "N", NULL, cli_set_whole, query(gpus)}, \
	{"vendor", 0, "NAME,..", "only these vendors; any: all vendors", cli_set_list, words(vendors)}, \
	{"region", 0, "NAME,..", "only these regions; any: all regions", cli_set_list, words(regions)}, \
	{"country", 0, "CC,..", "only in these countries (DE, US, EU)", cli_set_list, words(countries)}, \
	{"exclude", 0, "PATTERN,..", "no vendor, region or type that matches this pattern", cli_set_list, words(exclude)}, \
	{"spot", 0, NULL, "price at the typical spot saving", cli_set_flag, query(spot)}
/* Those that only `help all` shows. */
#define CLI_SERVER_MORE_OPTIONS(query) \
	{"gpu-shares", 0, NULL, "a share of one GPU is enough", cli_set_flag, query(gpu_shares)}, \
	{"storage", 0, "GB", "at least this much local disk", cli_set_count, query(storage_gb)}, \
	{"previous-generation", 0, NULL, "also types of previous generations", cli_set_flag, query(previous_generation)}
/* clang-format on */

/* Rows of a table of options for the struct trk_named_prices at this offset of the settings. */
/* clang-format off */
#define CLI_PRICE_OPTIONS(at) \
	{"scores", 0, "FILE|none", "file with scores and further types", cli_set_text, \
	 (at) + offsetof(struct trk_named_prices, scores)}, \
	{"prices", 0, "FILE|none", "file with prices (that of catalog update --from)", cli_set_text, \
	 (at) + offsetof(struct trk_named_prices, prices)}
/* clang-format on */

/* Load the prices for a verb; the caller releases. 0, or an exit status after a complaint. */
int cli_prices_load(const char *verb, const struct trk_price_layers *layers,
		    struct trk_prices *ret);

#endif
