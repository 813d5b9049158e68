#include "alert/live.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/maths.h"
#include "base/os.h"
#include "model/waits.h"

static const double AGAIN_S = 1800, RESOLVED_LEAST_S = 300, THROTTLED_MEAN_S = 60,
		    SPACE_LOW_SHARE = 0.25, GPU_IDLE_AGAIN_S = 3600, LIMIT_HIT_S = 5;

/* ---- trends ---- */

static const double SPACING_S = 10, LEAST_S = 55;
enum { LEAST_POINTS = 6 };

static void trend_init(struct trk_alert_trend *t)
{
	memset(t, 0, sizeof(*t));
	t->slope = NAN;
}

static double median_slope(const struct trk_alert_trend *t)
{
	double slope[TRK_ALERT_POINTS * (TRK_ALERT_POINTS - 1) / 2] = {0};
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		for (size_t k = 0; k < i; k++)
			slope[n++] = (t->value[i] - t->value[k]) / (t->at_s[i] - t->at_s[k]);
	return trk__median(slope, n);
}

/* Points closer than 10 s to the last one are left out. */
static void trend_add(struct trk_alert_trend *t, double at_s, double value)
{
	size_t last = (t->next + TRK_ALERT_POINTS - 1) % TRK_ALERT_POINTS;

	if (isnan(value) || (t->count && at_s < t->at_s[last] + SPACING_S))
		return;
	t->at_s[t->next] = at_s;
	t->value[t->next] = value;
	t->next = (t->next + 1) % TRK_ALERT_POINTS;
	if (t->count < TRK_ALERT_POINTS)
		t->count++;
	t->is_old = true;
}

/* Units per second; NaN with less than a minute of points. Sorts 435 slopes after a new point. */
static double trend_slope(struct trk_alert_trend *t)
{
	size_t first = t->count < TRK_ALERT_POINTS ? 0 : t->next;
	size_t last = (t->next + TRK_ALERT_POINTS - 1) % TRK_ALERT_POINTS;

	if (!t->is_old)
		return t->slope;
	t->is_old = false;
	t->slope = t->count >= LEAST_POINTS && t->at_s[last] - t->at_s[first] >= LEAST_S
			   ? median_slope(t)
			   : NAN;
	return t->slope;
}

void trk__alert_live_init(struct trk_alert_live *live)
{
	*live = (struct trk_alert_live){
		.swap_start_mib = NAN,
		.throttled_share = NAN,
		.gpu_idle_from_s = NAN,
		.limit_hits = NAN,
		.limit_hit_s = NAN,
	};
	trend_init(&live->memory);
	trend_init(&live->space);
	for (int i = 0; i < TRK_ALERT_RULES; i++)
		live->rule[i].last_fired_s = NAN;
}

void trk__alert_live_earlier(struct trk_alert_live *live, const double *time_s, size_t count)
{
	memcpy(live->earlier_s, time_s, count * sizeof(*time_s));
	live->earlier = count;
	trk__sort_values(live->earlier_s, count);
}

/* ---- from a row to facts ---- */

/* The median of the earlier runs that took longer than this one has taken. */
static double expected_s(const struct trk_alert_live *live, double elapsed_s)
{
	size_t first = 0, last = live->earlier;

	while (first < last && live->earlier_s[first] <= elapsed_s)
		first++;
	if (live->earlier < TRK_ALERT_EARLIER_MIN || first == last)
		return NAN;
	return (live->earlier_s[(first + last - 1) / 2] + live->earlier_s[(first + last) / 2]) / 2;
}

static void gpu_facts(const struct trk_gpu_device *device, size_t devices,
		      struct trk_alert_facts *f)
{
	double fullest = -1;

