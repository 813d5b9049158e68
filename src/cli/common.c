#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/maths.h"
#include "base/os.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "cli/cli.h"

enum { COMPLAINT_SIZE = 768, MESSAGE_MS = 200 };

static const char *origin_of_value;
static bool is_once, has_complained, is_in_time;

void cli_set_origin(const char *origin)
{
	origin_of_value = origin;
}

bool cli_is_of_flag(void)
{
	return origin_of_value == NULL;
}

void cli_complain_in_time(bool in_time)
{
	is_in_time = in_time;
}

void cli_complain_once(bool once)
{
	is_once = once;
	has_complained = false;
}

__attribute__((format(printf, 1, 0))) static void complain(const char *format, va_list args)
{
	char text[COMPLAINT_SIZE] = "resource-tracker: ";
	size_t size = sizeof(text) - 1, len = strlen(text);

	if (is_once && has_complained)
		return;
	has_complained = true;
	if (origin_of_value)
		(void) snprintf(text + len, size - len, "%s: ", origin_of_value);
	len = strlen(text);
	trk__message(text + len, size - len, format, args);
	len = strlen(text);
	trk__utf8_clean(text, len, ""); /* the origin may be the name of a file */
	text[len++] = '\n';
	(void) trk__os_write_in_time(STDERR_FILENO, text, len, is_in_time ? MESSAGE_MS : -1);
}

void cli_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
}

int cli_reject(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return status;
}

const char *cli_keep(const char *text, size_t len)
{
	static char room[48 * 1024];
	static size_t used;
	char *kept = room + used;

	if (len >= sizeof(room) - used)
		return NULL;
	memcpy(kept, text, len);
	kept[len] = '\0';
	used += len + 1;
	return kept;
}

double cli_utc_offset(double now_s)
{
	return (double) trk__os_utc_offset_s((time_t) trk__whole(now_s, 0, UINT32_MAX));
}

/* The exit status of an error. */
static int status_of(int error)
{
	switch (-error) {
	case TRK_ERR_NORUN:
	case TRK_ERR_NODATA:
	case ENOENT:
		return EXIT_NODATA;
	case EACCES:
	case EPERM:
		return EXIT_DENIED;
	default:
		return EXIT_ERROR;
	}
}

int cli_fail(const char *verb, int error, const struct trk_error *why)
{
	const char *text = trk__error_text(why, error);

	return error == -EINVAL ? cli_reject(EXIT_USAGE, "%s: %s", verb, text)
				: cli_reject(status_of(error), "%s", text);
}

int cli_write(int fd, const struct trk_buf *b, const char *where)
{
	int r = b->error;

	if (r == 0 && b->len)
		r = trk__write_all(fd, b->data, b->len);
	if (r == 0 || r == -EPIPE)
		return 0;
	return cli_reject(EXIT_ERROR, "%s: cannot write: %s", where, trk__strerror(r));
}

int cli_print_to(int fd, struct trk_buf *b)
{
	trk__utf8_clean(b->data, b->len, "\n\t");
	if (fd == STDERR_FILENO && is_in_time) {
		(void) trk__os_write_in_time(fd, b->data, b->len, MESSAGE_MS);
		return 0;
	}
	return cli_write(fd, b, fd == STDOUT_FILENO ? "stdout" : "stderr");
}

int cli_print(struct trk_buf *b)
{
	return cli_print_to(STDOUT_FILENO, b);
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

bool cli_use_utf8(const char *mode)
{
	return (!mode || strcmp(mode, "plain") != 0) && cli_is_utf8();
}

size_t cli_width(int fd, size_t usual)
{
	enum { MAX = 10000 };
	const char *stated = getenv("COLUMNS");
	uint64_t columns;
	struct winsize size;

	if (stated && trk__parse_u64(stated, &columns) == 0 && columns > 0 && columns < MAX)
		return (size_t) columns;
	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
										  : usual;
}

struct trk_terminal_style cli_style(int fd, size_t usual)
{
	return (struct trk_terminal_style){.width = cli_width(fd, usual), .utf8 = cli_is_utf8()};
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
