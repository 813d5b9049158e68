#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "lines/highlights.h"
#include "answer/advice.h"
#include "answer/time_breakdown.h"
#include "report/place_json.h"
#include "report/gpu_summary.h"
#include "report/shared_terms.h"
#include "report/summary.h"

static void quantity(struct trk_json *j, const char *key, const struct trk_quantity *q)
{
	trk__json_key_open(j, key, '{');
	trk__json_key_double(j, "value", q->value);
	trk__json_key_text(j, "quality", trk__quality_name(q->quality));
	trk__json_key_text(j, "source", q->source[0] ? q->source : NULL);
	trk__json_key_text(j, "reason", q->reason[0] ? q->reason : NULL);
	trk__json_close(j, '}');
}

/* value / 10^decimals. */
static void key_fixed(struct trk_json *j, const char *key, uint64_t value, unsigned int decimals)
{
	trk__json_key(j, key);
	trk__json_fixed(j, (int64_t) value, decimals);
}

static void command(struct trk_json *j, const struct trk_run *run)
{
	const char *at = run->command, *end = run->command + run->command_len;

	trk__json_key_open(j, "command", '[');
	while (at < end) {
		size_t len = strnlen(at, (size_t) (end - at));

		trk__json_text_n(j, at, len);
		at += len + 1;
	}
	trk__json_close(j, ']');
}

static void tags(struct trk_json *j, const struct trk_run *run)
{
	const char *at = run->tags, *end = run->tags + run->tags_len;

	trk__json_key_open(j, "tags", '{');
	while (at < end) {
		size_t len = strnlen(at, (size_t) (end - at));
		const char *equals = memchr(at, '=', len);
		char key[128];
		size_t key_len = equals ? (size_t) (equals - at) : len;

		if (key_len >= sizeof(key))
			key_len = sizeof(key) - 1;
		memcpy(key, at, key_len);
		key[key_len] = '\0';
		trk__json_key(j, key);
		if (equals)
			trk__json_text_n(j, equals + 1, len - (size_t) (equals + 1 - at));
		else
			trk__json_null(j);
		at += len + 1;
	}
	trk__json_close(j, '}');
}

static void exit_of(struct trk_json *j, const struct trk_outcome *o)
{
	trk__json_key_open(j, "exit", '{');
	trk__json_key_double(j, "code", o->code >= 0 ? o->code : (double) NAN);
	trk__json_key_double(j, "signal", o->signal ? o->signal : (double) NAN);
	trk__json_key_or_null(j, "verdict", trk__end_name(o->end));
	trk__json_key_or_null(j, "evidence", o->evidence);
	trk__json_close(j, '}');
}

