#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/gzip.h"
#include "import/private.h"
#include "recording/reader.h"
#include "recording/store.h"

/* 1 PiB: more is damage. */
#define MEMORY_END_MIB 1073741824.0

#define MIB 1048576.0

const char *const trk__import_names[TRK_IMPORT_FORMATS] = {
	[TRK_IMPORT_SNAPSHOT] = "snapshot",   [TRK_IMPORT_TABLE] = "csv",
	[TRK_IMPORT_JSON_LINES] = "jsonl",    [TRK_IMPORT_GNU_TIME] = "gnu-time",
	[TRK_IMPORT_SNAKEMAKE] = "snakemake", [TRK_IMPORT_NEXTFLOW] = "nextflow",
	[TRK_IMPORT_SACCT] = "sacct",         [TRK_IMPORT_AUTOMETRIC] = "autometric",
};

int trk__import_find(const char *name)
{
	for (int i = 0; i < TRK_IMPORT_FORMATS; i++)
		if (!strcmp(trk__import_names[i], name))
			return i;
	return -2;
}

/* ---- one run ---- */

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
	i->outcome.verdict = TRK_VERDICT_EXITED;
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

/* Delete a recording that could not be finished: the next import writes it again. */
static void drop_run(struct trk_importing *i)
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

int trk__imp_end(struct trk_importing *i)
{
	int r = 0;

	if (i->outcome.duration_ns == 0 && trk__sample_knows(&i->last, TRK_ELAPSED))
		i->outcome.duration_ns = (uint64_t) i->last.value[TRK_ELAPSED] * 1000;
	i->outcome.stop_ns = i->run.start_ns + i->outcome.duration_ns;
	if (i->writer)
		r = trk__writer_end(i->writer, &i->outcome);
	if (r < 0) {
		drop_run(i);
		return trk__error_set(i->reterr, r, NULL, "recording: %s", trk__strerror(r));
	}
	trk__writer_free(i->writer);
	i->writer = NULL;
	return 0;
}

void trk__imp_total(struct trk_importing *i, enum trk_total total, double value,
		    enum trk_quality quality, const char *reason)
{
	bool wrong = value < 0 || (total == TRK_TOTAL_PEAK_MEMORY_MIB && value >= MEMORY_END_MIB);

	if (i->is_stated[total])
		return;
	trk__quantity_set(&i->outcome.total[total], wrong ? (double) NAN : value, quality, i->tool,
			  wrong ? "the figure in the file cannot be right" : reason);
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
	double stored = value * (double) trk__columns[column].divisor;

	/* Also false for NaN. Beyond it a sum over a run would not fit. */
	if (stored > -9e15 && stored < 9e15)
		trk__sample_set(s, column, (int64_t) (stored < 0 ? stored - 0.5 : stored + 0.5));
}

/* ---- a run of totals ---- */

static void totals_of(struct trk_importing *i, const struct trk_imp_totals *t, double cpu_s)
{
	trk__imp_total(i, TRK_TOTAL_CPU_S, cpu_s, TRK_QUALITY_AT_LEAST,
		       "what the tool saw of the job's processes");
	trk__imp_total(i, TRK_TOTAL_CPU_USER_S, t->user_s, TRK_QUALITY_AT_LEAST, NULL);
	trk__imp_total(i, TRK_TOTAL_CPU_SYSTEM_S, t->system_s, TRK_QUALITY_AT_LEAST, NULL);
	trk__imp_total(i, TRK_TOTAL_PEAK_MEMORY_MIB, t->peak_mib, TRK_QUALITY_AT_LEAST, t->peak_is);
	trk__imp_total(i, TRK_TOTAL_DISK_READ_BYTES, t->read_bytes, TRK_QUALITY_AT_LEAST, NULL);
	trk__imp_total(i, TRK_TOTAL_DISK_WRITE_BYTES, t->write_bytes, TRK_QUALITY_AT_LEAST, NULL);
	trk__quantity_set(&i->run.request[TRK_REQUEST_CPU], t->request_cpu, TRK_QUALITY_EXACT,
			  i->tool, NULL);
	trk__quantity_set(&i->run.request[TRK_REQUEST_MEMORY_MIB], t->request_mib,
			  TRK_QUALITY_EXACT, i->tool, NULL);
}

