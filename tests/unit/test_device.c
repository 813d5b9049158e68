/* Facts about disks and network interfaces from sysfs: model, address, driver, and the disk below a
 * stack of devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>

#include "probe/linux/device.h"

#include "fixture.h"
#include "rows.h"

static void put(const struct folder *f, const char *path, const void *text, size_t len)
{
	char part[256];

	(void) snprintf(part, sizeof(part), "%s", path);
	for (char *c = part; (c = strchr(c, '/')); *c++ = '/') {
		*c = '\0';
		assert_true(mkdirat(f->fd, part, 0700) == 0 || errno == EEXIST);
	}
	bytes_put(f->fd, path, text, len);
}

static void put_text(const struct folder *f, const char *path, const char *text)
{
	put(f, path, text, strlen(text));
}

static void put_link(const struct folder *f, const char *path, const char *target)
{
	put_text(f, path, "");
	assert_int_equal(unlinkat(f->fd, path, 0), 0);
	assert_int_equal(symlinkat(target, f->fd, path), 0);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void) st;
	(void) kind;
	(void) walk;
	return remove(path);
}

static void folder_remove(struct folder *f)
{
	assert_int_equal(nftw(f->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
	trk__close(f->fd);
}

static void reads_what_a_scsi_disk_is(void **state)
{
	struct trk_disk_device d;
	struct folder f;

	folder_init(&f);
	put_text(&f, "block/sda/device/model", "ST8000NM0055    \n");
	put_text(&f, "block/sda/device/vendor", "ATA     \n");
	put(&f, "block/sda/device/vpd_pg80", "\0\x80\0\x08    ZA12", 12);
	put_text(&f, "block/sda/queue/rotational", "1\n");
	put_text(&f, "block/sda/size", "2048\n"); /* sectors of 512, on a 4Kn disk too */
	put_text(&f, "block/sda/queue/hw_sector_size", "4096\n");
	trk__disk_device_read(f.fd, "sda", &d);
	assert_string_equal(d.model, "ST8000NM0055");
	assert_string_equal(d.vendor, "ATA");
	assert_string_equal(d.serial, "ZA12");
	assert_string_equal(d.type, "hdd");
	assert_int_equal(d.capacity_bytes, 1048576);
	folder_remove(&f);
}

static void what_is_not_there_is_unknown(void **state)
{
	struct trk_disk_device d;
	struct trk_net_device n;
	struct folder f;

	folder_init(&f);
	put_text(&f, "class/net/eth0/speed", "-1\n");
	trk__disk_device_read(f.fd, "sda", &d);
	assert_null(d.type);
	assert_string_equal(d.model, "");
	assert_int_equal(d.capacity_bytes, 0);
	trk__net_device_read(f.fd, "eth0", &n);
	assert_int_equal(n.speed_mbps, 0);
	assert_string_equal(n.driver, "");
	trk__disk_device_read(-1, "sda", &d);
	assert_null(d.type);
	trk__net_device_read(-1, "eth0", &n);
	assert_int_equal(n.mtu, 0);
	folder_remove(&f);
}

static void reads_what_an_interface_is(void **state)
{
	struct trk_net_device n;
	struct folder f;

	folder_init(&f);
	put_text(&f, "class/net/ens3/address", "02:00:00:00:00:01\n");
	put_text(&f, "class/net/ens3/operstate", "up\n");
	put_text(&f, "class/net/ens3/speed", "25000\n");
	put_text(&f, "class/net/ens3/mtu", "9001\n");
	put_link(&f, "class/net/ens3/device/driver", "../../bus/pci/drivers/ena");
	trk__net_device_read(f.fd, "ens3", &n);
	assert_string_equal(n.address, "02:00:00:00:00:01");
	assert_string_equal(n.operstate, "up");
	assert_int_equal(n.speed_mbps, 25000);
	assert_int_equal(n.mtu, 9001);
	assert_string_equal(n.driver, "ena");
	folder_remove(&f);
}

/* dm-1 (a volume) on dm-0 (LUKS) on the third partition of nvme0n1. */
static void finds_the_disk_below_a_stack(void **state)
{
	char name[TRK_DEVICE_NAME] = "";
	struct folder f;

	folder_init(&f);
	put_link(&f, "dev/block/253:1", "../../devices/virtual/block/dm-1");
	put_text(&f, "class/block/dm-1/slaves/dm-0", "");
	put_text(&f, "class/block/dm-0/slaves/nvme0n1p3", "");
	put_text(&f, "devices/nvme0n1/nvme0n1p3/partition", "3\n");
	put_link(&f, "class/block/nvme0n1p3", "../../devices/nvme0n1/nvme0n1p3");
	put_link(&f, "class/block/nvme0n1", "../../devices/nvme0n1");
	assert_true(trk__disk_below(f.fd, 253, 1, name));
	assert_string_equal(name, "nvme0n1");
	assert_true(trk__disk_below_name(f.fd, "nvme0n1p3", name));
	assert_string_equal(name, "nvme0n1");
	assert_false(trk__disk_below(f.fd, 0, 42, name));
	assert_false(trk__disk_below_name(f.fd, "../../etc", name));
	folder_remove(&f);
}

static void a_ring_of_devices_ends(void **state)
{
	char name[TRK_DEVICE_NAME];
	struct folder f;

	folder_init(&f);
	put_text(&f, "class/block/dm-0/slaves/dm-1", "");
	put_text(&f, "class/block/dm-1/slaves/dm-0", "");
	assert_false(trk__disk_below_name(f.fd, "dm-0", name));
	folder_remove(&f);
}

static void keeps_printable_text_only(void **state)
{
	char text[TRK_DEVICE_TEXT], longer[200];

	trk__device_text("  a\tb \x1b[0m \n next", 16, text);
	assert_string_equal(text, "ab [0m");
	memset(longer, 'x', sizeof(longer));
	trk__device_text(longer, sizeof(longer), text);
	assert_int_equal(strlen(text), TRK_DEVICE_TEXT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_a_scsi_disk_is),
		cmocka_unit_test(what_is_not_there_is_unknown),
		cmocka_unit_test(reads_what_an_interface_is),
		cmocka_unit_test(finds_the_disk_below_a_stack),
		cmocka_unit_test(a_ring_of_devices_ends),
		cmocka_unit_test(keeps_printable_text_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
