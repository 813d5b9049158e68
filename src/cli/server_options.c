#include "cli/server_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

enum { LIST_MAX = 4096 };

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
	char **list = (char **) (void *) ((char *) settings + o->offset), *text = NULL;
	size_t len = *list ? strlen(*list) : 0, room = len + strlen(value) + 2;

	if (room <= LIST_MAX)
		text = realloc(*list, room);
	if (!text)
		return cli_reject(EXIT_USAGE, "--%s: too many names", o->name);
	(void) snprintf(text + len, room - len, "%s%s", len ? "," : "", value);
	*list = text;
	return 0;
}

int cli_set_instance_option(void *settings, const struct cli_option *o, const char *value)
{
	struct trk_cloud *cloud = (struct trk_cloud *) (void *) ((char *) settings + o->offset);

	if (trk__cloud_state(value, cloud) == 0)
		return 0;
	return cli_wrong(o, value,
			 "not of the form VENDOR/REGION/TYPE, such as aws/us-east-1/m5.large");
}

/* Round up as --request does: "1.5" needs two. */
int cli_set_whole(void *settings, const struct cli_option *o, const char *value)
{
	uint64_t most = strstr(o->name, "gpu") ? 1000 : 100000, millionths;
	uint32_t whole;
	const char *at = value;

	if (*at < '0' || *at > '9' || !trk__scan_fixed(&at, 6, &millionths) || *at ||
	    millionths > most * 1000000)
		return cli_wrong(o, value, "not a number in range. Try: --help");
	whole = (uint32_t) ((millionths + 999999) / 1000000);
	memcpy((char *) settings + o->offset, &whole, sizeof(whole));
	return 0;
}

int cli_set_memory(void *settings, const struct cli_option *o, const char *value)
{
	uint64_t bytes;

	if (trk__parse_size(value, &bytes) == 0 && bytes && bytes < 1 << 20)
		return cli_wrong(o, value, "these are bytes, less than a MiB. Try: 16GiB or 512M");
	return cli_set_size(settings, o, value);
}
