/* Space on local storage: which file systems count, each once, and which are never accessed. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/linux/space.h"
#include "skip.h"

/* What the fake statvfs(3) answers: blocks of 4096 bytes. */
struct answer {
	const char *point;
	uint64_t blocks, free, available;
};

static const struct answer *answers; /* up to one whose point is NULL */
static char asked[1024];             /* "/a;/b;" */

static int fake_statvfs(const char *path, struct statvfs *buf)
{
	size_t len = strlen(asked);

	(void) snprintf(asked + len, sizeof(asked) - len, "%s;", path);
	for (const struct answer *a = answers; a->point; a++) {
		if (strcmp(a->point, path) != 0)
			continue;
		*buf = (struct statvfs){
			.f_bsize = 1048576, /* the preferred size of a transfer; f_frsize counts */
			.f_frsize = 4096,
			.f_blocks = a->blocks,
			.f_bfree = a->free,
			.f_bavail = a->available,
		};
		return 0;
	}
	errno = ENOENT;
	return -1;
}

static struct live live;
static struct trk_space_meter meter;

static void begin(const char *text)
{
	live_init(&live, NULL);
	live_write(&live, "self/mountinfo", text);
	assert_int_equal(trk__space_meter_init(&meter, &live.env), 0);
	meter.statvfs = fake_statvfs;
	asked[0] = '\0';
}

static void begin_with(const char *fixture)
{
	char *text = fixture_text(fixture, "proc/self/mountinfo");

	begin(text);
	free(text);
}

static void end(void)
{
	trk__space_meter_release(&meter);
	live_release(&live);
}

static void expect_blocks(uint64_t total, uint64_t used, uint64_t available)
{
	uint64_t ret_total = 0, ret_used = 0, ret_free = 0;

	assert_int_equal(trk__space_meter_update(&meter, &ret_total, &ret_used, &ret_free), 0);
	assert_int_equal(ret_total, total * 4096);
	assert_int_equal(ret_used, used * 4096);
	assert_int_equal(ret_free, available * 4096);
}

/* Every reachable mount point answers alike; which ones are asked is what counts. */
static void expect_asked(const char *fixture, const char *points)
{
	static const struct answer none[] = {{NULL, 0, 0, 0}};
	uint64_t total, used, available;

	begin_with(fixture);
	answers = none;
	assert_int_equal(trk__space_meter_update(&meter, &total, &used, &available), -ENODATA);
	assert_string_equal(asked, points);
	end();
}

static void leaves_the_reserve_for_root_out_of_used_and_free(void **state)
{
	static const struct answer vm[] = {
		{"/", 1000, 700, 650},
		{"/boot/efi", 50, 40, 40},
		{NULL, 0, 0, 0},
	};

	begin_with("vm-virtio");
	answers = vm;
	expect_blocks(1050, 310, 690);
	assert_string_equal(asked, "/;/boot/efi;"); /* no tmpfs, devtmpfs, proc */
	end();
}

static void counts_a_file_system_once_however_often_it_is_mounted(void **state)
{
	expect_asked("lvm-luks", "/;/boot;/boot/efi;");
	expect_asked("btrfs-subvolumes", "/;/boot/efi;");
	/* sdc1 is out of sight below a tmpfs. */
	expect_asked("bind-mounts", "/;/mnt/second disk\\#;");
}

static void leaves_out_read_only_images(void **state)
{
	expect_asked("snap-zram", "/;");
}

/* Neither network and FUSE file systems nor what lies below them are touched, in whatever order the
 * lines stand; sdh1 is reached by its second mount point, as the first is covered by a share. */
static void never_touches_a_path_that_may_block(void **state)
{
	expect_asked("nfs-dead", "/;/data2;/mnt/stick;/mnt/uncovered;");
}

