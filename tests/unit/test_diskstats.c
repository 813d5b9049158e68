/* /proc/diskstats: the lines, and the meter that counts every byte once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/linux/meter.h"

#define MIB (UINT64_C(1) << 20)

static struct live live;
static struct trk_meter meter;

static void expect(uint64_t read_bytes, uint64_t write_bytes)
{
	assert_int_equal(trk__meter_update(&meter), 0);
	assert_int_equal(meter.in, read_bytes);
	assert_int_equal(meter.out, write_bytes);
}

static void begin(const char *fixture, const char *text)
{
	live_init(&live, fixture);
	live_write(&live, "diskstats", text);
	assert_int_equal(trk__meter_init(&meter, &trk__diskstats, &live.env), 0);
	expect(0, 0);
}

static void end(void)
{
	trk__meter_release(&meter);
	live_release(&live);
}

/* ---- the parser ---- */

static void reads_lines_of_every_kernel(void **state)
{
	static const char *const texts[] = {
		"   8       1 sda1 10 2 2048 4 20 5 4096 6 0 70 80\n",
		"   8       1 sda1 10 2 2048 4 20 5 4096 6 0 70 80 9 9 9 9\n",
		"   8       1 sda1 10 2 2048 4 20 5 4096 6 0 70 80 9 9 9 9 9 9\n",
	};
	struct trk_meter_line d;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *at = texts[i];

		assert_int_equal(trk__diskstats.parse(&at, &d), 1);
		assert_int_equal(d.name_len, 4);
		assert_memory_equal(d.name, "sda1", 4);
		assert_int_equal(d.in, MIB);
		assert_int_equal(d.out, 2 * MIB);
		assert_int_equal(trk__diskstats.parse(&at, &d), 0);
	}
}

static void steps_over_lines_that_are_none(void **state)
{
	const char *text = "\n"
			   "   8       1 sda1 10 20 30 40\n" /* a partition of Linux 2.6.24 */
			   "   8       0\n"
			   "   8       0 sdb 1 2 99999999999999999999 4 5 6 7 8 9 10 11\n"
			   "   8       0 sdc 1 2 18446744073709551615 4 5 6 7 8 9 10 11\n"
			   "   8       0 sdd 1 2 3 4 5 6 7 8 9 10 11";
	const struct trk_meter_line before = {.in = 99};
	struct trk_meter_line d = before;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(trk__diskstats.parse(&text, &d), -EBADMSG);
		assert_memory_equal(&d, &before, sizeof(d));
	}
	assert_int_equal(trk__diskstats.parse(&text, &d), 1);
	assert_int_equal(d.out, 7 * 512);
	assert_int_equal(trk__diskstats.parse(&text, &d), 0);
}

/* ---- the meter ---- */

/* Between the two readings of each fixture so many MiB have gone to the disks at the bottom, and
 * the devices above them have grown too. */
static void counts_every_byte_once_in_any_stack_of_devices(void **state)
{
	static const struct {
		const char *fixture;
		bool has_sys;
		uint64_t read_mib, write_mib;
	} cases[] = {
		{"vm-virtio", true, 50, 100},
		{"vm-xen", true, 60, 100},
		{"nvme-4kn", true, 10, 100}, /* sectors of 4096 bytes count 512 each here too */
		{"lvm-luks", true, 50, 100},
		{"md-raid", true, 10, 200}, /* a mirror writes twice */
		{"emmc", true, 10, 50},
		{"snap-zram", true, 10, 50},
		{"nvme-multipath", true, 0, 150},
		{"zfs-pool", true, 10, 100},
		{"kernel-4.18", true, 0, 10},
		{"kernel-2.6", false, 10, 10},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = fixture_text(cases[i].fixture, "proc/diskstats");

		begin(cases[i].has_sys ? cases[i].fixture : NULL, text);
		free(text);
		live_copy(&live, "diskstats", cases[i].fixture, "proc/diskstats.later");
		assert_int_equal(trk__meter_update(&meter), 0);
		if (meter.in != cases[i].read_mib * MIB || meter.out != cases[i].write_mib * MIB)
			fail_msg("%s: %llu bytes read, %llu written", cases[i].fixture,
				 (unsigned long long) meter.in, (unsigned long long) meter.out);
		end();
	}
}

static void adds_nothing_when_a_counter_goes_back(void **state)
{
	begin(NULL, "8 0 sda 1 0 1000 0 1 0 4294967000 0 0 0 0\n");
	live_write(&live, "diskstats", "8 0 sda 1 0 1010 0 1 0 100 0 0 0 0\n");
	expect(10 * 512, 0);
	live_write(&live, "diskstats", "8 0 sda 1 0 1010 0 1 0 103 0 0 0 0\n");
	expect(10 * 512, 3 * 512);
	live_write(&live, "diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n");
	expect(10 * 512, 3 * 512);
	end();
}

static void counts_a_late_device_from_its_first_sight_and_keeps_what_a_gone_one_did(void **state)
{
	begin(NULL, "8 0 sda 1 0 100 0 1 0 100 0 0 0 0\n");
	live_write(&live, "diskstats",
		   "8 0 sda 1 0 101 0 1 0 100 0 0 0 0\n8 16 sdb 1 0 5000 0 1 0 5000 0 0 0 0\n");
	expect(512, 0);
	live_write(&live, "diskstats",
		   "8 0 sda 1 0 101 0 1 0 100 0 0 0 0\n8 16 sdb 1 0 5004 0 1 0 5002 0 0 0 0\n");
	expect(5 * 512, 2 * 512);
	live_write(&live, "diskstats", "8 0 sda 1 0 101 0 1 0 100 0 0 0 0\n");
	expect(5 * 512, 2 * 512);
	/* The same name again may be another disk. */
	live_write(&live, "diskstats",
		   "8 16 sdb 1 0 9000 0 1 0 9000 0 0 0 0\n8 0 sda 1 0 102 0 1 0 100 0 0 0 0\n");
	expect(6 * 512, 2 * 512);
	end();
}

static void gives_no_data_without_diskstats(void **state)
{
	live_init(&live, NULL);
	assert_int_equal(trk__meter_init(&meter, &trk__diskstats, &live.env), -ENOENT);
	assert_int_equal(trk__meter_update(&meter), -ENODATA);
	trk__meter_release(&meter);
	end(); /* releasing twice is fine */
}

/* More devices than the meter takes: the first 1024 count, the rest is left out. */
static void is_bounded_by_a_thousand_devices(void **state)
{
	enum { DEVICES = 2000 };
	char *text = malloc(DEVICES * 64);

	assert_non_null(text);
	for (unsigned int round = 0; round < 3; round++) {
		size_t len = 0;

		for (unsigned int i = 0; i < DEVICES; i++)
			len += (size_t) sprintf(text + len, "8 %u pmem%u 1 0 %u 0 1 0 0 0 0 0 0\n",
						i, i, round);
		if (round == 0)
			begin(NULL, text);
		live_write(&live, "diskstats", text);
		expect(UINT64_C(1024) * 512 * round, 0);
	}
	assert_int_equal(meter.count, 1024);
	end();
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lines_of_every_kernel),
		cmocka_unit_test(steps_over_lines_that_are_none),
		cmocka_unit_test(counts_every_byte_once_in_any_stack_of_devices),
		cmocka_unit_test(adds_nothing_when_a_counter_goes_back),
		cmocka_unit_test(
			counts_a_late_device_from_its_first_sight_and_keeps_what_a_gone_one_did),
		cmocka_unit_test(gives_no_data_without_diskstats),
		cmocka_unit_test(is_bounded_by_a_thousand_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
