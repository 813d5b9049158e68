/* Tables of many jobs: Nextflow's trace, Slurm's accounting. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "import/delimited.h"
#include "import/private.h"
#include "import/values.h"

#define MIB 1048576.0

static int bad_table(struct trk_importing *i, unsigned long line)
{
	return trk__error_set(i->reterr, -EBADMSG, i->import->file,
			      "%s:%lu: more than %d cells, or a quote that is not closed",
			      i->import->file, line, TRK_DELIMITED_CELLS_MAX);
}

/* ---- Nextflow ---- */

struct trace {
	int name, status, exit, start, submit, realtime, cpu, peak_rss, read_bytes, write_bytes,
		memory, cpus, hash, task;
};

/* "ALIGN:BWA (sample 7)" without its tag: the tasks of a process are the runs of one job. */
static void process_of(const char *name, char *job, size_t size)
{
	size_t len = strlen(name);
	const char *tag = len && name[len - 1] == ')' ? strstr(name, " (") : NULL;

	(void) snprintf(job, size, "%.*s", (int) (tag ? (size_t) (tag - name) : len), name);
}

static int nextflow_row(struct trk_importing *i, const struct trk_delimited *d,
			const struct trace *c)
{
	struct trk_imp_totals t = TRK_IMP_TOTALS_UNKNOWN;
	const char *status = trk__delimited_text(d, c->status);
	const char *hash = trk__delimited_text(d, c->hash), *task = trk__delimited_text(d, c->task);
	double percent, start_s = trk__value_date(trk__delimited_text(d, c->start));
	double code = trk__delimited_number(d, c->exit);
	char job[TRK_RUN_TEXT_SIZE], number[32];

	t.duration_s = trk__value_words(trk__delimited_text(d, c->realtime));
	t.peak_mib = trk__value_bytes(trk__delimited_text(d, c->peak_rss), 1, NULL) / MIB;
	t.peak_is = "sum of the peaks of its processes, sampled";
	t.read_bytes = trk__value_bytes(trk__delimited_text(d, c->read_bytes), 1, NULL);
	t.write_bytes = trk__value_bytes(trk__delimited_text(d, c->write_bytes), 1, NULL);
	t.request_mib = trk__value_bytes(trk__delimited_text(d, c->memory), 1, NULL) / MIB;
	t.request_cpu = trk__delimited_number(d, c->cpus);
	(void) snprintf(number, sizeof(number), "%s", trk__delimited_text(d, c->cpu));
	number[strcspn(number, "%")] = '\0';
	if (trk__parse_decimal(number, &percent) == 0)
		t.cpu_s = percent / 100 * t.duration_s;
	if (!(t.duration_s >= 0) || !strcmp(status, "CACHED")) { /* ran in an earlier workflow */
		i->result->skipped++;
		return 0;
	}
	t.code = code >= 0 && code < 256 ? (int) code : !strcmp(status, "COMPLETED") ? 0 : -1;
	if (t.code == -1 && strcmp(status, "COMPLETED") != 0)
		t.verdict = TRK_VERDICT_STOPPED;
	if (isnan(start_s))
		start_s = trk__value_date(trk__delimited_text(d, c->submit));
	process_of(trk__delimited_text(d, c->name), job, sizeof(job));
	trk__imp_clear(i, job);
	i->run.start_ns = isnan(start_s) ? i->import->time_ns : trk__imp_ns(start_s);
	trk__imp_key(i, hash, strlen(hash));
	trk__imp_key(i, task, strlen(task));
	trk__imp_key(i, &t.duration_s, sizeof(t.duration_s));
	trk__imp_key(i, &t.peak_mib, sizeof(t.peak_mib));
	return trk__imp_totals(i, &t);
}

