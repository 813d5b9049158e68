/* Files that the sampler skips while nothing indicates that they changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine.h"

/* A machine of four processors of which so much was used so far, and what wants to run or waits. */
static void set_stat(struct machine *m, double busy_s, double iowait_s, int running, int blocked)
{
	char text[512];
	double hz = (double) m->hz;

	(void) snprintf(
		text, sizeof(text),
		"cpu  %.0f 0 0 1000 %.0f 0 0 0 0 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\n"
		"cpu2 1 1 1 1\ncpu3 1 1 1 1\nprocesses 7\nprocs_running %d\nprocs_blocked %d\n",
		busy_s * hz, iowait_s * hz, running, blocked);
	live_write(&m->live, "stat", text);
}

static void set_swap(struct machine *m, int used_kib)
{
	char text[128];

	(void) snprintf(text, sizeof(text),
			"MemTotal: 4096 kB\nSwapTotal: 2048 kB\nSwapFree: %d kB\n",
			2048 - used_kib);
	live_write(&m->live, "meminfo", text);
}

static void set_stalls(struct machine *m, uint64_t us)
{
	set_pressure(m, "pressure/cpu", us, 0);
	set_pressure(m, "pressure/memory", us, us);
	set_pressure(m, "pressure/io", us, us);
}

/* Ready to run, with pressure that was read a second ago and found to be nothing. */
static void start_quiet(struct machine *m)
{
	machine_init(m);
	set_stat(m, 0, 0, 1, 0);
	set_swap(m, 0);
	set_disk(m, 0, 0);
	set_stalls(m, 0);
	live_write(&m->live, "loadavg", "0.75 0.50 0.10 2/321 4242\n");
	machine_start(m, 0);
	tick_after(m, S);
	assert_value(m, TRK_SYSTEM_PRESSURE_CPU_SOME, 0);
}

/* Have the files been read in this row? They hold 5 ms more than before. */
static void assert_read(const struct machine *m, bool read)
{
	assert_value(m, TRK_SYSTEM_PRESSURE_CPU_SOME, read ? 0.005 : 0);
	assert_value(m, TRK_SYSTEM_PRESSURE_MEMORY_SOME, read ? 0.005 : 0);
	assert_value(m, TRK_SYSTEM_PRESSURE_MEMORY_FULL, read ? 0.005 : 0);
	assert_value(m, TRK_SYSTEM_PRESSURE_IO_SOME, read ? 0.005 : 0);
	assert_value(m, TRK_SYSTEM_PRESSURE_IO_FULL, read ? 0.005 : 0);
}

static void pressure_of_a_quiet_machine_is_read_every_five_seconds_and_nothing_is_lost(void **state)
{
	struct machine m;

	(void) state;
	start_quiet(&m);
	set_stalls(&m, 5000);
	for (int i = 0; i < 4; i++) {
		tick_after(&m, S);
		assert_read(&m, false);
	}
	tick_after(&m, S);
	assert_read(&m, true);
	tick_after(&m, S);
	assert_read(&m, false);
	machine_release(&m);
}

static void long_ticks_read_it_each_time(void **state)
{
	struct machine m;

	(void) state;
	start_quiet(&m);
	for (int i = 1; i < 4; i++) {
		set_stalls(&m, (uint64_t) i * 5000);
		tick_after(&m, 5 * S);
		assert_read(&m, true);
	}
	machine_release(&m);
}

static void a_machine_that_was_stalled_is_looked_at_in_the_next_tick(void **state)
{
	struct machine m;

	(void) state;
	start_quiet(&m);
	set_stalls(&m, 60000); /* more than a hundredth of five seconds */
	tick_after(&m, 5 * S);
	set_stalls(&m, 65000);
	tick_after(&m, S);
	assert_read(&m, true);
	set_stalls(&m, 70000); /* less, then */
	tick_after(&m, S);
	assert_read(&m, false);
	machine_release(&m);
}

