/* The server type, if the cloud does not report it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "answer/infer.h"

struct machine {
	const char *vendor, *region, *arch, *maker, *product;
	double vcpus, memory_mib, disks, disk_gb;
	const char *type;  /* NULL: none is found */
	const char *words; /* in the evidence, or in the reason */
	const char *model; /* of the processor; NULL: not known */
};

static void one(const struct machine *m)
{
	struct trk_cloud cloud;
	struct trk_server s = {.vcpus = m->vcpus,
			       .memory_mib = m->memory_mib,
			       .disks = m->disks,
			       .disk_gb = m->disk_gb};
	struct trk_catalog c;

	trk__catalog_embedded(&c);
	trk__cloud_clear(&cloud);
	(void) snprintf(cloud.vendor, sizeof(cloud.vendor), "%s", m->vendor);
	(void) snprintf(cloud.region, sizeof(cloud.region), "%s", m->region);
	(void) snprintf(cloud.reason, sizeof(cloud.reason), "nobody names it");
	(void) snprintf(s.arch, sizeof(s.arch), "%s", m->arch);
	(void) snprintf(s.cpu_vendor, sizeof(s.cpu_vendor), "%s", m->maker);
	(void) snprintf(s.product, sizeof(s.product), "%s", m->product);
	(void) snprintf(s.cpu_model, sizeof(s.cpu_model), "%s", m->model ? m->model : "");
	assert_int_equal(trk__infer_type(&c, &s, &cloud), m->type != NULL);
	assert_string_equal(cloud.instance_type, m->type ? m->type : "");
	if (!strstr(m->type ? cloud.inferred : cloud.reason, m->words))
		fail_msg("%s: not in: %s / %s", m->words, cloud.inferred, cloud.reason);
	if (!m->type)
		assert_string_equal(cloud.inferred, "");
}

static void a_type_that_alone_is_like_the_machine_is_found(void **state)
{
	static const struct machine machines[] = {
		/* What such machines show: 3.7 of 4 GiB, 38.1 GiB of disk. */
		{"hetzner", "eu-central", "x86_64", "Intel", "vServer", 2, 3819, 1, 40.96, "cx23",
		 "2 vCPUs, 3.7 GiB, a disk of 41 GB", NULL},
		{"hetzner", "eu-central", "x86_64", "AMD", "vServer", 2, 3819, 1, 81.9, "cpx22",
		 "only known type of hetzner", NULL},
		{"hetzner", "fsn1", "aarch64", "ARM", "vServer", 4, 7750, 1, 81.9, "cax21",
		 "4 vCPUs", NULL},
		/* Two generations of one size are told apart by the processor. */
		{"hetzner", "eu-central", "x86_64", "AMD", "vServer", 4, 7750, 1, 163.8, "cpx32",
		 "a disk of 164 GB, AMD EPYC-Genoa Processor", "AMD EPYC-Genoa Processor"},
		{"hetzner", "eu-central", "x86_64", "AMD", "vServer", 4, 7750, 1, 163.8, "cpx31",
		 "AMD EPYC Processor", "AMD EPYC Processor"},
		{"hetzner", "eu-central", "x86_64", "AMD", "vServer", 4, 7750, 1, 163.8, "cpx31",
		 "AMD EPYC-Rome Processor", "AMD EPYC-Rome Processor"},
		/* A volume beside the disk: vCPUs and memory have to do. */
		{"hetzner", "eu-central", "x86_64", "AMD", "vServer", 48, 193000, 2, 1500, "ccx63",
		 "48 vCPUs, 188.5 GiB", NULL},
		/* A GB of Vultr's is 2^30; its names end with the maker, its firmware has the
		 * family. */
		{"vultr", "ewr", "x86_64", "AMD", "VHP", 1, 950, 1, 26.84, "vhp-1c-1gb-amd",
		 "1 vCPUs", NULL},
		{"vultr", "ewr", "x86_64", "Intel", "VHF", 1, 950, 1, 34.36, "vhf-1c-1gb",
		 "1 vCPUs", NULL},
		{"upcloud", "fi-hel1", "x86_64", "AMD", "Server", 4, 24000, 1, 100,
		 "cloudnative-4xCPU-24GB", "23.4 GiB", NULL},
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		one(&machines[i]);
}

static void where_several_or_none_are_like_it_there_is_none(void **state)
{
	static const struct machine machines[] = {
		{"hetzner", "eu-central", "x86_64", "AMD", "vServer", 4, 7750, 1, 163.8, NULL,
		 "nobody names it; 2 known types are like this machine: cpx31, cpx32 (0.", NULL},
		{"hetzner", "eu-central", "x86_64", "AMD", "vServer", 4, 7750, 1, 163.8, NULL,
		 " USD/h). Try: --instance hetzner//TYPE", "AMD EPYC-Milan Processor"},
		{"hetzner", "eu-central", "x86_64", "AMD", "vServer", 7, 7750, 1, 80, NULL,
		 "0 known types", NULL},
		{"hetzner", "eu-central", "x86_64", "Intel", "vServer", 2, 3000, 1, 40.9, NULL,
		 "0 known types", NULL},
		{"hetzner", "eu-central", "riscv64", "", "", 2, 3819, 1, 40.9, NULL,
		 "0 known types", NULL},
		{"upcloud", "fi-hel1", "x86_64", "AMD", "Server", 1, 3800, 1, 30, NULL,
		 "2 known types", NULL},
		/* The longest names stand whole, and what to do behind them. */
		{"upcloud", "fi-hel1", "x86_64", "AMD", "Server", 16, 63000, 2, 300, NULL,
		 "cloudnative-16xCPU-64GB, premium-16xCPU-64GB (0.4279 to 0.6084 USD/h). Try: "
		 "--instance upcloud//TYPE",
		 NULL},
		{"aws", "us-east-1", "x86_64", "Intel", "", 2, 7700, 1, 8, NULL, " …", NULL},
		/* Not in the catalogue; and a machine that could not be looked at. */
		{"digitalocean", "fra1", "x86_64", "Intel", "Droplet", 2, 3900, 1, 80, NULL,
		 "nobody names it", NULL},
		{"hetzner", "eu-central", "x86_64", "Intel", "vServer", (double) NAN, 3819, 1, 40.9,
		 NULL, "nobody names it", NULL},
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		one(&machines[i]);
}

static void a_type_that_was_named_stays(void **state)
{
	struct trk_server s = {.vcpus = 2, .memory_mib = 3819, .arch = "x86_64"};
	struct trk_cloud cloud = {.vendor = "hetzner", .region = "eu", .instance_type = "cx22"};
	struct trk_catalog c;

	trk__catalog_embedded(&c);
	assert_false(trk__infer_type(&c, &s, &cloud));
	assert_string_equal(cloud.instance_type, "cx22");
	assert_string_equal(cloud.inferred, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_type_that_alone_is_like_the_machine_is_found),
		cmocka_unit_test(where_several_or_none_are_like_it_there_is_none),
		cmocka_unit_test(a_type_that_was_named_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
