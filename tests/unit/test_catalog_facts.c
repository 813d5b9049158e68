/* Spot checks of the shipped table against facts from the vendors' public documentation. The prices
 * were plausible when this file was written; those in the table may differ by a factor of 1.6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/search.h"

struct fact {
	const char *vendor, *region, *type;
	unsigned int vcpus;
	double gib;
	enum trk_arch arch;
	unsigned int gpus;
	const char *gpu;       /* part of the model's name */
	unsigned int vram_gib; /* of each */
	double usd;
};

#define X86 TRK_ARCH_X86_64
#define ARM TRK_ARCH_ARM64

/* clang-format off */
static const struct fact facts[] = {
	{"aws", "us-east-1", "t3.micro", 2, 1, X86, 0, "", 0, 0.0104},
	{"aws", "us-east-1", "t3.medium", 2, 4, X86, 0, "", 0, 0.0416},
	{"aws", "us-east-1", "t4g.small", 2, 2, ARM, 0, "", 0, 0.0168},
	{"aws", "us-east-1", "m5.large", 2, 8, X86, 0, "", 0, 0.096},
	{"aws", "us-east-1", "m5.24xlarge", 96, 384, X86, 0, "", 0, 4.608},
	{"aws", "eu-west-1", "m5.large", 2, 8, X86, 0, "", 0, 0.107},
	{"aws", "eu-central-1", "m5.xlarge", 4, 16, X86, 0, "", 0, 0.23},
	{"aws", "ap-northeast-1", "m5.large", 2, 8, X86, 0, "", 0, 0.124},
	{"aws", "us-west-2", "c5.4xlarge", 16, 32, X86, 0, "", 0, 0.68},
	{"aws", "us-east-1", "c5.18xlarge", 72, 144, X86, 0, "", 0, 3.06},
	{"aws", "us-east-1", "r5.xlarge", 4, 32, X86, 0, "", 0, 0.252},
	{"aws", "us-east-1", "m6g.medium", 1, 4, ARM, 0, "", 0, 0.0385},
	{"aws", "us-east-1", "c6g.xlarge", 4, 8, ARM, 0, "", 0, 0.136},
	{"aws", "us-east-1", "c7g.16xlarge", 64, 128, ARM, 0, "", 0, 2.32},
	{"aws", "us-east-1", "r6i.32xlarge", 128, 1024, X86, 0, "", 0, 8.064},
	{"aws", "us-east-1", "m7i.2xlarge", 8, 32, X86, 0, "", 0, 0.4032},
	{"aws", "us-east-1", "m7a.xlarge", 4, 16, X86, 0, "", 0, 0.2318},
	{"aws", "us-east-1", "x1e.32xlarge", 128, 3904, X86, 0, "", 0, 26.688},
	{"aws", "us-east-1", "i3.2xlarge", 8, 61, X86, 0, "", 0, 0.624},
	{"aws", "us-east-1", "g4dn.xlarge", 4, 16, X86, 1, "T4", 16, 0.526},
	{"aws", "us-east-1", "g4dn.12xlarge", 48, 192, X86, 4, "T4", 16, 3.912},
	{"aws", "us-east-1", "g5.xlarge", 4, 16, X86, 1, "A10G", 24, 1.006},
	{"aws", "us-east-1", "g5.48xlarge", 192, 768, X86, 8, "A10G", 24, 16.288},
	{"aws", "us-east-1", "g5g.xlarge", 4, 8, ARM, 1, "T4G", 16, 0.42},
	{"aws", "us-east-1", "p3.2xlarge", 8, 61, X86, 1, "V100", 16, 3.06},
	{"aws", "us-east-1", "p3.16xlarge", 64, 488, X86, 8, "V100", 16, 24.48},
	{"aws", "us-east-1", "p4d.24xlarge", 96, 1152, X86, 8, "A100", 40, 21.96},
	{"aws", "us-east-1", "p5.48xlarge", 192, 2048, X86, 8, "H100", 80, 55.04},
	{"azure", "eastus", "Standard_D2s_v3", 2, 8, X86, 0, "", 0, 0.096},
	{"azure", "eastus", "Standard_D4s_v5", 4, 16, X86, 0, "", 0, 0.192},
	{"azure", "westeurope", "Standard_D4s_v5", 4, 16, X86, 0, "", 0, 0.23},
	{"azure", "eastus", "Standard_E96ias_v5", 96, 672, X86, 0, "", 0, 6.048},
	{"azure", "eastus", "Standard_DS15i_v2", 20, 140, X86, 0, "", 0, 1.853},
	{"azure", "eastus", "Standard_D64s_v5", 64, 256, X86, 0, "", 0, 3.072},
	{"azure", "eastus", "Standard_E8s_v5", 8, 64, X86, 0, "", 0, 0.504},
	{"azure", "eastus", "Standard_E8-2s_v5", 2, 64, X86, 0, "", 0, 0.504},
	{"azure", "eastus", "Standard_F8s_v2", 8, 16, X86, 0, "", 0, 0.338},
	{"azure", "eastus", "Standard_B2s", 2, 4, X86, 0, "", 0, 0.0416},
	{"azure", "eastus", "Standard_B1ls", 1, 0.5, X86, 0, "", 0, 0.0052},
	{"azure", "eastus", "Standard_D4as_v5", 4, 16, X86, 0, "", 0, 0.172},
	{"azure", "eastus", "Standard_E16as_v5", 16, 128, X86, 0, "", 0, 0.904},
	{"azure", "eastus", "Standard_D4ps_v5", 4, 16, ARM, 0, "", 0, 0.154},
	{"azure", "eastus", "Standard_E4pds_v5", 4, 32, ARM, 0, "", 0, 0.232},
	{"azure", "eastus", "Standard_NC6s_v3", 6, 112, X86, 1, "V100", 16, 3.06},
	{"azure", "eastus", "Standard_NC4as_T4_v3", 4, 28, X86, 1, "T4", 16, 0.526},
	{"azure", "eastus", "Standard_NC64as_T4_v3", 64, 440, X86, 4, "T4", 16, 4.352},
	{"azure", "eastus", "Standard_NC24ads_A100_v4", 24, 220, X86, 1, "A100", 80, 3.673},
	{"azure", "eastus", "Standard_ND96asr_v4", 96, 900, X86, 8, "A100", 40, 27.2},
	{"gcp", "us-central1", "e2-medium", 2, 4, X86, 0, "", 0, 0.0335},
	{"gcp", "us-central1", "e2-standard-4", 4, 16, X86, 0, "", 0, 0.134},
	{"gcp", "us-central1", "e2-highmem-8", 8, 64, X86, 0, "", 0, 0.3616},
	{"gcp", "us-central1", "n1-standard-1", 1, 3.75, X86, 0, "", 0, 0.0475},
	{"gcp", "us-central1", "n1-highmem-96", 96, 624, X86, 0, "", 0, 5.68},
	{"gcp", "us-central1", "n2-standard-8", 8, 32, X86, 0, "", 0, 0.3885},
	{"gcp", "europe-west4", "n2-standard-8", 8, 32, X86, 0, "", 0, 0.428},
	{"gcp", "us-central1", "n2d-standard-224", 224, 896, X86, 0, "", 0, 9.46},
	{"gcp", "us-central1", "c2-standard-60", 60, 240, X86, 0, "", 0, 3.13},
	{"gcp", "us-central1", "c3-standard-4", 4, 16, X86, 0, "", 0, 0.2},
	{"gcp", "us-central1", "t2a-standard-4", 4, 16, ARM, 0, "", 0, 0.154},
	{"gcp", "us-central1", "c4a-standard-4", 4, 16, ARM, 0, "", 0, 0.18},
	{"gcp", "us-central1", "n4a-standard-2", 2, 8, ARM, 0, "", 0, 0.08},
	{"gcp", "us-central1", "m1-ultramem-40", 40, 961, X86, 0, "", 0, 6.3},
	{"gcp", "us-central1", "a2-highgpu-1g", 12, 85, X86, 1, "A100", 40, 3.67},
	{"gcp", "us-central1", "a2-ultragpu-8g", 96, 1360, X86, 8, "A100", 80, 40.55},
	{"gcp", "us-central1", "a3-highgpu-8g", 208, 1872, X86, 8, "H100", 80, 88.25},
	{"gcp", "us-central1", "g2-standard-4", 4, 16, X86, 1, "L4", 24, 0.707},
	{"gcp", "us-central1", "g2-standard-96", 96, 384, X86, 8, "L4", 24, 8.0},
	{"hetzner", "eu", "cax11", 2, 4, ARM, 0, "", 0, 0.0143},
	{"hetzner", "eu", "cx23", 2, 4, X86, 0, "", 0, 0.0132},
	{"hetzner", "eu", "ccx13", 2, 8, X86, 0, "", 0, 0.096},
	{"ovh", "eu", "b2-7", 2, 7, X86, 0, "", 0, 0.08},
	{"ovh", "eu", "b3-8", 2, 8, X86, 0, "", 0, 0.058},
	{"ovh", "eu", "c2-15", 4, 15, X86, 0, "", 0, 0.22},
	{"ovh", "eu", "t2-le-90", 30, 90, X86, 2, "V100S", 32, 1.85},
	{"scaleway", "fr-par-1", "DEV1-S", 2, 2, X86, 0, "", 0, 0.0103},
	{"scaleway", "fr-par-1", "POP2-16C-64G", 16, 64, X86, 0, "", 0, 0.68},
	{"upcloud", "eu", "premium-8xCPU-32GB", 8, 32, X86, 0, "", 0, 0.3},
	{"vultr", "global", "vc2-1c-1gb", 1, 1, X86, 0, "", 0, 0.0074},
	{"vultr", "global", "vhf-8c-32gb", 8, 32, X86, 0, "", 0, 0.29},
};
/* clang-format on */

