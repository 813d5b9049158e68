/* AMD and Intel GPUs, on a copy of tests/fixtures/gpu-drm whose counters the test changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "probe/gpu/drm_fdinfo.h"
#include "probe/gpu/gpu.h"

#include "fixture.h"

static const struct trk_gpu_hints no_hints;

struct tree {
	char path[64];
	struct trk_env env;
	void *source;
	struct trk_gpu_scan scan;
	struct trk_gpu_attributor attributor;
	char why[TRK_GPU_TEXT_SIZE];
};

static void tree_init_of(struct tree *t, const char *fixture)
{
	char *from = fixture_path(fixture, "."), *command;

	*t = (struct tree){.path = "/tmp/trk-drm-XXXXXX"};
	assert_non_null(mkdtemp(t->path));
	assert_true(asprintf(&command, "cp -a %s %s", from, t->path) > 0);
	assert_int_equal(system(command), 0);
	free(command);
	free(from);
	assert_int_equal(trk__env_init_at(&t->env, t->path), 0);
	t->attributor = (struct trk_gpu_attributor){.env = t->env, .known = true};
	t->scan.now_ns = TRK_NS_PER_S;
	assert_true(trk__gpu_drm.is_likely(&t->env));
	assert_int_equal(trk__gpu_drm.open(&t->env, &no_hints, &t->source, t->why), 0);
}

static void tree_init(struct tree *t)
{
	tree_init_of(t, "gpu-drm");
}

static void tree_release(struct tree *t)
{
	char *command;

	trk__gpu_drm.close(t->source);
	trk__env_release(&t->env);
	assert_true(asprintf(&command, "rm -rf %s", t->path) > 0);
	assert_int_equal(system(command), 0);
	free(command);
}

static void put(struct tree *t, const char *file, const char *text)
{
	char path[256];
	int fd;

	(void) snprintf(path, sizeof(path), "%s/%s", t->path, file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(trk__write_all(fd, text, strlen(text)), 0);
	(void) close(fd);
}

/* One look, a second after the one before. */
static void look(struct tree *t)
{
	static const pid_t pids[] = {100, 101, 102, 200, 201, 202, 999};

	t->scan.devices = t->scan.processes = 0;
	t->scan.pid = pids;
	t->scan.pids = sizeof(pids) / sizeof(pids[0]);
	t->scan.now_ns += TRK_NS_PER_S;
	trk__gpu_drm.poll(t->source, &t->scan);
	trk__gpu_attribute(&t->attributor, &t->scan);
}

#define VALUE(t, index, id) ((t)->scan.device[index].metric[TRK_GPU_##id##_METRIC].value)
#define WHY(t, index, id)   ((t)->scan.device[index].metric[TRK_GPU_##id##_METRIC].why)

static void near(double value, double wanted)
{
	if (!(value >= wanted - 1e-6 && value <= wanted + 1e-6))
		fail_msg("%g is not %g", value, wanted);
}

static void cards_of_known_drivers_are_devices(void **state)
{
	struct tree t;

	tree_init(&t);
	look(&t);
	assert_int_equal(t.scan.devices, 3); /* no connector, no render node, not NVIDIA's */
	assert_string_equal(t.scan.device[0].name, "Radeon RX 6900 XT");
	assert_string_equal(t.scan.device[0].vendor, "amd");
	assert_string_equal(t.scan.device[0].bus, "0000:03:00.0");
	assert_string_equal(t.scan.device[0].uuid, "7ac8f2d1e5b90c43");
	assert_string_equal(t.scan.device[1].name, "Intel GPU 0x9a49");
	assert_string_equal(t.scan.device[2].driver, "xe");
	near(VALUE(&t, 0, UTILIZATION), 0.37);
	near(VALUE(&t, 0, MEMORY_ACTIVITY), 0.12);
	near(VALUE(&t, 0, MEMORY_USED), 2147483648);
	near(VALUE(&t, 0, MEMORY_TOTAL), 17163091968);
	near(VALUE(&t, 0, POWER), 203);
	near(VALUE(&t, 0, TEMPERATURE), 58);
	near(VALUE(&t, 0, CLOCK), 2475e6);
	near(VALUE(&t, 1, CLOCK), 1100e6);
	near(VALUE(&t, 2, ENERGY), 812);
	near(VALUE(&t, 2, CLOCK), 2050e6);
	assert_int_equal(WHY(&t, 0, ENERGY), TRK_GPU_UNSUPPORTED);
	assert_int_equal(WHY(&t, 2, MEMORY_USED), TRK_GPU_UNSUPPORTED);
	assert_int_equal(WHY(&t, 1, MEMORY_USED), TRK_GPU_SHARED_MEMORY);
	tree_release(&t);
}

