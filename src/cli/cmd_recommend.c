/* resource-tracker recommend: what to request next time, how sure that is, and where it runs cheapest. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/parse.h"
#include "cli/past_runs.h"
#include "cli/recommend_servers.h"
#include "frame/load.h"
#include "record/store.h"
#include "report/advice.h"
#include "report/course.h"
#include "report/place.h"
#include "report/text.h"

enum { TEXT_MAX = 4 * 1024 * 1024, SERVERS_SHOWN = 5, RUNS_MAX = 200 };

struct settings {
	const char *dir, *method, *risk, *kind, *input, *vendor, *region, *arch, *url;
	bool json, no_servers, online;
};

#define AT(field) offsetof(struct settings, field)

static const struct cli_option options[] = {
	{"method", 0, "default|original", "how memory and CPU are found", cli_set_text, AT(method)},
	{"risk", 0, "cheap|default|safe", "how dear a failure is", cli_set_text, AT(risk)},
	{"input-size", 0, "SIZE", "of the next run's input", cli_set_text, AT(input)},
	{"for", 0, "KIND",
	 "lines to paste: slurm, k8s, docker, batch, metaflow, nextflow, snakemake, htcondor, json",
	 cli_set_text, AT(kind)},
	{"vendor", 0, "NAME|any", "servers of this vendor only (that of the run)", cli_set_text,
	 AT(vendor)},
	{"region", 0, "NAME|any", "servers in this region only (that of the run)", cli_set_text,
	 AT(region)},
	{"arch", 0, "x86_64|arm64|any", "(that the run ran on)", cli_set_text, AT(arch)},
	{"online", 0, NULL, "ask the Keeper API of Spare Cores for prices", cli_set_flag,
	 AT(online)},
	{"url", 0, "URL", "of another Keeper", cli_set_text, AT(url)},
	{"no-servers", 0, NULL, "leave the servers out", cli_set_flag, AT(no_servers)},
	{"json", 0, NULL, "as JSON", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "where recordings lie", cli_set_text, AT(dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* Lines to paste, and nothing else. */
static bool is_snippet(const struct settings *s)
{
	return s->kind && strcmp(s->kind, "json") != 0;
}

/* Everything that the answer is made from. */
struct question {
	struct settings s;
	struct trk_record record; /* the newest run */
	char file[96];            /* of the run whose CPU use is looked at */
	struct trk_past *runs;    /* oldest first; owned */
	size_t count;
	struct trk_busy *busy; /* owned */
	int runs_fd;
};

static int wrong(const char *option, const char *value, const char *hint)
{
	cli_complain("recommend: --%s %s: %s", option, value, hint);
	return EXIT_USAGE;
}

static int check(const struct settings *s, struct trk_advice_input *in)
{
	static const char *const risks[] = {"default", "cheap", "safe"};
	uint64_t bytes;
	size_t i = 0;

	if (strcmp(s->method, "default") != 0 && strcmp(s->method, "original") != 0)
		return wrong("method", s->method, "not one of: default original");
	in->original = !strcmp(s->method, "original");
	while (i < 3 && strcmp(risks[i], s->risk) != 0)
		i++;
	if (i == 3)
		return wrong("risk", s->risk, "not one of: cheap default safe");
	in->risk = (enum trk_risk) i;
	in->input_bytes = NAN;
	if (s->input && (trk__parse_size(s->input, &bytes) < 0 || bytes == 0))
		return wrong("input-size", s->input, "not a size. Try: 3GiB");
	if (s->input)
		in->input_bytes = (double) bytes;
	if (!s->kind || !strcmp(s->kind, "json"))
		return 0;
	for (i = 0; trk__advice_kinds[i]; i++)
		if (!strcmp(trk__advice_kinds[i], s->kind))
			return 0;
	return wrong(
		"for", s->kind,
		"not one of: slurm k8s docker batch metaflow nextflow snakemake htcondor json");
}

