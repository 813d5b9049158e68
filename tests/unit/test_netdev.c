/* /proc/self/net/dev: the lines, and the meter that counts every byte once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/linux/meter.h"

#define HEAD "Inter-|   Receive                     |  Transmit\n face |bytes    packets|bytes\n"

static struct live live;
static struct trk_meter meter;

static void expect(uint64_t recv_bytes, uint64_t sent_bytes)
{
	assert_int_equal(trk__meter_update(&meter), 0);
	assert_int_equal(meter.in, recv_bytes);
	assert_int_equal(meter.out, sent_bytes);
}

static void begin(const char *fixture, const char *text)
{
	live_init(&live, fixture);
	live_write(&live, "self/net/dev", text);
	assert_int_equal(trk__meter_init(&meter, &trk__netdev, &live.env), 0);
	expect(0, 0);
}

static void end(void)
{
	trk__meter_release(&meter);
	live_release(&live);
}

/* The whole file; interfaces up to one whose name is NULL, with the same figure both ways. */
struct interface {
	const char *name;
	unsigned int bytes;
};

static const char *text_of(const struct interface *interfaces)
{
	static char text[4096];
	size_t len = (size_t) sprintf(text, HEAD);

	for (; interfaces->name; interfaces++)
		len += (size_t) sprintf(text + len, "%6s: %u 1 0 0 0 0 0 0 %u 1 0 0 0 0 0 0\n",
					interfaces->name, interfaces->bytes, interfaces->bytes);
	return text;
}

static void set(const struct interface *interfaces)
{
	live_write(&live, "self/net/dev", text_of(interfaces));
}

/* ---- the parser ---- */

static void reads_an_interface(void **state)
{
	const char *text =
		HEAD "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
		     "enp0s31f6:18446744073709551615 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
	struct trk_meter_line d;

	assert_int_equal(trk__netdev.parse(&text, &d), -EBADMSG);
	assert_int_equal(trk__netdev.parse(&text, &d), -EBADMSG);
	assert_int_equal(trk__netdev.parse(&text, &d), 1);
	assert_int_equal(d.name_len, 4);
	assert_memory_equal(d.name, "eth0", 4);
	assert_int_equal(d.in, 1);
	assert_int_equal(d.out, 9);
	/* No blank behind the colon, no line end behind the last number. */
	assert_int_equal(trk__netdev.parse(&text, &d), 1);
	assert_int_equal(d.name_len, 9);
	assert_true(d.in == UINT64_MAX);
	assert_int_equal(trk__netdev.parse(&text, &d), 0);
}

static void steps_over_lines_that_are_none(void **state)
{
	const char *text = "\n  : 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
			   "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
			   "  eth0\n   ";
	const struct trk_meter_line before = {.in = 99};
	struct trk_meter_line d = before;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(trk__netdev.parse(&text, &d), -EBADMSG);
		assert_memory_equal(&d, &before, sizeof(d));
	}
	assert_int_equal(trk__netdev.parse(&text, &d), 0);
}

/* ---- the meter ---- */

