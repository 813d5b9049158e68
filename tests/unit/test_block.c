/* Which block devices are disks at the bottom of the stack. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "probe/linux/block.h"

struct expected {
	const char *name;
	enum trk_block_kind kind;
};

/* Check names up to one that is NULL against a fixture's sysfs (NULL: none). */
static void check(const char *fixture, const struct expected *expected)
{
	int fd = -1;

	if (fixture) {
		char *path = fixture_path(fixture, "sys");

		fd = trk__open_dir_at(AT_FDCWD, path);
		free(path);
		assert_true(fd >= 0);
	}
	for (; expected->name; expected++)
		if (trk__block_kind(fd, expected->name) != expected->kind)
			fail_msg("%s: %s is %d, not %d", fixture ? fixture : "no sysfs",
				 expected->name, (int) trk__block_kind(fd, expected->name),
				 (int) expected->kind);
	trk__close(fd);
}

static void tells_disks_from_partitions_by_sysfs(void **state)
{
	check("vm-virtio", (const struct expected[]){{"vda", TRK_BLOCK_DISK},
						     {"vda1", TRK_BLOCK_PARTITION},
						     {"vda15", TRK_BLOCK_PARTITION},
						     {"sr0", TRK_BLOCK_DISK},
						     {NULL, TRK_BLOCK_DISK}});
	check("nvme-4kn", (const struct expected[]){{"nvme0n1", TRK_BLOCK_DISK},
						    {"nvme0n1p1", TRK_BLOCK_PARTITION},
						    {NULL, TRK_BLOCK_DISK}});
	check("emmc", (const struct expected[]){{"mmcblk0", TRK_BLOCK_DISK},
						{"mmcblk0p2", TRK_BLOCK_PARTITION},
						{"mmcblk0boot0", TRK_BLOCK_DISK},
						{NULL, TRK_BLOCK_DISK}});
}

static void knows_a_xen_disk_that_is_called_like_a_partition(void **state)
{
	check("vm-xen", (const struct expected[]){{"xvda", TRK_BLOCK_DISK},
						  {"xvda1", TRK_BLOCK_PARTITION},
						  {"xvdb1", TRK_BLOCK_DISK},
						  {NULL, TRK_BLOCK_DISK}});
}

static void knows_what_lies_on_other_devices(void **state)
{
	check("lvm-luks", (const struct expected[]){{"nvme0n1", TRK_BLOCK_DISK},
						    {"nvme0n1p3", TRK_BLOCK_PARTITION},
						    {"dm-0", TRK_BLOCK_STACKED},
						    {"dm-1", TRK_BLOCK_STACKED},
						    {NULL, TRK_BLOCK_DISK}});
	check("md-raid", (const struct expected[]){{"sda", TRK_BLOCK_DISK},
						   {"md0", TRK_BLOCK_STACKED},
						   {"md0p1", TRK_BLOCK_PARTITION},
						   {NULL, TRK_BLOCK_DISK}});
	check("snap-zram", (const struct expected[]){{"loop0", TRK_BLOCK_STACKED},
						     {"zram0", TRK_BLOCK_STACKED},
						     {NULL, TRK_BLOCK_DISK}});
	check("zfs-pool", (const struct expected[]){{"sda", TRK_BLOCK_DISK},
						    {"zd0", TRK_BLOCK_STACKED},
						    {"zd0p1", TRK_BLOCK_PARTITION},
						    {NULL, TRK_BLOCK_DISK}});
}

/* Whatever it is called: a device with slaves is no disk. */
static void trusts_slaves_more_than_names(void **state)
{
	check("block-oddities", (const struct expected[]){{"vendorcache0", TRK_BLOCK_STACKED},
							  {"vendor/cache", TRK_BLOCK_STACKED},
							  {"cciss/c0d0", TRK_BLOCK_DISK},
							  {"cciss/c0d0p1", TRK_BLOCK_PARTITION},
							  {NULL, TRK_BLOCK_DISK}});
}