static void a_client_counts_once_however_many_descriptors_it_has(void **state)
{
	struct tree t;

	tree_init(&t);
	look(&t);
	near(VALUE(&t, 0, TREE_MEMORY), 512.0 * 1048576); /* three descriptors in two processes */
	near(VALUE(&t, 2, TREE_MEMORY),
	     256.0 * 1048576); /* what lies there, not what was asked for */
	assert_int_equal(t.scan.device[0].processes, 1);
	assert_int_equal(WHY(&t, 0, TREE_SHARE), TRK_GPU_FIRST_LOOK);
	assert_int_equal(WHY(&t, 1, TREE_MEMORY), TRK_GPU_SHARED_MEMORY);
	tree_release(&t);
}

static void shares_are_the_busiest_engines(void **state)
{
	static const char amd[] =
		"drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"
		"drm-memory-vram:\t1024 KiB\ndrm-engine-gfx:\t5250000000 ns\n"
		"drm-engine-compute:\t1100000000 ns\n";
	struct tree t;

	tree_init(&t);
	look(&t);
	put(&t, "proc/100/fdinfo/3", amd);
	put(&t, "proc/100/fdinfo/4", amd);
	put(&t, "proc/101/fdinfo/3", amd);
	put(&t, "proc/101/fdinfo/6",
	    "drm-driver:\ti915\ndrm-client-id:\t21\ndrm-pdev:\t0000:00:02.0\n"
	    "drm-engine-render:\t500000000 ns\ndrm-engine-video:\t1500000000 ns\n"
	    "drm-engine-capacity-video:\t2\n");
	put(&t, "proc/102/fdinfo/4",
	    "drm-driver:\txe\ndrm-client-id:\t5\ndrm-pdev:\t0000:4d:00.0\n"
	    "drm-cycles-rcs:\t1000\ndrm-total-cycles-rcs:\t200000\ndrm-cycles-ccs:\t40000\n"
	    "drm-total-cycles-ccs:\t200000\n");
	put(&t, "sys/class/drm/card1/gt/gt0/rc6_residency_ms", "90400\n");
	put(&t, "sys/devices/pci0000:00/0000:4d:00.0/tile0/gt0/gtidle/idle_residency_ms", "5900\n");
	look(&t);
	near(VALUE(&t, 0, TREE_SHARE), 0.25);
	near(VALUE(&t, 0, TREE_MEMORY), 1048576);
	near(VALUE(&t, 1, TREE_SHARE), 0.3); /* 0.6 s over two engines */
	near(VALUE(&t, 2, TREE_SHARE), 0.2);
	near(VALUE(&t, 1, UTILIZATION), 0.6); /* slept 0.4 s of one */
	near(VALUE(&t, 2, UTILIZATION), 0.1);
	tree_release(&t);
}

static void a_client_that_is_new_began_at_nothing(void **state)
{
	struct tree t;
	char path[128];

	tree_init(&t);
	(void) snprintf(path, sizeof(path), "%s/proc/102/fd/4", t.path);
	assert_int_equal(unlink(path), 0);
	look(&t);
	near(VALUE(&t, 2, TREE_SHARE), 0);
	look(&t);
	put(&t, "proc/102/fdinfo/9",
	    "drm-driver:\tamdgpu\ndrm-client-id:\t8\ndrm-pdev:\t0000:03:00.0\n"
	    "drm-engine-gfx:\t400000000 ns\ndrm-memory-vram: 1 MiB\n");
	(void) snprintf(path, sizeof(path), "%s/proc/102/fd/9", t.path);
	assert_int_equal(symlink("/dev/dri/renderD128", path), 0);
	look(&t);
	near(VALUE(&t, 0, TREE_SHARE), 0.4); /* the other one stood still */
	near(VALUE(&t, 0, TREE_MEMORY), 513.0 * 1048576);
	tree_release(&t);
}

