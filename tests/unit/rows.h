/* Rows, runs and recordings for the tests of the layers above the probes. Include it after
 * <cmocka.h>. */
#ifndef TRK_TESTS_ROWS_H
#define TRK_TESTS_ROWS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "recording/reader.h"
#include "recording/writer.h"

enum { ROW_BYTES_MAX = 1 << 20 };

/* A temporary folder and a descriptor of it. */
struct folder {
	char path[256];
	int fd;
};

static inline void folder_init(struct folder *f)
{
	const char *tmp = getenv("TMPDIR");

	(void) snprintf(f->path, sizeof(f->path), "%s/trk-test-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(f->path));
	f->fd = trk__open_dir_at(AT_FDCWD, f->path);
	assert_true(f->fd >= 0);
}

static inline void folder_release(struct folder *f)
{
	assert_int_equal(rmdir(f->path), 0);
	trk__close(f->fd);
}

static inline void run_init(struct trk_run *run)
{
	memset(run, 0, sizeof(*run));
	(void) snprintf(run->id, sizeof(run->id), "r-0a1b2c3d");
	(void) snprintf(run->job, sizeof(run->job), "align");
	(void) snprintf(run->kind, sizeof(run->kind), "run");
	(void) snprintf(run->version, sizeof(run->version), "1.2.3");
	memcpy(run->command, "sort\0-u", 8);
	run->command_len = 8;
	memcpy(run->tags, "lane=7", 7);
	run->tags_len = 7;
	run->pid = 4242;
	run->start_ns = 1700000000123456789;
	run->interval_ns = 1000000000;
	for (int i = 0; i < TRK_LIMITS; i++)
		trk__quantity_set(&run->limit[i], i == TRK_LIMIT_PIDS ? NAN : (double) (16 + i),
				  TRK_QUALITY_EXACT, "cpu.max", NULL);
}

static inline void outcome_init(struct trk_outcome *o)
{
	memset(o, 0, sizeof(*o));
	o->end = TRK_END_EXITED;
	o->code = 3;
	(void) snprintf(o->evidence, sizeof(o->evidence), "wait status");
	o->stop_ns = 1700000100123456789;
	o->duration_ns = 100000000001;
	for (int i = 0; i < TRK_TOTALS; i++)
		trk__quantity_set(&o->total[i], i == TRK_TOTAL_MAJOR_FAULTS ? NAN : 10.5 * i,
				  TRK_QUALITY_AT_LEAST, "source", "reason");
	/* Nothing was swapped out, and no fork refused: that would be told. */
	trk__quantities_clear(&o->total[TRK_TOTAL_PEAK_SWAP_MIB], 1);
	trk__quantities_clear(&o->total[TRK_TOTAL_PEAK_HUGE_PAGES_MIB], 1);
	trk__quantities_clear(&o->total[TRK_TOTAL_PEAK_FILE_PAGES_MIB], 1);
	trk__quantity_set(&o->total[TRK_TOTAL_FORKS_REFUSED], 0, TRK_QUALITY_AT_MOST, "source",
			  "reason");
	o->top_count = 1;
	o->top[0] = (struct trk_process_info){.pid = 7,
					      .alive = true,
					      .name = "sort",
					      .command = "sort -u",
					      .cpu_ns = 5,
					      .peak_bytes = 6,
					      .read_bytes = 7,
					      .write_bytes = 8};
	o->left_behind = 2;
	o->missed = 3;
	o->late = 4;
	o->tracker_cpu_ns = 55;
	o->tracker_rss_bytes = 66;
	o->source_count = 1;
	(void) snprintf(o->sources[0][0], sizeof(o->sources[0][0]), "cgroup");
	(void) snprintf(o->sources[0][1], sizeof(o->sources[0][1]), "cgroup v2");
}

/* Row number n: every column but two is known; those are unknown in every third row. */
static inline void row_init(struct trk_sample *s, int64_t n)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < TRK_COLUMNS; i++)
		if (n % 3 || (i != TRK_SYSTEM_GPU_USAGE && i != TRK_PROCESS_MEMORY))
			trk__sample_set(s, i, n * 131 % 1009 * (i + 1) + i);
	trk__sample_set(s, TRK_TIMESTAMP, 1700000000123 + n * 1000);
	trk__sample_set(s, TRK_ELAPSED, n * 1000000);
	trk__sample_set(s, TRK_INTERVAL, 1000000);
	trk__sample_set(s, TRK_PROCESS_GPU_UTILIZED, n % 2); /* as many as a server can have */
}

/* Rows as they are read back. */
struct rows {
	struct trk_sample mean[64];
	size_t count;
	uint64_t stands_for;
	uint64_t last_rows;
	struct trk_sample last;
};

static inline int rows_take(void *data, uint64_t rows, const struct trk_sample *mean,
			    const struct trk_sample *min, const struct trk_sample *max)
{
	struct rows *r = data;

	(void) min;
	(void) max;
	if (r->count < 64)
		r->mean[r->count] = *mean;
	r->count++;
	r->stands_for += rows;
	r->last_rows = rows;
	r->last = *mean;
	return 0;
}

/* Write a recording of `rows` rows, ended or not. */
static inline void recording_write(int dirfd, const char *name, int64_t rows, bool ended)
{
	struct trk_outcome *o = calloc(1, sizeof(*o));
	struct trk_run run;
	struct trk_sample row;
	struct trk_writer *w;

	assert_non_null(o);
	run_init(&run);
	outcome_init(o);
	w = trk__writer_new(dirfd, name, &run, 0, NULL);
	assert_non_null(w);
	for (int64_t i = 0; i < rows; i++) {
		row_init(&row, i);
		assert_int_equal(trk__writer_row(w, &row), 0);
	}
	if (ended)
		assert_int_equal(trk__writer_end(w, o), 0);
	trk__writer_free(w);
	free(o);
}

/* All bytes of a file. Owned: the caller frees them. */
static inline unsigned char *bytes_of(int dirfd, const char *name, size_t *ret_len)
{
	unsigned char *data = malloc(ROW_BYTES_MAX);
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_non_null(data);
	assert_true(fd >= 0);
	n = read(fd, data, ROW_BYTES_MAX);
	assert_true(n >= 0 && n < ROW_BYTES_MAX);
	trk__close(fd);
	*ret_len = (size_t) n;
	return data;
}

static inline void bytes_put(int dirfd, const char *name, const void *data, size_t len)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(trk__write_all(fd, data, len), 0);
	trk__close(fd);
}

#endif
