#include "top/facts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const trk__facts_spent_names[TRK_SPENTS] = {"on CPU", "GPU", "disk", "memory",
							"CPU queue"};
static const char *const spent_keys[TRK_SPENTS] = {"on_cpu", "on_gpu", "disk_wait", "memory_wait",
						   "cpu_wait"};

const char *const trk__facts_sort_names[TRK_SORTS] = {"CPU", "memory", "read", "tree"};

/* ---- processes ---- */

static const double CPU_WAIT_SHARE = 0.2; /* minimum share of time for "waits for a CPU" */

static bool matches(const char *name, const char *filter)
{
	return !filter || !*filter || strstr(name, filter);
}

const char *trk__facts_waits(const struct trk_process_row *row)
{
	switch (row->state) {
	case 'D':
		return "disk";
	case 'T':
	case 't':
		return "stopped";
	case 'Z':
	case 'X':
		return "ended";
	default:
		return row->cpu_wait_share > CPU_WAIT_SHARE ? "CPU" : "";
	}
}

static void take_live(struct trk_facts *f, const struct trk_processes *p, const char *filter)
{
	for (size_t i = 0; i < p->count; i++)
		if (matches(p->row[i].name, filter))
			f->process[f->processes++] = p->row[i];
	f->source = TRK_PROCESSES_LIVE;
	f->source_s = f->t_s;
}

static const struct trk_watch_process *find(const struct trk_watch_top *top, int32_t pid)
{
	for (size_t i = 0; top && i < top->count; i++)
		if (top->process[i].pid == pid)
			return &top->process[i];
	return NULL;
}

static void take_recorded(struct trk_facts *f, const struct trk_watch *w, const char *filter)
{
	const struct trk_watch_top *before, *top = trk__watch_top_at(w, f->t_s, &before);

	if (!top)
		return;
	f->source = TRK_PROCESSES_RECORDED;
	f->source_s = (double) top->at_s;
	for (size_t i = 0; i < top->count; i++) {
		const struct trk_watch_process *p = &top->process[i], *old = find(before, p->pid);
		double seconds = (double) (top->at_s - (old ? before->at_s : 0));
		double cpu_s = (double) (p->cpu_s - (old ? old->cpu_s : 0));
		double bytes = p->read_bytes - (old ? old->read_bytes : 0);
		struct trk_process_row *row;

		if (!matches(p->name, filter))
			continue;
		row = &f->process[f->processes++];
		*row = (struct trk_process_row){
			.pid = p->pid,
			.state = p->alive ? 'S' : 'X',
			.cores = seconds > 0 && cpu_s >= 0 ? cpu_s / seconds : NAN,
			.rss_mib = (double) p->peak_mib,
			.read_bps = seconds > 0 && bytes >= 0 ? bytes / seconds : NAN,
		};
		(void) snprintf(row->name, sizeof(row->name), "%s", p->name);
	}
}

static double key_of(const struct trk_process_row *p, enum trk_facts_sort sort)
{
	double key = sort == TRK_SORT_MEMORY ? p->rss_mib
		     : sort == TRK_SORT_READ ? p->read_bps
					     : p->cores;

	return isnan(key) ? -1 : key;
}

/* Sort by the key, largest first, then by pid, so that rows do not jump. */
static void sort_processes(struct trk_facts *f, enum trk_facts_sort sort)
{
	for (size_t i = 1; i < f->processes; i++) {
		struct trk_process_row p = f->process[i];
		double key = key_of(&p, sort);
		size_t k = i;

		for (; k > 0; k--) {
			double other = key_of(&f->process[k - 1], sort);

			if (other > key || (other >= key && f->process[k - 1].pid <= p.pid))
				break;
			f->process[k] = f->process[k - 1];
		}
		f->process[k] = p;
	}
}

struct tree {
	const struct trk_facts *f;
	struct trk_process_row *row; /* in the new order */
	size_t rows;
	bool placed[TRK_FACTS_PROCESSES_MAX];
};

/* Place a process and its descendants; the tree has no cycles. */
static void place(struct tree *t, size_t i)
{
	t->placed[i] = true;
	t->row[t->rows++] = t->f->process[i];
	for (size_t k = 0; k < t->f->processes; k++)
		if (!t->placed[k] && t->f->process[k].parent == t->f->process[i].pid)
			place(t, k);
}

/* Place children below their parents. Siblings keep the order by CPU of the table. */
static void sort_tree(struct trk_facts *f)
{
	struct tree *t = calloc(1, sizeof(*t));
	struct trk_process_row *row = malloc(sizeof(f->process));

	if (t && row) {
		*t = (struct tree){.f = f, .row = row};
		for (int pass = 0; pass < 2; pass++) /* the root, then orphans */
			for (size_t i = 0; i < f->processes; i++)
				if (!t->placed[i] && (pass == 1 || f->process[i].depth == 0))
					place(t, i);
		memcpy(f->process, row, f->processes * sizeof(*row));
	}
	free(row);
	free(t);
}

