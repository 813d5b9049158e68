/* NVIDIA's library is played by tests/gpu/standin.c: it is loaded here by its path, and dlopen finds
 * what is loaded under the same name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "probe/gpu/nvml.h"
#include "probe/gpu/poller.h"

#include "fixture.h"

static const struct trk_gpu_hints no_hints;

#define DEVICE                                                                                     \
	"device name=NVIDIA_H100 uuid=GPU-a bus=00000000:01:00.0 minor=0 total=85899345920 "       \
	"used=1073741824 reserved=5 util=57 memutil=20 encoder=3 decoder=4 temp=61 power=301500 "  \
	"energy=7000 clock=1980 memclock=2619 throttle=4 pcie_rx=10 pcie_tx=20 link_rx=1000 "      \
	"link_tx=2000 sm=42.5 dram=10\n"
#define PLAIN "device name=T4 uuid=GPU-b bus=00000000:02:00.0 minor=1 total=1000 used=100 util=0\n"

struct play {
	char script[64];
	void *library;
	struct trk_env env;
	void *source;
	struct trk_gpu_scan scan;
	struct trk_gpu_attributor attributor;
	char why[TRK_GPU_TEXT_SIZE];
};

static void write_script(struct play *p, const char *text)
{
	int fd = open(p->script, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(trk__write_all(fd, text, strlen(text)), 0);
	(void) close(fd);
}

static void load(struct play *p, const char *folder, const char *text)
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
	p->attributor.env = p->env;
	p->attributor.known = true; /* our pids are the driver's */
}

static int begin_with(struct play *p, const char *folder, const char *text)
{
	load(p, folder, text);
	return trk__gpu_nvml.open(&p->env, &no_hints, &p->source, p->why);
}

static void begin(struct play *p, const char *text)
{
	assert_int_equal(begin_with(p, "", text), 0);
}

static void look(struct play *p, const pid_t *pid, size_t pids)
{
	p->scan.devices = p->scan.processes = 0;
	p->scan.pid = pid;
	p->scan.pids = pids;
	p->scan.now_ns = trk__clock_monotonic_ns();
	p->scan.wall_us = trk__clock_wall_ns() / 1000;
	trk__gpu_nvml.poll(p->source, &p->scan);
	trk__gpu_attribute(&p->attributor, &p->scan);
}

static void end(struct play *p)
{
	if (p->source)
		trk__gpu_nvml.close(p->source);
	trk__env_release(&p->env);
	(void) unlink(p->script);
	assert_int_equal(dlclose(p->library), 0);
}

#define VALUE(p, index, id) ((p)->scan.device[index].metric[TRK_GPU_##id##_METRIC].value)
#define WHY(p, index, id)   ((p)->scan.device[index].metric[TRK_GPU_##id##_METRIC].why)

static void near(double value, double wanted)
{
	if (!(value >= wanted - 1e-6 && value <= wanted + 1e-6))
		fail_msg("%g is not %g", value, wanted);
}

/* ---- devices ---- */

static void a_device_has_every_figure(void **state)
{
	struct play p;

	(void) state;
	begin(&p, "driver 550.54.15\n" DEVICE);
	look(&p, NULL, 0);
	trk__gpu_nvml.rest(p.source);
	look(&p, NULL, 0);
	assert_int_equal(p.scan.devices, 1);
	assert_string_equal(p.scan.device[0].name, "NVIDIA H100");
	assert_string_equal(p.scan.device[0].uuid, "GPU-a");
	assert_string_equal(p.scan.device[0].bus, "00000000:01:00.0");
	assert_string_equal(p.scan.device[0].driver, "550.54.15");
	near(VALUE(&p, 0, UTILIZATION), 0.57);
	near(VALUE(&p, 0, MEMORY_USED), 1073741824);
	near(VALUE(&p, 0, MEMORY_TOTAL), 85899345920);
	near(VALUE(&p, 0, SM_ACTIVITY), 0.425);
	near(VALUE(&p, 0, MEMORY_ACTIVITY), 0.10); /* of the performance monitor */
	near(VALUE(&p, 0, ENCODER), 0.03);
	near(VALUE(&p, 0, DECODER), 0.04);
	near(VALUE(&p, 0, TEMPERATURE), 61);
	near(VALUE(&p, 0, POWER), 301.5);
	near(VALUE(&p, 0, ENERGY), 7);
	near(VALUE(&p, 0, CLOCK), 1980e6);
	near(VALUE(&p, 0, MEMORY_CLOCK), 2619e6);
	near(VALUE(&p, 0, THROTTLE), 4);
	near(VALUE(&p, 0, NVLINK_RX), 0);
	end(&p);
}