int trk__imp_nextflow(struct trk_importing *i, char *text, size_t len)
{
	struct trk_delimited d;
	struct trace c;
	int r = trk__delimited_init(&d, text, '\t');

	if (r < 0)
		return bad_table(i, 1);
	c = (struct trace){
		.name = trk__delimited_column(&d, "process"),
		.status = trk__delimited_column(&d, "status"),
		.exit = trk__delimited_column(&d, "exit"),
		.start = trk__delimited_column(&d, "start"),
		.submit = trk__delimited_column(&d, "submit"),
		.realtime = trk__delimited_column(&d, "realtime"),
		.cpu = trk__delimited_column(&d, "%cpu"),
		.peak_rss = trk__delimited_column(&d, "peak_rss"),
		.read_bytes = trk__delimited_column(&d, "read_bytes"),
		.write_bytes = trk__delimited_column(&d, "write_bytes"),
		.memory = trk__delimited_column(&d, "memory"),
		.cpus = trk__delimited_column(&d, "cpus"),
		.hash = trk__delimited_column(&d, "hash"),
		.task = trk__delimited_column(&d, "task_id"),
	};
	if (c.name < 0)
		c.name = trk__delimited_column(&d, "name");
	while ((r = trk__delimited_next(&d)) > 0) {
		r = nextflow_row(i, &d, &c);
		if (r < 0)
			return r;
	}
	return r < 0 ? bad_table(i, d.line + 1) : 0;
}

/* ---- sacct ---- */

struct sacct {
	int id, name, state, exit, elapsed, elapsed_raw, cpu, rss, request, cpus, nodes, start,
		read, write;
};

/* One job, collected from its steps. */
struct slurm_job {
	char id[64], name[TRK_RUN_TEXT_SIZE];
	struct trk_imp_totals t;
	double start_s;
	bool open, ended;
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
	j->t.peak_is = "largest task of any step, sampled";
	trk__imp_clear(i, j->name[0] ? j->name : j->id);
	i->run.start_ns = isnan(j->start_s) ? i->import->time_ns : trk__imp_ns(j->start_s);
	(void) snprintf(i->run.tags, sizeof(i->run.tags), "slurm_job_id=%s", j->id);
	i->run.tags_len = strlen(i->run.tags) + 1;
	trk__imp_key(i, j->id, strlen(j->id));
	trk__imp_key(i, &j->t.duration_s, sizeof(j->t.duration_s));
	return trk__imp_totals(i, &j->t);
}