static void counts_nvme_paths_only_where_their_head_counts_nothing(void **state)
{
	check("nvme-multipath", (const struct expected[]){{"nvme0n1", TRK_BLOCK_DISK},
							  {"nvme0c0n1", TRK_BLOCK_DISK},
							  {"nvme1n1", TRK_BLOCK_DISK},
							  {"nvme1c0n1", TRK_BLOCK_HIDDEN},
							  {"nvme1c1n1", TRK_BLOCK_HIDDEN},
							  {NULL, TRK_BLOCK_DISK}});
}

static void goes_by_the_name_without_sysfs(void **state)
{
	check(NULL, (const struct expected[]){{"sda", TRK_BLOCK_DISK},
					      {"sda1", TRK_BLOCK_PARTITION},
					      {"sdaa12", TRK_BLOCK_PARTITION},
					      {"vda", TRK_BLOCK_DISK},
					      {"vda1", TRK_BLOCK_PARTITION},
					      {"xvda", TRK_BLOCK_DISK},
					      {"xvda1", TRK_BLOCK_PARTITION},
					      {"xvdf1", TRK_BLOCK_PARTITION},
					      {"hda2", TRK_BLOCK_PARTITION},
					      {"dasda", TRK_BLOCK_DISK},
					      {"dasda1", TRK_BLOCK_PARTITION},
					      {"nvme0n1", TRK_BLOCK_DISK},
					      {"nvme0n1p1", TRK_BLOCK_PARTITION},
					      {"nvme0c0n1", TRK_BLOCK_HIDDEN},
					      {"mmcblk0", TRK_BLOCK_DISK},
					      {"mmcblk0p1", TRK_BLOCK_PARTITION},
					      {"nbd0", TRK_BLOCK_DISK},
					      {"nbd0p1", TRK_BLOCK_PARTITION},
					      {"rbd0", TRK_BLOCK_DISK},
					      {"rbd0p1", TRK_BLOCK_PARTITION},
					      {"cciss/c0d0", TRK_BLOCK_DISK},
					      {"cciss/c0d0p1", TRK_BLOCK_PARTITION},
					      {"sr0", TRK_BLOCK_DISK},
					      {"pmem0", TRK_BLOCK_DISK},
					      {"loop0", TRK_BLOCK_STACKED},
					      {"loop0p1", TRK_BLOCK_STACKED},
					      {"dm-0", TRK_BLOCK_STACKED},
					      {"md0", TRK_BLOCK_STACKED},
					      {"md0p1", TRK_BLOCK_STACKED},
					      {"md_d0", TRK_BLOCK_STACKED},
					      {"md_home", TRK_BLOCK_STACKED},
					      {"zram0", TRK_BLOCK_STACKED},
					      {"ram0", TRK_BLOCK_STACKED},
					      {"zd16", TRK_BLOCK_STACKED},
					      {"drbd0", TRK_BLOCK_STACKED},
					      {"bcache0", TRK_BLOCK_STACKED},
					      {"7", TRK_BLOCK_DISK},
					      {"", TRK_BLOCK_DISK},
					      {NULL, TRK_BLOCK_DISK}});
	/* Nor for a name that this sysfs does not know. */
	check("emmc", (const struct expected[]){{"sdq", TRK_BLOCK_DISK},
						{"sdq1", TRK_BLOCK_PARTITION},
						{NULL, TRK_BLOCK_DISK}});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_disks_from_partitions_by_sysfs),
		cmocka_unit_test(knows_a_xen_disk_that_is_called_like_a_partition),
		cmocka_unit_test(knows_what_lies_on_other_devices),
		cmocka_unit_test(trusts_slaves_more_than_names),
		cmocka_unit_test(counts_nvme_paths_only_where_their_head_counts_nothing),
		cmocka_unit_test(goes_by_the_name_without_sysfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
