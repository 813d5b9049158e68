#include "probe/linux/mounts.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/parse.h"

/* One byte of a field: blanks, tabs, line ends, backslashes and '#' are octal ("\040"). Never
 * NUL. */
static char scan_byte(const char **at)
{
	const char *s = *at;

	if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
	    s[3] >= '0' && s[3] <= '7') {
		int code = (s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0');

		if (code > 0) {
			*at += 4;
			return (char) code;
		}
	}
	*at += 1;
	return s[0];
}

/* Read the field at *at and the blank after it. Returns false without such a field in this line. A
 * field that does not fit becomes empty with `whole`, else it is cut. */
static bool scan_field(const char **at, char *text, size_t size, bool whole)
{
	const char *s = *at;
	size_t n = 0;
	bool fits = true;

	while (*s && *s != ' ' && *s != '\n') {
		char c = scan_byte(&s);

		if (n + 1 < size)
			text[n++] = c;
		else
			fits = false;
	}
	if (*s != ' ')
		return false;
	text[fits || !whole ? n : 0] = '\0';
	*at = s + 1;
	return true;
}

/* Skip the mount options and the optional fields up to a lone dash; *at is then after the dash. */
static bool skip_to_dash(const char **at)
{
	const char *s = *at;

	for (;;) {
		s += strcspn(s, " \n");
		if (*s != ' ')
			return false;
		s++;
		if (s[0] == '-' && s[1] == ' ') {
			*at = s + 2;
			return true;
		}
	}
}

static bool scan_number(const char **at, unsigned int *ret)
{
	uint64_t value;

	if (!trk__scan_u64(at, &value) || value > INT32_MAX)
		return false;
	*ret = (unsigned int) value;
	return true;
}

int trk__mount_parse(const char **at, struct trk_mount *ret)
{
	const char *s = *at;
	struct trk_mount m;
	unsigned int id, parent;

	if (*s == '\0')
		return 0;
	*at = trk__skip_line(s);
	if (!scan_number(&s, &id) || !scan_number(&s, &parent) || !scan_number(&s, &m.major) ||
	    *s++ != ':' || !scan_number(&s, &m.minor) || *s++ != ' ')
		return -EBADMSG;
	m.id = (int) id;
	m.parent = (int) parent;
	/* The super options after the source are never empty. */
	if (!scan_field(&s, m.root, sizeof(m.root), true) ||
	    !scan_field(&s, m.point, sizeof(m.point), true) || !skip_to_dash(&s) ||
	    !scan_field(&s, m.type, sizeof(m.type), false) ||
	    !scan_field(&s, m.source, sizeof(m.source), true))
		return -EBADMSG;
	m.super = s;
	m.super_len = strcspn(s, " \n");
	*ret = m;
	return 1;
}