static void the_bus_is_watched_where_no_monitor_tells(void **state)
{
	struct play p;

	(void) state;
	begin(&p, "device util=1 pcie_rx=10 pcie_tx=20 total=9 used=1\n");
	look(&p, NULL, 0);
	assert_int_equal(WHY(&p, 0, PCIE_RX), TRK_GPU_FIRST_LOOK);
	trk__gpu_nvml.rest(p.source);
	look(&p, NULL, 0);
	near(VALUE(&p, 0, PCIE_RX), 10240);
	near(VALUE(&p, 0, PCIE_TX), 20480);
	end(&p);
}

static void links_are_a_rate(void **state)
{
	struct play p;

	(void) state;
	begin(&p, "device total=9 used=1 link_rx=1000 link_tx=2000\n");
	look(&p, NULL, 0);
	assert_int_equal(WHY(&p, 0, NVLINK_TX), TRK_GPU_FIRST_LOOK);
	write_script(&p, "device total=9 used=1 link_rx=3048 link_tx=2000000\n");
	look(&p, NULL, 0);
	assert_true(VALUE(&p, 0, NVLINK_RX) > 0);
	near(VALUE(&p, 0, NVLINK_TX) / VALUE(&p, 0, NVLINK_RX), (2000000.0 - 2000) / 2048);
	end(&p);
}

static void what_fails_is_unknown_with_its_reason(void **state)
{
	static const struct {
		const char *rule;
		enum trk_gpu_why why;
	} cases[] = {
		{"error nvmlDeviceGetPowerUsage 3\n", TRK_GPU_UNSUPPORTED},
		{"error nvmlDeviceGetPowerUsage 4\n", TRK_GPU_DENIED},
		{"error nvmlDeviceGetPowerUsage 15\n", TRK_GPU_LOST},
		{"error nvmlDeviceGetPowerUsage 10\n", TRK_GPU_NO_ANSWER},
		{"error nvmlDeviceGetPowerUsage 999\n", TRK_GPU_FAILED},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct play p;

		(void) snprintf(text, sizeof(text), DEVICE "%s", cases[i].rule);
		begin(&p, text);
		look(&p, NULL, 0);
		assert_true(isnan(VALUE(&p, 0, POWER)));
		assert_int_equal(WHY(&p, 0, POWER), cases[i].why);
		near(VALUE(&p, 0, TEMPERATURE), 61); /* nothing else is lost */
		end(&p);
	}
}

static void no_call_that_fails_becomes_a_zero(void **state)
{
	static const struct {
		const char *function;
		enum trk_gpu_metric metric;
	} cases[] = {
		{"nvmlDeviceGetUtilizationRates", TRK_GPU_UTILIZATION_METRIC},
		{"nvmlDeviceGetEncoderUtilization", TRK_GPU_ENCODER_METRIC},
		{"nvmlDeviceGetDecoderUtilization", TRK_GPU_DECODER_METRIC},
		{"nvmlDeviceGetTemperature", TRK_GPU_TEMPERATURE_METRIC},
		{"nvmlDeviceGetTotalEnergyConsumption", TRK_GPU_ENERGY_METRIC},
		{"nvmlDeviceGetClockInfo", TRK_GPU_MEMORY_CLOCK_METRIC},
		{"nvmlDeviceGetCurrentClocksThrottleReasons", TRK_GPU_THROTTLE_METRIC},
		{"nvmlDeviceGetFieldValues", TRK_GPU_NVLINK_TX_METRIC},
		{"nvmlGpmSampleGet", TRK_GPU_SM_ACTIVITY_METRIC},
		{"nvmlGpmMetricsGet", TRK_GPU_SM_ACTIVITY_METRIC},
		{"nvmlDeviceGetComputeRunningProcesses_v3", TRK_GPU_TREE_MEMORY_METRIC},
		{"nvmlDeviceGetProcessUtilization", TRK_GPU_TREE_SHARE_METRIC},
	};
	pid_t pid = 42;

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct play p;

		(void) snprintf(text, sizeof(text),
				DEVICE "process device=0 pid=42 memory=9 lists=c\nerror %s 999\n",
				cases[i].function);
		begin(&p, text);
		look(&p, &pid, 1);
		look(&p, &pid, 1);
		assert_true(isnan(p.scan.device[0].metric[cases[i].metric].value));
		assert_int_not_equal(p.scan.device[0].metric[cases[i].metric].why, TRK_GPU_KNOWN);
		end(&p);
	}
}

static void memory_comes_from_the_first_form_where_the_second_fails(void **state)
{
	struct play p;

	(void) state;
	begin(&p, DEVICE "error nvmlDeviceGetMemoryInfo_v2 13\n");
	look(&p, NULL, 0);
	near(VALUE(&p, 0, MEMORY_USED), 1073741824 + 5);
	end(&p);
}