	f->gpu_usage = 0;
	for (size_t i = 0; i < devices; i++) {
		const struct trk_gpu_value *m = device[i].metric;
		double used = m[TRK_GPU_MEMORY_USED_METRIC].value;
		double size = m[TRK_GPU_MEMORY_TOTAL_METRIC].value;

		/* Skip GPUs on which the job has no memory. */
		if (device[i].parent >= 0 || !(m[TRK_GPU_TREE_MEMORY_METRIC].value > 0))
			continue;
		f->gpus++;
		/* Unknown of one is unknown of all. */
		f->gpu_usage += m[TRK_GPU_UTILIZATION_METRIC].value;
		if (used / size > fullest) {
			fullest = used / size;
			f->vram_mib = used / TRK_MIB;
			f->vram_limit_mib = size / TRK_MIB;
		}
	}
}

static void follow_gpus(struct trk_alert_live *live, struct trk_alert_facts *f)
{
	bool idle = f->gpus > 0 && f->gpu_usage <= 0;

	if (!idle || isnan(live->gpu_idle_from_s))
		live->gpu_idle_from_s = idle ? f->elapsed_s : (double) NAN;
	f->gpu_idle_s = f->elapsed_s - live->gpu_idle_from_s;
}

/* Averaged, as a job with short bursts is throttled in bursts. */
static void follow_throttling(struct trk_alert_live *live, double share, double interval_s)
{
	double part = interval_s / (interval_s + THROTTLED_MEAN_S);

	if (isnan(share))
		return;
	live->throttled_share =
		isnan(live->throttled_share)
			? share
			: live->throttled_share + part * (share - live->throttled_share);
}

/* 0 to 1, although the column adds up all CPUs; NaN: unknown. */
static double held_back_share(const struct trk_sample *row)
{
	const int64_t *value = row->value;
	int64_t cpu_us = value[TRK_PROCESS_UTIME] + value[TRK_PROCESS_STIME];

	if (!trk__sample_knows(row, TRK_CGROUP_THROTTLED) || value[TRK_INTERVAL] <= 0)
		return NAN;
	return (double) trk__waits_held_back(value[TRK_CGROUP_THROTTLED], cpu_us,
					     value[TRK_INTERVAL]) /
	       (double) value[TRK_INTERVAL];
}

/* Rows may be less than a second apart. */
static bool follow_limit_hits(struct trk_alert_live *live, double hits, double at_s)
{
	if (hits > live->limit_hits)
		live->limit_hit_s = at_s;
	live->limit_hits = hits;
	return !isnan(hits) && at_s - live->limit_hit_s < LIMIT_HIT_S;
}

static bool waits_as_marked(const struct trk_record *record)
{
	return record->marks && !strncasecmp(record->mark[record->marks - 1].name, "wait", 4);
}

static void read_row(struct trk_alert_live *live, const struct trk_record *record,
		     const struct trk_sample *row, struct trk_alert_facts *f)
{
	double interval_s = trk__sample_get(row, TRK_INTERVAL);
	double swap_mib = trk__sample_get(row, TRK_SYSTEM_SWAP_USED);

	*f = (struct trk_alert_facts){
		.elapsed_s = trk__sample_get(row, TRK_ELAPSED),
		.memory_mib = trk__sample_get(row, TRK_PROCESS_MEMORY),
		.memory_limit_mib = record->run.limit[TRK_LIMIT_MEMORY_MIB].value,
		.memory_wait_share = trk__sample_get(row, TRK_PROCESS_MEMORY_WAIT) / interval_s,
		.cores = trk__sample_get(row, TRK_PROCESS_CPU_USAGE),
		.disk_bytes_per_s = (trk__sample_get(row, TRK_PROCESS_DISK_READ) +
				     trk__sample_get(row, TRK_PROCESS_DISK_WRITE)) /
				    interval_s,
		.waits_as_marked = waits_as_marked(record),
		.space_gb = trk__sample_get(row, TRK_SYSTEM_SPACE_FREE),
		.space_total_gb = trk__sample_get(row, TRK_SYSTEM_SPACE_TOTAL),
		.vram_mib = NAN,
		.vram_limit_mib = NAN,
		.time_limit_s = record->run.request[TRK_REQUEST_TIME_S].value,
	};
	f->expected_s = expected_s(live, f->elapsed_s);
	f->earlier = live->earlier;
	f->limit_is_hit = follow_limit_hits(live, record->memory_limit_hits, f->elapsed_s);
	trend_add(&live->memory, f->elapsed_s, f->memory_mib);
	f->memory_per_s = f->memory_mib > TRK_ALERT_OOM_SHARE * f->memory_limit_mib
				  ? trend_slope(&live->memory)
				  : (double) NAN;
	/* No trend is needed while there is enough space. */
	if (f->space_gb < SPACE_LOW_SHARE * f->space_total_gb)
		trend_add(&live->space, f->elapsed_s, f->space_gb);
	else if (live->space.count)
		trend_init(&live->space);
	f->space_gb_per_s = trend_slope(&live->space);
	if (isnan(live->swap_start_mib))
		live->swap_start_mib = swap_mib;
	f->swap_growth_mib = swap_mib - live->swap_start_mib;
	follow_throttling(live, held_back_share(row), interval_s);
	f->throttled_share = live->throttled_share;
}

