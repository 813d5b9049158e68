/* Writes recordings that are hard to get from a real job, for the tests and the benchmark of the
 * report:
 *
 *     make_recordings DIR KIND [SECONDS]
 *
 * DIR is a state directory. Kinds: steps (load, shuffle, train, write at 1 Hz), gpu (the same with
 * two GPUs), oom, hostile (names that contain markup), gaps (the tracker was stopped twice), clock
 * (the clock is set back), merged (old rows were merged to keep the file small), one (one sample),
 * none (no sample), many (steps, and ten earlier runs of the job). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/store.h"
#include "recording/writer.h"

#define MIB      1048576
#define START_MS INT64_C(1795140000000) /* 2026-11-20 02:00 UTC */

struct recording {
	const char *kind;
	struct trk_run run;
	struct trk_outcome outcome;
	struct trk_writer *writer;
	int64_t seconds;
	unsigned int random;
	double cpu_s, read_bytes, write_bytes, peak_mib;
};

static double chance(struct recording *r)
{
	r->random = r->random * 1664525u + 1013904223u;
	return (double) (r->random >> 8) / (double) (1u << 24);
}

static int is(const struct recording *r, const char *kind)
{
	return !strcmp(r->kind, kind);
}

static const char hostile[] = "</script><img src=x onerror=alert(1)>\"'&\x1b[31m\xe2\x80\xae"
			      "evil\xff `|` **[x](http://x)**";

/* ---- the run ---- */

static void start(struct recording *r, int64_t start_ms)
{
	static const char command[] = "python\0train.py\0--epochs\0"
				      "12\0--out\0s3://bucket/run";
	const char *job = is(r, "hostile") ? hostile : "nightly-embeddings";

	trk__store_new_id(&r->run);
	(void) snprintf(r->run.job, sizeof(r->run.job), "%s", job);
	(void) snprintf(r->run.kind, sizeof(r->run.kind), "run");
	(void) snprintf(r->run.version, sizeof(r->run.version), "0.1.0");
	memcpy(r->run.command, command, sizeof(command));
	r->run.command_len = sizeof(command);
	if (is(r, "hostile")) {
		memcpy(r->run.command, hostile, sizeof(hostile));
		r->run.command_len = sizeof(hostile);
		r->run.tags_len =
			(size_t) snprintf(r->run.tags, sizeof(r->run.tags), "note=%s", hostile) + 1;
	}
	r->run.pid = 4242;
	r->run.start_ns = (uint64_t) start_ms * 1000000;
	r->run.interval_ns = 1000000000;
	trk__quantities_clear(r->run.limit, TRK_LIMITS);
	trk__quantities_clear(r->run.request, TRK_REQUESTS);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_CPU], 16, TRK_QUALITY_EXACT, "cpu.max", NULL);
	trk__quantity_set(&r->run.limit[TRK_LIMIT_MEMORY_MIB], 32768, TRK_QUALITY_EXACT,
			  "memory.max", NULL);
	trk__quantity_set(&r->run.request[TRK_REQUEST_CPU], 16, TRK_QUALITY_EXACT,
			  "SLURM_CPUS_PER_TASK", NULL);
	trk__quantity_set(&r->run.request[TRK_REQUEST_MEMORY_MIB], 32768, TRK_QUALITY_EXACT,
			  "SLURM_MEM_PER_NODE", NULL);
	if (is(r, "gpu"))
		trk__quantity_set(&r->run.request[TRK_REQUEST_GPU], 2, TRK_QUALITY_EXACT,
				  "SLURM_GPUS_ON_NODE", NULL);
}

/* ---- samples ---- */

struct moment {
	double cpu, memory_mib, read, write; /* cores, MiB, bytes/s */
	double gpu;
};

/* Load an eighth, shuffle a fifteenth, train most, write an eighth of the run. */
static struct moment moment_of(struct recording *r, double share)
{
	struct moment m = {1.1, 2000 + 80000 * share, 2.2e8, 1e5, 0};

	if (share >= 0.12)
		m = (struct moment){2.2, 12000, 5e6, 6e7, 0};
	if (share >= 0.19)
		m = (struct moment){6.2 + sin(share * 140) * 0.7,
				    15000 - 2500 * share * (1 - share) * 4, 1e5, 1e4, 1.6};
	if (share >= 0.86)
		m = (struct moment){0.6, 10000, 1e4, 1.5e8, 0.1};
	m.cpu *= 0.9 + 0.2 * chance(r);
	m.read *= 0.4 + 1.2 * chance(r);
	m.write *= 0.4 + 1.2 * chance(r);
	m.gpu *= 0.9 + 0.2 * chance(r);
	if (is(r, "oom"))
		m.memory_mib = 900 + 31800 * share;
	return m;
}

