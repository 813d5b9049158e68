/* Slurm's accounting, the table of sacct: one job, several steps. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "import/delimited.h"
#include "import/private.h"
#include "import/values.h"

/* One job, collected from its steps. */
struct slurm_job {
	char id[64], name[TRK_RUN_TEXT_SIZE];
	struct trk_imp_totals t;
	double start_s;
	bool open, ended;
	bool is_of_task; /* the peak is of one of several tasks */
};

static double larger(double a, double b)
{
	return a >= b || isnan(b) ? a : b;
}

static int slurm_end(struct trk_importing *i, struct slurm_job *j)
{
	if (!j->open)
		return 0;
	j->open = false;
	if (!(j->t.duration_s > 0) || !j->ended) { /* never ran, or its figures will change */
		i->result->skipped++;
		return 0;
	}
	j->t.peak_is = j->is_of_task ? TRK_PEAK_OF_TASK : "sampled";
	trk__imp_clear(i, j->name[0] ? j->name : j->id);
	i->run.start_ns = isnan(j->start_s) ? i->import->time_ns : trk__imp_ns(j->start_s);
	(void) snprintf(i->run.tags, sizeof(i->run.tags), "slurm_job_id=%s", j->id);
	i->run.tags_len = strlen(i->run.tags) + 1;
	trk__imp_key(i, j->id, strlen(j->id));
	trk__imp_key(i, &j->t.duration_s, sizeof(j->t.duration_s));
	return trk__imp_totals(i, &j->t);
}

/* "4000Mc" (a core) and "4Gn" (a node) of older versions, "4G" of newer ones (a node). */
static double request_of(const struct trk_delimited *d)
{
	const char *rest = "";
	double bytes = trk__value_bytes(trk__delimited_cell(d, "ReqMem"), TRK_MIB, &rest);
	double cpus = trk__delimited_value(d, "AllocCPUS");

	return (*rest == 'c' ? bytes * cpus : bytes) / TRK_MIB;
}

static bool starts_with_any(const char *state, const char *const *words)
{
	while (*words && strncmp(state, *words, strlen(*words)) != 0)
		words++;
	return *words != NULL;
}

/* sacct shows no CPU time and memory of a job that runs. */
static bool has_ended(const char *state)
{
	static const char *const others[] = {"PENDING",     "RUNNING",   "SUSPENDED", "COMPLETING",
					     "CONFIGURING", "REQUEUED",  "RESIZING",  "STOPPED",
					     "SIGNALING",   "STAGE_OUT", NULL};

	return !starts_with_any(state, others);
}

static void slurm_outcome(struct trk_imp_totals *t, const char *state, const char *exit)
{
	static const char *const timeouts[] = {"TIMEOUT", "DEADLINE", NULL};
	static const char *const stops[] = {"CANCELLED", "PREEMPTED", "NODE_FAIL",
					    "BOOT_FAIL", "REVOKED",   NULL};
	int code = -1, signal = 0;

	if (sscanf(exit, "%3d:%3d", &code, &signal) >= 1 && code >= 0 && code < 256)
		t->code = code;
	if (!strncmp(state, "OUT_OF_ME", 9)) {
		t->end = TRK_END_OUT_OF_MEMORY;
	} else if (starts_with_any(state, timeouts)) {
		t->end = TRK_END_TIMEOUT;
	} else if (starts_with_any(state, stops)) {
		t->end = TRK_END_STOPPED;
	} else if (signal > 0 && signal < 65) {
		t->end = TRK_END_SIGNALLED;
		t->signal = signal;
		t->code = -1;
	}
}

static void slurm_first(struct slurm_job *j, const struct trk_delimited *d, const char *id,
			size_t id_len)
{
	*j = (struct slurm_job){.t = TRK_IMP_TOTALS_UNKNOWN, .open = true};
	(void) snprintf(j->id, sizeof(j->id), "%.*s", (int) id_len, id);
	(void) snprintf(j->name, sizeof(j->name), "%s", trk__delimited_cell(d, "JobName"));
	j->t.duration_s = trk__delimited_column(d, "ElapsedRaw") >= 0
				  ? trk__delimited_value(d, "ElapsedRaw")
				  : trk__value_clock(trk__delimited_cell(d, "Elapsed"));
	j->start_s = trk__value_date(trk__delimited_cell(d, "Start"));
	j->t.request_mib = request_of(d);
	j->t.request_cpu = trk__delimited_value(d, "AllocCPUS");
	j->t.request_s = trk__value_clock(trk__delimited_cell(d, "Timelimit"));
	j->ended = has_ended(trk__delimited_cell(d, "State"));
	slurm_outcome(&j->t, trk__delimited_cell(d, "State"), trk__delimited_cell(d, "ExitCode"));
}