static void counts_disks_below_a_root_that_is_on_the_network(void **state)
{
	static const struct answer disk[] = {{"/scratch", 100, 60, 50}, {NULL, 0, 0, 0}};

	begin("20 1 0:30 / / rw - nfs filer:/root rw\n"
	      "21 20 8:1 / /scratch rw - xfs /dev/sda1 rw\n"
	      "22 20 0:31 / /home rw - nfs filer:/home rw\n"
	      "23 22 8:17 / /home/disk rw - xfs /dev/sdb1 rw\n");
	answers = disk;
	expect_blocks(100, 40, 50);
	assert_string_equal(asked, "/scratch;");
	end();
}

static void sums_the_data_sets_of_a_pool_and_counts_its_free_space_once(void **state)
{
	/* Of three pools: rpool, tank and tanker; each data set shows what it uses plus what it
	 * could still take, which a quota makes less. */
	static const struct answer pool[] = {
		{"/", 1100, 1000, 1000},          {"/tank", 501, 500, 500},
		{"/tank/home", 5010, 5000, 5000}, {"/tank/home/ada", 320, 300, 300},
		{"/tanker", 77, 70, 70},          {NULL, 0, 0, 0},
	};

	begin_with("zfs-pool");
	answers = pool;
	expect_blocks(100 + 1000 + 1 + 10 + 20 + 5000 + 77, 100 + 1 + 10 + 20 + 7,
		      1000 + 5000 + 70);
	end();
}

static void counts_the_overlay_of_a_container_where_nothing_else_counts(void **state)
{
	static const struct answer root[] = {{"/", 1000, 700, 650}, {NULL, 0, 0, 0}};
	static const struct answer hosts[] = {{"/etc/hosts", 1000, 700, 650}, {NULL, 0, 0, 0}};

	begin_with("container-overlay");
	answers = root;
	expect_blocks(1000, 300, 650);
	assert_string_equal(asked, "/;"); /* nor a nested container's */
	end();

	/* The overlay's own disk shows up below a bind mount. */
	begin("20 1 0:30 / / rw - overlay overlay rw,lowerdir=/a\n"
	      "21 20 8:1 /containers/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"
	      "22 20 8:1 /containers/name /etc/hostname rw - ext4 /dev/sda1 rw\n");
	answers = hosts;
	expect_blocks(1000, 300, 650);
	assert_string_equal(asked, "/etc/hosts;");
	end();
}

static void finds_its_way_where_the_root_is_no_mount_of_its_own(void **state)
{
	static const struct answer chroot_disk[] = {{"/disk", 100, 60, 50}, {NULL, 0, 0, 0}};

	begin("21 20 8:1 / /disk rw - xfs /dev/sda1 rw\n"
	      "22 20 0:31 / /proc rw - proc proc rw\n");
	answers = chroot_disk;
	expect_blocks(100, 40, 50);
	end();
}