static void set(struct trk_sample *s, int column, double value)
{
	trk__sample_set(s, column, (int64_t) (value * (double) trk__columns[column].divisor));
}

static void set_machine(struct trk_sample *s, const struct moment *m, double share)
{
	set(s, TRK_SYSTEM_CPU_USAGE, m->cpu + 0.4);
	set(s, TRK_SYSTEM_MEMORY_USED, m->memory_mib + 1500);
	set(s, TRK_SYSTEM_DISK_READ, m->read + 1e5);
	set(s, TRK_SYSTEM_DISK_WRITE, m->write + 4e5);
	set(s, TRK_SYSTEM_SPACE_TOTAL, 200);
	set(s, TRK_SYSTEM_SPACE_USED, 60 + 36 * share);
	set(s, TRK_SYSTEM_NET_RECV, m->read / 3);
	set(s, TRK_SYSTEM_NET_SENT, m->write / 2);
	set(s, TRK_SYSTEM_PRESSURE_IO_SOME, m->read > 1e7 ? 0.7 : 0.01);
	set(s, TRK_SYSTEM_PRESSURE_CPU_SOME, 0.02);
	set(s, TRK_SYSTEM_PRESSURE_MEMORY_SOME, 0);
}

static void add_row(struct recording *r, int64_t i, int64_t elapsed)
{
	struct moment m = moment_of(r, (double) i / (double) r->seconds);
	struct trk_sample s = {.known = 0};

	trk__sample_set(&s, TRK_TIMESTAMP, (int64_t) (r->run.start_ns / 1000000) + elapsed * 1000);
	trk__sample_set(&s, TRK_ELAPSED, elapsed * 1000000);
	trk__sample_set(&s, TRK_INTERVAL, 1000000);
	if (is(r, "clock") && i > r->seconds / 2)
		trk__sample_set(&s, TRK_TIMESTAMP, START_MS - 3600000 + elapsed * 1000);
	set(&s, TRK_PROCESS_CPU_USAGE, m.cpu);
	set(&s, TRK_PROCESS_UTIME, m.cpu * 0.9);
	set(&s, TRK_PROCESS_STIME, m.cpu * 0.1);
	set(&s, TRK_PROCESS_MEMORY, m.memory_mib);
	set(&s, TRK_PROCESS_DISK_READ, m.read);
	set(&s, TRK_PROCESS_DISK_WRITE, m.write);
	set_machine(&s, &m, (double) i / (double) r->seconds);
	if (is(r, "gpu")) {
		set(&s, TRK_PROCESS_GPU_USAGE, m.gpu);
		set(&s, TRK_SYSTEM_GPU_USAGE, m.gpu);
		set(&s, TRK_PROCESS_GPU_VRAM, 31000 + m.gpu * 9000);
		set(&s, TRK_SYSTEM_GPU_VRAM, 31500 + m.gpu * 9000);
		set(&s, TRK_PROCESS_GPU_UTILIZED, m.gpu > 0.5 ? 2 : 0);
		set(&s, TRK_SYSTEM_GPU_UTILIZED, m.gpu > 0.5 ? 2 : 0);
	}
	r->cpu_s += m.cpu;
	r->read_bytes += m.read;
	r->write_bytes += m.write;
	r->peak_mib = m.memory_mib > r->peak_mib ? m.memory_mib : r->peak_mib;
	(void) trk__writer_row(r->writer, &s);
}

static void add_marks(struct recording *r)
{
	static const struct {
		const char *name;
		double share;
	} steps[] = {{"load", 0}, {"shuffle", 0.12}, {"train", 0.19}, {"write", 0.86}};

	for (size_t i = 0; i < 4; i++) {
		struct trk_mark mark = {
			.elapsed_ns = (uint64_t) (steps[i].share * (double) r->seconds * 1e9)};

		(void) snprintf(mark.name, sizeof(mark.name), "%s",
				is(r, "hostile") && i == 2 ? hostile : steps[i].name);
		(void) trk__writer_mark(r->writer, &mark);
	}
}

/* ---- the end ---- */

