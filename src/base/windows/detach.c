#include "base/detach.h"

#include <errno.h>

/* On Windows this program starts no other. */
bool trk__detach(void)
{
	return false;
}

int trk__shell_command(const char *command, unsigned int limit_s, int *ret_status)
{
	return -EOPNOTSUPP;
}

void trk__detach_program(const char *file, char *const argv[], bool is_quiet)
{
}
