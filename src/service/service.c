#include "service/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/os.h"
#include "base/trust.h"

enum { NOTE_MAX = 2048 };

void trk__service_note(const struct trk_service *s, const char *format, ...)
{
	char text[NOTE_MAX];
	va_list args;

	if (!s->note)
		return;
	va_start(args, format);
	trk__message(text, sizeof(text), format, args);
	va_end(args);
	s->note(s->data, text);
}

void trk__service_child(int control_fd)
{
	TRK_FD_CLEANUP int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3 && null_fd >= 0; i++)
		(void) dup2(null_fd, i);
	trk__close(control_fd);
	(void) !(fd >= 0 && write(fd, "1000", 4) == 4);
}

/* Returns 0 also if it is missing or unreachable, which is reported on use. Other users must not be
 * able to create it later either. */
static int check_own(const char *path, struct trk_error *reterr)
{
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int fd = trk__trust_open_dir(path, TRK_TRUST_RESERVE, &error);
	int r = fd < 0 ? fd : trk__trust_check_dir_at(fd, "runs", &error);
	bool name_path = fd >= 0 || !error.message[0]; /* "runs" alone is ambiguous */

	if (r == 0 || r == -ENOENT || r == -ENOTDIR || r == -EACCES || r == -ELOOP ||
	    r == -ENAMETOOLONG)
		return 0;
	return trk__error_set(reterr, r, NULL, "%s%s%s", name_path ? path : "",
			      name_path ? ": " : "", trk__error_text(&error, r));
}

int trk__usual_state_dir(trk_variable_fn *get, char path[TRK_PLACE_PATH_SIZE],
			 struct trk_error *reterr)
{
	const char *own = get("RESOURCE_TRACKER_DIR");
	const char *state = get("XDG_STATE_HOME");
	const char *home = get("HOME");

	if (own && *own)
		(void) snprintf(path, TRK_PLACE_PATH_SIZE, "%s", own);
	else if (state && trk__os_is_absolute(state))
		(void) snprintf(path, TRK_PLACE_PATH_SIZE, "%s/resource-tracker", state);
	else if (home && trk__os_is_absolute(home))
		(void) snprintf(path, TRK_PLACE_PATH_SIZE, "%s/.local/state/resource-tracker",
				home);
	else
		(void) snprintf(path, TRK_PLACE_PATH_SIZE, "/tmp/resource-tracker-%u",
				(unsigned int) geteuid());
	return own && *own ? 0 : check_own(path, reterr);
}
