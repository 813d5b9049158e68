/* The opener of the desktop returns once the browser has started. */

#include <errno.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/detach.h"
#include "base/os.h"
#include "cli/cli.h"

void cli_browser_open(const char *path)
{
	char *const argv[] = {(char *) (uintptr_t) trk__os_opener, (char *) (uintptr_t) path, NULL};

	trk__detach_program(trk__os_opener, argv, false);
}

int cli_browser_show(const char *path)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		(void) execlp(trk__os_opener, trk__os_opener, path, (char *) NULL);
		_exit(EXIT_NOT_FOUND);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0)
		return 0;
	return cli_reject(EXIT_ERROR, "%s: cannot open it in a browser by %s: %s", path,
			  trk__os_opener,
			  pid < 0                                 ? trk__strerror(errno)
			  : WEXITSTATUS(status) == EXIT_NOT_FOUND ? "it is not installed"
								  : "it failed");
}