/* The runs of the job, oldest first, up to the one that was named. */
static int load_runs(struct question *q, struct trk_history *h)
{
	struct trk_job_key job = trk__job_key(&q->record.run);
	struct cli_past past;
	int r = cli_past_load(h, &job, RUNS_MAX, false, &past);
	double until = (double) q->record.run.start_ns / 1e9 + 1e-3;

	if (r != 0)
		return r;
	q->runs = calloc(past.count + 1, sizeof(*q->runs));
	for (size_t i = past.count; q->runs && i-- > 0;)
		if (past.run[i].start_s <= until)
			q->runs[q->count++] = past.run[i];
	cli_past_release(&past);
	/* A recording that was named by its path may stand in no history. */
	if (q->runs && (q->count == 0 || strcmp(q->runs[q->count - 1].id, q->record.run.id) != 0))
		trk__past_from(&q->record, "", &q->runs[q->count++]);
	return q->runs ? 0 : EXIT_ERROR;
}

/* Busy cores over time of the newest run that ended well and still has its recording, else of the
 * newest. */
static void load_busy(struct question *q)
{
	static const int columns[] = {TRK_PROCESS_CPU_USAGE};
	struct trk_frame frame;

	q->busy = calloc(1, sizeof(*q->busy));
	for (int pass = 0; q->busy && pass < 2; pass++)
		for (size_t i = q->count; i-- > 0;) {
			const struct trk_past *run = &q->runs[i];

			if ((pass == 0 && run->code != 0) || !run->file[0] ||
			    trk__frame_load(q->runs_fd, run->file, columns, NULL, 1, &frame, NULL,
					    NULL) < 0)
				continue;
			for (size_t k = 0; k < frame.rows; k++)
				trk__busy_add(q->busy, frame.column[0][k], frame.dt_s[k]);
			trk__frame_release(&frame);
			if (trk__busy_seconds(q->busy) > 0)
				return;
		}
}

/* ---- the answer ---- */

