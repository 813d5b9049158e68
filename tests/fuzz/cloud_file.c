/* The cached file with the cloud's name. A result has words of bounded length, and no control
 * characters; it is written and read again as it was. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "probe/cloud/cloud.h"

#include "fuzz.h"

#define BOOT "6d0e8d3c-1f5e-4a7b-9c3a-000000000001"

static char folder[] = "/dev/shm/fuzz-cloud-XXXXXX";

static void clean_up(void)
{
	trk__remove_tree(folder);
}

static void put(int dirfd, const char *name, const void *data, size_t size)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && trk__write_all(fd, data, size) == 0);
	(void) close(fd);
}

/* A folder that is also /proc, with the id of the boot. */
static int make_folder(void)
{
	int fd;

	FUZZ_CHECK(mkdtemp(folder) && atexit(clean_up) == 0);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && mkdirat(fd, "sys", 0700) == 0 &&
		   mkdirat(fd, "sys/kernel", 0700) == 0 &&
		   mkdirat(fd, "sys/kernel/random", 0700) == 0);
	put(fd, "sys/kernel/random/boot_id", BOOT "\n", strlen(BOOT) + 1);
	return fd;
}

static void check_word(const char *text, size_t size)
{
	FUZZ_CHECK(strnlen(text, size) < size);
	for (; *text; text++)
		FUZZ_CHECK((unsigned char) *text >= 0x20 && (unsigned char) *text <= 0x7e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct trk_env env;
	struct trk_cloud c, again;

	fd = fd < 0 ? make_folder() : fd;
	env = (struct trk_env){.proc_fd = fd};
	put(fd, "cloud", data, size);
	if (trk__cloud_cache_read(&env, fd, &c) < 0)
		return 0;
	check_word(c.vendor, sizeof(c.vendor));
	check_word(c.region, sizeof(c.region));
	check_word(c.zone, sizeof(c.zone));
	check_word(c.instance_type, sizeof(c.instance_type));
	check_word(c.allocation, sizeof(c.allocation));
	check_word(c.reason, sizeof(c.reason));
	FUZZ_CHECK(c.vendor[0]);
	again = c;
	(void) snprintf(again.source, sizeof(again.source), "metadata service");
	FUZZ_CHECK(trk__cloud_cache_write(&env, fd, &again) == 0 &&
		   trk__cloud_cache_read(&env, fd, &again) == 0);
	FUZZ_CHECK(!strcmp(again.vendor, c.vendor) && !strcmp(again.region, c.region) &&
		   !strcmp(again.reason, c.reason));
	return 0;
}
