/* One run of an import: its head, rows, marks and totals, written to a recording. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "import/delimited.h"
#include "import/series.h"
#include "recording/reader.h"
#include "recording/store.h"

/* 1 PiB: more is damage. */
#define MEMORY_END_MIB 1073741824.0

/* "traces/bwa.sample7.tsv.gz" without folders and the suffixes of its format. */
static void name_of_file(const char *file, char *name, size_t size)
{
	static const char *const endings[] = {".gz",  ".json", ".jsonl", ".csv", ".tsv",
					      ".txt", ".log",  ".out",   ".err"};
	const char *slash = strrchr(file, '/');
	size_t len;

	(void) snprintf(name, size, "%s", slash ? slash + 1 : file);
	for (size_t k = 0; k < 2 * sizeof(endings) / sizeof(endings[0]); k++) {
		const char *ending = endings[k % (sizeof(endings) / sizeof(endings[0]))];

		len = strlen(name);
		if (len > strlen(ending) && !strcmp(name + len - strlen(ending), ending))
			name[len - strlen(ending)] = '\0';
	}
}

void trk__imp_clear(struct trk_importing *i, const char *job)
{
	memset(&i->run, 0, sizeof(i->run));
	memset(&i->outcome, 0, sizeof(i->outcome));
	memset(&i->last, 0, sizeof(i->last));
	trk__quantities_clear(i->run.limit, TRK_LIMITS);
	trk__quantities_clear(i->run.request, TRK_REQUESTS);
	trk__quantities_clear(i->outcome.total, TRK_TOTALS);
	memset(i->is_stated, 0, sizeof(i->is_stated));
	i->outcome.code = -1;
	i->outcome.end = TRK_END_EXITED;
	i->hash = 14695981039346656037u;
	i->run.interval_ns = TRK_NS_PER_S;
	if (i->import->job && *i->import->job)
		(void) snprintf(i->run.job, sizeof(i->run.job), "%s", i->import->job);
	else if (job && *job)
		(void) snprintf(i->run.job, sizeof(i->run.job), "%s", job);
	else
		name_of_file(i->import->file, i->run.job, sizeof(i->run.job));
	(void) snprintf(i->run.kind, sizeof(i->run.kind), "import");
	(void) snprintf(i->run.version, sizeof(i->run.version), "%s", i->tool);
	(void) snprintf(i->outcome.sources[0][0], sizeof(i->outcome.sources[0][0]), "import");
	(void) snprintf(i->outcome.sources[0][1], sizeof(i->outcome.sources[0][1]), "%s, %s",
			i->tool, i->import->file);
	i->outcome.source_count = 1;
}

/* FNV-1a. */
void trk__imp_key(struct trk_importing *i, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t k = 0; k < len; k++)
		i->hash = (i->hash ^ bytes[k]) * 1099511628211u;
}

/* Whether the recording has its end record, which is missing after a killed import. */
static bool is_whole(int runs_fd, const char *name)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	bool whole = true;

	if (record && trk__record_read(runs_fd, name, record, NULL, NULL, NULL) == 0) {
		whole = record->ended || record->writing;
		trk__record_release(record);
	}
	free(record);
	return whole;
}

void trk__imp_drop(struct trk_importing *i)
{
	if (i->writer)
		i->result->runs--;
	trk__writer_discard(i->writer);
	i->writer = NULL;
}

int trk__imp_begin(struct trk_importing *i)
{
	struct trk_error error = {.code = 0};
	char name[96];

	trk__imp_key(i, i->run.job, strlen(i->run.job));
	(void) snprintf(i->run.id, sizeof(i->run.id), "i-%08" PRIx64,
			(i->hash ^ i->hash >> 32) & 0xffffffff);
	if (i->run.pid == 0)
		i->run.pid = 1; /* a process tree of unknown pid */
	trk__store_name(&i->run, name);
	i->writer = trk__writer_new(i->import->runs_fd, name, &i->run, 0, &error);
	if (!i->writer && error.code == -EEXIST && !is_whole(i->import->runs_fd, name)) {
		(void) unlinkat(i->import->runs_fd, name, 0);
		i->writer = trk__writer_new(i->import->runs_fd, name, &i->run, 0, &error);
	}
	if (i->writer) {
		trk__writer_batch(i->writer);
		i->result->runs++;
		return 0;
	}
	if (error.code == -EEXIST) {
		i->result->known++;
		return 0;
	}
	*i->reterr = error;
	return error.code;
}

void trk__imp_progress(struct trk_importing *i, const char *at)
{
	enum { ROWS_BETWEEN = 1024 };

	if (!i->import->on_progress || ++i->rows_since_progress < ROWS_BETWEEN)
		return;
	i->rows_since_progress = 0;
	i->import->on_progress(i->import->data, (uint64_t) (at - i->text), i->len);
}

int trk__imp_row(struct trk_importing *i, const struct trk_sample *s)
{
	i->last = *s;
	return i->writer ? trk__writer_row(i->writer, s) : 0;
}

int trk__imp_mark(struct trk_importing *i, double elapsed_s, const char *name)
{
	struct trk_mark m = {.elapsed_ns = 0};

	if (!(elapsed_s >= 0 && elapsed_s < 1e9))
		return 0;
	m.elapsed_ns = (uint64_t) (elapsed_s * 1e9);
	m.time_ns = i->run.start_ns + m.elapsed_ns;
	(void) snprintf(m.name, sizeof(m.name), "%s", name);
	return i->writer ? trk__writer_mark(i->writer, &m) : 0;
}

