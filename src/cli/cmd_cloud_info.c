/* resource-tracker cloud-info: the cloud that this machine belongs to. */
#include <math.h>

#include "cli/environment.h"
#include "cli/server_options.h"
#include "report/place_json.h"
#include "service/place.h"

enum { OUTPUT_MAX = 65536 };

struct settings {
	bool json, no_discovery;
	const char *dir;
	struct trk_cloud stated;
};

static const struct cli_option options[] = {
	{"json", 0, NULL, "print one JSON document", cli_set_flag, AT(json)},
	{"no-discovery", 0, NULL, "send no request", cli_set_flag, AT(no_discovery)},
	{"instance", 0, "VENDOR/REGION/TYPE", "the type of this server", cli_set_instance_option,
	 AT(stated)},
	{"recording", 0, "DIR", "directory of the recordings, and of the cached answer",
	 cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static void line(struct trk_buf *b, const char *name, const char *text)
{
	if (*text)
		trk__buf_printf(b, "%-16s%s\n", name, text);
}

static void write_text(struct trk_buf *b, const struct trk_cloud *c)
{
	line(b, "vendor", c->vendor[0] ? c->vendor : "not known");
	line(b, "region", c->region);
	line(b, "zone", c->zone);
	line(b, "instance type", c->instance_type);
	line(b, "inferred", c->inferred);
	line(b, "allocation", c->allocation);
	line(b, "known from", c->source);
	if (!isnan(c->discovery_time))
		trk__buf_printf(b, "%-16s%.3f s\n", "asked for", c->discovery_time);
	line(b, "note", c->reason);
}

static int discover(const struct settings *s, struct trk_place *place)
{
	const struct trk_service service = cli_service("");
	struct sockaddr_in endpoint;
	const char *state = cli_state_dir(s->dir);
	const struct trk_discovery_options how = {
		.ask = !s->no_discovery,
		.stated = &s->stated,
		.endpoint = cli_cloud_endpoint(&endpoint),
		.dir = *state ? state : NULL,
	};
	int r = trk__place_cloud(&service, &how, place);

	if (r < 0)
		cli_complain("cloud-info: /proc: %s", trk__strerror(r));
	return r < 0 ? EXIT_ERROR : 0;
}

static int run(int argc, char **argv)
{
	struct settings s = {.json = false};
	struct trk_place place;
	TRK_BUF_LOCAL(b, OUTPUT_MAX);
	int r;

	trk__cloud_clear(&s.stated);
	(void) cli_options(&cli_cloud_info, argc, argv, &s);
	r = discover(&s, &place);
	if (r != 0)
		return r;
	if (s.json)
		trk__cloud_document(&b, &place);
	else
		write_text(&b, &place.cloud);
	return cli_print(&b);
}

const struct cli_command cli_cloud_info = {
	.name = "cloud-info",
	.usage = "cloud-info [--json]",
	.summary = "Print the cloud of this machine: vendor, region, instance type.",
	.details = "The firmware shows whether this is a cloud machine. If so, the metadata "
		   "services of the clouds\nthat are possible are queried, for at most 1 s. The "
		   "answer is cached until the next boot.",
	.options = options,
	.run = run,
};
