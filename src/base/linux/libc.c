#include "base/libc.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

/* ---- random bits ---- */

uint32_t trk__random_bits(void)
{
	enum { NO_WAITING = 1 }; /* GRND_NONBLOCK */
	uint32_t bits;

	/* getrandom(): glibc 2.25, kernel 3.17. */
	if (syscall(SYS_getrandom, &bits, sizeof(bits), NO_WAITING) == sizeof(bits))
		return bits;
	return (uint32_t) (trk__clock_monotonic_ns() / 1000) ^ (uint32_t) getpid() << 16;
}

/* ---- descriptors ---- */

int trk__memory_file(const char *name)
{
	enum { CLOSE_ON_EXEC = 1 }; /* MFD_CLOEXEC */
	/* memfd_create(): glibc 2.27. */
	long fd = syscall(SYS_memfd_create, name, CLOSE_ON_EXEC);

	return fd < 0 ? -errno : (int) fd;
}

void trk__close_range(unsigned int first, unsigned int last)
{
	struct rlimit limit;

	/* close_range(): glibc 2.34, kernel 5.9. */
	if (syscall(SYS_close_range, first, last, 0) == 0 || trk__close_listed(first, last) == 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	for (rlim_t fd = first; fd <= last && fd < limit.rlim_cur; fd++)
		(void) close((int) fd);
}

/* ---- texts of errors ---- */

/* glibc 2.32; resolved when the program starts, NULL in older ones. */
static const char *untranslated(int code) __attribute__((weakref("strerrordesc_np")));

const char *trk__errno_text(int code)
{
	if (untranslated)
		return untranslated(code);
	return code >= 0 && code < EHWPOISON + 1 ? strerror(code) : NULL;
}