int trk__imp_failed(struct trk_importing *i, int r)
{
	return i->reterr->code
		       ? i->reterr->code
		       : trk__error_set(i->reterr, r, NULL, "recording: %s", trk__strerror(r));
}

int trk__imp_end(struct trk_importing *i)
{
	int r = 0;

	if (i->outcome.duration_ns == 0 && trk__sample_knows(&i->last, TRK_ELAPSED))
		i->outcome.duration_ns = (uint64_t) i->last.value[TRK_ELAPSED] * 1000;
	i->outcome.stop_ns = i->run.start_ns + i->outcome.duration_ns;
	if (i->writer)
		r = trk__writer_end(i->writer, &i->outcome);
	if (r < 0) {
		trk__imp_drop(i);
		return trk__imp_failed(i, r);
	}
	trk__writer_free(i->writer);
	i->writer = NULL;
	return 0;
}

uint64_t trk__imp_ns(double seconds)
{
	uint64_t whole;

	if (!(seconds > 0 && seconds < 1e10))
		return 0;
	whole = (uint64_t) seconds;
	return whole * TRK_NS_PER_S + (uint64_t) ((seconds - (double) whole) * 1e6 + 0.5) * 1000;
}

void trk__imp_set(struct trk_sample *s, int column, double value)
{
	trk__series_set(s, column, value, (double) trk__columns[column].divisor);
}

/* ---- a run of totals ---- */

static void add_total(struct trk_importing *i, enum trk_total total, double value,
		      const char *reason)
{
	bool wrong = value < 0 || (total == TRK_TOTAL_PEAK_MEMORY_MIB && value >= MEMORY_END_MIB);

	if (!i->is_stated[total])
		trk__quantity_set(&i->outcome.total[total], wrong ? (double) NAN : value,
				  TRK_QUALITY_AT_LEAST, i->tool,
				  wrong ? "the figure in the file cannot be right" : reason);
}

void trk__imp_add_totals(struct trk_importing *i, const struct trk_imp_totals *t, double cpu_s,
			 const char *cpu_is, const char *others_are)
{
	add_total(i, TRK_TOTAL_CPU_S, cpu_s, cpu_is);
	add_total(i, TRK_TOTAL_CPU_USER_S, t->user_s, others_are);
	add_total(i, TRK_TOTAL_CPU_SYSTEM_S, t->system_s, others_are);
	add_total(i, TRK_TOTAL_PEAK_MEMORY_MIB, t->peak_mib, t->peak_is);
	add_total(i, TRK_TOTAL_DISK_READ_BYTES, t->read_bytes, others_are);
	add_total(i, TRK_TOTAL_DISK_WRITE_BYTES, t->write_bytes, others_are);
}

int trk__imp_totals(struct trk_importing *i, const struct trk_imp_totals *t)
{
	double cpu_s = isnan(t->cpu_s) ? t->user_s + t->system_s : t->cpu_s;
	struct trk_sample s = {.known = 0};
	int r;

	trk__imp_add_totals(i, t, cpu_s, "the processes of the job that the tool saw", NULL);
	trk__quantity_set(&i->run.request[TRK_REQUEST_CPU], t->request_cpu, TRK_QUALITY_EXACT,
			  i->tool, NULL);
	trk__quantity_set(&i->run.request[TRK_REQUEST_MEMORY_MIB], t->request_mib,
			  TRK_QUALITY_EXACT, i->tool, NULL);
	trk__quantity_set(&i->run.request[TRK_REQUEST_TIME_S], t->request_s, TRK_QUALITY_EXACT,
			  i->tool, NULL);
	i->outcome.code = t->code;
	i->outcome.signal = t->signal;
	i->outcome.end = t->end;
	if (t->duration_s > 0 && t->duration_s < 1e9)
		i->outcome.duration_ns = (uint64_t) (t->duration_s * 1e9);
	r = trk__imp_begin(i);
	if (r == 0 && i->outcome.duration_ns) {
		trk__imp_set(&s, TRK_ELAPSED, t->duration_s);
		trk__imp_set(&s, TRK_INTERVAL, t->duration_s);
		trk__imp_set(&s, TRK_TIMESTAMP, (double) i->run.start_ns / 1e9 + t->duration_s);
		trk__imp_set(&s, TRK_PROCESS_UTIME, isnan(t->user_s) ? cpu_s : t->user_s);
		trk__imp_set(&s, TRK_PROCESS_STIME, isnan(t->user_s) ? 0 : t->system_s);
		trk__imp_set(&s, TRK_PROCESS_CPU_USAGE, cpu_s / t->duration_s);
		trk__imp_set(&s, TRK_PROCESS_DISK_READ, t->read_bytes);
		trk__imp_set(&s, TRK_PROCESS_DISK_WRITE, t->write_bytes);
		r = trk__imp_row(i, &s);
	}
	if (r == 0)
		return trk__imp_end(i);
	trk__imp_drop(i);
	return trk__imp_failed(i, r);
}

void trk__imp_ends_with_file(struct trk_importing *i, double duration_s)
{
	double start_s = (double) i->import->time_ns / 1e9 - (duration_s > 0 ? duration_s : 0);

	i->run.start_ns = trk__imp_ns(start_s);
}

int trk__imp_bad_table(struct trk_importing *i, unsigned long line)
{
	return trk__error_set(i->reterr, -EBADMSG, i->import->file,
			      "%s:%lu: more than %d cells, or a quote that is not closed",
			      i->import->file, line, TRK_DELIMITED_CELLS_MAX);
}
