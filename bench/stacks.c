/* Calls the reader of Python stacks without the rest of the tracker.
 *
 *   stacks walk PID COUNT    read COUNT stacks of a process; prints the number of stacks that were
 *                            read and torn, and the CPU time and the system calls of one reading
 *   stacks day FOLDER        write the recording FOLDER/day of a job of 24 hours whose stacks were
 *                            sampled
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/stack/interpreter.h"
#include "recording/writer.h"

enum { DAY_S = 24 * 3600, FUNCTIONS = 300, NODES = 1500, COUNTS = 200 };

static int fail(const char *what, int error)
{
	(void) fprintf(stderr, "stacks: %s: %s\n", what, strerror(error));
	return 1;
}

/* ---- walk ---- */

static void take(void *data, struct trk_stack *stack)
{
	uint64_t *frames = data;

	*frames += stack->depth;
}

static int walk_until(struct trk_cpython *python, struct trk_remote *r, uint64_t count)
{
	uint64_t stacks = 0, torn = 0, walks = 0, frames = 0, reads = 0;
	uint64_t before = trk__clock_thread_cpu_ns(), ns;

	for (; stacks < count; walks++) {
		unsigned int torn_now;
		int n = trk__cpython_walk(python, r, take, &frames, &torn_now);

		if (n < 0)
			return fail("the process cannot be read any more", -n);
		stacks += (uint64_t) n;
		torn += torn_now;
		reads += r->reads;
	}
	ns = trk__clock_thread_cpu_ns() - before;
	printf("{\"stacks\": %" PRIu64 ", \"torn\": %" PRIu64 ", \"walks\": %" PRIu64
	       ", \"depth\": %.1f, \"walk_us\": %.2f, \"reads\": %.2f}\n",
	       stacks, torn, walks, (double) frames / (double) stacks,
	       (double) ns / 1e3 / (double) walks, (double) reads / (double) walks);
	return 0;
}

static int walk(pid_t pid, uint64_t count)
{
	struct trk_remote *r = malloc(sizeof(*r));
	struct trk_cpython *python = NULL;
	enum trk_stack_why why;
	struct trk_env env;
	int result = 1;

	if (!r || trk__env_init(&env) < 0)
		return fail("cannot begin", errno);
	trk__remote_init(r, trk__remote_process, &pid);
	r->read_ranges = trk__remote_process_ranges;
	why = trk__interpreter_open(&env, pid, r, &python);
	if (python)
		result = walk_until(python, r, count);
	else
		(void) fprintf(stderr, "stacks: %d: %s\n", (int) pid, trk__stack_why_text(why));
	trk__cpython_free(python);
	trk__env_release(&env);
	free(r);
	return result;
}

/* ---- day ---- */

static struct trk_lines *made_lines(uint32_t node[NODES])
{
	struct trk_lines *l = trk__lines_new();
	char file[64], name[32];

	if (!l)
		return NULL;
	l->rate_hz = 20;
	node[0] = TRK_LINES_ROOT;
	for (uint32_t i = 1; i < NODES; i++) {
		uint32_t function;

		(void) snprintf(file, sizeof(file), "/home/user/project/part%02u.py", i % 40);
		(void) snprintf(name, sizeof(name), "function_%03u", i % FUNCTIONS);
		function = trk__lines_function(l, file, name, (int) (i % FUNCTIONS) * 10 + 1);
		node[i] = trk__lines_node(l, node[i / 3], function,
					  (int) (i % FUNCTIONS) * 10 + 2 + (int) (i % 7));
	}
	(void) trk__lines_lane(l, 4711, 4711, "python3");
	trk__lines_process(
		l, &(struct trk_lines_process){.pid = 4711, .version = 0x30b02, .name = "python3"});
	return l;
}

static void write_window(struct trk_writer *w, struct trk_lines *l, const uint32_t node[NODES],
			 struct trk_lines_written *written, int64_t from_us, int64_t to_us)
{
	struct trk_lines_count count[COUNTS];

	for (uint32_t i = 0; i < COUNTS; i++) {
		uint64_t us = (uint64_t) (to_us - from_us) / (i + 2);

		count[i] = (struct trk_lines_count){
			.lane = 1,
			.node = node[(i * 7 + (uint32_t) (to_us / 600000000) * 13) % NODES],
			.amounts = {.samples = 1 + us / 50000,
				    .cpu_us = us,
				    .wall_us = us + 17,
				    .between_bytes = i % 9 ? 0 : us}};
	}
	l->samples += 20 * (uint64_t) (to_us - from_us) / 1000000;
	(void) trk__writer_lines(w, l, written, from_us, to_us, count, COUNTS);
}

static void write_row(struct trk_writer *w, int64_t second)
{
	struct trk_sample s = {0};

	trk__sample_set(&s, TRK_TIMESTAMP, 1700000000000 + second * 1000);
	trk__sample_set(&s, TRK_ELAPSED, second * 1000000);
	trk__sample_set(&s, TRK_INTERVAL, second ? 1000000 : 0);
	for (int c = TRK_PROCESS_UTIME; c <= TRK_SYSTEM_UTIME + 20; c++)
		if (!trk__sample_knows(&s, c))
			trk__sample_set(&s, c, second * 2654435761 % 100000 + c);
	(void) trk__writer_row(w, &s);
}

/* Like track/lines.c: one part per minute, as long as it fits into a tenth of the recording. */
static int day(const char *folder)
{
	static struct trk_run run = {.id = "r-day00000", .job = "day", .kind = "run"};
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct trk_writer *w = dir < 0 ? NULL : trk__writer_new(dir, "day", &run, 0, NULL);
	struct trk_lines_written written = {0};
	uint32_t node[NODES];
	struct trk_lines *l = made_lines(node);
	int64_t from_us = 0;
	uint64_t bytes = 0, of_lines = 0;
	size_t windows = 0;

	if (!w || !l)
		return fail(folder, errno);
	run.start_ns = UINT64_C(1700000000000000000);
	for (int64_t i = 0; i < DAY_S; i++) {
		write_row(w, i);
		trk__writer_sizes(w, &bytes, &of_lines);
		if (i * 1000000 - from_us < 60000000 || of_lines >= 4096 + (bytes - of_lines) / 10)
			continue;
		write_window(w, l, node, &written, from_us, i * 1000000);
		from_us = i * 1000000;
		windows++;
	}
	trk__writer_sizes(w, &bytes, &of_lines);
	printf("{\"bytes\": %" PRIu64 ", \"lines_bytes\": %" PRIu64 ", \"stretches\": %zu}\n",
	       bytes, of_lines, windows);
	trk__lines_free(l);
	trk__writer_free(w);
	(void) close(dir);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "walk"))
		return walk(atoi(argv[2]), strtoull(argv[3], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "day"))
		return day(argv[2]);
	(void) fputs("usage: stacks walk PID COUNT | stacks day FOLDER\n", stderr);
	return 2;
}
