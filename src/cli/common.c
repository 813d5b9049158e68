#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "cli/cli.h"
#include "record/store.h"

enum { VALUE_MAX = 300 }; /* the most that is told of what a user has typed */

static const char *spoken_of;

void cli_speak_of(const char *origin)
{
	spoken_of = origin;
}

/* Without allocation: it may be memory that lacks. */
void cli_complain(const char *format, ...)
{
	char text[4096] = "resource-tracker: ";
	size_t size = sizeof(text) - 1, len = strlen(text);
	va_list args;

	if (spoken_of)
		(void) snprintf(text + len, size - len, "%s: ", spoken_of);
	len = strlen(text);
	va_start(args, format);
	trk__message(text + len, size - len, VALUE_MAX, format, args);
	va_end(args);
	len = strlen(text);
	/* One line, whatever a file name holds. */
	for (size_t i = 0; i < len; i++)
		if ((unsigned char) text[i] < 0x20 || text[i] == 0x7f)
			text[i] = '?';
	text[len++] = '\n';
	(void) trk__write_all(STDERR_FILENO, text, len);
}

const char *cli_state_dir(const char *dir, char *text, size_t size)
{
	const char *own = getenv("RESOURCE_TRACKER_DIR");
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (dir)
		return dir;
	if (own && *own)
		return own;
	if (state && *state == '/')
		(void) snprintf(text, size, "%s/resource-tracker", state);
	else if (home && *home == '/')
		(void) snprintf(text, size, "%s/.local/state/resource-tracker", home);
	else
		(void) snprintf(text, size, "/tmp/resource-tracker-%u", (unsigned int) getuid());
	return text;
}

static int status_of(int error)
{
	switch (-error) {
	case TRK_E_NORUN:
	case TRK_E_NODATA:
	case ENOENT:
		return EXIT_NODATA;
	case EACCES:
	case EPERM:
		return EXIT_DENIED;
	default:
		return EXIT_ERROR;
	}
}

/* The name of a job may hold a slash, too: "CI/test@-1". */
bool cli_is_path(const char *reference)
{
	return access(reference, F_OK) == 0 || (strchr(reference, '/') && !strchr(reference, '@'));
}

int cli_load(const char *dir, const char *reference, struct trk_record *record, trk_row_fn *on_row,
	     void *data)
{
	char text[4096], name[96];
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int runs_fd = AT_FDCWD;
	int r = 0;

	if (!cli_is_path(reference)) {
		dir = cli_state_dir(dir, text, sizeof(text));
		runs_fd = trk__store_open(dir, false, &error);
		if (runs_fd == -ENOENT) {
			cli_complain("%s: no such run: no recordings in %s. Try: resource-tracker "
				     "run -- CMD",
				     reference, dir);
			return EXIT_NODATA;
		}
		r = runs_fd < 0 ? runs_fd : trk__store_find(runs_fd, reference, name, &error);
		reference = name;
	}
	if (r == 0)
		r = record ? trk__record_read(runs_fd, reference, record, on_row, data, &error)
			   : trk__record_read_rows(runs_fd, reference, on_row, data, &error);
	if (r < 0) {
		cli_complain("%s", error.message[0] ? error.message : trk__strerror(r));
		return status_of(r);
	}
	return 0;
}

int cli_write(int fd, const struct trk_buf *b, const char *where)
{
	int r = b->error;

	if (r == 0 && b->len)
		r = trk__write_all(fd, b->data, b->len);
	if (r == 0 || r == -EPIPE)
		return 0;
	cli_complain("%s: cannot write: %s", where, trk__strerror(r));
	return EXIT_ERROR;
}

bool cli_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
	}
	return false;
}

bool cli_use_color(const char *mode, int fd)
{
	const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
	const char *term = getenv("TERM");

	if (mode && strcmp(mode, "auto") != 0)
		return !strcmp(mode, "always");
	if (no && *no)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}