/* "4000Mc" (a core) and "4Gn" (a node) of older versions, "4G" of newer ones (a node). */
static double request_of(const struct trk_delimited *d, const struct sacct *c)
{
	const char *rest = "";
	double bytes = trk__value_bytes(trk__delimited_text(d, c->request), MIB, &rest);
	double cpus = trk__delimited_number(d, c->cpus);

	return (*rest == 'c' ? bytes * cpus : bytes) / MIB;
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

static void slurm_verdict(struct trk_imp_totals *t, const char *state, const char *exit)
{
	static const char *const timeouts[] = {"TIMEOUT", "DEADLINE", NULL};
	static const char *const stops[] = {"CANCELLED", "PREEMPTED", "NODE_FAIL",
					    "BOOT_FAIL", "REVOKED",   NULL};
	int code = -1, signal = 0;

	if (sscanf(exit, "%3d:%3d", &code, &signal) >= 1 && code >= 0 && code < 256)
		t->code = code;
	if (!strncmp(state, "OUT_OF_ME", 9)) {
		t->verdict = TRK_VERDICT_OUT_OF_MEMORY;
	} else if (starts_with_any(state, timeouts)) {
		t->verdict = TRK_VERDICT_TIMEOUT;
	} else if (starts_with_any(state, stops)) {
		t->verdict = TRK_VERDICT_STOPPED;
	} else if (signal > 0 && signal < 65) {
		t->verdict = TRK_VERDICT_SIGNALLED;
		t->signal = signal;
		t->code = -1;
	}
}

static void slurm_first(struct slurm_job *j, const struct trk_delimited *d, const struct sacct *c,
			const char *id, size_t id_len)
{
	*j = (struct slurm_job){.t = TRK_IMP_TOTALS_UNKNOWN, .open = true};
	(void) snprintf(j->id, sizeof(j->id), "%.*s", (int) id_len, id);
	(void) snprintf(j->name, sizeof(j->name), "%s", trk__delimited_text(d, c->name));
	j->t.duration_s = c->elapsed_raw >= 0
				  ? trk__delimited_number(d, c->elapsed_raw)
				  : trk__value_clock(trk__delimited_text(d, c->elapsed));
	j->start_s = trk__value_date(trk__delimited_text(d, c->start));
	j->t.request_mib = request_of(d, c);
	j->t.request_cpu = trk__delimited_number(d, c->cpus);
	j->ended = has_ended(trk__delimited_text(d, c->state));
	slurm_verdict(&j->t, trk__delimited_text(d, c->state), trk__delimited_text(d, c->exit));
}

static void slurm_step(struct slurm_job *j, const struct trk_delimited *d, const struct sacct *c)
{
	struct trk_imp_totals *t = &j->t;

	t->cpu_s = larger(t->cpu_s, trk__value_clock(trk__delimited_text(d, c->cpu)));
	t->peak_mib = larger(t->peak_mib,
			     trk__value_bytes(trk__delimited_text(d, c->rss), 1, NULL) / MIB);
	t->read_bytes =
		larger(t->read_bytes, trk__value_bytes(trk__delimited_text(d, c->read), 1, NULL));
	t->write_bytes =
		larger(t->write_bytes, trk__value_bytes(trk__delimited_text(d, c->write), 1, NULL));
	/* The job's own row may have the state COMPLETED where a step was killed for memory. */
	if (!strncmp(trk__delimited_text(d, c->state), "OUT_OF_ME", 9))
		t->verdict = TRK_VERDICT_OUT_OF_MEMORY;
}

int trk__imp_sacct(struct trk_importing *i, char *text, size_t len)
{
	struct slurm_job *j = calloc(1, sizeof(*j));
	struct trk_delimited d;
	struct sacct c;
	int r = j ? trk__delimited_init(&d, text, '|') : -ENOMEM;

	if (r < 0) {
		free(j);
		return r == -ENOMEM ? trk__error_set(i->reterr, r, NULL, "out of memory")
				    : bad_table(i, 1);
	}
	c = (struct sacct){
		.id = trk__delimited_column(&d, "JobID"),
		.name = trk__delimited_column(&d, "JobName"),
		.state = trk__delimited_column(&d, "State"),
		.exit = trk__delimited_column(&d, "ExitCode"),
		.elapsed = trk__delimited_column(&d, "Elapsed"),
		.elapsed_raw = trk__delimited_column(&d, "ElapsedRaw"),
		.cpu = trk__delimited_column(&d, "TotalCPU"),
		.rss = trk__delimited_column(&d, "MaxRSS"),
		.request = trk__delimited_column(&d, "ReqMem"),
		.cpus = trk__delimited_column(&d, "AllocCPUS"),
		.start = trk__delimited_column(&d, "Start"),
		.read = trk__delimited_column(&d, "MaxDiskRead"),
		.write = trk__delimited_column(&d, "MaxDiskWrite"),
	};
	while ((r = trk__delimited_next(&d)) > 0) {
		const char *id = trk__delimited_text(&d, c.id);
		size_t id_len = strcspn(id, ".");

		if (!j->open || strlen(j->id) != id_len || strncmp(j->id, id, id_len) != 0) {
			r = slurm_end(i, j);
			if (r < 0)
				break;
			slurm_first(j, &d, &c, id, id_len);
		}
		slurm_step(j, &d, &c);
	}
	if (r == 0)
		r = slurm_end(i, j);
	else if (r == -EBADMSG && !i->reterr->code)
		r = bad_table(i, d.line + 1);
	free(j);
	return r;
}
