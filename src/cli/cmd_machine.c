/* resource-tracker machine: what this machine, or that of a run, is, and the cloud that it belongs to. */
#include <math.h>
#include <stdio.h>

#include "base/maths.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/server_options.h"
#include "report/place_json.h"
#include "service/place.h"

enum { OUTPUT_MAX = 65536 };

struct settings {
	bool json, cloud, no_discovery;
	const char *dir;
	struct trk_cloud stated;
};

static const struct cli_option options[] = {
	{"json", 0, NULL, "print one JSON document", cli_set_flag, AT(json)},
	{"cloud", 0, NULL, "the cloud of this machine: vendor, region, instance type", cli_set_flag,
	 AT(cloud)},
	{"no-discovery", 0, NULL, "with --cloud: send no request", cli_set_flag, AT(no_discovery)},
	{"instance", 0, "VENDOR/REGION/TYPE", "with --cloud: the type of this server",
	 cli_set_instance_option, AT(stated)},
	{"recording", 0, "DIR", "directory of the recordings, and of the cloud's cached answer",
	 cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static void line(struct trk_buf *b, const char *name, const char *text, const char *from)
{
	if (!*text)
		return;
	trk__buf_printf(b, "%-16s%s", name, text);
	if (from && *from)
		trk__buf_printf(b, "  (%s)", from);
	trk__buf_putc(b, '\n');
}

static void number(struct trk_buf *b, const char *name, double value, const char *unit,
		   const char *from)
{
	char text[64];

	if (isnan(value))
		return;
	(void) snprintf(text, sizeof(text), value == trk__floor(value) ? "%.0f%s%s" : "%.2f%s%s",
			value, *unit ? " " : "", unit);
	line(b, name, text, from);
}

static void write_text(struct trk_buf *b, const struct trk_server *s, const char *allocation,
		       const char *evidence)
{
	line(b, "system", s->os, s->kernel);
	line(b, "processor", s->cpu_model, s->cpu_vendor);
	line(b, "architecture", s->arch, NULL);
	number(b, "vCPUs", s->vcpus, "", NULL);
	number(b, "cores", s->cores, "", NULL);
	number(b, "threads a core", s->threads_per_core, "", NULL);
	number(b, "sockets", s->sockets, "", NULL);
	number(b, "NUMA nodes", s->numa_nodes, "", NULL);
	number(b, "memory", s->memory_mib / 1024, "GiB", NULL);
	number(b, "disks", s->disks, "", NULL);
	number(b, "disk space", s->disk_gb, "GB", "whole devices");
	line(b, "machine", s->maker, s->product);
	line(b, "virtualization", s->virtualization, s->virtualization_from);
	line(b, "container", s->container, s->container_from);
	number(b, "CPU limit", s->cpu_limit, "CPUs", s->cpu_limit_from);
	number(b, "memory limit", s->memory_limit_mib / 1024, "GiB", s->memory_limit_from);
	if (isnan(s->gpu_count))
		line(b, "GPUs", "not known", s->gpu_reason);
	else
		number(b, "GPUs", s->gpu_count, "", s->gpu_names);
	line(b, "allocation", allocation ? allocation : "not known", evidence);
}

static int read_machine(struct trk_record *record)
{
	struct trk_gpu_hints hints = cli_gpu_hints(false);
	int r = trk__place_machine(record, &hints);

	if (r < 0)
		cli_complain("machine: /proc: %s", trk__strerror(r));
	return r < 0 ? EXIT_ERROR : 0;
}

static int answer(const struct settings *s, const struct trk_record *record, bool measured)
{
	TRK_BUF_LOCAL(b, OUTPUT_MAX);
	char evidence[320];
	const char *allocation;

	if (s->json) {
		trk__server_document(&b, record, measured);
	} else {
		allocation = trk__allocation_of(record, measured, evidence, sizeof(evidence));
		write_text(&b, &record->place.server, allocation, evidence);
	}
	return cli_print(&b);
}

/* ---- the cloud ---- */

static void write_cloud_text(struct trk_buf *b, const struct trk_cloud *c)
{
	line(b, "vendor", c->vendor[0] ? c->vendor : "not known", NULL);
	line(b, "region", c->region, NULL);
	line(b, "zone", c->zone, NULL);
	line(b, "instance type", c->instance_type, NULL);
	line(b, "inferred", c->inferred, NULL);
	line(b, "allocation", c->allocation, NULL);
	line(b, "known from", c->source, NULL);
	if (!isnan(c->discovery_time))
		trk__buf_printf(b, "%-16s%.3f s\n", "asked for", c->discovery_time);
	line(b, "note", c->reason, NULL);
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
		cli_complain("machine: /proc: %s", trk__strerror(r));
	return r < 0 ? EXIT_ERROR : 0;
}

static int print_cloud(const struct settings *s)
{
	struct trk_place place;
	TRK_BUF_LOCAL(b, OUTPUT_MAX);
	int r = discover(s, &place);

	if (r != 0)
		return r;
	if (s->json)
		trk__cloud_document(&b, &place);
	else
		write_cloud_text(&b, &place.cloud);
	return cli_print(&b);
}

/* ---- the verb ---- */

static int run(int argc, char **argv)
{
	static struct trk_record record; /* static: an empty one may be released */
	struct settings s = {.json = false};
	int at, r;

	trk__cloud_clear(&s.stated);
	at = cli_options(&cli_machine, argc, argv, &s);
	if (s.cloud && at < argc)
		return cli_reject(EXIT_USAGE, "machine: --cloud is of this machine, not of a run. "
					      "Try: resource-tracker show --json");
	if (s.cloud)
		return print_cloud(&s);
	r = at < argc ? cli_load(s.dir, argv[at], &record, NULL, NULL) : read_machine(&record);
	if (r == 0 && !record.place.has_server)
		r = cli_reject(EXIT_NODATA, "%s: the recording does not describe the machine",
			       argv[at]);
	else if (r == 0)
		r = answer(&s, &record, at < argc);
	trk__record_release(&record);
	return r;
}

const struct cli_command cli_machine = {
	.name = "machine",
	.usage = "machine [OPTIONS] [RUN]",
	.summary = "Describe this machine, the machine of a run, or this machine's cloud.",
	.details = "Processor, cores, memory, disks, virtualization, container and limits. For a "
		   "run, its samples\nshow whether the job had the machine to itself (allocation). "
		   "With --cloud, the metadata services\nof the clouds that the firmware leaves "
		   "possible are queried, for at most 1 s; the answer is cached\nuntil the next "
		   "boot.",
	.example = "resource-tracker machine --cloud --no-discovery",
	.options = options,
	.operands = 1,
	.run = run,
};