/* ---- the moment ---- */

/* Take the newest known figures, as the last row of an ended job lacks many. */
static void take_figures(const struct trk_watch *w, struct trk_facts *f)
{
	enum { BACK = 3 };
	size_t n = trk__watch_count(w, f->t_s), end = n > BACK ? n - BACK : 0;

	for (int i = 0; i < TRK_FIGURES_DRAWN; i++)
		f->value[i] = NAN;
	for (; n > end; n--)
		for (int i = 0; i < TRK_FIGURES_DRAWN; i++)
			if (isnan(f->value[i]))
				f->value[i] = trk__block_figure(&w->outline.block[n - 1],
								(enum trk_block_figure) i);
}

static void take_moment(const struct trk_facts_input *in, struct trk_facts *f)
{
	struct trk_block all = trk__outline_sum(&in->watch->outline, 0, f->t_s);
	double known = 0;
	bool any = false;

	take_figures(in->watch, f);
	for (int i = 0; i < TRK_SPENTS; i++) {
		f->share[i] = all.spent_s[i] / all.seconds;
		if (!isnan(f->share[i])) {
			known += f->share[i];
			any = true;
		}
	}
	f->other = any && known <= 1 ? 1 - known : any ? 0 : NAN;
	f->memory_eta_s = f->running ? trk__watch_memory_eta(in->watch, f->t_s) : NAN;
	f->gpu = trk__watch_gpu_at(in->watch, f->t_s);
	f->gpus = f->record->gpus.count < TRK_WATCH_GPUS_MAX ? f->record->gpus.count
							     : TRK_WATCH_GPUS_MAX;
}

static void take_phase(struct trk_facts *f)
{
	f->phase = SIZE_MAX;
	for (size_t i = 0; f->times && i < f->times->phase_count; i++)
		if (f->t_s + 1e-3 >= f->times->phase[i].start_s)
			f->phase = i;
}

static void take_capacity(struct trk_facts *f)
{
	f->cores = trk__capacity(f->record, TRK_RESOURCE_CPU);
	f->memory_mib = trk__capacity(f->record, TRK_RESOURCE_MEMORY_MIB);
	f->time_s = trk__capacity(f->record, TRK_RESOURCE_TIME_S);
	f->time_left_s = f->time_s.value - f->t_s;
}

void trk__facts_of(const struct trk_facts_input *in, struct trk_facts *ret)
{
	const struct trk_record *r = trk__watch_record(in->watch);
	struct trk_facts *f = ret;

	f->record = r;
	f->end_s = trk__watch_end_s(in->watch);
	f->t_s = in->t_s < f->end_s ? (in->t_s > 0 ? in->t_s : 0) : f->end_s;
	f->running = r->writing && f->t_s >= f->end_s;
	take_capacity(f);
	f->usual = in->usual;
	f->times = trk__watch_times(in->watch);
	take_moment(in, f);
	take_phase(f);
	f->processes = 0;
	f->source = TRK_PROCESSES_NONE;
	f->source_s = NAN;
	if (in->processes && in->processes->count)
		take_live(f, in->processes, in->filter);
	else
		take_recorded(f, in->watch, in->filter);
	sort_processes(f, in->sort);
	if (in->sort == TRK_SORT_TREE && f->source == TRK_PROCESSES_LIVE)
		sort_tree(f);
}

void trk__facts_of_row(const struct trk_record *record, const struct trk_sample *row,
		       struct trk_facts *ret)
{
	struct trk_block block;

	*ret = (struct trk_facts){.record = record, .running = true, .phase = SIZE_MAX};
	ret->t_s = ret->end_s = (double) record->last_elapsed_us / 1e6;
	take_capacity(ret);
	ret->memory_eta_s = NAN;
	if (row)
		block = trk__block_of(row, row, record->run.pid == 0);
	for (int i = 0; i < TRK_FIGURES_DRAWN; i++)
		ret->value[i] =
			row ? trk__block_figure(&block, (enum trk_block_figure) i) : (double) NAN;
}

/* ---- JSON ---- */

static void json_use(struct trk_json *j, const char *key, double value, double had,
		     const char *had_kind)
{
	trk__json_key_open(j, key, '{');
	trk__json_key_double(j, "value", value);
	trk__json_key_double(j, "of", had);
	trk__json_key_text(j, "of_kind", had_kind);
	trk__json_close(j, '}');
}

static void json_spent(struct trk_json *j, const double *share, double other)
{
	trk__json_key_open(j, "time", '{');
	for (int i = 0; i < TRK_SPENTS; i++)
		trk__json_key_double(j, spent_keys[i], share[i]);
	trk__json_key_double(j, "other", other);
	trk__json_close(j, '}');
}

