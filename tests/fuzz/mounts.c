/* The parser of mountinfo, and the choice of the file systems to count. For any table, each file
 * system is queried by a path in the table. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "probe/linux/mounts.h"
#include "probe/linux/space.h"

static int fake_statvfs(const char *path, struct statvfs *buf)
{
	FUZZ_CHECK(path[0] == '/');
	*buf = (struct statvfs){.f_frsize = 1, .f_blocks = 10, .f_bfree = 4, .f_bavail = 3};
	return 0;
}

static void check_lines(const char *text)
{
	const char *at = text, *end = text + strlen(text), *last = text;
	struct trk_mount m;
	int r;

	m.id = -7;
	while ((r = trk__mount_parse(&at, &m)) != 0) {
		FUZZ_CHECK(at > last && at <= end);
		last = at;
		FUZZ_CHECK(r < 0 ? m.id == -7 : m.id >= 0);
		if (r > 0)
			FUZZ_CHECK(memchr(m.root, '\0', sizeof(m.root)) &&
				   memchr(m.point, '\0', sizeof(m.point)) &&
				   memchr(m.type, '\0', sizeof(m.type)) &&
				   memchr(m.source, '\0', sizeof(m.source)));
		m.id = -7;
	}
	FUZZ_CHECK(at == end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_space_meter meter = {.statvfs = fake_statvfs, .stale = true};
	uint64_t total, used, available;
	char *text = fuzz_text(data, size);
	int r;

	check_lines(text);
	meter.fd = memfd_create("mountinfo", MFD_CLOEXEC);
	FUZZ_CHECK(meter.fd >= 0 && trk__write_all(meter.fd, text, strlen(text)) == 0);
	free(text);
	r = trk__space_meter_update(&meter, &total, &used, &available);
	FUZZ_CHECK(r == 0 ? used <= total && available <= total : meter.count == 0);
	trk__space_meter_release(&meter);
	return 0;
}