static int check(const struct trk_catalog *c, const struct fact *f)
{
	int vendor = trk__catalog_find_vendor(c, f->vendor);
	int region = trk__catalog_find_region(c, vendor, f->region);
	int at = trk__catalog_find_server(c, vendor, f->type);
	const struct trk_catalog_server *s;
	struct trk_catalog_offer o;
	size_t n;

	if (at < 0 || region < 0 || trk__catalog_price_in(c, at, region, &o) < 0) {
		print_message("%s %s %s: no such offer\n", f->vendor, f->region, f->type);
		return 1;
	}
	s = &trk__catalog_servers(c, &n)[at];
	if (s->vcpus == f->vcpus && s->memory_mib == (unsigned int) (f->gib * 1024) &&
	    s->arch == f->arch && s->gpu_count == f->gpus &&
	    strstr(trk__catalog_text(c, s->gpu_model), f->gpu) &&
	    (s->vram_mib + 1600) / 1024 >= f->vram_gib && s->vram_mib / 1024 <= f->vram_gib &&
	    trk__catalog_usd(o.units) < 1.6 * f->usd && trk__catalog_usd(o.units) > f->usd / 1.6)
		return 0;
	print_message("%s %s: %u vCPU, %u MiB, arch %u, %u x %s of %u MiB, %.4f USD/h\n", f->type,
		      f->region, s->vcpus, s->memory_mib, s->arch, s->gpu_count,
		      trk__catalog_text(c, s->gpu_model), s->vram_mib, trk__catalog_usd(o.units));
	return 1;
}

