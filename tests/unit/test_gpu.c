/* Figures and processes of GPUs from NVIDIA's library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "gpu_play.h"

/* ---- devices ---- */

static void a_device_has_every_figure(void **state)
{
	struct play p;

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
		{"nvmlDeviceGetComputeRunningProcesses_v2", TRK_GPU_TREE_MEMORY_METRIC},
		{"nvmlDeviceGetProcessUtilization", TRK_GPU_TREE_SHARE_METRIC},
	};
	pid_t pid = 42;

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

	begin(&p, DEVICE "error nvmlDeviceGetMemoryInfo_v2 13\n");
	look(&p, NULL, 0);
	near(VALUE(&p, 0, MEMORY_USED), 1073741824 + 5);
	end(&p);
}

static void an_old_library_gives_what_it_has(void **state)
{
	struct play p;
	pid_t pid = 42;

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
		 "NVML: library and driver have different versions (code 18)"},
		{"error nvmlInit_v2 4\n", "NVML: not permitted (code 4)"},
		{"error nvmlInit_v2 999\n", "NVML: cannot be initialised (code 999)"},
		{"error nvmlDeviceGetCount_v2 999\n", "NVML: cannot count the devices (code 999)"},
		{"driver 1\n", "NVML: no device"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct play p;

		assert_int_equal(begin_with(&p, "", cases[i].script), -TRK_ERR_UNSUPPORTED);
		assert_string_equal(p.why, cases[i].why);
		end(&p);
	}
}

static void sixteen_devices_and_one_that_is_closed_to_us(void **state)
{
	char text[4096] = "error@3 nvmlDeviceGetHandleByIndex_v2 4\n";
	struct play p;
	struct trk_gpu_sums sums;

	for (int i = 0; i < 16; i++)
		(void) snprintf(text + strlen(text), sizeof(text) - strlen(text),
				"device name=G%d total=100 used=10 util=50\n", i);
	begin(&p, text);
	look(&p, NULL, 0);
	assert_int_equal(p.scan.devices, 16);
	assert_string_equal(p.scan.device[15].name, "G15");
	assert_int_equal(WHY(&p, 3, UTILIZATION), TRK_GPU_DENIED);
	trk__gpu_sum(p.scan.device, p.scan.devices, &sums);
	near(sums.usage.value, 7.5); /* a lower bound, and the fourth is known to be missing */
	assert_true(trk__gpu_is_missing(&p.scan.device[3], TRK_GPU_UTILIZATION_METRIC));
	assert_false(trk__gpu_is_missing(&p.scan.device[4], TRK_GPU_UTILIZATION_METRIC));
	assert_int_equal(sums.gpus, 16);
	end(&p);
}

static void a_device_that_falls_off_the_bus_is_lost(void **state)
{
	struct play p;
	struct trk_gpu_sums sums;

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
	near(sums.vram.value, 1073741824);
	end(&p);
}

