/* resource-tracker server-info: what this machine is, or what the machine of a run was. */
#include <math.h>
#include <stdio.h>

#include "base/maths.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "report/place_json.h"
#include "service/place.h"

enum { OUTPUT_MAX = 65536 };

struct settings {
	bool json;
	const char *dir;
};

static const struct cli_option options[] = {
	{"json", 0, NULL, "print one JSON document", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
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
		cli_complain("server-info: /proc: %s", trk__strerror(r));
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

static int run(int argc, char **argv)
{
	static struct trk_record record; /* static: an empty one may be released */
	struct settings s = {.json = false};
	int at = cli_options(&cli_server_info, argc, argv, &s);
	int r = at < argc ? cli_load(s.dir, argv[at], &record, NULL, NULL) : read_machine(&record);

	if (r == 0 && !record.place.has_server)
		r = cli_reject(EXIT_NODATA, "%s: the recording does not describe the machine",
			       argv[at]);
	else if (r == 0)
		r = answer(&s, &record, at < argc);
	trk__record_release(&record);
	return r;
}

const struct cli_command cli_server_info = {
	.name = "server-info",
	.usage = "server-info [--json] [RUN]",
	.summary = "Describe this machine, or the machine of a run.",
	.details = "Processor, cores, memory, disks, virtualization, container and limits. For a "
		   "run, its samples\nshow whether the job had the machine to itself (allocation).",
	.options = options,
	.operands = 1,
	.run = run,
};
