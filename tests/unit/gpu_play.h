/* Loads the simulated NVIDIA library (tests/gpu/standin.c) by its path. dlopen() in the code under
 * test then finds the loaded library by its name. */
#ifndef TRK_TESTS_GPU_PLAY_H
#define TRK_TESTS_GPU_PLAY_H

#include <dlfcn.h>

#include "base/clock.h"
#include "fixture.h"
#include "probe/gpu/nvml.h"
#include "probe/gpu/poller.h"
#include "probe/linux/worker.h"

static const struct trk_gpu_hints no_hints;

#define DEVICE                                                                                     \
	"device name=NVIDIA_H100 uuid=GPU-a bus=00000000:01:00.0 minor=0 total=85899345920 "       \
	"used=1073741824 reserved=5 util=57 memutil=20 encoder=3 decoder=4 temp=61 power=301500 "  \
	"energy=7000 clock=1980 memclock=2619 throttle=4 pcie_rx=10 pcie_tx=20 link_rx=1000 "      \
	"link_tx=2000 sm=42.5 dram=10\n"
#define PLAIN "device name=T4 uuid=GPU-b bus=00000000:02:00.0 minor=1 total=1000 used=100 util=0\n"

/* The clock of the source: looks are 200 ms apart, and a test may let time pass. */
static uint64_t play_skipped_ns;

static uint64_t play_clock(void)
{
	return trk__clock_monotonic_ns() + play_skipped_ns;
}

struct play {
	char script[64];
	void *library;
	struct trk_env env;
	void *source;
	struct trk_gpu_scan scan;
	struct trk_gpu_attributor attributor;
	char why[TRK_GPU_TEXT_SIZE];
};

static inline void write_script(struct play *p, const char *text)
{
	int fd = open(p->script, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(trk__write_all(fd, text, strlen(text)), 0);
	(void) close(fd);
}

static inline void load(struct play *p, const char *folder, const char *text)
{
	char path[512];

	*p = (struct play){.script = "/tmp/trk-standin-XXXXXX"};
	(void) close(mkstemp(p->script));
	write_script(p, text);
	(void) setenv("TRK_STANDIN_NVML", p->script, 1);
	(void) snprintf(path, sizeof(path), TRK_STANDIN "%s/libnvidia-ml.so.1", folder);
	p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(p->library);
	assert_int_equal(trk__env_init(&p->env), 0);
	p->env.monotonic_ns = play_clock;
	p->attributor.env = p->env;
	p->attributor.known = true; /* our pids are the driver's */
}

static inline int begin_with(struct play *p, const char *folder, const char *text)
{
	load(p, folder, text);
	return trk__gpu_nvml.open(&p->env, &no_hints, &p->source, p->why);
}

static inline void begin(struct play *p, const char *text)
{
	assert_int_equal(begin_with(p, "", text), 0);
}

static inline void look(struct play *p, const pid_t *pid, size_t pids)
{
	p->scan.devices = p->scan.processes = 0;
	p->scan.pid = pid;
	p->scan.pids = pids;
	play_skipped_ns += 200 * TRK_NS_PER_MS;
	p->scan.now_ns = play_clock();
	p->scan.wall_us = trk__clock_wall_ns() / 1000;
	trk__gpu_nvml.poll(p->source, &p->scan);
	trk__gpu_attribute(&p->attributor, &p->scan);
}

static inline void end(struct play *p)
{
	if (p->source)
		trk__gpu_nvml.close(p->source);
	trk__env_release(&p->env);
	(void) unlink(p->script);
	assert_int_equal(dlclose(p->library), 0);
}

#define VALUE(p, index, id) ((p)->scan.device[index].metric[TRK_GPU_##id##_METRIC].value)
#define WHY(p, index, id)   ((p)->scan.device[index].metric[TRK_GPU_##id##_METRIC].why)

static inline void near(double value, double wanted)
{
	if (!(value >= wanted - 1e-6 && value <= wanted + 1e-6))
		fail_msg("%g is not %g", value, wanted);
}

#endif