static void an_old_library_gives_what_it_has(void **state)
{
	struct play p;
	pid_t pid = 42;

	(void) state;
	assert_int_equal(begin_with(&p, "/old",
				    DEVICE "process device=0 pid=42 memory=100 lists=cg\n"
					   "process device=0 pid=43 memory=1 lists=c\n"
					   "sample device=0 pid=42 sm=50 age_ms=10\n"),
			 0);
	look(&p, &pid, 1);
	near(VALUE(&p, 0, UTILIZATION), 0.57);
	near(VALUE(&p, 0, MEMORY_USED), 1073741824 + 5);
	near(VALUE(&p, 0, TREE_MEMORY), 100);
	near(VALUE(&p, 0, TREE_SHARE), 0.5);
	assert_int_equal(p.scan.device[0].processes, 2);
	assert_int_equal(WHY(&p, 0, SM_ACTIVITY), TRK_GPU_OLD_LIBRARY);
	assert_int_equal(WHY(&p, 0, NVLINK_RX), TRK_GPU_OLD_LIBRARY);
	end(&p);
}

static void a_library_without_a_driver_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *script, *why;
	} cases[] = {
		{"error nvmlInit_v2 9\n", "NVML: the driver is not loaded (code 9)"},
		{"error nvmlInit_v2 18\n",
		 "NVML: library and driver are of different versions (code 18)"},
		{"error nvmlInit_v2 4\n", "NVML: not permitted (code 4)"},
		{"error nvmlInit_v2 999\n", "NVML: cannot be initialised (code 999)"},
		{"error nvmlDeviceGetCount_v2 999\n", "NVML: cannot count the devices (code 999)"},
		{"driver 1\n", "NVML: no device"},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct play p;

		assert_int_equal(begin_with(&p, "", cases[i].script), -TRK_E_UNSUPPORTED);
		assert_string_equal(p.why, cases[i].why);
		end(&p);
	}
}

static void sixteen_devices_and_one_that_is_closed_to_us(void **state)
{
	char text[4096] = "error@3 nvmlDeviceGetHandleByIndex_v2 4\n";
	struct play p;
	struct trk_gpu_sums sums;

	(void) state;
	for (int i = 0; i < 16; i++)
		(void) snprintf(text + strlen(text), sizeof(text) - strlen(text),
				"device name=G%d total=100 used=10 util=50\n", i);
	begin(&p, text);
	look(&p, NULL, 0);
	assert_int_equal(p.scan.devices, 16);
	assert_string_equal(p.scan.device[15].name, "G15");
	assert_int_equal(WHY(&p, 3, UTILIZATION), TRK_GPU_DENIED);
	trk__gpu_sum(p.scan.device, p.scan.devices, &sums);
	assert_int_equal(sums.usage.why, TRK_GPU_DENIED); /* 7.5 would be a lie */
	assert_int_equal(sums.gpus, 16);
	end(&p);
}

static void a_device_that_falls_off_the_bus_is_lost(void **state)
{
	struct play p;
	struct trk_gpu_sums sums;

	(void) state;
	begin(&p, DEVICE PLAIN);
	look(&p, NULL, 0);
	trk__gpu_sum(p.scan.device, p.scan.devices, &sums);
	near(sums.usage.value, 0.57);
	near(sums.utilized.value, 1);
	near(sums.vram.value, 1073741824 + 100);
	near(sums.temperature.value, 61);
	write_script(&p, DEVICE PLAIN "error@1 nvmlDeviceGetUtilizationRates 15\n"
				      "error@1 nvmlDeviceGetMemoryInfo_v2 15\n"
				      "error@1 nvmlDeviceGetMemoryInfo 15\n");
	look(&p, NULL, 0);
	assert_int_equal(WHY(&p, 1, MEMORY_USED), TRK_GPU_LOST);
	trk__gpu_sum(p.scan.device, p.scan.devices, &sums);
	assert_int_equal(sums.vram.why, TRK_GPU_LOST);
	end(&p);
}

