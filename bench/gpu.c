/* Polls GPUs through a simulated NVIDIA library (tests/gpu), so that callgrind can count the
 * instructions of a poll without those of the driver.
 *
 *     ninja -C build bench/bench_gpu && bench/gpu.sh build */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "probe/gpu/gpu.h"

static const struct trk_gpu_hints no_hints;

enum { PIDS = 50 };

/* A separate function, so that callgrind has a name for one poll and everything that it calls. */
__attribute__((noinline)) static void one_poll(void *source, struct trk_gpu_attributor *attributor,
					       struct trk_gpu_scan *scan)
{
	struct trk_gpu_sums sums;

	trk__gpu_nvml.poll(source, scan);
	trk__gpu_attribute(attributor, scan);
	trk__gpu_sum(scan->device, scan->devices, &sums);
}

int main(int argc, char **argv)
{
	static struct trk_gpu_scan scan;
	struct trk_gpu_attributor attributor = {.known = true};
	long polls = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	char why[TRK_GPU_TEXT_SIZE] = "";
	pid_t pid[PIDS];
	struct trk_env env;
	void *source;

	for (int i = 0; i < PIDS; i++)
		pid[i] = 1000 + i;
	if (trk__env_init(&env) < 0 || trk__gpu_nvml.open(&env, &no_hints, &source, why) < 0) {
		(void) fprintf(stderr, "bench_gpu: %s\n", why);
		return 1;
	}
	attributor.env = env;
	for (long i = 0; i < polls; i++) {
		scan.devices = scan.processes = 0;
		scan.pid = pid;
		scan.pids = PIDS;
		scan.now_ns = trk__clock_monotonic_ns();
		scan.wall_us = trk__clock_wall_ns() / 1000;
		one_poll(source, &attributor, &scan);
	}
	(void) printf("%ld polls, %zu devices, %zu processes\n", polls, scan.devices,
		      scan.processes);
	trk__gpu_nvml.close(source);
	return 0;
}