static void sums_leave_out_what_a_device_does_not_have(void **state)
{
	struct trk_gpu_sums sums;
	struct tree t;

	tree_init(&t);
	look(&t);
	trk__gpu_sum(t.scan.device, 2, &sums); /* AMD's and the one in the processor */
	assert_int_equal(sums.gpus, 2);
	near(sums.vram.value, 2147483648);
	near(sums.power.value, 203);
	assert_int_equal(sums.sm_activity.why, TRK_GPU_NOT_ASKED);
	assert_false(trk__gpu_is_missing(&t.scan.device[1], TRK_GPU_MEMORY_USED_METRIC));
	trk__gpu_sum(t.scan.device, 3, &sums); /* the third has memory, and does not tell */
	near(sums.vram.value, 2147483648);
	assert_true(trk__gpu_is_missing(&t.scan.device[2], TRK_GPU_MEMORY_USED_METRIC));
	near(sums.energy.value, 812); /* of the third alone */
	/* The client of the one in the processor has no memory there, and takes nothing from the
	 * rest. */
	near(sums.tree_vram.value, (512.0 + 256) * 1048576);
	tree_release(&t);
}

/* amdgpu leaves out the lines of engines that were never used; others would not say so. */
static void a_client_of_amdgpu_without_engines_did_nothing(void **state)
{
	static const char *const drivers[] = {"amdgpu", "i915"};

	for (size_t i = 0; i < 2; i++) {
		struct trk_drm_client client;
		char text[128];

		(void) snprintf(text, sizeof(text),
				"drm-driver:\t%s\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t7\n",
				drivers[i]);
		assert_int_equal(trk__drm_fdinfo_parse(text, &client), 0);
		if (i == 0)
			near(trk__drm_kind_share(&client, &client, "", 1000), 0);
		else
			assert_true(isnan(trk__drm_kind_share(&client, &client, "", 1000)));
	}
}

static void a_tree_without_cards_is_no_source(void **state)
{
	struct live live;
	void *source;
	char why[TRK_GPU_TEXT_SIZE];

	live_init(&live, NULL);
	assert_false(trk__gpu_drm.is_likely(&live.env));
	assert_true(trk__gpu_drm.open(&live.env, &no_hints, &source, why) < 0);
	assert_string_equal(why, "no AMD or Intel GPU in /sys/class/drm");
	live_release(&live);
}

static void text_that_is_no_client_is_refused(void **state)
{
	struct trk_drm_client c = {.id = 99};

	assert_int_equal(trk__drm_fdinfo_parse("pos:\t0\nflags:\t02\n", &c), -ENODATA);
	assert_int_equal(trk__drm_fdinfo_parse("drm-driver: amdgpu\ndrm-engine-gfx: 1 ns\n", &c),
			 -ENODATA); /* 5.14: no id, cannot be told from its copies */
	assert_int_equal(c.id, 99);
	assert_int_equal(trk__drm_fdinfo_parse("drm-driver: x\ndrm-client-id: 4\n"
					       "drm-engine-quantum: 7 ns\nvendor-key: 1\n"
					       "drm-resident-vram0: 5 parsecs\n"
					       "drm-total-vram0: 3 KiB\n",
					       &c),
			 0);
	assert_int_equal(c.id, 4);
	assert_string_equal(c.engine[0].name, "quantum");
	assert_int_equal(c.memory_bytes, 3072);
	assert_true(isnan(trk__drm_kind_share(&c, NULL, "", 0)));
}

/* ---- tests/fixtures/gpu-drm-parts: MI300X with ROCm, an APU, two cards of Intel ---- */

enum { MI300, APU, XE, I915 };

static void hidden_files_have_their_like(void **state)
{
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	look(&t);
	assert_int_equal(t.scan.devices, 4);
	near(VALUE(&t, MI300, TEMPERATURE), 51);
	near(VALUE(&t, MI300, POWER), 412);
	near(VALUE(&t, XE, TEMPERATURE), 47);
	near(VALUE(&t, XE, ENERGY), 5);
	assert_int_equal(WHY(&t, XE, POWER), TRK_GPU_FIRST_LOOK);
	put(&t, "sys/devices/pci0000:00/0000:06:00.0/hwmon/hwmon3/energy2_input", "93000000\n");
	look(&t);
	near(VALUE(&t, XE, POWER), 88); /* 88 J in a second */
	tree_release(&t);
}

