/* A GPU that sleeps, cannot be accessed, or gets another index, during the life of a source.
 * tests/gpu/driver.c simulates the behaviour of a driver after a reset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu_play.h"

#define TWO                                                                                        \
	"device name=A uuid=GPU-a bus=00000000:01:00.0 total=100 used=10 util=50\n"                \
	"device name=B uuid=GPU-b bus=00000000:0A:00.0 total=100 used=10 util=40\n"

/* A sysfs with two GPUs of NVIDIA's driver, as Documentation/ABI of the kernel has it. */
struct bus {
	char path[64];
};

static void put(const struct bus *b, const char *file, const char *text)
{
	char path[256];
	int fd;

	(void) snprintf(path, sizeof(path), "%s/%s", b->path, file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(trk__write_all(fd, text, strlen(text)), 0);
	(void) close(fd);
}

static void bus_init(struct bus *b, const char *first, const char *second)
{
	char command[512];

	*b = (struct bus){.path = "/tmp/trk-bus-XXXXXX"};
	assert_non_null(mkdtemp(b->path));
	(void) snprintf(
		command, sizeof(command),
		"cd %s && mkdir -p proc sys/bus/pci/drivers/nvidia "
		"sys/bus/pci/devices/0000:01:00.0/power "
		"sys/bus/pci/devices/0000:0a:00.0/power && cd sys/bus/pci/drivers/nvidia && "
		"ln -s ../../devices/0000:0a:00.0 . && ln -s ../../devices/0000:01:00.0 . && "
		"touch bind new_id",
		b->path);
	assert_int_equal(system(command), 0);
	put(b, "sys/bus/pci/devices/0000:01:00.0/power/control", "auto\n");
	put(b, "sys/bus/pci/devices/0000:0a:00.0/power/control", "auto\n");
	put(b, "sys/bus/pci/devices/0000:01:00.0/power/runtime_status", first);
	put(b, "sys/bus/pci/devices/0000:0a:00.0/power/runtime_status", second);
}

static void bus_release(const struct bus *b)
{
	char command[128];

	(void) snprintf(command, sizeof(command), "rm -rf %s", b->path);
	assert_int_equal(system(command), 0);
}

static void begin_on(struct play *p, const struct bus *b, const char *script)
{
	load(p, "", script);
	trk__env_release(&p->env);
	assert_int_equal(trk__env_init_at(&p->env, b->path), 0);
	p->env.monotonic_ns = play_clock;
	p->attributor.env = p->env;
	assert_int_equal(trk__gpu_nvml.open(&p->env, &no_hints, &p->source, p->why), 0);
}

static void pass(uint64_t seconds)
{
	play_skipped_ns += seconds * TRK_NS_PER_S;
}

/* Its handle would wake it: it is not requested, so the error of the handle is not seen. */
static void a_suspended_gpu_is_not_asked_for_its_handle(void **state)
{
	struct trk_gpu_sums sums;
	struct play p;
	struct bus b;
	pid_t pid = 42;

	bus_init(&b, "active\n", "suspended\n");
	begin_on(&p, &b, TWO "error@1 nvmlDeviceGetHandleByIndex_v2 999\n");
	look(&p, &pid, 1);
	near(VALUE(&p, 0, UTILIZATION), 0.5);
	assert_int_equal(WHY(&p, 1, MEMORY_USED), TRK_GPU_ASLEEP);
	assert_int_equal(WHY(&p, 1, POWER), TRK_GPU_ASLEEP);
	near(VALUE(&p, 1, UTILIZATION), 0); /* a suspended GPU does nothing */
	near(VALUE(&p, 1, TREE_SHARE), 0);
	trk__gpu_sum(p.scan.device, p.scan.devices, &sums);
	near(sums.usage.value, 0.5);
	assert_false(trk__gpu_is_missing(&p.scan.device[1], TRK_GPU_UTILIZATION_METRIC));
	assert_true(trk__gpu_is_missing(&p.scan.device[1], TRK_GPU_POWER_METRIC));
	end(&p);
	bus_release(&b);
}

static void a_gpu_is_asked_once_it_is_awake_and_left_alone_when_it_sleeps(void **state)
{
	struct play p;
	struct bus b;

	bus_init(&b, "suspended\n", "active\n");
	begin_on(&p, &b, TWO);
	look(&p, NULL, 0);
	assert_int_equal(WHY(&p, 0, MEMORY_USED), TRK_GPU_ASLEEP);
	assert_string_equal(p.scan.device[0].bus, "00000000:01:00.0");
	near(VALUE(&p, 1, UTILIZATION), 0.4);
	put(&b, "sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "active\n");
	put(&b, "sys/bus/pci/devices/0000:0a:00.0/power/runtime_status", "suspended\n");
	look(&p, NULL, 0);
	near(VALUE(&p, 0, UTILIZATION), 0.5);
	assert_string_equal(p.scan.device[0].name, "A");
	assert_int_equal(WHY(&p, 1, MEMORY_USED), TRK_GPU_ASLEEP);
	assert_string_equal(p.scan.device[1].name, "B"); /* known from before */
	end(&p);
	bus_release(&b);
}

static void all_gpus_asleep_or_not(void **state)
{
	struct trk_env env;
	struct bus b;

	bus_init(&b, "suspended\n", "active\n");
	assert_int_equal(trk__env_init_at(&env, b.path), 0);
	assert_false(trk__gpu_nvidia_is_asleep(env.sys_fd));
	assert_false(trk__gpu_is_asleep(env.sys_fd, "0000:0a:00.0"));
	assert_false(trk__gpu_is_asleep(env.sys_fd, "0000:0b:00.0")); /* no such device */
	assert_false(trk__gpu_is_asleep(env.sys_fd, ""));
	assert_true(trk__gpu_may_sleep(env.sys_fd, "00000000:0A:00.0"));
	put(&b, "sys/bus/pci/devices/0000:0a:00.0/power/control", "on\n");
	assert_false(trk__gpu_may_sleep(env.sys_fd, "00000000:0A:00.0"));
	put(&b, "sys/bus/pci/devices/0000:0a:00.0/power/runtime_status", "suspended\n");
	assert_true(trk__gpu_nvidia_is_asleep(env.sys_fd));
	assert_true(trk__gpu_is_asleep(env.sys_fd, "00000000:0A:00.0"));
	trk__env_release(&env);
	assert_false(trk__gpu_nvidia_is_asleep(-1));
	bus_release(&b);
}

static void a_handle_that_fails_is_asked_for_again_and_says_why(void **state)
{
	static const struct {
		const char *rule;
		enum trk_gpu_why why;
	} cases[] = {
		{"error@1 nvmlDeviceGetHandleByIndex_v2 4\n", TRK_GPU_DENIED},
		{"error@1 nvmlDeviceGetHandleByIndex_v2 11\n", TRK_GPU_FAILED},
		{"error@1 nvmlDeviceGetHandleByIndex_v2 15\n", TRK_GPU_LOST},
		{"error@1 nvmlDeviceGetHandleByIndex_v2 9\n", TRK_GPU_NO_DRIVER},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct play p;
		char text[512];

		(void) snprintf(text, sizeof(text), TWO "%s", cases[i].rule);
		begin(&p, text);
		look(&p, NULL, 0);
		assert_int_equal(WHY(&p, 1, POWER), cases[i].why);
		write_script(&p, TWO);
		look(&p, NULL, 0); /* not in every sample */
		assert_int_equal(WHY(&p, 1, UTILIZATION), cases[i].why);
		pass(2);
		look(&p, NULL, 0);
		near(VALUE(&p, 1, UTILIZATION), 0.4);
		near(VALUE(&p, 0, UTILIZATION), 0.5);
		end(&p);
	}
}

/* The driver is being replaced: no initialisation for a while. */
static void a_driver_that_is_reloaded_is_asked_again(void **state)
{
	struct play p;

	begin(&p, TWO);
	look(&p, NULL, 0);
	write_script(&p, TWO "error nvmlDeviceGetMemoryInfo_v2 1\nerror nvmlInit_v2 9\n");
	look(&p, NULL, 0);
	assert_int_equal(WHY(&p, 0, UTILIZATION), TRK_GPU_NO_DRIVER);
	for (int i = 0; i < 4; i++) { /* by the handle, then by initialisations that fail */
		pass(20);
		look(&p, NULL, 0);
		assert_int_equal(WHY(&p, 0, UTILIZATION), TRK_GPU_NO_DRIVER);
		assert_int_equal(WHY(&p, 1, UTILIZATION), TRK_GPU_NO_DRIVER);
	}
	write_script(&p, TWO);
	pass(300);
	look(&p, NULL, 0);
	near(VALUE(&p, 0, UTILIZATION), 0.5);
	near(VALUE(&p, 1, UTILIZATION), 0.4);
	end(&p);
}

/* A program of that name that says that it was started. */
static void write_program(const struct bus *b)
{
	char path[128], text[256];

	(void) snprintf(path, sizeof(path), "%s/nvidia-smi", b->path);
	(void) snprintf(text, sizeof(text), "#!/bin/sh\n: >%s/started\nexit 1\n", b->path);
	put(b, "nvidia-smi", text);
	assert_int_equal(chmod(path, 0700), 0);
}

static void nvidia_smi_is_not_started_while_all_gpus_sleep(void **state)
{
	struct trk_gpu_hints hints = {.period_ns = TRK_NS_PER_MS};
	char why[TRK_GPU_TEXT_SIZE], text[TRK_GPU_TEXT_SIZE] = "", path[128];
	static struct trk_gpu_scan scan;
	struct trk_env env;
	struct bus b;
	void *source;

	bus_init(&b, "suspended\n", "suspended\n");
	write_program(&b);
	hints.path = b.path;
	(void) snprintf(path, sizeof(path), "%s/started", b.path);
	assert_int_equal(trk__env_init_at(&env, b.path), 0);
	assert_int_equal(trk__gpu_nvidia_smi.open(&env, &hints, &source, why), 0);
	for (int i = 0; i < 2; i++) {
		trk__gpu_nvidia_smi.poll(source, &scan);
		trk__gpu_nvidia_smi.say(source, text);
	}
	assert_string_equal(text, trk__gpu_why_text(TRK_GPU_ASLEEP));
	assert_int_not_equal(access(path, F_OK), 0);
	put(&b, "sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "active\n");
	trk__gpu_nvidia_smi.poll(source, &scan);
	assert_int_equal(access(path, F_OK), 0);
	trk__gpu_nvidia_smi.close(source);
	trk__env_release(&env);
	bus_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_suspended_gpu_is_not_asked_for_its_handle),
		cmocka_unit_test(a_gpu_is_asked_once_it_is_awake_and_left_alone_when_it_sleeps),
		cmocka_unit_test(all_gpus_asleep_or_not),
		cmocka_unit_test(nvidia_smi_is_not_started_while_all_gpus_sleep),
		cmocka_unit_test(a_handle_that_fails_is_asked_for_again_and_says_why),
		cmocka_unit_test(a_driver_that_is_reloaded_is_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