int trk__imp_totals(struct trk_importing *i, const struct trk_imp_totals *t)
{
	double cpu_s = isnan(t->cpu_s) ? t->user_s + t->system_s : t->cpu_s;
	struct trk_sample s = {.known = 0};
	int r;

	totals_of(i, t, cpu_s);
	i->outcome.code = t->code;
	i->outcome.signal = t->signal;
	i->outcome.verdict = t->verdict;
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
	drop_run(i);
	return i->reterr->code
		       ? i->reterr->code
		       : trk__error_set(i->reterr, r, NULL, "recording: %s", trk__strerror(r));
}

/* ---- which format ---- */

/* True if `word` is in the first `len` bytes. */
static bool has(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word)) != NULL;
}

enum trk_import_format trk__import_detect(const char *text, size_t len)
{
	size_t blank = strspn(text, "\xef\xbb\xbf \t\r\n");
	const char *s = text + (blank < len ? blank : len);
	size_t left = len - (size_t) (s - text), line = strcspn(s, "\n");

	if (*s == '{' && has(s, left, "\"process_metrics\""))
		return TRK_IMPORT_SNAPSHOT;
	if (*s == '{' && (has(s, line, "\"timestamp_secs\"") || has(s, line, "\"timestamp\":")))
		return TRK_IMPORT_JSON_LINES;
	if (has(s, left, "__AUTOMETRIC__|"))
		return TRK_IMPORT_AUTOMETRIC;
	if (has(s, left, "Command being timed:"))
		return TRK_IMPORT_GNU_TIME;
	if (has(s, line, "max_rss") && has(s, line, "max_pss"))
		return TRK_IMPORT_SNAKEMAKE;
	if (has(s, line, "\t") && has(s, line, "realtime") && has(s, line, "peak_rss"))
		return TRK_IMPORT_NEXTFLOW;
	if (has(s, line, "JobID") && has(s, line, "|"))
		return TRK_IMPORT_SACCT;
	if (has(s, line, "timestamp") && has(s, line, ","))
		return TRK_IMPORT_TABLE;
	if (has(s, left, "\n{\"") && has(s, left, "\"timestamp_secs\""))
		return TRK_IMPORT_JSON_LINES;
	return TRK_IMPORT_UNKNOWN;
}

int trk__import_text(const struct trk_import *import, char *text, size_t len,
		     enum trk_import_format format, struct trk_import_result *ret,
		     struct trk_error *reterr)
{
	static const struct {
		const char *tool;
		int (*read)(struct trk_importing *i, char *text, size_t len);
	} readers[TRK_IMPORT_FORMATS] = {
		[TRK_IMPORT_SNAPSHOT] = {"resource-tracker snapshot", trk__imp_snapshot},
		[TRK_IMPORT_TABLE] = {"resource-tracker CSV", trk__imp_table},
		[TRK_IMPORT_JSON_LINES] = {"resource-tracker JSON Lines", trk__imp_json_lines},
		[TRK_IMPORT_GNU_TIME] = {"GNU time", trk__imp_gnu_time},
		[TRK_IMPORT_SNAKEMAKE] = {"Snakemake benchmark", trk__imp_snakemake},
		[TRK_IMPORT_NEXTFLOW] = {"Nextflow trace", trk__imp_nextflow},
		[TRK_IMPORT_SACCT] = {"sacct", trk__imp_sacct},
		[TRK_IMPORT_AUTOMETRIC] = {"autometric", trk__imp_autometric},
	};
	struct trk_importing *i = calloc(1, sizeof(*i));
	int r;

