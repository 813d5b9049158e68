#include "base/shell_command.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

int trk__shell_command(const char *command, unsigned int limit_s, int *ret_status)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void) alarm(limit_s);
		(void) execl("/bin/sh", "sh", "-c", command, (char *) NULL);
		_exit(127);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	return 0;
}
