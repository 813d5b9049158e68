/* Replays nvidia-smi of the drivers 470 to 610: text written by hand in the form of real machines
 * (H200, H200 in MIG mode, GeForce), and forms that were not captured (16 devices, decimal
 * commas). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "probe/gpu/nvidia_smi_text.h"

#include "fixture.h"

#define MIB 1048576.0

#define VALUE(g, id) ((g)->device.metric[TRK_GPU_##id##_METRIC].value)
#define WHY(g, id)   ((g)->device.metric[TRK_GPU_##id##_METRIC].why)

static void near(double value, double wanted)
{
	if (!(value >= wanted - 1e-6 && value <= wanted + 1e-6))
		fail_msg("%g is not %g", value, wanted);
}

static size_t read_gpus(const char *file, struct trk_smi_gpu gpu[TRK_GPUS_MAX])
{
	char *text = fixture_text("nvidia-smi", file);
	size_t n = 99;

	assert_int_equal(trk__smi_gpus_parse(text, gpu, TRK_GPUS_MAX, &n), 0);
	free(text);
	return n;
}

static size_t read_pmon(const char *file, struct trk_smi_process process[8])
{
	char *text = fixture_text("nvidia-smi", file);
	size_t n = 99;

	assert_int_equal(trk__smi_pmon_parse(text, process, 8, &n), 0);
	free(text);
	return n;
}

static void a_gpu_of_a_server(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];

	(void) state;
	assert_int_equal(read_gpus("query-590-h200.txt", gpu), 1);
	assert_string_equal(gpu[0].device.name, "NVIDIA H200");
	near(VALUE(gpu, UTILIZATION), 0.98);
	near(VALUE(gpu, POWER), 612.35);
	near(VALUE(gpu, POWER_LIMIT), 700);
	near(VALUE(gpu, CLOCK), 1965e6);
	near(VALUE(gpu, CLOCK_MAX), 1980e6);
	near(VALUE(gpu, MEMORY_CLOCK_MAX), 3201e6);
	near(VALUE(gpu, PCIE_GENERATION), 5);
	near(VALUE(gpu, PCIE_WIDTH), 16);
	near(VALUE(gpu, ECC_CORRECTED), 3);
	near(VALUE(gpu, ECC_UNCORRECTED), 1);
	near(VALUE(gpu, REMAPPED_ROWS), 3);
	assert_int_equal(WHY(gpu, RETIRED_PAGES), TRK_GPU_UNSUPPORTED);
	assert_int_equal(WHY(gpu, FAN), TRK_GPU_UNSUPPORTED); /* [N/A]: there is none */
	near(VALUE(gpu, THROTTLE), 4);
}

static void a_gpu_in_mig_mode(void **state)
{
	struct trk_smi_instance instance[8];
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];
	struct trk_smi_process p[8];
	char *text;
	size_t n = 0;

	(void) state;
	assert_int_equal(read_gpus("query-590-mig.txt", gpu), 1);
	assert_true(gpu[0].device.mig);
	assert_int_equal(WHY(gpu, UTILIZATION), TRK_GPU_MIG);
	assert_int_equal(WHY(gpu, ENCODER), TRK_GPU_MIG);
	near(VALUE(gpu, MEMORY_USED), 16900 * MIB);
	near(VALUE(gpu, POWER), 290.75);
	text = fixture_text("nvidia-smi", "list-590-mig.txt");
	assert_int_equal(trk__smi_list_parse(text, instance, 8, &n), 0);
	free(text);
	assert_int_equal(n, 4);
	assert_string_equal(instance[0].name, "MIG 1c.3g.71gb");
	assert_string_equal(instance[3].uuid, "MIG-aaaaaaaa-1111-5222-8333-000000000003");
	text = fixture_text("nvidia-smi", "apps-590-mig.txt");
	assert_int_equal(trk__smi_apps_parse(text, p, 8, &n), 0);
	free(text);
	assert_int_equal(n, 2);
	assert_string_equal(p[1].uuid, gpu[0].device.uuid); /* of the GPU, not of an instance */
	near(p[1].bytes, 13526 * MIB);
	assert_int_equal(read_pmon("pmon-590-mig.txt", p), 2);
	assert_true(isnan(p[0].share) && isnan(p[0].encoder)); /* all dashes: nothing is known */
	near(p[0].bytes, 2194 * MIB);
}

static void a_card_of_a_desktop(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];
	struct trk_smi_process p[8];

	(void) state;
	assert_int_equal(read_gpus("query-610-geforce.txt", gpu), 1);
	near(VALUE(gpu, FAN), 0.38);
	near(VALUE(gpu, ENCODER), 1);
	near(VALUE(gpu, PCIE_GENERATION), 3);
	assert_int_equal(WHY(gpu, ECC_CORRECTED), TRK_GPU_UNSUPPORTED);
	assert_int_equal(WHY(gpu, REMAPPED_ROWS), TRK_GPU_UNSUPPORTED);
	assert_false(gpu[0].device.mig);
	assert_int_equal(read_pmon("pmon-610.txt", p), 3);
	assert_true(isnan(p[0].share) && isnan(p[0].encoder));
	near(p[1].encoder, 0.49);
	near(p[1].decoder, 0); /* the program has figures for this process */
	near(p[2].decoder, 0.12);
	near(p[2].share, 0.04);
}

static void sixteen_devices(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];

	(void) state;
	assert_int_equal(read_gpus("query-590-sixteen.txt", gpu), 16);
	for (int i = 0; i < 16; i++) {
		assert_int_equal(gpu[i].index, i);
		near(VALUE(&gpu[i], UTILIZATION), i * 0.05);
		near(VALUE(&gpu[i], POWER), 300.5 + i);
		near(VALUE(&gpu[i], ECC_CORRECTED), i);
		assert_string_equal(gpu[i].device.name, "NVIDIA H100 80GB HBM3");
	}
}

static void decimal_commas_of_a_language(void **state)
{
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];

	(void) state;
	assert_int_equal(read_gpus("query-470-comma.txt", gpu), 2);
	near(VALUE(&gpu[0], POWER), 120.5);
	near(VALUE(&gpu[0], POWER_LIMIT), 300);
	near(VALUE(&gpu[0], CLOCK), 1530e6);
	near(VALUE(&gpu[0], RETIRED_PAGES), 6);
	near(VALUE(&gpu[0], THROTTLE), 4);
	assert_string_equal(gpu[0].device.name, "Tesla V100-SXM2-16GB");
	near(VALUE(&gpu[1], POWER), 39.7);
	near(VALUE(&gpu[1], TEMPERATURE), 30);
	assert_string_equal(gpu[1].device.name, "Tesla V100, special edition");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gpu_of_a_server),
		cmocka_unit_test(a_gpu_in_mig_mode),
		cmocka_unit_test(a_card_of_a_desktop),
		cmocka_unit_test(sixteen_devices),
		cmocka_unit_test(decimal_commas_of_a_language),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