static void errors_of_the_memory_stand_in_sysfs(void **state)
{
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	look(&t);
	near(VALUE(&t, MI300, ECC_CORRECTED), 17);
	near(VALUE(&t, MI300, ECC_UNCORRECTED), 1);
	assert_int_equal(WHY(&t, APU, ECC_CORRECTED), TRK_GPU_UNSUPPORTED);
	tree_release(&t);
}

static void an_apu_has_the_memory_of_the_machine_too(void **state)
{
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	look(&t);
	near(VALUE(&t, APU, MEMORY_USED), 268435456.0 + 1073741824);
	near(VALUE(&t, APU, MEMORY_TOTAL), 536870912.0 + 16106127360.0);
	near(VALUE(&t, APU, TREE_MEMORY), (2048.0 + 102400) * 1024);
	near(VALUE(&t, MI300, MEMORY_USED), 34359738368.0); /* not so a card */
	tree_release(&t);
}

static void engines_for_video_count_by_process(void **state)
{
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	look(&t);
	assert_int_equal(WHY(&t, APU, TREE_DECODER), TRK_GPU_FIRST_LOOK);
	put(&t, "proc/201/fdinfo/5",
	    "drm-driver:\tamdgpu\ndrm-client-id:\t12\ndrm-pdev:\t0000:c4:00.0\n"
	    "drm-engine-gfx:\t100000000 ns\ndrm-engine-dec:\t1400000000 ns\n");
	look(&t);
	near(VALUE(&t, APU, TREE_DECODER), 0.4);
	near(VALUE(&t, APU, TREE_ENCODER), 0);
	near(VALUE(&t, APU, TREE_SHARE), 0.4);
	assert_int_equal(WHY(&t, XE, TREE_DECODER), TRK_GPU_UNSUPPORTED);
	tree_release(&t);
}

/* Its work stands in no fdinfo. All queues on the card are its own. */
static void compute_queues_count_for_the_job(void **state)
{
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	look(&t);
	look(&t);
	near(VALUE(&t, MI300, TREE_MEMORY), 17179869184.0); /* more than fdinfo tells */
	near(VALUE(&t, MI300, TREE_SHARE), 0.8);
	tree_release(&t);
}

static void compute_queues_of_others_leave_the_share_unknown(void **state)
{
	char command[192];
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	(void) snprintf(command, sizeof(command),
			"cp -a %s/sys/class/kfd/kfd/proc/200 %s/sys/class/kfd/kfd/proc/301", t.path,
			t.path);
	assert_int_equal(system(command), 0);
	look(&t);
	look(&t);
	near(VALUE(&t, MI300, TREE_MEMORY), 17179869184.0); /* its own */
	assert_int_equal(WHY(&t, MI300, TREE_SHARE), TRK_GPU_NOT_SPLIT);
	near(VALUE(&t, APU, TREE_SHARE), 0); /* has no such queue */
	tree_release(&t);
}

/* In a container the compute driver knows it by another pid. */
static void compute_queues_that_are_not_found_are_unknown(void **state)
{
	char command[160];
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	(void) snprintf(command, sizeof(command),
			"mkdir -p %s/proc/self/ns && ln -s 'pid:[4026532999]' %s/proc/self/ns/pid",
			t.path, t.path);
	assert_int_equal(system(command), 0);
	look(&t);
	look(&t);
	assert_int_equal(WHY(&t, MI300, TREE_SHARE), TRK_GPU_FOREIGN_PIDS);
	assert_int_equal(WHY(&t, MI300, TREE_MEMORY), TRK_GPU_FOREIGN_PIDS);
	near(VALUE(&t, APU, TREE_SHARE), 0); /* the compute driver does not have it */
	tree_release(&t);
}

static void a_media_part_that_is_awake_is_use(void **state)
{
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	look(&t);
	put(&t, "sys/devices/pci0000:00/0000:06:00.0/tile0/gt0/gtidle/idle_residency_ms", "2000\n");
	put(&t, "sys/devices/pci0000:00/0000:06:00.0/tile0/gt1/gtidle/idle_residency_ms", "1300\n");
	look(&t);
	near(VALUE(&t, XE, UTILIZATION), 0.7);
	tree_release(&t);
}