static void well_known_servers_are_as_their_vendors_say(void **state)
{
	struct trk_catalog c;
	int wrong = 0;

	trk__catalog_embedded(&c);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		wrong += check(&c, &facts[i]);
	assert_true(sizeof(facts) / sizeof(facts[0]) >= 60);
	assert_int_equal(wrong, 0);
}

static void allocations_and_flags_of_well_known_types(void **state)
{
	static const struct {
		const char *vendor, *type;
		enum trk_allocation allocation;
		unsigned int flags;
	} known[] = {
		{"aws", "t3.large", TRK_ALLOCATION_BURSTABLE, 0},
		{"aws", "m5.large", TRK_ALLOCATION_DEDICATED, 0},
		{"aws", "m5.metal", TRK_ALLOCATION_DEDICATED, TRK_SERVER_METAL},
		{"aws", "trn1.2xlarge", TRK_ALLOCATION_DEDICATED, TRK_SERVER_ACCEL},
		{"aws", "f1.2xlarge", TRK_ALLOCATION_DEDICATED,
		 TRK_SERVER_FPGA | TRK_SERVER_PREVIOUS},
		{"aws", "m1.small", TRK_ALLOCATION_DEDICATED, TRK_SERVER_PREVIOUS},
		{"aws", "g3s.xlarge", TRK_ALLOCATION_DEDICATED, TRK_SERVER_PREVIOUS},
		{"aws", "m7i.large", TRK_ALLOCATION_DEDICATED, 0},
		{"azure", "Standard_B4ms", TRK_ALLOCATION_BURSTABLE, TRK_SERVER_PREVIOUS},
		{"azure", "Standard_B4s_v2", TRK_ALLOCATION_BURSTABLE, 0},
		{"azure", "Standard_D4s_v3", TRK_ALLOCATION_DEDICATED, TRK_SERVER_PREVIOUS},
		{"azure", "Standard_D4s_v5", TRK_ALLOCATION_DEDICATED, 0},
		{"azure", "Standard_NC4as_T4_v3", TRK_ALLOCATION_DEDICATED, 0},
		{"gcp", "e2-micro", TRK_ALLOCATION_BURSTABLE, 0},
		{"gcp", "g1-small", TRK_ALLOCATION_BURSTABLE, TRK_SERVER_PREVIOUS},
		{"gcp", "n1-standard-4", TRK_ALLOCATION_DEDICATED, TRK_SERVER_PREVIOUS},
		{"gcp", "n2-standard-4", TRK_ALLOCATION_DEDICATED, 0},
		{"hetzner", "cpx21", TRK_ALLOCATION_SHARED, TRK_SERVER_PREVIOUS},
		{"hetzner", "cpx22", TRK_ALLOCATION_SHARED, 0},
		{"hetzner", "cx23", TRK_ALLOCATION_SHARED, 0},
		{"hetzner", "ccx33", TRK_ALLOCATION_DEDICATED, 0},
	};
	struct trk_catalog c;

	trk__catalog_embedded(&c);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n;
		int vendor = trk__catalog_find_vendor(&c, known[i].vendor);
		int at = trk__catalog_find_server(&c, vendor, known[i].type);

		if (at < 0)
			print_message("%s\n", known[i].type);
		assert_true(at >= 0);
		assert_int_equal(trk__catalog_servers(&c, &n)[at].allocation, known[i].allocation);
		assert_int_equal(trk__catalog_servers(&c, &n)[at].flags, known[i].flags);
		if (known[i].flags & TRK_SERVER_ACCEL)
			assert_int_equal(trk__catalog_servers(&c, &n)[at].gpu_count, 0);
	}
}

