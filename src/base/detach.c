#include "base/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/libc.h"

enum { NICE = 10 };

bool trk__detach(void)
{
	pid_t pid = fork();
	sigset_t none;
	int null_fd;

	if (pid > 0)
		(void) waitpid(pid, NULL, 0);
	if (pid != 0)
		return false;
	if (setsid() < 0 || fork() != 0)
		_exit(0);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3 && null_fd >= 0; fd++)
		(void) dup2(null_fd, fd);
	trk__close_range(3, ~0u);
	(void) signal(SIGPIPE, SIG_DFL);
	(void) sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
	return true;
}

void trk__detach_program(const char *file, char *const argv[], bool is_quiet)
{
	if (!trk__detach())
		return;
	if (is_quiet)
		(void) setpriority(PRIO_PROCESS, 0, NICE);
	(void) execvp(file, argv);
	_exit(127);
}

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