	if (!i)
		return trk__error_set(reterr, -ENOMEM, NULL, "out of memory");
	*ret = (struct trk_import_result){.format = format};
	if (format == TRK_IMPORT_UNKNOWN)
		ret->format =
			strlen(text) == len ? trk__import_detect(text, len) : TRK_IMPORT_UNKNOWN;
	i->import = import;
	i->result = ret;
	i->reterr = reterr;
	i->text = text;
	i->len = len;
	if (ret->format == TRK_IMPORT_UNKNOWN) {
		r = trk__error_set(reterr, -TRK_E_UNSUPPORTED, import->file,
				   "%s: not a file that can be imported", import->file);
	} else {
		i->tool = readers[ret->format].tool;
		r = readers[ret->format].read(i, text, len);
		if (r == 0 && ret->runs + ret->known == 0)
			r = trk__error_set(reterr, -TRK_E_NODATA, import->file,
					   "%s: no run in it (read as %s)", import->file,
					   trk__import_names[ret->format]);
	}
	if (i->writer)
		drop_run(i);
	free(i);
	return r;
}

/* ---- a file, compressed or not ---- */

/* Read all, at most the bound and one byte. */
static int read_all(void *from, int (*read_some)(void *from, void *to, unsigned int len),
		    char **ret, size_t *retlen)
{
	size_t len = 0, cap = 1 << 16;
	char *text = malloc(cap);
	int n = 0;

	while (text && (n = read_some(from, text + len, (unsigned int) (cap - len - 1))) > 0) {
		char *bigger;

		len += (size_t) n;
		if (len < cap - 1)
			continue;
		cap *= 2;
		if (cap > TRK_IMPORT_MAX_BYTES + 1) {
			free(text);
			return -EFBIG;
		}
		bigger = realloc(text, cap);
		if (!bigger)
			free(text);
		text = bigger;
	}
	if (!text)
		return -ENOMEM;
	if (n < 0) {
		free(text);
		return n;
	}
	text[len] = '\0';
	*ret = text;
	*retlen = len;
	return 0;
}

static int read_plain(void *from, void *to, unsigned int len)
{
	ssize_t n;

	do {
		n = read(*(const int *) from, to, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (int) n;
}

static int read_gzip(void *from, void *to, unsigned int len)
{
	return trk__gzip_read(from, to, len);
}

static int load_gzip(int fd, char **ret, size_t *retlen)
{
	struct trk_gzip *z;
	int r;

	z = trk__gzip_open(fd, 0, &r);
	if (!z)
		return r;
	r = read_all(z, read_gzip, ret, retlen);
	/* Also detects a missing end. */
	if (trk__gzip_close(z) < 0 && r == 0) {
		free(*ret);
		r = -EBADMSG;
	}
	return r;
}

int trk__import_load(const char *path, char **ret, size_t *retlen, struct trk_error *reterr)
{
	unsigned char head[2] = {0, 0};
	/* O_NONBLOCK: a FIFO without a writer reads as empty, instead of blocking. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r;
	struct stat st;

	if (fd >= 0)
		(void) fcntl(fd, F_SETFL, O_RDONLY);
	if (fd < 0)
		return trk__error_set(reterr, -errno, path, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		trk__close(fd);
		return trk__error_set(reterr, -EISDIR, path, "%s: is a directory", path);
	}
	if (pread(fd, head, 2, 0) == 2 && head[0] == 0x1f && head[1] == 0x8b)
		r = load_gzip(fd, ret, retlen);
	else
		r = read_all(&fd, read_plain, ret, retlen);
	trk__close(fd);
	if (r == -TRK_E_UNSUPPORTED)
		return trk__error_set(reterr, r, path,
				      "%s: compressed, and libz.so.1 is not there. Try: gunzip",
				      path);
	if (r == -EBADMSG)
		return trk__error_set(reterr, r, path, "%s: damaged gzip file", path);
	return r < 0 ? trk__error_set(reterr, r, path, "%s: %s", path, trk__strerror(r)) : 0;
}
