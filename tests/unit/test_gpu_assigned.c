/* The GPUs that are assigned to a process by CUDA, by a container, or by a control group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "probe/gpu/assigned.h"

static void name_devices(struct trk_gpu_device d[5])
{
	static const char *const uuids[] = {"GPU-aa11", "GPU-aa22", "GPU-bb33", "MIG-1", "MIG-2"};

	memset(d, 0, 5 * sizeof(*d));
	for (int i = 0; i < 5; i++) {
		(void) snprintf(d[i].uuid, sizeof(d[i].uuid), "%s", uuids[i]);
		(void) snprintf(d[i].name, sizeof(d[i].name), "H100");
		(void) snprintf(d[i].vendor, sizeof(d[i].vendor), "nvidia");
		d[i].parent = i < 3 ? -1 : 2;
	}
}

/* One letter a device: + given, - not, ? no say. */
static void spell(const enum trk_gpu_given *given, char text[6])
{
	for (int i = 0; i < 5; i++)
		text[i] = "?+-"[given[i]];
	text[5] = '\0';
}

static void lists_of_cuda(void **state)
{
	static const struct {
		const char *text, *order, *wanted;
	} cases[] = {
		{NULL, NULL, "?????"},
		{"", NULL, "-----"},
		{"1", NULL, "-+---"},
		{"2,0", NULL, "+-+--"},
		{" 0 , 1", NULL, "++---"},
		{"0,-1,1", NULL, "+----"},
		{"-1", NULL, "-----"},
		{"0,7,1", NULL, "+----"},
		{"0,x,1", NULL, "+----"},
		{"none", NULL, "-----"},
		{"NoDevFiles", NULL, "-----"},
		{"void", NULL, "-----"},
		{"GPU-bb", NULL, "--+--"},
		{"GPU-aa", NULL, "-----"}, /* of two */
		{"gpu-AA2,GPU-nobody,0", NULL, "-+---"},
		{"MIG-2", NULL, "--+-+"},
		{"18446744073709551616", NULL, "-----"},
		{",0", NULL, "-----"},
	};
	struct trk_gpu_device d[5];
	enum trk_gpu_given given[5];
	char text[6];

	name_devices(d);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		trk__gpu_given_by_cuda(cases[i].text, cases[i].order, d, 5, given);
		spell(given, text);
		if (strcmp(text, cases[i].wanted) != 0)
			fail_msg("%s: %s", cases[i].text, text);
	}
	/* The fastest is CUDA's first, whichever that is. */
	(void) snprintf(d[1].name, sizeof(d[1].name), "T4");
	trk__gpu_given_by_cuda("0", NULL, d, 5, given);
	spell(given, text);
	assert_string_equal(text, "?????");
	trk__gpu_given_by_cuda("0", "PCI_BUS_ID", d, 5, given);
	spell(given, text);
	assert_string_equal(text, "+----");
	d[2].mig = true; /* then numbers are of instances */
	trk__gpu_given_by_cuda("0", "PCI_BUS_ID", d, 5, given);
	spell(given, text);
	assert_string_equal(text, "?????");
}

static void lists_of_a_container(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{NULL, "?????"},
		{"", "?????"},
		{"void", "?????"}, /* they may have come another way */
		{"none", "-----"},
		{"all", "+++++"},
		{"GPU-aa22,MIG-1", "-+++-"},
		{"GPU-nobody", "-----"},
		{"3", "?????"},
		{"5,6,7", "+++++"}, /* as many as there are here */
		{"0:1", "?????"},
		{"nvidia.com/gpu=0", "?????"},
	};
	struct trk_gpu_device d[5];
	enum trk_gpu_given given[5];
	char text[6];

	name_devices(d);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		trk__gpu_given_by_nvidia(cases[i].text, d, 5, given);
		spell(given, text);
		if (strcmp(text, cases[i].wanted) != 0)
			fail_msg("%s: %s", cases[i].text, text);
	}
}

static void lists_of_a_control_group(void **state)
{
	static const char list[] = "c 1:3 rwm\nb *:* m\nc 195:1 rw\nc 195:255 rw\n";

	assert_int_equal(trk__gpu_given_by_cgroup("a *:* rwm\n", 0), TRK_GPU_NO_SAY);
	assert_int_equal(trk__gpu_given_by_cgroup("", 0), TRK_GPU_NO_SAY);
	assert_int_equal(trk__gpu_given_by_cgroup(list, -1), TRK_GPU_NO_SAY);
	assert_int_equal(trk__gpu_given_by_cgroup(list, 0), TRK_GPU_NOT_GIVEN);
	assert_int_equal(trk__gpu_given_by_cgroup(list, 1), TRK_GPU_GIVEN);
	assert_int_equal(trk__gpu_given_by_cgroup("c 195:* rwm\n", 7), TRK_GPU_GIVEN);
	assert_int_equal(trk__gpu_given_by_cgroup("c *:* m\nc 1:7 rwm\n", 7), TRK_GPU_NOT_GIVEN);
	assert_int_equal(trk__gpu_given_by_cgroup("c *:* rw\n", 7), TRK_GPU_GIVEN);
	assert_int_equal(trk__gpu_given_by_cgroup("c 195", 1), TRK_GPU_NOT_GIVEN);
	assert_int_equal(trk__gpu_given_by_cgroup("c ", 1), TRK_GPU_NOT_GIVEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_cuda),
		cmocka_unit_test(lists_of_a_container),
		cmocka_unit_test(lists_of_a_control_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