static void local_disks_of_well_known_types(void **state)
{
	static const struct {
		const char *vendor, *type;
		unsigned int gb;
	} known[] = {
		{"aws", "m5d.large", 75},           {"aws", "i3.metal", 15200},
		{"aws", "c5d.9xlarge", 900},        {"aws", "m5.large", 0},
		{"azure", "Standard_D2ds_v5", 80},  {"azure", "Standard_D2s_v5", 0},
		{"azure", "Standard_L8s_v3", 1920}, {"gcp", "c3-standard-8-lssd", 750},
		{"gcp", "n2-standard-8", 0},        {"hetzner", "cx23", 40},
	};
	struct trk_catalog c;

	trk__catalog_embedded(&c);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n;
		int at = trk__catalog_find_server(&c, trk__catalog_find_vendor(&c, known[i].vendor),
						  known[i].type);

		if (at < 0 || trk__catalog_servers(&c, &n)[at].storage_gb != known[i].gb)
			fail_msg("%s: %d", known[i].type, at);
	}
}

static void windows_is_in_no_name(void **state)
{
	struct trk_catalog c;
	size_t n;
	const struct trk_catalog_server *s;

	trk__catalog_embedded(&c);
	s = trk__catalog_servers(&c, &n);
	for (size_t i = 0; i < n; i++)
		assert_null(strstr(trk__catalog_text(&c, s[i].name), "WIN"));
}

static void the_table_is_as_large_as_promised_and_sound(void **state)
{
	struct trk_catalog c;
	size_t n, servers, regions;
	struct trk_catalog_prices p;
	const struct trk_catalog_block *b;
	const struct trk_catalog_source *sources;

	trk__catalog_embedded(&c);
	assert_true(c.image->size < 2 << 20);
	(void) trk__catalog_servers(&c, &servers);
	(void) trk__catalog_regions(&c, &regions);
	assert_true(servers > 3800);
	p = trk__catalog_prices(&c, &n);
	assert_true(n > 20000);
	for (size_t i = 0; i < n; i++) {
		assert_true(p.price[i] > 0 && p.server[i] < servers);
		assert_true(p.saving[i] < 100 || p.saving[i] == TRK_SAVING_UNKNOWN);
	}
	b = trk__catalog_blocks(&c, &n);
	for (size_t i = 0; i < n; i++)
		assert_true(b[i].date > 20200000 && b[i].region < regions);
	sources = trk__catalog_sources(&c, &n);
	for (size_t i = 0; i < n; i++) /* nothing under CC BY-SA inside the program */
		assert_null(strstr(trk__catalog_text(&c, sources[i].licence), "SA"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(well_known_servers_are_as_their_vendors_say),
		cmocka_unit_test(allocations_and_flags_of_well_known_types),
		cmocka_unit_test(local_disks_of_well_known_types),
		cmocka_unit_test(windows_is_in_no_name),
		cmocka_unit_test(the_table_is_as_large_as_promised_and_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
