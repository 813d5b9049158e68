#include "base/libc.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "base/os.h"
#include "base/parse.h"

int trk__close_listed(unsigned int first, unsigned int last)
{
	DIR *list = opendir(trk__os_own_descriptors);
	const struct dirent *entry;

	if (!list)
		return -errno;
	while ((entry = readdir(list)) != NULL) {
		uint64_t fd;

		if (trk__parse_u64(entry->d_name, &fd) == 0 && fd >= first && fd <= last &&
		    fd != (uint64_t) dirfd(list))
			(void) close((int) fd);
	}
	(void) closedir(list);
	return 0;
}

/* By number, in the order of Linux on x86 and ARM. Not by SIGBUS and so on: other systems number
 * some signals differently, and a number in a recording is that of the machine it was made on. */
const char *trk__signal_name(int number)
{
	/* sigabbrev_np(): glibc 2.32. */
	static const char *const names[] = {
		NULL,     "HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",
		"FPE",    "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM",
		"STKFLT", "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",
		"XCPU",   "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR",  "SYS",
	};

	if (number < 0 || (size_t) number >= sizeof(names) / sizeof(names[0]))
		return NULL;
	return names[number];
}