static void a_mig_gpu_has_memory_and_no_utilisation(void **state)
{
	struct play p;
	struct trk_gpu_sums sums;
	pid_t pid = 42;

	(void) state;
	begin(&p, "device name=A100 mig=1 total=1000 used=300 util=99\n"
		  "instance device=0 name=A100_MIG_1g uuid=MIG-a total=500 used=200\n"
		  "instance device=0 name=A100_MIG_2g uuid=MIG-b total=400 used=50\n"
		  "process device=0 pid=42 memory=150 lists=c part=7\n"
		  "process device=0 pid=42 memory=30 lists=c part=8\n"
		  "sample device=0 pid=42 sm=99 age_ms=1\n");
	look(&p, &pid, 1);
	assert_int_equal(p.scan.devices, 3);
	assert_true(p.scan.device[0].mig);
	assert_int_equal(p.scan.device[1].parent, 0);
	assert_string_equal(p.scan.device[2].uuid, "MIG-b");
	near(VALUE(&p, 1, MEMORY_USED), 200);
	assert_int_equal(WHY(&p, 0, UTILIZATION), TRK_GPU_MIG);
	assert_int_equal(WHY(&p, 1, UTILIZATION), TRK_GPU_MIG);
	assert_int_equal(WHY(&p, 0, TREE_SHARE), TRK_GPU_MIG);
	near(VALUE(&p, 0, TREE_MEMORY), 180); /* of both instances */
	trk__gpu_sum(p.scan.device, p.scan.devices, &sums);
	assert_int_equal(sums.gpus, 1);
	near(sums.vram.value, 300);
	assert_int_equal(sums.usage.why, TRK_GPU_MIG);
	end(&p);
}

static void an_instance_has_activity_where_the_monitor_gives_it(void **state)
{
	struct play p;

	(void) state;
	begin(&p, "device name=H100 mig=1 total=1000 used=300\n"
		  "instance device=0 uuid=MIG-a total=500 used=200 part=3 sm=62.5 dram=10\n"
		  "instance device=0 uuid=MIG-b total=400 used=50 part=4\n"
		  "instance device=0 uuid=MIG-c total=400 used=50 sm=5\n");
	look(&p, NULL, 0);
	assert_int_equal(WHY(&p, 1, SM_ACTIVITY), TRK_GPU_FIRST_LOOK);
	assert_int_equal(WHY(&p, 2, SM_ACTIVITY), TRK_GPU_UNSUPPORTED);
	look(&p, NULL, 0);
	near(VALUE(&p, 1, SM_ACTIVITY), 0.625);
	near(VALUE(&p, 1, MEMORY_ACTIVITY), 0.1);
	assert_int_equal(WHY(&p, 1, UTILIZATION), TRK_GPU_MIG);
	assert_int_equal(WHY(&p, 0, SM_ACTIVITY), TRK_GPU_MIG);
	assert_int_equal(WHY(&p, 2, SM_ACTIVITY), TRK_GPU_UNSUPPORTED);
	assert_int_equal(WHY(&p, 2, MEMORY_ACTIVITY), TRK_GPU_MIG);
	assert_int_equal(WHY(&p, 3, SM_ACTIVITY), TRK_GPU_UNSUPPORTED); /* without a number */
	/* Another instance in the place of the first begins anew. */
	write_script(&p, "device name=H100 mig=1 total=1000 used=300\n"
			 "instance device=0 uuid=MIG-d total=500 used=200 part=5 sm=20\n");
	look(&p, NULL, 0);
	assert_int_equal(WHY(&p, 1, SM_ACTIVITY), TRK_GPU_FIRST_LOOK);
	look(&p, NULL, 0);
	near(VALUE(&p, 1, SM_ACTIVITY), 0.2);
	end(&p);
}

static void an_instance_alone_gives_the_gpu_its_memory(void **state)
{
	struct play p;

	(void) state;
	begin(&p, "device name=A100 mig=1 total=1000 used=300\n"
		  "instance device=0 uuid=MIG-a total=500 used=200\n"
		  "error@0 nvmlDeviceGetMemoryInfo 4\nerror@0 nvmlDeviceGetMemoryInfo_v2 4\n");
	look(&p, NULL, 0);
	near(VALUE(&p, 0, MEMORY_USED), 200);
	near(VALUE(&p, 0, MEMORY_TOTAL), 500);
	end(&p);
}

/* ---- processes ---- */

static void a_process_in_two_lists_counts_once(void **state)
{
	struct play p;
	pid_t pids[] = {42, 44};

	(void) state;
	begin(&p, DEVICE PLAIN "process device=0 pid=42 memory=100 lists=cg\n"
			       "process device=0 pid=43 memory=1000 lists=g\n"
			       "process device=0 pid=44 memory=10 lists=m\n"
			       "process device=1 pid=42 memory=7 lists=c\n");
	look(&p, pids, 2);
	assert_int_equal(p.scan.device[0].processes, 3);
	near(VALUE(&p, 0, TREE_MEMORY), 110);
	near(VALUE(&p, 1, TREE_MEMORY), 7);
	near(VALUE(&p, 0, TREE_SHARE), 0); /* listed, and did nothing */
	end(&p);
}