static void add_top(struct recording *r)
{
	static const struct trk_process_info top[] = {
		{.pid = 4242, .name = "python", .command = "python train.py --epochs 12"},
		{.pid = 4251, .name = "loader", .command = "python loader.py --shard 0"},
		{.pid = 4252, .name = "loader", .command = "python loader.py --shard 1"},
	};
	static const double share[] = {0.8, 0.12, 0.07};

	for (size_t i = 0; i < 3; i++) {
		r->outcome.top[i] = top[i];
		r->outcome.top[i].cpu_ns = (uint64_t) (r->cpu_s * share[i] * 1e9);
		r->outcome.top[i].peak_bytes = (uint64_t) (r->peak_mib * share[i] * MIB);
		r->outcome.top[i].read_bytes = (uint64_t) (r->read_bytes * share[2 - i]);
		r->outcome.top[i].write_bytes = (uint64_t) (r->write_bytes * share[i]);
		if (is(r, "hostile"))
			(void) snprintf(r->outcome.top[i].command, sizeof(top[i].command), "%s",
					hostile);
	}
	r->outcome.top_count = 3;
}

static void finish(struct recording *r, int64_t elapsed)
{
	struct trk_outcome *o = &r->outcome;

	trk__quantities_clear(o->total, TRK_TOTALS);
	trk__quantity_set(&o->total[TRK_TOTAL_CPU_S], r->cpu_s, TRK_QUALITY_EXACT,
			  "process tree and wait4", NULL);
	trk__quantity_set(&o->total[TRK_TOTAL_PEAK_MEMORY_MIB], r->peak_mib, TRK_QUALITY_AT_LEAST,
			  "smaps_rollup", "a peak between two samples is not seen");
	trk__quantity_set(&o->total[TRK_TOTAL_DISK_READ_BYTES], r->read_bytes, TRK_QUALITY_EXACT,
			  "PID/io", NULL);
	trk__quantity_set(&o->total[TRK_TOTAL_DISK_WRITE_BYTES], r->write_bytes, TRK_QUALITY_EXACT,
			  "PID/io", NULL);
	o->end = is(r, "oom") ? TRK_END_OUT_OF_MEMORY : TRK_END_EXITED;
	o->code = is(r, "oom") ? -1 : 0;
	o->signal = is(r, "oom") ? 9 : 0;
	o->duration_ns = (uint64_t) elapsed * 1000000000;
	o->stop_ns = r->run.start_ns + o->duration_ns;
	o->tracker_cpu_ns = (uint64_t) (elapsed * 250000);
	o->tracker_rss_bytes = 2600000;
	o->missed = is(r, "gaps") ? 600 : 0;
	add_top(r);
	(void) trk__writer_end(r->writer, o);
}

static int write_one(const char *dir, const char *kind, int64_t seconds, int64_t start_ms)
{
	struct recording *r = calloc(1, sizeof(*r));
	int fd = trk__store_open(dir, true, NULL);
	int64_t shift = 0;
	char name[96];

	if (!r || fd < 0)
		return 1;
	*r = (struct recording){
		.kind = kind, .seconds = seconds, .random = (unsigned int) (start_ms / 1000)};
	start(r, start_ms);
	trk__store_name(&r->run, name);
	r->writer = trk__writer_new(fd, name, &r->run, is(r, "merged") ? 256 << 10 : 0, NULL);
	if (!r->writer)
		return 1;
	if (!is(r, "none") && !is(r, "one"))
		add_marks(r);
	for (int64_t i = 0; i < seconds; i++) {
		if (is(r, "gaps") && (i == seconds / 3 || i == seconds / 2))
			shift += seconds / 10;
		add_row(r, i, i + 1 + shift);
	}
	finish(r, seconds + shift);
	(void) printf("%s\n", r->run.id);
	trk__writer_free(r->writer);
	(void) close(fd);
	free(r);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t seconds = argc > 3 ? atoll(argv[3]) : 7200;

	if (argc < 3) {
		(void) fprintf(stderr, "usage: make_recordings DIR KIND [SECONDS]\n");
		return 2;
	}
	if (!strcmp(argv[2], "none") || !strcmp(argv[2], "one"))
		seconds = argv[2][0] == 'o';
	if (!strcmp(argv[2], "many"))
		for (int i = 10; i > 0; i--)
			if (write_one(argv[1], "steps", seconds - 60 - 7 * i % 30,
				      START_MS - i * 86400000))
				return 1;
	return write_one(argv[1], argv[2], seconds, START_MS);
}
