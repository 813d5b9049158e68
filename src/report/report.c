/* Builds the report: input common to all sections, and their order. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/section/section.h"
#include "report/write/write.h"

/* The sections, in the order of the page. */
static const struct {
	const char *key, *title;
	trk_section_fn *make;
} sections[] = {
#define X(name, key, title) {key, title, trk__section_##name},
	TRK_SECTION_LIST(X)
#undef X
};
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static void advise(struct trk_report_work *w)
{
	const struct trk_report_input *in = w->in;
	const struct trk_advice_input ask = {.record = in->record,
					     .use = in->use,
					     .runs = in->runs,
					     .count = in->count,
					     .input_bytes = NAN};

	if (strcmp(in->record->run.kind, "system") != 0)
		w->has_advice = (in->use ? trk__advice_make(&ask, &w->advice)
					 : trk__advice_of_run(in->record, &w->advice)) == 0;
}

static void prepare(struct trk_report_work *w)
{
	const struct trk_record *record = w->in->record;
	const struct trk_outcome *o = &record->outcome;
	bool machine = record->run.pid == 0;

	w->cpu_had = trk__capacity(record, TRK_RESOURCE_CPU);
	w->memory_had = trk__capacity(record, TRK_RESOURCE_MEMORY_MIB);
	w->cpu = trk__stats_get(record->stats,
				machine ? TRK_SYSTEM_CPU_USAGE : TRK_PROCESS_CPU_USAGE);
	w->memory = trk__stats_get(record->stats,
				   machine ? TRK_SYSTEM_MEMORY_USED : TRK_PROCESS_MEMORY);
	w->cpu_peak = w->cpu.max;
	w->memory_peak = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value;
	if (!(w->memory_peak >= w->memory.max))
		w->memory_peak = w->memory.max;
	w->ended_well = trk__advice_ended_well(o);
	w->here = -1;
	advise(w);
	trk__report_find_servers(w);
}

static const char *place_words(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_cloud *c = &w->in->record->place.cloud;

	if (!trk__report_knows_cloud(w))
		return "";
	return trk__doc_print(d, " \u00b7 %s %s %s", trk__doc_safe(d, c->vendor, 40),
			      c->instance_type[0] ? trk__doc_safe(d, c->instance_type, 40) : "",
			      c->region[0] ? trk__doc_safe(d, c->region, 40) : "");
}

static void head(struct trk_doc *d, const struct trk_report_work *w)
{
	const struct trk_run *run = &w->in->record->run;
	size_t len = run->command_len ? run->command_len - 1 : 0;
	char *command = trk__doc_alloc(d, len + 1);

	for (size_t i = 0; command && i < len; i++)
		command[i] = run->command[i] ? run->command[i] : ' ';
	d->command = command && len ? trk__doc_safe_n(d, command, len, 240) : NULL;
	d->job = trk__doc_safe(d,
			       run->job[0]                    ? run->job
			       : !strcmp(run->kind, "system") ? "system"
							      : "job",
			       80);
	d->id = trk__doc_safe(d, run->id, TRK_RUN_ID_SIZE);
	d->duration = trk__doc_value(d, trk__human_seconds,
				     (double) w->in->record->outcome.duration_ns / 1e9);
	d->facts =
		trk__doc_print(d, "%s \u00b7 %s%s", d->duration,
			       trk__doc_value(d, trk__human_moment, (double) run->start_ns / 1e9),
			       place_words(d, w));
}

/* The name of a program. Plain letters need no marks. */
static const char *plain_words(struct trk_doc *d, const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			return trk__doc_safe(d, text, 80);
	return trk__doc_print(d, "%.80s", text);
}

static void make_sections(struct trk_doc *d, const struct trk_report_work *w)
{
	d->section = trk__doc_alloc(d, SECTIONS * sizeof(*d->section));
	for (size_t i = 0; d->section && i < SECTIONS; i++) {
		struct trk_doc_section *s = &d->section[d->sections++];

		s->key = sections[i].key;
		s->title = sections[i].title;
		sections[i].make(d, s, w);
		if (!s->first && !d->error)
			d->sections--; /* it is empty for this run */
	}
}

int trk__report_make(const struct trk_report_input *in, struct trk_doc *ret)
{
	struct trk_report_work *w = calloc(1, sizeof(*w));
	struct trk_doc *d = ret;

	if (!w)
		return -ENOMEM;
	*d = (struct trk_doc){.raw = in->raw, .raw_len = in->raw_len};
	if (in->integration && *in->integration)
		d->integration = plain_words(d, in->integration);
	w->in = in;
	w->has_course =
		in->record->run.pid != 0 && trk__time_breakdown_of(in->record, &w->course) == 0;
	prepare(w);
	head(d, w);
	trk__section_head(d, w);
	make_sections(d, w);
	if (w->servers)
		trk__run_servers_release(w->servers);
	free(w->servers);
	free(w);
	if (d->error) {
		int error = d->error;

		trk__doc_release(d);
		return error;
	}
	return 0;
}

int trk__report_write(struct trk_buf *b, const struct trk_doc *d, const char *format)
{
	static const struct {
		const char *format;
		void (*write)(struct trk_buf *b, const struct trk_doc *d);
	} writers[] = {{"html", trk__write_html}, {"md", trk__write_markdown}};

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (!strcmp(format, writers[i].format)) {
			writers[i].write(b, d);
			return b->error;
		}
	return -EINVAL;
}