static void stuck_of(struct trk_json *j, const struct trk_outcome *o)
{
	trk__json_key_open(j, "stuck_processes", '[');
	for (size_t i = 0; i < o->stuck_count && i < TRK_STUCK_MAX; i++) {
		trk__json_open(j, '{');
		trk__json_key_u64(j, "pid", (uint64_t) o->stuck[i].pid);
		trk__json_key_or_null(j, "name", o->stuck[i].name);
		trk__json_key_double(j, "since_s", (double) o->stuck[i].since_ms / 1000);
		trk__json_key_bool(j, "is_over", o->stuck[i].is_over);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

/* null: none that the job survived. */
static void memory_kills_of(struct trk_json *j, const struct trk_outcome *o)
{
	if (!o->memory_kills) {
		trk__json_key(j, "memory_kills");
		trk__json_null(j);
		return;
	}
	trk__json_key_open(j, "memory_kills", '{');
	trk__json_key_u64(j, "count", o->memory_kills);
	trk__json_key_double(j, "first_s", (double) o->memory_kill_ms / 1000);
	trk__json_close(j, '}');
}

static void run_of(struct trk_json *j, const struct trk_record *r)
{
	trk__json_key_open(j, "run", '{');
	trk__json_key_or_null(j, "id", r->run.id);
	trk__json_key_or_null(j, "job", r->run.job);
	trk__json_key_or_null(j, "scope",
			      r->run.has_scope && r->run.scope[0] ? r->run.scope : NULL);
	trk__json_key_or_null(j, "kind", r->run.kind);
	command(j, &r->run);
	tags(j, &r->run);
	trk__json_key_double(j, "pid", r->run.pid > 0 ? (double) r->run.pid : (double) NAN);
	/* The wall clock is written in milliseconds. */
	key_fixed(j, "start_time", r->run.start_ns / TRK_NS_PER_MS, 3);
	if (r->outcome.stop_ns)
		key_fixed(j, "stop_time", r->outcome.stop_ns / TRK_NS_PER_MS, 3);
	else
		trk__json_key_or_null(j, "stop_time", NULL);
	key_fixed(j, "duration_s", r->outcome.duration_ns / 1000, 6);
	trk__json_key_double(j, "interval_s", (double) r->run.interval_ns / 1e9);
	exit_of(j, &r->outcome);
	trk__json_key_double(j, "input_bytes",
			     r->run.input_bytes ? (double) r->run.input_bytes : (double) NAN);
	trk__json_key_u64(j, "left_behind", r->outcome.left_behind);
	memory_kills_of(j, &r->outcome);
	stuck_of(j, &r->outcome);
	trk__json_key_u64(j, "damaged_records", r->damaged);
	trk__json_close(j, '}');
}

static void stats_of(struct trk_json *j, const struct trk_stats *stats)
{
	for (int i = 0; i < TRK_COLUMNS; i++) {
		struct trk_column_stats s;

		if (trk__columns[i].kind == TRK_KIND_STAMP)
			continue;
		s = trk__stats_get(stats, i);
		trk__json_key_open(j, trk__columns[i].name, '{');
		trk__json_key_double(j, "mean", s.mean);
		trk__json_key_double(j, "max", s.max);
		trk__json_key_double(j, "min", s.min);
		trk__json_key_double(j, "p50", s.p50);
		trk__json_key_double(j, "p95", s.p95);
		trk__json_key_double(j, "p99", s.p99);
		trk__json_key_double(j, "sum", s.sum);
		trk__json_close(j, '}');
	}
}

static void top_of(struct trk_json *j, const struct trk_outcome *o)
{
	trk__json_key_open(j, "top_processes", '[');
	for (size_t i = 0; i < o->top_count; i++) {
		const struct trk_process_info *p = &o->top[i];

		trk__json_open(j, '{');
		trk__json_key_i64(j, "pid", p->pid);
		trk__json_key_or_null(j, "name", p->name);
		trk__json_key_or_null(j, "command", p->command);
		trk__json_key_double(j, "cpu_s", (double) p->cpu_ns / 1e9);
		trk__json_key_double(j, "peak_memory_mib",
				     p->peak_bytes ? (double) p->peak_bytes / 1048576.0 : NAN);
		trk__json_key_u64(j, "disk_read_bytes", p->read_bytes);
		trk__json_key_u64(j, "disk_write_bytes", p->write_bytes);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void tracker_of(struct trk_json *j, const struct trk_record *r)
{
	const struct trk_outcome *o = &r->outcome;

	trk__json_key_open(j, "tracker", '{');
	trk__json_key_or_null(j, "version", r->run.version);
	trk__json_key_u64(j, "samples", r->samples);
	trk__json_key_u64(j, "missed", o->missed);
	trk__json_key_u64(j, "late", o->late);
	trk__json_key_double(j, "suspended_s", (double) o->suspended_ns / 1e9);
	trk__json_key_double(j, "cpu_s",
			     o->tracker_cpu_ns ? (double) o->tracker_cpu_ns / 1e9 : NAN);
	trk__json_key_double(j, "peak_rss_mib",
			     o->tracker_rss_bytes ? (double) o->tracker_rss_bytes / 1048576.0
						  : NAN);
	trk__json_key_open(j, "sources", '{');
	for (size_t i = 0; i < o->source_count; i++)
		trk__json_key_or_null(j, o->sources[i][0], o->sources[i][1]);
	trk__json_close(j, '}');
	trk__json_close(j, '}');
}

static void marks_of(struct trk_json *j, const struct trk_record *r)
{
	trk__json_key_open(j, "marks", '[');
	for (size_t i = 0; i < r->marks; i++) {
		trk__json_open(j, '{');
		trk__json_key_or_null(j, "name", r->mark[i].name);
		key_fixed(j, "elapsed_s", r->mark[i].elapsed_ns / 1000000, 3);
		key_fixed(j, "time", r->mark[i].time_ns / TRK_NS_PER_MS, 3);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void course_of(struct trk_json *j, const struct trk_record *r)
{
	struct trk_time_breakdown *c = calloc(1, sizeof(*c));

	if (c && (r->run.pid == 0 || trk__time_breakdown_of(r, c) < 0))
		*c = (struct trk_time_breakdown){.has_wall = false};
	if (c)
		trk__time_breakdown_json(j, c);
	free(c);
}

static void advice_of(struct trk_json *j, const struct trk_record *r, const struct trk_advice *a)
{
	struct trk_advice *own = a ? NULL : malloc(sizeof(*own));

	if (own && trk__advice_of_run(r, own) == 0)
		a = own;
	if (a && strcmp(r->run.kind, "system") != 0) {
		trk__advice_json(j, a);
	} else {
		trk__json_key(j, "advice");
		trk__json_null(j);
	}
	free(own);
}

void trk__summary_json(struct trk_buf *b, const struct trk_record *r,
		       const struct trk_change *change, const struct trk_advice *advice)
{
	struct trk_json j;

	trk__json_begin(&j, b, 1, "resource-tracker.summary/1");
	run_of(&j, r);
	trk__json_key_open(&j, "totals", '{');
	for (int i = 0; i < TRK_TOTALS; i++)
		quantity(&j, trk__total_keys[i], &r->outcome.total[i]);
	trk__json_close(&j, '}');
	trk__json_key_open(&j, "stats", '{');
	stats_of(&j, r->stats);
	trk__json_close(&j, '}');
	trk__json_key_open(&j, "limits", '{');
	for (int i = 0; i < TRK_LIMITS; i++)
		quantity(&j, trk__limit_keys[i], &r->run.limit[i]);
	trk__json_close(&j, '}');
	trk__json_key_open(&j, "request", '{');
	for (int i = 0; i < TRK_REQUESTS; i++)
		quantity(&j, trk__request_keys[i], &r->run.request[i]);
	trk__json_close(&j, '}');
	trk__gpus_json(&j, &r->gpus);
	trk__gpu_sums_json(&j, &r->gpus);
	top_of(&j, &r->outcome);
	marks_of(&j, r);
	course_of(&j, r);
	trk__lines_highlights_json(&j, r->lines, trk__kill_pid(r));
	trk__json_key(&j, "change");
	if (change && change->runs)
		trk__change_json(&j, change);
	else
		trk__json_null(&j);
	advice_of(&j, r, advice);
	trk__place_json(&j, r);
	tracker_of(&j, r);
	trk__json_end(&j);
}

void trk__stats_json(struct trk_buf *b, const struct trk_run *run, const struct trk_stats *stats,
		     uint64_t samples)
{
	struct trk_json j;

	trk__json_begin(&j, b, 1, "resource-tracker.stats/1");
	trk__json_key_or_null(&j, "run", run->id);
	trk__json_key_u64(&j, "samples", samples);
	trk__json_key_open(&j, "stats", '{');
	stats_of(&j, stats);
	trk__json_end(&j);
}
