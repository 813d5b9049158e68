/* A small machine made of files, with clocks that the test sets. */
#ifndef TRK_TESTS_MACHINE_H
#define TRK_TESTS_MACHINE_H

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"
#include "sample/sampler.h"

#define S  TRK_NS_PER_S
#define MS TRK_NS_PER_MS

static uint64_t machine_monotonic_ns, machine_wall_ns;

static inline uint64_t read_monotonic(void)
{
	return machine_monotonic_ns;
}

static inline uint64_t read_wall(void)
{
	return machine_wall_ns;
}

struct machine {
	struct live live;
	struct trk_sampler *sampler;
	const struct trk_sample *row;
	long hz; /* ticks of /proc/stat in a second */
};

static const char *const machine_files[] = {
	"stat",
	"meminfo",
	"loadavg",
	"pressure/cpu",
	"pressure/memory",
	"pressure/io",
	"group/cpu.stat",
	"group/memory.current",
	"cgroup.procs",
	"group/cgroup.procs",
	"group/cgroup.events",
};

static inline void machine_init(struct machine *m)
{
	*m = (struct machine){.hz = sysconf(_SC_CLK_TCK)};
	live_init(&m->live, "vm-virtio");
	assert_int_equal(mkdirat(m->live.env.proc_fd, "pressure", 0700), 0);
	assert_int_equal(mkdirat(m->live.env.proc_fd, "group", 0700), 0);
	m->live.env.monotonic_ns = read_monotonic;
	m->live.env.wall_ns = read_wall;
	machine_monotonic_ns = 1000 * S;
	machine_wall_ns = 1700000000 * S;
}

static inline void machine_start(struct machine *m, uint64_t min_interval_ns)
{
	struct trk_sampler_options options = {
		.perf_fd = -1, .root_perf_fd = -1, .min_interval_ns = min_interval_ns};
	int error = 0;

	m->sampler = trk__sampler_new(&m->live.env, &options, &error);
	assert_non_null(m->sampler);
}

static inline void machine_release(struct machine *m)
{
	trk__sampler_free(m->sampler);
	for (size_t i = 0; i < sizeof(machine_files) / sizeof(machine_files[0]); i++)
		(void) unlinkat(m->live.env.proc_fd, machine_files[i], 0);
	(void) unlinkat(m->live.env.proc_fd, "pressure", AT_REMOVEDIR);
	(void) unlinkat(m->live.env.proc_fd, "group", AT_REMOVEDIR);
	live_release(&m->live);
}

/* /proc/stat with these seconds of CPU since boot, in ticks. */
static inline void set_cpu(struct machine *m, double user, double nice, double system,
			   double iowait)
{
	char text[512];
	double hz = (double) m->hz;

	(void) snprintf(text, sizeof(text),
			"cpu  %.0f %.0f %.0f 1000 %.0f 10 20 30 5 0\n"
			"cpu0 1 1 1 1 1 1 1 1 0 0\ncpu1 1 1 1 1 1 1 1 1 0 0\n"
			"cpu2 1 1 1 1 1 1 1 1 0 0\ncpu3 1 1 1 1 1 1 1 1 0 0\n"
			"intr 5\nctxt %.0f\nbtime 1600000000\n"
			"processes %.0f\nprocs_running 2\nprocs_blocked 0\n",
			user * hz, nice * hz, system * hz, iowait * hz, 1000 * user, 10 * user);
	live_write(&m->live, "stat", text);
}

static inline void set_disk(struct machine *m, uint64_t sectors_read, uint64_t sectors_written)
{
	char text[256];

	(void) snprintf(text, sizeof(text), " 254 0 vda 1 0 %llu 1 1 0 %llu 1 0 1 1\n",
			(unsigned long long) sectors_read, (unsigned long long) sectors_written);
	live_write(&m->live, "diskstats", text);
}

static inline void set_pressure(struct machine *m, const char *file, uint64_t some_us,
				uint64_t full_us)
{
	char text[256];

	(void) snprintf(text, sizeof(text),
			"some avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n"
			"full avg10=0.00 avg60=0.00 avg300=0.00 total=%llu\n",
			(unsigned long long) some_us, (unsigned long long) full_us);
	live_write(&m->live, file, text);
}

/* Let time pass on both clocks and take a row. */
static inline void tick_after(struct machine *m, uint64_t ns)
{
	machine_monotonic_ns += ns;
	machine_wall_ns += ns;
	trk__sampler_tick(m->sampler, 0, &m->row);
}

static inline double value(const struct machine *m, enum trk_column column)
{
	return trk__sample_get(m->row, (int) column);
}

static inline void assert_value(const struct machine *m, enum trk_column column, double want)
{
	assert_true(trk__sample_knows(m->row, (int) column));
	assert_true(fabs(value(m, column) - want) < 1e-9);
}

static inline void assert_unknown(const struct machine *m, enum trk_column column)
{
	assert_false(trk__sample_knows(m->row, (int) column));
	assert_true(isnan(value(m, column)));
}

#endif