static void answer_json(struct trk_buf *b, const struct question *q, const struct trk_advice *a,
			const struct cli_found_servers *found, const struct trk_course *course)
{
	struct trk_json j;

	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.advice/1");
	trk__json_key_text(&j, "job", q->record.run.job);
	trk__json_key_text(&j, "scope", q->record.run.scope[0] ? q->record.run.scope : NULL);
	trk__json_key_text(&j, "run", q->record.run.id);
	trk__advice_json(&j, a);
	if (course)
		trk__course_json(&j, course);
	if (found)
		cli_found_servers_json(&j, found);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

/* Where the newest run's time went, and whether to split it. */
static void course_text(struct trk_buf *b, const struct trk_course *c)
{
	if (!c->has_wall)
		return;
	trk__buf_puts(b, "time     ");
	trk__course_wall_text(b, c, cli_is_utf8());
	if (c->bound != TRK_BOUND_UNKNOWN)
		trk__buf_printf(b, "\n         %s", c->bottleneck);
	if (c->has_split && c->split.pays)
		trk__buf_printf(b, "\n         %s", c->split.hint);
	trk__buf_putc(b, '\n');
}

/* The summary's line, in the columns of this text; where the cloud is known and the cost is not, why. */
static void cost_text(struct trk_buf *b, const struct trk_place *place)
{
	static const char theirs[] = "   Cost  ", ours[] = "cost     ";
	const struct trk_cost *cost = &place->cost;
	size_t start = b->len;

	if (place->has_cost && isnan(cost->usd) && place->cloud.vendor[0] && cost->reason[0]) {
		trk__buf_printf(b, "%snot known: ", ours);
		trk__text_safe(b, cost->reason, sizeof(cost->reason), cli_is_utf8());
		trk__buf_putc(b, '\n');
		return;
	}
	trk__cost_line(b, place, cli_is_utf8());
	if (!b->error && b->len > start + sizeof(ours) &&
	    !memcmp(b->data + start, theirs, sizeof(theirs) - 1))
		memcpy(b->data + start, ours, sizeof(ours) - 1);
}

static int write_answer(const struct question *q, const struct trk_advice *a,
			const struct cli_found_servers *found)
{
	struct trk_course *course = calloc(1, sizeof(*course));
	struct trk_buf b;
	int r;

	if (course && trk__course_of(&q->record, course) < 0) {
		free(course);
		course = NULL;
	}

	trk__buf_init(&b, TEXT_MAX);
	if (is_snippet(&q->s)) {
		(void) trk__advice_snippet(&b, a, q->s.kind);
	} else if (q->s.json || q->s.kind) {
		answer_json(&b, q, a, found, course);
	} else {
		trk__text_safe(&b, q->record.run.job[0] ? q->record.run.job : "job",
			       TRK_RUN_TEXT_SIZE, cli_is_utf8());
		trk__buf_puts(&b, ": ");
		trk__advice_text(&b, a);
		if (course)
			course_text(&b, course);
		cost_text(&b, &q->record.place);
		if (found)
			cli_found_servers_text(&b, found);
	}
	r = cli_write(STDOUT_FILENO, &b, "stdout");
	free(course);
	trk__buf_release(&b);
	return r;
}

static int answer(struct question *q, struct trk_advice_input *in)
{
	struct cli_wanted_servers wanted = {.vendor = q->s.vendor,
					    .region = q->s.region,
					    .arch = q->s.arch,
					    .limit = SERVERS_SHOWN,
					    .online = q->s.online,
					    .url = q->s.url};
	struct cli_found_servers *found = NULL;
	struct trk_advice a;
	int r = trk__advice_make(in, &a);

	if (r < 0) {
		cli_complain("%s: nothing to go by: no run has samples", q->record.run.id);
		return EXIT_NODATA;
	}
	if (!q->s.no_servers && !is_snippet(&q->s))
		r = cli_recommend_servers(&wanted, &a, q->busy, &q->record, &found);
	if (r == 0)
		r = write_answer(q, &a, found);
	cli_found_servers_free(found);
	return r;
}

static int gather_and_answer(struct question *q, struct trk_advice_input *in, const char *reference)
{
	struct trk_history *h;
	char text[4096], newest[TRK_RUN_ID_SIZE];
	int r = 0;

	/* A name without a sign of a run is a job: its newest run. */
	h = cli_history_open(q->s.dir, &r);
	if (!h && r != EXIT_NODATA)
		return r;
	reference = cli_newest_of(h, reference, "recommend", newest);
	r = cli_load(q->s.dir, reference, &q->record, NULL, NULL);
	if (r == 0) {
		q->runs_fd =
			trk__store_open(cli_state_dir(q->s.dir, text, sizeof(text)), false, NULL);
		if (h)
			r = load_runs(q, h);
		if (r == 0)
			load_busy(q);
		in->record = &q->record;
		in->busy = q->busy;
		in->runs = q->runs;
		in->count = q->count;
		if (r == 0)
			r = answer(q, in);
		if (q->runs_fd >= 0)
			(void) close(q->runs_fd);
		trk__record_release(&q->record);
	}
	trk__history_free(h);
	return r;
}

static int run(int argc, char **argv)
{
	struct question *q = calloc(1, sizeof(*q));
	struct trk_advice_input in = {.count = 0};
	int at, r;

	if (!q)
		return EXIT_ERROR;
	q->s = (struct settings){.method = "default", .risk = "default"};
	at = cli_options(&cli_recommend, argc, argv, &q->s);
	if (at < 0) {
		r = at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	} else if (at + 1 < argc) {
		cli_complain("recommend: one run or job at a time. Try: resource-tracker recommend "
			     "--help");
		r = EXIT_USAGE;
	} else {
		r = check(&q->s, &in);
		if (r == 0)
			r = gather_and_answer(q, &in, at < argc ? argv[at] : "@");
	}
	free(q->runs);
	free(q->busy);
	free(q);
	return r;
}

const struct cli_command cli_recommend = {
	.name = "recommend",
	.usage = "recommend [OPTIONS] [RUN|JOB]",
	.summary = "Say what to request for the next run, how sure that is, and where it runs "
		   "cheapest.",
	.details =
		"RUN is an id or its start, @ (the last run, the default), or a path; JOB is a "
		"name. "
		"All earlier\nruns of the job are looked at. docs/advice.md explains the method.",
	.options = options,
	.run = run,
};