/* All tasks of a step together: the sum of their peaks (TRESUsageInTot), else their number times
 * the mean of their peaks. NaN: unknown. */
static double tasks_bytes(const struct trk_delimited *d)
{
	const char *at = trk__delimited_cell(d, "TRESUsageInTot"), *rest = "";
	double tasks = trk__delimited_value(d, "NTasks");
	char memory[32];

	while (*at && strncmp(at, "mem=", 4) != 0)
		at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',');
	if (*at) {
		(void) snprintf(memory, sizeof(memory), "%.*s", (int) strcspn(at + 4, ","), at + 4);
		return trk__value_bytes(memory, 1, &rest);
	}
	return tasks * trk__delimited_bytes(d, "AveRSS");
}

/* The batch script is one task, and so is what Slurm starts beside it. */
static bool is_one_task(const struct trk_delimited *d)
{
	const char *step = strchr(trk__delimited_cell(d, "JobID"), '.');

	return trk__delimited_value(d, "NTasks") == 1 || !step || !strcmp(step, ".batch") ||
	       !strcmp(step, ".extern");
}

/* Steps may run at the same time: the peak of the job is at least that of its largest step. */
static void take_peak(struct slurm_job *j, const struct trk_delimited *d)
{
	double task_mib = trk__delimited_bytes(d, "MaxRSS") / TRK_MIB;
	double all_mib = larger(tasks_bytes(d) / TRK_MIB, task_mib);

	if (isnan(all_mib))
		all_mib = task_mib;
	if (j->t.peak_mib >= all_mib || isnan(all_mib))
		return;
	j->t.peak_mib = all_mib;
	j->is_of_task = isnan(tasks_bytes(d)) && !is_one_task(d);
}

static void slurm_step(struct slurm_job *j, const struct trk_delimited *d)
{
	struct trk_imp_totals *t = &j->t;

	t->cpu_s = larger(t->cpu_s, trk__value_clock(trk__delimited_cell(d, "TotalCPU")));
	take_peak(j, d);
	t->read_bytes = larger(t->read_bytes, trk__delimited_bytes(d, "MaxDiskRead"));
	t->write_bytes = larger(t->write_bytes, trk__delimited_bytes(d, "MaxDiskWrite"));
	/* The job's own row may have the state COMPLETED where a step was killed for memory. */
	if (!strncmp(trk__delimited_cell(d, "State"), "OUT_OF_ME", 9))
		t->end = TRK_END_OUT_OF_MEMORY;
}

int trk__imp_sacct(struct trk_importing *i, char *text, size_t len)
{
	struct slurm_job *j = calloc(1, sizeof(*j));
	struct trk_delimited d;
	int r = j ? trk__delimited_init(&d, text, '|') : -ENOMEM;

	if (r < 0) {
		free(j);
		return r == -ENOMEM ? trk__error_set(i->reterr, r, NULL, "out of memory")
				    : trk__imp_bad_table(i, 1);
	}
	while ((r = trk__delimited_next(&d)) > 0) {
		const char *id = trk__delimited_cell(&d, "JobID");
		size_t id_len = strcspn(id, ".");

		if (!j->open || strlen(j->id) != id_len || strncmp(j->id, id, id_len) != 0) {
			r = slurm_end(i, j);
			if (r < 0)
				break;
			slurm_first(j, &d, id, id_len);
		}
		slurm_step(j, &d);
	}
	if (r == 0)
		r = slurm_end(i, j);
	else if (r == -EBADMSG && !i->reterr->code)
		r = trk__imp_bad_table(i, d.line + 1);
	free(j);
	return r;
}