static void stale_samples_are_dropped(void **state)
{
	struct play p;
	pid_t pids[] = {42, 43};

	(void) state;
	begin(&p, DEVICE "process device=0 pid=42 memory=100 lists=c\n"
			 "process device=0 pid=43 memory=100 lists=c\n"
			 "sample device=0 pid=42 sm=90 age_ms=60000\n"
			 "sample device=0 pid=43 sm=11 age_ms=700\n"
			 "sample device=0 pid=43 sm=30 age_ms=100\n"
			 "sample device=0 pid=43 sm=12 age_ms=400\n");
	look(&p, pids, 2);
	near(VALUE(&p, 0, TREE_SHARE), 0.30);
	end(&p);
}

static void a_process_that_ended_a_moment_ago_still_counts(void **state)
{
	struct play p;
	pid_t pid = 42;

	(void) state;
	begin(&p, DEVICE "sample device=0 pid=42 sm=25 age_ms=100\n"
			 "sample device=0 pid=77 sm=60 age_ms=100\n");
	look(&p, &pid, 1);
	near(VALUE(&p, 0, TREE_SHARE), 0.25);
	near(VALUE(&p, 0, TREE_MEMORY), 0);
	end(&p);
}

static void memory_that_the_driver_hides_is_unknown(void **state)
{
	struct play p;
	pid_t pid = 42;

	(void) state;
	begin(&p, DEVICE "process device=0 pid=42 lists=c\n");
	look(&p, &pid, 1);
	assert_true(isnan(VALUE(&p, 0, TREE_MEMORY)));
	end(&p);
}

static void more_processes_than_the_first_guess(void **state)
{
	char *text = malloc(64 * 1024);
	pid_t pids[300];
	struct play p;

	(void) state;
	assert_non_null(text);
	(void) snprintf(text, 1024, DEVICE);
	for (int i = 0; i < 300; i++) {
		pids[i] = 1000 + i;
		(void) snprintf(text + strlen(text), 128,
				"process device=0 pid=%d memory=1 lists=cg\n"
				"sample device=0 pid=%d sm=%d age_ms=1\n",
				1000 + i, 1000 + i, i == 7);
	}
	begin(&p, text);
	look(&p, pids, 300);
	near(VALUE(&p, 0, TREE_MEMORY), 300);
	near(VALUE(&p, 0, TREE_SHARE), 0.01);
	end(&p);
	free(text);
}

/* ---- containers ---- */

/* /proc of a container: a pid namespace of its own, and process 5 with /dev/nvidia0 open. */
static void in_a_container(struct play *p, struct live *live)
{
	live_init(live, NULL);
	assert_int_equal(mkdirat(live->env.proc_fd, "self/ns", 0700), 0);
	assert_int_equal(symlinkat("pid:[4026532777]", live->env.proc_fd, "self/ns/pid"), 0);
	assert_int_equal(mkdirat(live->env.proc_fd, "5", 0700), 0);
	assert_int_equal(mkdirat(live->env.proc_fd, "5/fd", 0700), 0);
	assert_int_equal(symlinkat("/dev/nvidia0", live->env.proc_fd, "5/fd/3"), 0);
	assert_int_equal(symlinkat("/dev/nvidiactl", live->env.proc_fd, "5/fd/4"), 0);
	p->attributor = (struct trk_gpu_attributor){.env = live->env};
}