/* ---- the life of an alert ---- */

static void fire(struct trk_alert_rule_state *s, const struct trk_alert *now, double at_s)
{
	s->state = TRK_ALERT_FIRING;
	s->since_s = NAN;
	s->last_fired_s = at_s;
	s->alert = *now;
	s->alert.firing = true;
}

/* True when the rule has fired or is resolved with this row. */
static bool step(struct trk_alert_rule_state *s, const struct trk_alert *now, bool holds,
		 double at_s)
{
	double window_s = trk__alert_rules[now->rule].window_s;

	if (s->state == TRK_ALERT_FIRING) {
		if (holds || isnan(s->since_s))
			s->since_s = holds ? NAN : at_s;
		if (holds || at_s - s->since_s < 2 * window_s ||
		    at_s - s->since_s < RESOLVED_LEAST_S)
			return false;
		s->state = TRK_ALERT_QUIET;
		s->alert.firing = false;
		return true;
	}
	if (!holds) {
		s->state = TRK_ALERT_QUIET;
		return false;
	}
	if (s->state == TRK_ALERT_QUIET) {
		s->state = TRK_ALERT_PENDING;
		s->since_s = at_s;
	}
	if (at_s - s->since_s < window_s || at_s - s->last_fired_s < AGAIN_S)
		return false;
	fire(s, now, at_s);
	return true;
}

/* GPUs that have been idle for an hour fire again, while the alert is open. */
static bool step_again(struct trk_alert_rule_state *s, const struct trk_alert *now,
		       const struct trk_alert_facts *f)
{
	double hour_s = f->elapsed_s - f->gpu_idle_s + GPU_IDLE_AGAIN_S;

	if (now->rule != TRK_ALERT_GPU_IDLE || s->state != TRK_ALERT_FIRING ||
	    !(f->elapsed_s >= hour_s) || s->last_fired_s >= hour_s)
		return false;
	fire(s, now, f->elapsed_s);
	return true;
}

void trk__alert_live_row(struct trk_alert_live *live, const struct trk_record *record,
			 const struct trk_sample *row, const struct trk_gpu_device *device,
			 size_t devices, trk_alert_fn *on_alert, void *data)
{
	struct trk_alert_facts facts;
	struct trk_alert now;

	read_row(live, record, row, &facts);
	gpu_facts(device, devices, &facts);
	follow_gpus(live, &facts);
	for (int i = 0; i < TRK_ALERT_RULES; i++) {
		struct trk_alert_rule_state *s = &live->rule[i];
		bool holds = trk__alert_judge((enum trk_alert_rule) i, &facts, &now);

		if (step(s, &now, holds, facts.elapsed_s) || step_again(s, &now, &facts))
			on_alert(data, record, &s->alert);
	}
}

/* ---- what a stalled job waits for ---- */

static const char child_name[] = "a child process";