static void counts_every_byte_once_in_any_stack_of_interfaces(void **state)
{
	static const struct {
		const char *fixture;
		uint64_t recv, sent;
	} cases[] = {
		{"vm-virtio", 50000, 4000},           /* no lo */
		{"host-bridges", 3000, 300},          /* both slaves of the bond */
		{"accelerated-network", 50000, 4000}, /* not the virtual function below the card */
		{"container-overlay", 50000, 4000},   {"container-nested", 50000, 4000},
		{"container-tap", 50000, 4000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = fixture_text(cases[i].fixture, "proc/self/net/dev");

		begin(cases[i].fixture, text);
		free(text);
		live_copy(&live, "self/net/dev", cases[i].fixture, "proc/self/net/dev.later");
		assert_int_equal(trk__meter_update(&meter), 0);
		if (meter.in != cases[i].recv || meter.out != cases[i].sent)
			fail_msg("%s: %llu bytes received, %llu sent", cases[i].fixture,
				 (unsigned long long) meter.in, (unsigned long long) meter.out);
		end();
	}
}

static void goes_by_the_name_without_sysfs(void **state)
{
	const struct interface before[] = {
		{"lo", 0},   {"eth0", 0},   {"ens5", 0},  {"docker0", 0}, {"veth12", 0},
		{"br-1", 0}, {"tun0", 0},   {"tap0", 0},  {"virbr0", 0},  {"ifb0", 0},
		{"wg0", 0},  {"dummy0", 0}, {"bond0", 0}, {"eth0.5", 0},  {NULL, 0}};
	struct interface after[sizeof(before) / sizeof(before[0])];

	for (unsigned int i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		after[i] = (struct interface){before[i].name, 1u << i};
	begin(NULL, text_of(before));
	set(after);
	expect(1u << 1 | 1u << 2, 1u << 1 | 1u << 2);
	end();
}

/* The only ways out of this namespace have names that would not count elsewhere. */
static void counts_a_veth_or_a_tunnel_where_there_is_nothing_better(void **state)
{
	begin(NULL,
	      text_of((const struct interface[]){{"lo", 0}, {"veth1", 0}, {"tun0", 0}, {NULL, 0}}));
	set((const struct interface[]){{"lo", 100}, {"veth1", 20}, {"tun0", 3}, {NULL, 0}});
	expect(20, 20);
	end();
	begin(NULL, text_of((const struct interface[]){{"lo", 0}, {"tun0", 0}, {NULL, 0}}));
	set((const struct interface[]){{"lo", 100}, {"tun0", 3}, {NULL, 0}});
	expect(3, 3);
	end();
}

static void decides_anew_when_an_interface_appears_or_goes(void **state)
{
	/* A tunnel first, then the card that carries it, then the tunnel alone again. */
	begin("host-bridges", text_of((const struct interface[]){{"tun0", 100}, {NULL, 0}}));
	set((const struct interface[]){{"tun0", 110}, {NULL, 0}});
	expect(10, 10);
	set((const struct interface[]){{"tun0", 120}, {"eth0", 5000}, {NULL, 0}});
	expect(20, 20);
	set((const struct interface[]){{"tun0", 130}, {"eth0", 5007}, {NULL, 0}});
	expect(27, 27);
	set((const struct interface[]){{"tun0", 140}, {NULL, 0}});
	expect(27, 27);
	set((const struct interface[]){{"tun0", 141}, {NULL, 0}});
	expect(28, 28);
	end();
}

static void adds_nothing_when_a_counter_goes_back(void **state)
{
	begin(NULL, text_of((const struct interface[]){{"eth0", 4000}, {NULL, 0}}));
	set((const struct interface[]){{"eth0", 10}, {NULL, 0}});
	expect(0, 0);
	set((const struct interface[]){{"eth0", 15}, {NULL, 0}});
	expect(5, 5);
	end();
}

static void counts_nothing_on_the_loopback(void **state)
{
	for (int has_sys = 0; has_sys < 2; has_sys++) {
		begin(has_sys ? "container-tap" : NULL,
		      text_of((const struct interface[]){{"lo", 0}, {NULL, 0}}));
		set((const struct interface[]){{"lo", 100}, {NULL, 0}});
		expect(0, 0);
		end();
	}
}

static void gives_no_data_without_net_dev(void **state)
{
	live_init(&live, NULL);
	assert_int_equal(trk__meter_init(&meter, &trk__netdev, &live.env), -ENOENT);
	assert_int_equal(trk__meter_update(&meter), -ENODATA);
	trk__meter_release(&meter);
	end(); /* releasing twice is fine */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_an_interface),
		cmocka_unit_test(steps_over_lines_that_are_none),
		cmocka_unit_test(counts_every_byte_once_in_any_stack_of_interfaces),
		cmocka_unit_test(goes_by_the_name_without_sysfs),
		cmocka_unit_test(counts_a_veth_or_a_tunnel_where_there_is_nothing_better),
		cmocka_unit_test(decides_anew_when_an_interface_appears_or_goes),
		cmocka_unit_test(adds_nothing_when_a_counter_goes_back),
		cmocka_unit_test(counts_nothing_on_the_loopback),
		cmocka_unit_test(gives_no_data_without_net_dev),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