static void leave_container(struct live *live)
{
	static const char *const files[] = {"self/ns/pid", "5/fd/3", "5/fd/4"};
	static const char *const folders[] = {"self/ns", "5/fd", "5"};

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(unlinkat(live->env.proc_fd, files[i], 0), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(unlinkat(live->env.proc_fd, folders[i], AT_REMOVEDIR), 0);
	live_release(live);
}

static void in_a_container_the_device_that_the_job_has_to_itself_is_its_own(void **state)
{
	static const char *const scripts[] = {
		DEVICE PLAIN, /* the driver lists nobody */
		DEVICE PLAIN "process device=0 pid=90210 memory=100 lists=c\n"
			     "sample device=0 pid=90210 sm=50 age_ms=1\n",
	};
	pid_t pid = 5;

	(void) state;
	for (size_t i = 0; i < 2; i++) {
		struct live live;
		struct play p;

		begin(&p, scripts[i]);
		in_a_container(&p, &live);
		look(&p, &pid, 1);
		assert_true(p.scan.device[0].by_device);
		assert_false(p.scan.device[1].by_device);
		near(VALUE(&p, 0, TREE_SHARE), 0.57);
		near(VALUE(&p, 0, TREE_MEMORY), 1073741824);
		near(VALUE(&p, 1, TREE_MEMORY), 0); /* not open in the job */
		leave_container(&live);
		end(&p);
	}
}

static void in_a_container_another_user_is_believed_by_the_environment(void **state)
{
	static const struct {
		struct trk_gpu_hints hints;
		const char *more; /* of the script */
		double memory;    /* of the first GPU; NAN: not known */
		enum trk_gpu_basis basis;
	} cases[] = {
		{{.cuda_visible = "GPU-a"}, "", 1073741824, TRK_GPU_BY_CUDA},
		{{.nvidia_visible = "all"}, "", 1073741824, TRK_GPU_BY_NVIDIA},
		{{.nvidia_visible = "all", .cuda_visible = "GPU-b"}, "", 0, 0},
		{{.cuda_visible = ""}, "", 0, 0},
		{{.cuda_visible = NULL}, "", NAN, 0},
		{{.cuda_visible = "GPU-a"},
		 "process device=0 pid=90210 memory=1 lists=c\n"
		 "process device=0 pid=90211 memory=1 lists=c\n",
		 NAN,
		 0},
	};
	pid_t pid = 5;

	(void) state;
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0); /* whom the folder is closed to */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[1024];
		struct live live;
		struct play p;

		(void) snprintf(script, sizeof(script), DEVICE PLAIN "%s", cases[i].more);
		begin(&p, script);
		in_a_container(&p, &live);
		p.attributor.hints = cases[i].hints;
		assert_int_equal(fchmodat(live.env.proc_fd, "5/fd", 0, 0), 0);
		look(&p, &pid, 1);
		assert_int_equal(fchmodat(live.env.proc_fd, "5/fd", 0700, 0), 0);
		if (isnan(cases[i].memory))
			assert_int_equal(WHY(&p, 0, TREE_MEMORY), TRK_GPU_FOREIGN_PIDS);
		else
			near(VALUE(&p, 0, TREE_MEMORY), cases[i].memory);
		assert_int_equal(p.scan.device[0].by_device, cases[i].memory > 0);
		assert_int_equal(p.scan.device[0].basis, cases[i].basis);
		leave_container(&live);
		end(&p);
	}
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

static void an_instance_that_is_named_is_the_jobs(void **state)
{
	struct live live;
	struct play p;
	pid_t pid = 5;

	(void) state;
	begin(&p, "device name=A100 uuid=GPU-a minor=0 mig=1 total=1000 used=300\n"
		  "instance device=0 uuid=MIG-a total=500 used=200\n"
		  "instance device=0 uuid=MIG-b total=500 used=50\n"
		  "process device=0 pid=90210 memory=1 lists=c\n"
		  "process device=0 pid=90211 memory=1 lists=c\n");
	in_a_container(&p, &live);
	p.attributor.hints.cuda_visible = "MIG-b";
	look(&p, &pid, 1);
	near(VALUE(&p, 0, TREE_MEMORY), 50);
	assert_int_equal(WHY(&p, 0, TREE_SHARE), TRK_GPU_MIG);
	assert_int_equal(p.scan.device[0].basis, TRK_GPU_BY_CUDA);
	leave_container(&live);
	end(&p);
}

