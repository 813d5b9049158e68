/* Disk bytes of a Mac, from a simulated IOKit registry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/darwin/disks.h"

enum { DISKS = 4, ITERATOR = 1000 };
enum kind { TEXT, NUMBER, DICTIONARY };

struct object {
	enum kind kind;
	const char *text;
	int64_t number;
	struct object *read, *written;
};

static struct disk {
	uint64_t id; /* 0: not there */
	struct object statistics, read, written;
	bool is_silent; /* without statistics */
} disks[DISKS];
static struct object keys[3];
static int next_key, next_disk, held; /* objects that were not released */

static void *match(const char *class_name)
{
	assert_string_equal(class_name, "IOBlockStorageDriver");
	return keys;
}

static int find(uint32_t port, void *matching, uint32_t *ret)
{
	(void) port;
	assert_ptr_equal(matching, keys);
	next_disk = 0;
	held++;
	*ret = ITERATOR;
	return 0;
}

static uint32_t next(uint32_t iterator)
{
	assert_int_equal(iterator, ITERATOR);
	while (next_disk < DISKS && disks[next_disk].id == 0)
		next_disk++;
	if (next_disk == DISKS)
		return 0;
	held++;
	return (uint32_t) ++next_disk;
}

static int id(uint32_t entry, uint64_t *ret)
{
	*ret = disks[entry - 1].id;
	return 0;
}

static const void *property(uint32_t entry, const void *key, const void *allocator,
			    uint32_t options)
{
	struct disk *d = &disks[entry - 1];

	(void) allocator;
	(void) options;
	assert_string_equal(((const struct object *) key)->text, "Statistics");
	if (d->is_silent)
		return NULL;
	held++;
	return &d->statistics;
}

static int release_object(uint32_t object)
{
	(void) object;
	held--;
	return 0;
}

static const void *text(const void *allocator, const char *chars, uint32_t encoding)
{
	(void) allocator;
	(void) encoding;
	keys[next_key] = (struct object){.kind = TEXT, .text = chars};
	held++;
	return &keys[next_key++];
}

static const void *value(const void *dictionary, const void *key)
{
	const struct object *d = dictionary, *k = key;

	return strcmp(k->text, "Bytes (Read)") ? d->written : d->read;
}

static unsigned char number(const void *object, long type, void *ret)
{
	(void) type;
	memcpy(ret, &((const struct object *) object)->number, sizeof(int64_t));
	return 1;
}

static unsigned long type(const void *object)
{
	return ((const struct object *) object)->kind;
}

static unsigned long dictionary_type(void)
{
	return DICTIONARY;
}

static unsigned long number_type(void)
{
	return NUMBER;
}

static void release(const void *object)
{
	(void) object;
	held--;
}

static const struct trk_mac_iokit calls = {
	match,           find,        next,    id,     property,
	release_object,  text,        value,   number, type,
	dictionary_type, number_type, release,
};

static void put(int at, uint64_t disk_id, int64_t read, int64_t written)
{
	struct disk *d = &disks[at];

	*d = (struct disk){.id = disk_id};
	d->read = (struct object){.kind = NUMBER, .number = read};
	d->written = (struct object){.kind = NUMBER, .number = written};
	d->statistics =
		(struct object){.kind = DICTIONARY, .read = &d->read, .written = &d->written};
}

static int set_up(void **state)
{
	static struct trk_mac_disks d;

	memset(disks, 0, sizeof(disks));
	next_key = held = 0;
	*state = &d;
	return trk__mac_disks_init(&d, &calls);
}

static int take_down(void **state)
{
	trk__mac_disks_release(*state);
	return held; /* 0: all that was given is released */
}

static void assert_total(struct trk_mac_disks *d, uint64_t read, uint64_t written)
{
	uint64_t in = 99, out = 99;

	assert_int_equal(trk__mac_disks_update(d, &in, &out), 0);
	assert_int_equal(in, read);
	assert_int_equal(out, written);
}

static void what_all_disks_moved_since_the_first_look_is_added(void **state)
{
	put(0, 7, 1000, 500);
	put(2, 9, 50, 60);
	assert_total(*state, 0, 0);
	put(0, 7, 1100, 500);
	put(2, 9, 50, 90);
	assert_total(*state, 100, 30);
}

static void a_disk_that_leaves_keeps_what_it_moved_and_a_new_one_starts_at_nothing(void **state)
{
	put(0, 7, 1000, 0);
	assert_total(*state, 0, 0);
	put(0, 7, 1010, 0);
	assert_total(*state, 10, 0);
	put(0, 8, 5000, 5000); /* another one in its place */
	assert_total(*state, 10, 0);
	put(0, 8, 5001, 5002);
	assert_total(*state, 11, 2);
}

static void a_disk_without_numbers_adds_nothing(void **state)
{
	put(0, 7, 10, 10);
	put(1, 8, 10, 10);
	disks[1].is_silent = true;
	put(2, 9, 10, 10);
	disks[2].written.kind = TEXT;
	put(3, 10, 10, 10);
	disks[3].statistics.read = NULL;
	assert_total(*state, 0, 0);
	disks[0].read.number = 12;
	disks[1].read.number = disks[2].read.number = disks[3].written.number = 100;
	assert_total(*state, 2, 0);
}

static void no_disk_is_no_zero(void **state)
{
	uint64_t in = 99, out = 99;

	assert_true(trk__mac_disks_update(*state, &in, &out) < 0);
	assert_int_equal(in, 99);
}

static void without_the_framework_there_is_no_figure(void **state)
{
	struct trk_mac_disks d;
	uint64_t in, out;

	(void) state;
	assert_true(trk__mac_disks_init(&d, NULL) < 0); /* Linux has none */
	assert_true(trk__mac_disks_update(&d, &in, &out) < 0);
	trk__mac_disks_release(&d);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, take_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_all_disks_moved_since_the_first_look_is_added),
		CASE(a_disk_that_leaves_keeps_what_it_moved_and_a_new_one_starts_at_nothing),
		CASE(a_disk_without_numbers_adds_nothing),
		CASE(no_disk_is_no_zero),
		cmocka_unit_test(without_the_framework_there_is_no_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
