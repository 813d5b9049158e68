/* Facts about the machine: processors of several vendors, cores and threads, containers,
 * hypervisors. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/machine.h"

static struct trk_server look(const struct trk_env *env)
{
	static struct trk_place place;

	trk__machine_look(&place, env, NULL);
	return place.server;
}

static void names_processors_of_every_architecture(void **state)
{
	static const struct {
		const char *text, *model, *vendor;
		bool hypervisor;
	} cases[] = {
		{"processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Gold  "
		 "\n"
		 "flags\t\t: fpu hypervisor lm\n",
		 "Intel(R) Xeon(R) Gold", "GenuineIntel", true},
		{"vendor_id : AuthenticAMD\nmodel name : AMD EPYC 7R13\nflags : fpu hypervisors\n",
		 "AMD EPYC 7R13", "AuthenticAMD", false},
		{"processor : 0\nCPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd40\n\n"
		 "processor : 1\nCPU implementer : 0x41\nCPU part : 0xd0c\n",
		 "ARM Neoverse-V1", "ARM", false},
		{"CPU implementer : 0xc0\nCPU part : 0xac3\n", "Ampere Ampere-1", "Ampere", false},
		{"CPU implementer : 0x41\nCPU part : 0xfff\n", "ARM part 0xfff", "ARM", false},
		{"CPU implementer : 0x99\nCPU part : 0x001\n", "ARM implementer 0x99 part 0x001",
		 "", false},
		{"processor : 0\nmodel name : ARMv7 Processor rev 4 (v7l)\nCPU implementer : 0x41\n"
		 "CPU part : 0xd03\n",
		 "ARMv7 Processor rev 4 (v7l)", "ARM", false},
		{"processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock : 3800MHz\n",
		 "POWER9, altivec supported", "", false},
		{"vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 3033.00\n",
		 "IBM Z", "IBM/S390", false},
		{"processor : 0\nhart : 1\nisa : rv64imafdc\nuarch : sifive,u74-mc\n",
		 "sifive,u74-mc", "", false},
	};
	struct trk_cpuinfo c;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(trk__cpuinfo_parse(cases[i].text, &c), 0);
		assert_string_equal(c.model, cases[i].model);
		assert_string_equal(c.vendor, cases[i].vendor);
		assert_int_equal(c.hypervisor, cases[i].hypervisor);
	}
	assert_int_equal(trk__cpuinfo_parse("", &c), -EBADMSG);
	assert_int_equal(trk__cpuinfo_parse("model name\n: \nvendor_id", &c), -EBADMSG);
}

static void reads_a_guest_with_two_threads_a_core(void **state)
{
	char *root = fixture_path("server-ec2-smt", "");
	struct trk_env env;
	struct trk_server s;

	assert_int_equal(trk__env_init_at(&env, root), 0);
	s = look(&env);
	assert_string_equal(s.cpu_model, "Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz");
	assert_true(s.vcpus == 4 && s.cores == 2 && s.threads_per_core == 2);
	assert_true(s.sockets == 2 && s.numa_nodes == 2);
	assert_true(fabs(s.memory_mib - 7910560 / 1024.0) < 0.01);
	assert_true(s.disks == 1); /* neither the loop nor what is mapped onto the disk */
	assert_true(fabs(s.disk_gb - 107.374) < 0.001);
	assert_string_equal(s.virtualization, "amazon");
	assert_string_equal(s.virtualization_from, "firmware: Amazon EC2 c5.xlarge");
	assert_string_equal(s.container, "docker");
	assert_string_equal(s.container_from, "/proc/self/cgroup");
	assert_string_equal(s.product, "c5.xlarge");
	assert_string_equal(s.os, "Linux");
	assert_true(s.gpu_count == 0 || s.gpu_reason[0]); /* of this machine's /dev */
	trk__env_release(&env);
	free(root);
}

static void reads_an_arm_machine_without_a_monitor(void **state)
{
	char *root = fixture_path("server-arm", "");
	struct trk_env env;
	struct trk_server s;

	assert_int_equal(trk__env_init_at(&env, root), 0);
	s = look(&env);
	assert_string_equal(s.cpu_model, "ARM Neoverse-N1");
	assert_true(s.vcpus == 2 && s.cores == 2 && s.threads_per_core == 1 && s.sockets == 1);
	assert_true(isnan(s.numa_nodes) && isnan(s.disks)); /* not there: not known */
	assert_string_equal(s.virtualization, "none");
	assert_string_equal(s.container, "none");
	trk__env_release(&env);
	free(root);
}

static void what_is_not_there_is_not_known(void **state)
{
	struct live live;
	struct trk_server s;

	live_init(&live, NULL);
	s = look(&live.env);
	assert_string_equal(s.cpu_model, "");
	assert_string_equal(s.virtualization, "");
	assert_string_equal(s.container, "");
	assert_true(isnan(s.cores) && isnan(s.memory_mib) && isnan(s.disk_gb));
	assert_true(s.vcpus >= 1); /* sysconf(3) */
	live_release(&live);
}

static void knows_containers_by_their_control_groups(void **state)
{
	assert_string_equal(trk__container_of("0::/kubepods/burstable/pod1/abc\n"), "kubernetes");
	assert_string_equal(trk__container_of("4:memory:/docker/0123\n"), "docker");
	assert_string_equal(trk__container_of("0::/machine.slice/libpod-0123.scope\n"), "podman");
	assert_string_equal(trk__container_of("0::/lxc.payload.web\n"), "lxc");
	assert_string_equal(trk__container_of("2:cpu:/ecs/0123/4567\n"), "ecs");
	assert_null(trk__container_of("0::/user.slice/user-1000.slice\n"));
	assert_null(trk__container_of(""));
}

static void knows_monitors_by_the_firmware(void **state)
{
	struct trk_dmi dmi = {.sys_vendor = "Microsoft Corporation",
			      .product_name = "Virtual Machine"};

	assert_string_equal(trk__virtualization_of(&dmi), "microsoft");
	dmi = (struct trk_dmi){.sys_vendor = "Microsoft Corporation", .product_name = "Surface"};
	assert_null(trk__virtualization_of(&dmi));
	dmi = (struct trk_dmi){.sys_vendor = "Amazon EC2", .product_name = "m5.metal"};
	assert_null(trk__virtualization_of(&dmi));
	dmi = (struct trk_dmi){.sys_vendor = "QEMU", .product_name = "Standard PC (Q35)"};
	assert_string_equal(trk__virtualization_of(&dmi), "kvm");
	dmi = (struct trk_dmi){.sys_vendor = "Dell Inc.", .product_name = "PowerEdge"};
	assert_null(trk__virtualization_of(&dmi));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_processors_of_every_architecture),
		cmocka_unit_test(reads_a_guest_with_two_threads_a_core),
		cmocka_unit_test(reads_an_arm_machine_without_a_monitor),
		cmocka_unit_test(what_is_not_there_is_not_known),
		cmocka_unit_test(knows_containers_by_their_control_groups),
		cmocka_unit_test(knows_monitors_by_the_firmware),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