static void a_mig_gpu_has_memory_and_no_utilisation(void **state)
{
	struct play p;
	struct trk_gpu_sums sums;
	pid_t pid = 42;

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

#define BUSY                                                                                       \
	"busy nvmlDeviceGetTotalEnergyConsumption 60\nbusy nvmlDeviceGetProcessUtilization 60\n"

static void a_counter_that_costs_much_is_read_seldom(void **state)
{
	struct play p;

	begin(&p, DEVICE BUSY);
	look(&p, NULL, 0);
	near(VALUE(&p, 0, ENERGY), 7);
	play_skipped_ns += 800 * TRK_NS_PER_MS;
	look(&p, NULL, 0);
	/* a second of 301.5 W, and the time of the test itself */
	assert_true(VALUE(&p, 0, ENERGY) >= 7 + 301.5);
	assert_true(VALUE(&p, 0, ENERGY) < 7 + 301.5 * 10);
	play_skipped_ns += 60 * TRK_NS_PER_S; /* 0.25 % of it is more than was spent */
	look(&p, NULL, 0);
	assert_true(VALUE(&p, 0, ENERGY) < 7 + 301.5 * 10); /* the counter again, and never less */
	end(&p);
}

static void a_full_look_reads_the_counter_whatever_it_costs(void **state)
{
	struct play p;

	begin(&p, DEVICE BUSY);
	look(&p, NULL, 0);
	look(&p, NULL, 0);
	end(&p);
	begin(&p, "device name=A uuid=GPU-a bus=00000000:01:00.0 minor=0 total=100 used=1 util=5 "
		  "power=1000 energy=9000000\n" BUSY);
	look(&p, NULL, 0);
	play_skipped_ns += TRK_NS_PER_S;
	p.scan.is_full = true;
	look(&p, NULL, 0);
	near(VALUE(&p, 0, ENERGY), 9000);
	end(&p);
}

static void a_counter_that_was_reset_starts_again(void **state)
{
	struct play p;

	begin(&p, DEVICE);
	look(&p, NULL, 0);
	near(VALUE(&p, 0, ENERGY), 7);
	write_script(&p, "device name=A uuid=GPU-a bus=00000000:01:00.0 minor=0 total=100 used=1 "
			 "util=5 power=1000 energy=2000\n");
	look(&p, NULL, 0);
	near(VALUE(&p, 0, ENERGY), 2);
	end(&p);
}

static void samples_of_processes_stand_while_new_ones_cost_too_much(void **state)
{
	struct play p;
	pid_t pid = 42;

	begin(&p, DEVICE BUSY "process device=0 pid=42 memory=100 lists=c\n"
			      "sample device=0 pid=42 sm=30 age_ms=100\n");
	look(&p, &pid, 1);
	near(VALUE(&p, 0, TREE_SHARE), 0.30);
	write_script(&p, DEVICE BUSY "process device=0 pid=42 memory=100 lists=c\n"
				     "sample device=0 pid=42 sm=80 age_ms=0\n");
	look(&p, &pid, 1);
	near(VALUE(&p, 0, TREE_SHARE), 0.30);
	p.scan.is_full = true;
	look(&p, &pid, 1);
	near(VALUE(&p, 0, TREE_SHARE), 0.80);
	end(&p);
}

static void a_process_that_ended_a_moment_ago_still_counts(void **state)
{
	struct play p;
	pid_t pid = 42;

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

	begin(&p, DEVICE "process device=0 pid=42 lists=c\n");
	look(&p, &pid, 1);
	assert_true(isnan(VALUE(&p, 0, TREE_MEMORY)));
	end(&p);
}

/* Else the job's use would be 0 until the driver lists it, and unknown from then on. */
static void what_the_driver_does_not_divide_is_unknown_for_every_job(void **state)
{
	struct play p;
	pid_t pid = 42;

	begin(&p, DEVICE PLAIN "error nvmlDeviceGetProcessUtilization 13\n"
			       "error nvmlDeviceGetProcessesUtilizationInfo 13\n"
			       "process device=0 pid=7 memory=100 lists=c\n"
			       "process device=1 pid=7 lists=c\n");
	look(&p, &pid, 1);
	assert_int_equal(WHY(&p, 0, TREE_SHARE), TRK_GPU_OLD_LIBRARY);
	near(VALUE(&p, 0, TREE_MEMORY), 0);
	near(VALUE(&p, 0, UTILIZATION), 0.57);
	assert_int_equal(WHY(&p, 1, TREE_MEMORY), TRK_GPU_UNSUPPORTED);
	end(&p);
}

static void more_processes_than_the_first_guess(void **state)
{
	char *text = malloc(64 * 1024);
	pid_t pids[300];
	struct play p;

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
		cmocka_unit_test(a_counter_that_costs_much_is_read_seldom),
		cmocka_unit_test(a_full_look_reads_the_counter_whatever_it_costs),
		cmocka_unit_test(a_counter_that_was_reset_starts_again),
		cmocka_unit_test(samples_of_processes_stand_while_new_ones_cost_too_much),
		cmocka_unit_test(a_process_that_ended_a_moment_ago_still_counts),
		cmocka_unit_test(memory_that_the_driver_hides_is_unknown),
		cmocka_unit_test(what_the_driver_does_not_divide_is_unknown_for_every_job),
		cmocka_unit_test(more_processes_than_the_first_guess),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