void trk__alert_wait_name(char state, const char *wchan, char *text, size_t size)
{
	/* Parts of names of functions; the first that fits counts. */
	static const struct {
		const char *part, *name;
	} names[] = {
		{"nfs", "a network file system"},
		{"rpc_", "a network file system"},
		{"fuse", "a FUSE file system"},
		{"nanosleep", "a timer (sleep)"},
		{"pipe", "a pipe"},
		{"fifo", "a pipe"},
		{"futex", "a lock or another thread"},
		{"flock", "a file lock"},
		{"locks_", "a file lock"},
		{"do_wait", child_name},
		{"poll", "sockets, pipes or a timer (poll, select)"},
		{"select", "sockets, pipes or a timer (poll, select)"},
		{"sk_wait", "a socket"},
		{"skb_", "a socket"},
		{"unix_stream", "a socket"},
		{"inet_", "a socket"},
		{"tcp_", "a socket"},
		{"msgrcv", "a System V queue or semaphore"},
		{"semtimedop", "a System V queue or semaphore"},
		{"pause", "a signal"},
		{"sigsuspend", "a signal"},
		{"sigtimedwait", "a signal"},
		{"tty", "input from a terminal"},
		{"io_schedule", "a disk"},
		{"folio_wait", "a disk"},
	};

	if (state == 'T' || state == 't') {
		(void) snprintf(text, size, "SIGCONT: it is stopped");
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(wchan, names[i].part)) {
			(void) snprintf(text, size, "%s", names[i].name);
			return;
		}
	if (wchan[0] && strcmp(wchan, "0") != 0)
		(void) snprintf(text, size, "function %.60s of the kernel", wchan);
	else
		(void) snprintf(text, size, "%s",
				state == 'D' ? "a disk or a network file system" : "");
}

struct waiting {
	char name[64], on[96]; /* of the process; what it waits for */
	pid_t pid;
	uint64_t cpu_ns;
};

static bool read_process(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t len;

	(void) snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
	len = trk__read_at(AT_FDCWD, path, text, size);
	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* False where nothing is known of it. */
static bool look_at(pid_t pid, struct waiting *ret)
{
	char stat[512], wchan[128];
	const char *name, *end;

	if (!read_process(pid, "stat", stat, sizeof(stat)))
		return false;
	name = strchr(stat, '(');
	end = strrchr(stat, ')');
	if (!name || !end || end < name || !end[1])
		return false;
	(void) read_process(pid, "wchan", wchan, sizeof(wchan));
	(void) snprintf(ret->name, sizeof(ret->name), "%.*s", (int) (end - name - 1), name + 1);
	trk__alert_wait_name(end[2], wchan, ret->on, sizeof(ret->on));
	ret->pid = pid;
	return ret->on[0] != '\0';
}

/* A child is more informative than a process that waits for it. */
static bool says_more(const struct waiting *a, const struct waiting *b)
{
	bool of_child = !strcmp(a->on, child_name), was_of_child = !strcmp(b->on, child_name);

	return !b->pid || of_child < was_of_child ||
	       (of_child == was_of_child && a->cpu_ns > b->cpu_ns);
}

struct trk_alert trk__alert_with_wait(const struct trk_alert *alert,
				      const struct trk_record *record)
{
	const struct trk_outcome *o = &record->outcome;
	struct waiting best = {.pid = 0}, w;
	struct trk_alert a = *alert;
	size_t len = strlen(a.text);

	if (a.rule != TRK_ALERT_STALLED || !a.firing)
		return a;
	for (size_t i = 0; i < o->top_count; i++)
		if (o->top[i].alive && look_at(o->top[i].pid, &w)) {
			w.cpu_ns = o->top[i].cpu_ns;
			best = says_more(&w, &best) ? w : best;
		}
	if (!best.pid && (record->run.pid <= 0 || !look_at(record->run.pid, &best)))
		return a;
	(void) snprintf(a.text + len, sizeof(a.text) - len, "; process %d (%s) waits for %s",
			(int) best.pid, best.name, best.on);
	return a;
}