/* A root mount may name itself as its parent, and damaged text may hold a ring. */
static void survives_mounts_that_are_their_own_ancestors(void **state)
{
	static const struct answer root[] = {{"/", 100, 60, 50}, {NULL, 0, 0, 0}};
	uint64_t total, used, available;

	answers = root;
	begin("1 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	expect_blocks(100, 40, 50);
	end();
	begin("1 2 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:2 / / rw - ext4 /dev/sda2 rw\n");
	assert_int_equal(trk__space_meter_update(&meter, &total, &used, &available), -ENODATA);
	end();
	begin("1 1 0:1 / / rw - rootfs rootfs rw\n2 1 8:2 / / rw - ext4 /dev/sda2 rw\n"
	      "1 2 8:1 / / rw - ext4 /dev/sda1 rw\n");
	assert_int_equal(trk__space_meter_update(&meter, &total, &used, &available), -ENODATA);
	end();
}

static void leaves_out_a_file_system_that_does_not_answer(void **state)
{
	static const struct answer one[] = {{"/", 1000, 700, 650}, {NULL, 0, 0, 0}};

	begin_with("vm-virtio");
	answers = one;
	expect_blocks(1000, 300, 650);
	end();
}

static void says_no_data_where_no_file_system_counts(void **state)
{
	uint64_t total = 1, used = 2, available = 3;

	begin("22 1 0:21 / / rw - tmpfs tmpfs rw\n23 22 0:22 / /proc rw - proc proc rw\n");
	assert_int_equal(trk__space_meter_update(&meter, &total, &used, &available), -ENODATA);
	assert_int_equal(total, 1);
	assert_int_equal(used, 2);
	assert_int_equal(available, 3);
	end();
}

static void gives_no_data_without_mountinfo(void **state)
{
	uint64_t total, used, available;

	live_init(&live, NULL);
	assert_int_equal(trk__space_meter_init(&meter, &live.env), -ENOENT);
	assert_int_equal(trk__space_meter_update(&meter, &total, &used, &available), -ENODATA);
	trk__space_meter_release(&meter);
	end(); /* releasing twice is fine */
}

/* More data sets than the meter starts with, and a text longer than its first buffer. */
static void takes_a_thousand_file_systems(void **state)
{
	enum { SETS = 1500 };
	static const struct answer none[] = {{NULL, 0, 0, 0}};
	char *text = malloc(SETS * 96);
	uint64_t total, used, available;
	size_t len = 0;

	assert_non_null(text);
	for (int i = 0; i < SETS; i++)
		len += (size_t) sprintf(text + len,
					"%d 1 0:%d / /p/%d rw - zfs pool/%d rw,noatime\n", i + 10,
					i + 10, i, i);
	begin(text);
	free(text);
	answers = none;
	assert_int_equal(trk__space_meter_update(&meter, &total, &used, &available), -ENODATA);
	assert_int_equal(meter.count, 1024);
	assert_int_equal(meter.member[1023].leader, 0);
	end();
}

/* Only the kernel's own mountinfo tells of changes: a mount namespace of this test's own. */
static void reads_the_table_again_when_it_has_changed(void **state)
{
	static const struct answer none[] = {{NULL, 0, 0, 0}};
	struct trk_env env;
	uint64_t total, used, available;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
		SKIP("a mount namespace of its own needs root");
	assert_int_equal(trk__env_init(&env), 0);
	assert_int_equal(trk__space_meter_init(&meter, &env), 0);
	meter.statvfs = fake_statvfs;
	answers = none;
	assert_int_equal(trk__space_meter_update(&meter, &total, &used, &available), -ENODATA);
	assert_false(meter.stale);

	/* Nothing has changed: what is in the list stays, even a member that stands in no table. */
	if (meter.count > 0) {
		meter.member[0].major = 4000;
		(void) trk__space_meter_update(&meter, &total, &used, &available);
		assert_int_equal(meter.member[0].major, 4000);

		assert_int_equal(mount("tmpfs", "/tmp", "tmpfs", 0, "size=4k"), 0);
		(void) trk__space_meter_update(&meter, &total, &used, &available);
		assert_true(meter.count == 0 || meter.member[0].major != 4000);
		assert_int_equal(umount("/tmp"), 0);
	}
	trk__space_meter_release(&meter);
	trk__env_release(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_the_reserve_for_root_out_of_used_and_free),
		cmocka_unit_test(counts_a_file_system_once_however_often_it_is_mounted),
		cmocka_unit_test(leaves_out_read_only_images),
		cmocka_unit_test(never_touches_a_path_that_may_block),
		cmocka_unit_test(counts_disks_below_a_root_that_is_on_the_network),
		cmocka_unit_test(sums_the_data_sets_of_a_pool_and_counts_its_free_space_once),
		cmocka_unit_test(counts_the_overlay_of_a_container_where_nothing_else_counts),
		cmocka_unit_test(finds_its_way_where_the_root_is_no_mount_of_its_own),
		cmocka_unit_test(survives_mounts_that_are_their_own_ancestors),
		cmocka_unit_test(leaves_out_a_file_system_that_does_not_answer),
		cmocka_unit_test(says_no_data_where_no_file_system_counts),
		cmocka_unit_test(gives_no_data_without_mountinfo),
		cmocka_unit_test(takes_a_thousand_file_systems),
		cmocka_unit_test(reads_the_table_again_when_it_has_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