static void json_phases(struct trk_json *j, const struct trk_facts *f)
{
	trk__json_key_open(j, "phases", '[');
	for (size_t i = 0; f->times && i < f->times->phase_count; i++) {
		const struct trk_run_phase *p = &f->times->phase[i];

		trk__json_open(j, '{');
		trk__json_key_text(j, "name", p->name[0] ? p->name : NULL);
		trk__json_key_double(j, "start_s", p->start_s);
		trk__json_key_double(j, "end_s", p->end_s);
		trk__json_key_u64(j, "later_phases", p->later);
		trk__json_key_double(j, "usual_s",
				     f->usual ? trk__usual_course_phase_s(f->usual, f->times, i)
					      : NAN);
		trk__json_key_bool(j, "now", i == f->phase);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void json_processes(struct trk_json *j, const struct trk_facts *f)
{
	static const char *const sources[] = {NULL, "/proc", "recording"};

	trk__json_key_text(j, "processes_from", sources[f->source]);
	trk__json_key_double(j, "processes_at_s", f->source_s);
	trk__json_key_open(j, "processes", '[');
	for (size_t i = 0; i < f->processes; i++) {
		const struct trk_process_row *p = &f->process[i];
		const char *waits = trk__facts_waits(p);

		trk__json_open(j, '{');
		trk__json_key_i64(j, "pid", p->pid);
		trk__json_key_text(j, "name", p->name);
		trk__json_key_double(j, "cores", p->cores);
		trk__json_key_double(j, "memory_mib", p->rss_mib);
		trk__json_key_double(j, "read_bytes_per_s", p->read_bps);
		trk__json_key_text(j, "waits_for", *waits ? waits : NULL);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void json_gpus(struct trk_json *j, const struct trk_facts *f)
{
	trk__json_key_open(j, "gpus", '[');
	for (size_t i = 0; f->gpu && i < f->gpus; i++) {
		trk__json_open(j, '{');
		trk__json_key_text(j, "name", f->record->gpus.total[i].device.name);
		trk__json_key_double(j, "utilization", (double) f->gpu->device[i].use);
		trk__json_key_double(j, "memory_share", (double) f->gpu->device[i].memory);
		trk__json_key_double(j, "power_w", (double) f->gpu->device[i].power);
		trk__json_key_double(j, "temperature_c", (double) f->gpu->device[i].temperature);
		trk__json_close(j, '}');
	}
	trk__json_close(j, ']');
}

static void json_usual(struct trk_json *j, const struct trk_usual_course *u)
{
	double share[TRK_SPENTS];

	if (!trk__json_key_object(j, "usual", u))
		return;
	for (int i = 0; i < TRK_SPENTS; i++)
		share[i] = trk__usual_course_share(u, (enum trk_spent) i);
	trk__json_key_u64(j, "runs", u->runs);
	trk__json_key_double(j, "duration_s", trk__usual_course_seconds(u));
	json_spent(j, share, NAN);
	trk__json_close(j, '}');
}

void trk__facts_json(struct trk_json *j, const struct trk_facts *f)
{
	const struct trk_record *r = f->record;

	trk__json_open(j, '{');
	trk__json_key_text(j, "schema", "resource-tracker.top/1");
	trk__json_key_text(j, "id", r->run.id);
	trk__json_key_text(j, "job", r->run.job[0] ? r->run.job : NULL);
	trk__json_key_text(j, "scope", r->run.scope[0] ? r->run.scope : NULL);
	trk__json_key_bool(j, "running", r->writing);
	trk__json_key_text(j, "verdict", trk__end_name(r->outcome.end));
	trk__json_key_double(j, "at_s", f->t_s);
	trk__json_key_double(j, "recorded_s", f->end_s);
	json_use(j, "cores", f->value[TRK_FIGURE_CORES], f->cores.value,
		 trk__capacity_name(f->cores.kind));
	json_use(j, "memory_mib", f->value[TRK_FIGURE_MEMORY_MIB], f->memory_mib.value,
		 trk__capacity_name(f->memory_mib.kind));
	trk__json_key_double(j, "read_bytes_per_s", f->value[TRK_FIGURE_READ]);
	trk__json_key_double(j, "write_bytes_per_s", f->value[TRK_FIGURE_WRITE]);
	trk__json_key_double(j, "time_left_s", f->time_left_s);
	trk__json_key_double(j, "memory_full_in_s", f->memory_eta_s);
	json_spent(j, f->share, f->other);
	json_usual(j, f->usual);
	json_phases(j, f);
	json_gpus(j, f);
	json_processes(j, f);
	trk__json_close(j, '}');
}