static void a_node_that_the_job_has_not_is_not_its(void **state)
{
	static const char *const folders[] = {"5/root/dev", "5/root"};
	struct live live;
	struct play p;
	pid_t pid = 5;

	(void) state;
	begin(&p, DEVICE PLAIN);
	in_a_container(&p, &live);
	p.attributor.hints.nvidia_visible = "all";
	assert_int_equal(mkdirat(live.env.proc_fd, "5/root", 0700), 0);
	assert_int_equal(mkdirat(live.env.proc_fd, "5/root/dev", 0700), 0);
	live_write(&live, "5/root/dev/nvidiactl", "");
	live_write(&live, "5/root/dev/nvidia1", "");
	look(&p, &pid, 1);
	near(VALUE(&p, 0, TREE_MEMORY), 0); /* though an inherited descriptor is of it */
	assert_false(p.scan.device[0].by_device);
	assert_int_equal(unlinkat(live.env.proc_fd, "5/root/dev/nvidiactl", 0), 0);
	assert_int_equal(unlinkat(live.env.proc_fd, "5/root/dev/nvidia1", 0), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(unlinkat(live.env.proc_fd, folders[i], AT_REMOVEDIR), 0);
	leave_container(&live);
	end(&p);
}

static void in_a_container_a_shared_device_is_unknown(void **state)
{
	struct live live;
	struct play p;
	pid_t pid = 5;

	(void) state;
	begin(&p, DEVICE "process device=0 pid=90210 memory=100 lists=c\n"
			 "process device=0 pid=90211 memory=100 lists=c\n");
	in_a_container(&p, &live);
	look(&p, &pid, 1);
	assert_int_equal(WHY(&p, 0, TREE_SHARE), TRK_GPU_FOREIGN_PIDS);
	assert_int_equal(WHY(&p, 0, TREE_MEMORY), TRK_GPU_FOREIGN_PIDS);
	leave_container(&live);
	end(&p);
}

static void signs_of_a_driver(void **state)
{
	struct live live;

	(void) state;
	live_init(&live, NULL);
	assert_false(trk__gpu_nvml.is_likely(&live.env));
	assert_null(trk__gpu_poller_new(&live.env, TRK_GPU_AUTO, NULL, NULL)); /* no thread */
	assert_int_equal(trk__gpu_threads(), 0);
	assert_int_equal(mkdirat(live.env.proc_fd, "driver", 0700), 0);
	assert_int_equal(mkdirat(live.env.proc_fd, "driver/nvidia", 0700), 0);
	live_write(&live, "driver/nvidia/version", "NVRM version: 550\n");
	assert_true(trk__gpu_nvml.is_likely(&live.env));
	assert_null(trk__gpu_poller_new(&live.env, TRK_GPU_NEVER, NULL, NULL));
	assert_int_equal(unlinkat(live.env.proc_fd, "driver/nvidia/version", 0), 0);
	assert_int_equal(unlinkat(live.env.proc_fd, "driver/nvidia", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(live.env.proc_fd, "driver", AT_REMOVEDIR), 0);
	live_release(&live);
}

/* ---- the thread ---- */

/* A source whose poll waits until it is let go. */
static atomic_bool held;
static atomic_int begun, polls, closed;

static bool played_is_likely(const struct trk_env *env)
{
	(void) env;
	return true;
}

static int played_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		       char why[TRK_GPU_TEXT_SIZE])
{
	(void) env;
	(void) hints;
	(void) why;
	*ret = &held;
	return 0;
}

static void nap(void)
{
	const struct timespec moment = {0, 1000000};

	(void) nanosleep(&moment, NULL);
}

static void played_poll(void *source, struct trk_gpu_scan *scan)
{
	struct trk_gpu_device *d = trk__gpu_add_device(scan, "played");

	assert_ptr_equal(source, &held);
	d->metric[TRK_GPU_UTILIZATION_METRIC] = trk__gpu_known(0.25);
	atomic_fetch_add(&begun, 1);
	while (atomic_load(&held))
		nap();
	atomic_fetch_add(&polls, 1);
}

static void played_close(void *source)
{
	(void) source;
	atomic_fetch_add(&closed, 1);
}

static const struct trk_gpu_ops played = {
	.name = "played",
	.is_likely = played_is_likely,
	.open = played_open,
	.poll = played_poll,
	.close = played_close,
};
static const struct trk_gpu_ops *const played_sources[] = {&played, NULL};

#define LONG_NS (20 * TRK_NS_PER_S)

static void an_answer_in_time_belongs_to_the_question(void **state)
{
	struct trk_env env;
	struct trk_gpu_poller *p;
	const struct trk_gpu_reading *r = NULL;

	(void) state;
	assert_int_equal(trk__env_init(&env), 0);
	p = trk__gpu_poller_new(&env, TRK_GPU_AUTO, NULL, played_sources);
	assert_non_null(p);
	while (!trk__gpu_poller_is_ready(p))
		nap();
	for (int i = 0; i < 3; i++) {
		uint64_t asked_ns = trk__clock_monotonic_ns();

		trk__gpu_poller_ask(p, NULL, 0);
		r = trk__gpu_poller_take(p, LONG_NS, LONG_NS);
		assert_non_null(r);
		assert_true(r->at_ns >= asked_ns);
	}
	near(r->sums.usage.value, 0.25);
	assert_string_equal(trk__gpu_poller_text(p), "played");
	trk__gpu_poller_free(p);
	while (trk__gpu_threads() > 0)
		nap();
	assert_int_equal(atomic_load(&closed), 1);
	trk__env_release(&env);
}

static void a_driver_that_hangs_costs_one_wait_and_becomes_unknown(void **state)
{
	struct trk_env env;
	struct trk_gpu_poller *p;
	uint64_t start_ns;
	int before, asked;

	(void) state;
	assert_int_equal(trk__env_init(&env), 0);
	p = trk__gpu_poller_new(&env, TRK_GPU_AUTO, NULL, played_sources);
	assert_non_null(p);
	while (!trk__gpu_poller_is_ready(p))
		nap();
	trk__gpu_poller_ask(p, NULL, 0);
	assert_non_null(trk__gpu_poller_take(p, LONG_NS, LONG_NS));
	before = atomic_load(&polls);
	atomic_store(&held, true);
	asked = atomic_load(&begun);
	trk__gpu_poller_ask(p, NULL, 0);
	while (atomic_load(&begun) == asked) /* else the next question takes its place */
		nap();
	/* The old answer stands in while it is young enough. */
	assert_non_null(trk__gpu_poller_take(p, TRK_NS_PER_MS, LONG_NS));
	assert_null(trk__gpu_poller_take(p, 0, 1));
	assert_string_equal(trk__gpu_poller_text(p), "played: the driver does not answer");
	start_ns = trk__clock_monotonic_ns();
	for (int i = 0; i < 100; i++) { /* not waited for again: 100 waits would be 2000 s */
		trk__gpu_poller_ask(p, NULL, 0);
		(void) trk__gpu_poller_take(p, LONG_NS, LONG_NS);
	}
	assert_true(trk__clock_monotonic_ns() - start_ns < LONG_NS);
	assert_int_equal(atomic_load(&polls), before);
	atomic_store(&held, false); /* it comes back */
	while (atomic_load(&polls) < before + 2)
		nap();
	trk__gpu_poller_ask(p, NULL, 0);
	assert_non_null(trk__gpu_poller_take(p, LONG_NS, LONG_NS));
	trk__gpu_poller_free(p);
	while (trk__gpu_threads() > 0)
		nap();
	trk__env_release(&env);
}

static void a_thread_that_hangs_at_the_end_is_left_behind(void **state)
{
	struct trk_env env;
	struct trk_gpu_poller *p;
	int before = atomic_load(&closed), asked;

	(void) state;
	assert_int_equal(trk__env_init(&env), 0);
	p = trk__gpu_poller_new(&env, TRK_GPU_AUTO, NULL, played_sources);
	assert_non_null(p);
	while (!trk__gpu_poller_is_ready(p))
		nap();
	atomic_store(&held, true);
	asked = atomic_load(&begun);
	trk__gpu_poller_ask(p, NULL, 0);
	assert_null(trk__gpu_poller_take(p, 0, LONG_NS));
	while (atomic_load(&begun) == asked) /* it has not begun to hang yet */
		nap();
	trk__gpu_poller_free(p);
	assert_int_equal(trk__gpu_threads(), 1);
	atomic_store(&held, false); /* it goes when it can, and takes its things with it */
	while (trk__gpu_threads() > 0)
		nap();
	assert_int_equal(atomic_load(&closed), before + 1);
	trk__env_release(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_every_figure),
		cmocka_unit_test(the_bus_is_watched_where_no_monitor_tells),
		cmocka_unit_test(links_are_a_rate),
		cmocka_unit_test(what_fails_is_unknown_with_its_reason),
		cmocka_unit_test(no_call_that_fails_becomes_a_zero),
		cmocka_unit_test(memory_comes_from_the_first_form_where_the_second_fails),
		cmocka_unit_test(an_old_library_gives_what_it_has),
		cmocka_unit_test(a_library_without_a_driver_is_refused_with_the_reason),
		cmocka_unit_test(sixteen_devices_and_one_that_is_closed_to_us),
		cmocka_unit_test(a_device_that_falls_off_the_bus_is_lost),
		cmocka_unit_test(a_mig_gpu_has_memory_and_no_utilisation),
		cmocka_unit_test(an_instance_has_activity_where_the_monitor_gives_it),
		cmocka_unit_test(an_instance_alone_gives_the_gpu_its_memory),
		cmocka_unit_test(a_process_in_two_lists_counts_once),
		cmocka_unit_test(stale_samples_are_dropped),
		cmocka_unit_test(a_process_that_ended_a_moment_ago_still_counts),
		cmocka_unit_test(memory_that_the_driver_hides_is_unknown),
		cmocka_unit_test(more_processes_than_the_first_guess),
		cmocka_unit_test(in_a_container_the_device_that_the_job_has_to_itself_is_its_own),
		cmocka_unit_test(in_a_container_a_shared_device_is_unknown),
		cmocka_unit_test(in_a_container_another_user_is_believed_by_the_environment),
		cmocka_unit_test(an_instance_that_is_named_is_the_jobs),
		cmocka_unit_test(a_node_that_the_job_has_not_is_not_its),
		cmocka_unit_test(signs_of_a_driver),
		cmocka_unit_test(an_answer_in_time_belongs_to_the_question),
		cmocka_unit_test(a_driver_that_hangs_costs_one_wait_and_becomes_unknown),
		cmocka_unit_test(a_thread_that_hangs_at_the_end_is_left_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