static void each_sign_of_a_stall_has_it_read(void **state)
{
	static const struct {
		double busy_s, iowait_s;
		int running, blocked, swapped_kib;
		uint64_t sectors_read, sectors_written;
		bool read;
	} signs[] = {
		{.busy_s = 1.9, .running = 4},
		{.busy_s = 2.1, .running = 1, .read = true},
		{.running = 5, .read = true},
		{.running = 1, .blocked = 1, .read = true},
		{.running = 1, .iowait_s = 0.1, .read = true},
		{.running = 1, .swapped_kib = 4, .read = true},
		{.running = 1, .sectors_read = 8, .read = true},
		{.running = 1, .sectors_written = 8, .read = true},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		struct machine m;

		start_quiet(&m);
		set_stat(&m, signs[i].busy_s, signs[i].iowait_s, signs[i].running,
			 signs[i].blocked);
		set_swap(&m, signs[i].swapped_kib);
		set_disk(&m, signs[i].sectors_read, signs[i].sectors_written);
		set_stalls(&m, 5000);
		tick_after(&m, S);
		assert_read(&m, signs[i].read);
		machine_release(&m);
	}
}

static void without_the_signs_it_is_read_in_every_tick(void **state)
{
	struct machine m;

	(void) state;
	start_quiet(&m);
	live_write(&m.live, "stat", "");
	for (int i = 1; i < 4; i++) {
		set_stalls(&m, (uint64_t) i * 5000);
		tick_after(&m, S);
		assert_read(&m, true);
	}
	machine_release(&m);
}

static void the_load_is_read_as_often_as_the_kernel_works_it_out(void **state)
{
	struct machine m;

	(void) state;
	start_quiet(&m);
	live_write(&m.live, "loadavg", "1.25 0.50 0.10 2/321 4242\n");
	tick_after(&m, 5 * S);
	live_write(&m.live, "loadavg", "2.50 0.50 0.10 2/321 4242\n");
	tick_after(&m, 4 * S);
	assert_value(&m, TRK_SYSTEM_LOAD_1M, 1.25);
	tick_after(&m, S);
	assert_value(&m, TRK_SYSTEM_LOAD_1M, 2.5);
	machine_release(&m);
}

/* ---- softirqs ---- */

static void set_softirqs(struct machine *m, unsigned int net, unsigned int block)
{
	char text[256];

	(void) snprintf(text, sizeof(text),
			"cpu  1 0 0 1000 0 0 0 0 0 0\ncpu0 1 1 1 1\nprocs_blocked 0\n"
			"softirq 99 1 1 0 %u %u 1 1 1 1 1\n",
			net, block);
	live_write(&m->live, "stat", text);
}

/* Of the disk and of the network as many bytes, in and out. */
static void set_bytes(struct machine *m, unsigned int sectors)
{
	char text[256];

	set_disk(m, sectors, sectors);
	(void) snprintf(text, sizeof(text),
			"Inter-|   Receive\n face |bytes\n"
			"  eth0: %u 1 0 0 0 0 0 0 %u 1 0 0 0 0 0 0\n",
			sectors * 512, sectors * 512);
	live_write(&m->live, "self/net/dev", text);
}

static void start_still(struct machine *m, unsigned int net, unsigned int block)
{
	machine_init(m);
	set_softirqs(m, net, block);
	set_bytes(m, 0);
	machine_start(m, 0);
}

static void assert_disk(const struct machine *m, unsigned int sectors)
{
	assert_value(m, TRK_SYSTEM_DISK_READ, sectors * 512.0);
	assert_value(m, TRK_SYSTEM_DISK_WRITE, sectors * 512.0);
}

static void assert_net(const struct machine *m, unsigned int sectors)
{
	assert_value(m, TRK_SYSTEM_NET_RECV, sectors * 512.0);
	assert_value(m, TRK_SYSTEM_NET_SENT, sectors * 512.0);
}

static void disks_and_network_stand_still_while_their_softirqs_do(void **state)
{
	struct machine m;

	(void) state;
	start_still(&m, 9, 9);
	set_bytes(&m, 1); /* is not looked at */
	tick_after(&m, S);
	assert_disk(&m, 0);
	assert_net(&m, 0);
	set_softirqs(&m, 9, 10);
	tick_after(&m, S);
	assert_disk(&m, 1);
	assert_net(&m, 0);
	set_bytes(&m, 3);
	set_softirqs(&m, 10, 10);
	tick_after(&m, S);
	assert_disk(&m, 0);
	assert_net(&m, 3);
	set_softirqs(&m, 10, 11);
	tick_after(&m, S);
	assert_disk(&m, 2);
	machine_release(&m);
}

