#include "cli/server_options.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"

int cli_prices_load(const char *verb, const struct trk_price_layers *layers, struct trk_prices *ret)
{
	struct trk_error error = {.code = 0};
	int r = trk__prices_load(layers, ret, &error);

	if (r < 0)
		return cli_fail(verb, r, &error);
	if (ret->ignored.code)
		cli_complain("%s", ret->ignored.message);
	return 0;
}

int cli_set_list(void *settings, const struct cli_option *o, const char *value)
{
	struct cli_list *list = (struct cli_list *) (void *) ((char *) settings + o->offset);

	if (strlen(value) + 2 > CLI_LIST_MAX - list->len)
		return cli_reject(EXIT_USAGE, "--%s: too many names", o->name);
	list->len += (size_t) snprintf(list->text + list->len, CLI_LIST_MAX - list->len, "%s%s",
				       list->len ? "," : "", value);
	return 0;
}

int cli_set_instance_option(void *settings, const struct cli_option *o, const char *value)
{
	struct trk_cloud *cloud = (struct trk_cloud *) (void *) ((char *) settings + o->offset);

	if (trk__cloud_state(value, cloud) == 0)
		return 0;
	return cli_reject(EXIT_USAGE,
			  "--instance %s: not of the form VENDOR/REGION/TYPE, such as "
			  "aws/us-east-1/m5.large",
			  value);
}

int cli_wrong_value(const char *verb, const char *option, const char *value, const char *hint)
{
	return cli_reject(EXIT_USAGE, "%s: --%s %s: %s", verb, option, value, hint);
}

int cli_parse_count(const char *verb, const char *option, const char *text, uint64_t max,
		    uint64_t *ret)
{
	if (!text)
		return 0;
	if (trk__parse_u64(text, ret) < 0 || *ret > max)
		return cli_wrong_value(verb, option, text, "not a number in range. Try: --help");
	return 0;
}

/* Round cores up as --request does: "1.5" needs two. */
static int parse_whole(const char *verb, const char *option, const char *text, uint32_t most,
		       uint32_t *ret)
{
	const char *at = text;
	uint64_t millionths;

	if (!text)
		return 0;
	if (*at < '0' || *at > '9' || !trk__scan_fixed(&at, 6, &millionths) || *at ||
	    millionths > (uint64_t) most * 1000000)
		return cli_wrong_value(verb, option, text, "not a number in range. Try: --help");
	*ret = (uint32_t) ((millionths + 999999) / 1000000);
	return 0;
}

static int parse_size(const char *verb, const char *option, const char *text, uint64_t *ret)
{
	if (text && trk__parse_size(text, ret) < 0)
		return cli_wrong_value(verb, option, text, "not a size. Try: 16GiB or 512M");
	if (text && *ret && *ret < 1 << 20)
		return cli_wrong_value(verb, option, text,
				       "these are bytes, less than a MiB. Try: 16GiB or 512M");
	return 0;
}

int cli_server_wishes_read(const char *verb, const struct cli_server_wishes *wishes,
			   struct trk_need_words *retwords, struct trk_catalog_query *retquery)
{
	struct trk_catalog_query q = {
		.gpu_shares = wishes->gpu_shares,
		.spot = wishes->spot,
		.previous_generation = wishes->previous_generation,
	};
	int r = parse_whole(verb, "cpu", wishes->cpu, 100000, &q.vcpus);

	r = r ? r : parse_whole(verb, "gpu", wishes->gpu, 1000, &q.gpus);
	r = r ? r : cli_parse_count(verb, "storage", wishes->storage, 1000000000, &q.storage_gb);
	r = r ? r : parse_size(verb, "mem", wishes->mem, &q.memory_bytes);
	r = r ? r : parse_size(verb, "vram", wishes->vram, &q.vram_bytes);
	if (r != 0)
		return r;
	if (q.vram_bytes && !q.gpus)
		q.gpus = 1;
	*retquery = q;
	*retwords = (struct trk_need_words){
		.arch = wishes->arch,
		.allocation = wishes->allocation,
		.vendors = wishes->vendors.text,
		.regions = wishes->regions.text,
		.countries = wishes->countries.text,
		.exclude = wishes->exclude.text,
	};
	return 0;
}