/* A client of xe that is there in one look alone: another one has shown how fast the clock runs. */
static void a_client_between_two_looks_counts(void **state)
{
	char path[128];
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	look(&t);
	put(&t, "proc/202/fdinfo/6",
	    "drm-driver:\txe\ndrm-client-id:\t21\ndrm-pdev:\t0000:06:00.0\n"
	    "drm-cycles-vcs:\t0\ndrm-total-cycles-vcs:\t38400000\n");
	look(&t);
	near(VALUE(&t, XE, TREE_SHARE), 0);
	put(&t, "proc/202/fdinfo/7",
	    "drm-driver:\txe\ndrm-client-id:\t22\ndrm-pdev:\t0000:06:00.0\n"
	    "drm-cycles-vcs:\t4800000\ndrm-total-cycles-vcs:\t57600000\n");
	(void) snprintf(path, sizeof(path), "%s/proc/202/fd/7", t.path);
	assert_int_equal(symlink("/dev/dri/renderD130", path), 0);
	look(&t);
	near(VALUE(&t, XE, TREE_SHARE), 0.25);
	tree_release(&t);
}

static void a_first_client_has_no_share_before_the_second_look(void **state)
{
	char path[128];
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	(void) snprintf(path, sizeof(path), "%s/proc/202/fd/6", t.path);
	assert_int_equal(unlink(path), 0);
	look(&t);
	look(&t);
	near(VALUE(&t, XE, TREE_SHARE), 0);
	assert_int_equal(symlink("/dev/dri/renderD130", path), 0);
	look(&t);
	assert_int_equal(WHY(&t, XE, TREE_SHARE), TRK_GPU_FIRST_LOOK);
	look(&t);
	tree_release(&t);
}

static void a_suspended_card_is_not_read(void **state)
{
	static const char *const status =
		"sys/devices/pci0000:00/0000:07:00.0/power/runtime_status";
	struct tree t;

	tree_init_of(&t, "gpu-drm-parts");
	look(&t);
	assert_int_equal(WHY(&t, I915, ENERGY), TRK_GPU_ASLEEP);
	near(VALUE(&t, I915, UTILIZATION), 0);
	near(VALUE(&t, I915, TREE_SHARE), 0);
	put(&t, status, "active\n");
	look(&t);
	near(VALUE(&t, I915, ENERGY), 9); /* of the card, not of its part */
	assert_int_equal(WHY(&t, I915, UTILIZATION), TRK_GPU_FIRST_LOOK);
	put(&t, "sys/class/drm/card3/gt/gt0/rc6_residency_ms", "4000\n");
	put(&t, "sys/class/drm/card3/gt/gt1/rc6_residency_ms", "3900\n");
	look(&t);
	near(VALUE(&t, I915, UTILIZATION), 0.1);
	tree_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cards_of_known_drivers_are_devices),
		cmocka_unit_test(a_client_counts_once_however_many_descriptors_it_has),
		cmocka_unit_test(shares_are_the_busiest_engines),
		cmocka_unit_test(a_client_that_is_new_began_at_nothing),
		cmocka_unit_test(sums_leave_out_what_a_device_does_not_have),
		cmocka_unit_test(a_client_of_amdgpu_without_engines_did_nothing),
		cmocka_unit_test(hidden_files_have_their_like),
		cmocka_unit_test(errors_of_the_memory_stand_in_sysfs),
		cmocka_unit_test(an_apu_has_the_memory_of_the_machine_too),
		cmocka_unit_test(engines_for_video_count_by_process),
		cmocka_unit_test(compute_queues_count_for_the_job),
		cmocka_unit_test(compute_queues_of_others_leave_the_share_unknown),
		cmocka_unit_test(compute_queues_that_are_not_found_are_unknown),
		cmocka_unit_test(a_media_part_that_is_awake_is_use),
		cmocka_unit_test(a_client_between_two_looks_counts),
		cmocka_unit_test(a_first_client_has_no_share_before_the_second_look),
		cmocka_unit_test(a_suspended_card_is_not_read),
		cmocka_unit_test(a_tree_without_cards_is_no_source),
		cmocka_unit_test(text_that_is_no_client_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