static void what_moved_without_a_softirq_is_booked_within_five_seconds_and_not_left_alone_again(
	void **state)
{
	struct machine m;

	(void) state;
	start_still(&m, 9, 9);
	set_bytes(&m, 1);
	for (int i = 0; i < 4; i++) {
		tick_after(&m, S);
		assert_disk(&m, 0);
		assert_net(&m, 0);
	}
	tick_after(&m, S);
	assert_disk(&m, 1);
	assert_net(&m, 1);
	for (unsigned int i = 2; i < 5; i++) {
		set_bytes(&m, i);
		tick_after(&m, S);
		assert_disk(&m, 1);
		assert_net(&m, 1);
	}
	machine_release(&m);
}

/* None is told, or all are 0, or the disk has completed far more requests than there were. */
static void without_reason_to_believe_the_softirqs_everything_is_read(void **state)
{
	struct machine m;

	(void) state;
	for (int told = 0; told < 2; told++) {
		start_still(&m, 0, 0);
		if (!told)
			live_write(&m.live, "stat", "cpu  1 0 0 1000 0 0 0 0 0 0\n");
		for (unsigned int i = 1; i < 4; i++) {
			set_bytes(&m, i);
			tick_after(&m, S);
			assert_disk(&m, 1);
			assert_net(&m, 1);
		}
		machine_release(&m);
	}
	machine_init(&m);
	set_softirqs(&m, 9, 9);
	live_write(&m.live, "diskstats", " 254 0 vda 10 0 0 1 10 0 0 1 0 1 1\n");
	machine_start(&m, 0);
	live_write(&m.live, "diskstats", " 254 0 vda 10 0 1 1 10 0 1 1 0 1 1\n");
	tick_after(&m, S);
	assert_disk(&m, 1);
	machine_release(&m);
}

static void a_tick_without_softirqs_reads_and_the_next_one_too(void **state)
{
	struct machine m;

	(void) state;
	start_still(&m, 9, 9);
	for (unsigned int i = 1; i < 3; i++) {
		live_write(&m.live, "stat", "");
		set_bytes(&m, i);
		tick_after(&m, S);
		assert_disk(&m, 1);
		assert_net(&m, 1);
	}
	machine_release(&m);
}

static void the_last_tick_leaves_nothing_out(void **state)
{
	struct machine m;

	(void) state;
	start_quiet(&m);
	set_stalls(&m, 5000);
	live_write(&m.live, "loadavg", "1.25 0.50 0.10 2/321 4242\n");
	tick_after(&m, S);
	assert_read(&m, false);
	assert_value(&m, TRK_SYSTEM_LOAD_1M, 0.75);
	trk__sampler_force_full(m.sampler);
	tick_after(&m, S);
	assert_read(&m, true);
	assert_value(&m, TRK_SYSTEM_LOAD_1M, 1.25);
	machine_release(&m);

	start_still(&m, 9, 9);
	set_bytes(&m, 1);
	trk__sampler_force_full(m.sampler);
	tick_after(&m, 0);
	assert_disk(&m, 1);
	assert_net(&m, 1);
	machine_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			pressure_of_a_quiet_machine_is_read_every_five_seconds_and_nothing_is_lost),
		cmocka_unit_test(long_ticks_read_it_each_time),
		cmocka_unit_test(a_machine_that_was_stalled_is_looked_at_in_the_next_tick),
		cmocka_unit_test(each_sign_of_a_stall_has_it_read),
		cmocka_unit_test(without_the_signs_it_is_read_in_every_tick),
		cmocka_unit_test(the_load_is_read_as_often_as_the_kernel_works_it_out),
		cmocka_unit_test(disks_and_network_stand_still_while_their_softirqs_do),
		cmocka_unit_test(
			what_moved_without_a_softirq_is_booked_within_five_seconds_and_not_left_alone_again),
		cmocka_unit_test(without_reason_to_believe_the_softirqs_everything_is_read),
		cmocka_unit_test(a_tick_without_softirqs_reads_and_the_next_one_too),
		cmocka_unit_test(the_last_tick_leaves_nothing_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
