#include "track/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"

static int cut_line(struct trk_control *c, char *line)
{
	char *end = memchr(c->text, '\n', c->len);
	size_t len;

	if (!end) {
		if (c->len == sizeof(c->text))
			c->len = 0;
		return 0;
	}
	len = (size_t) (end - c->text);
	memcpy(line, c->text, len);
	line[len] = '\0';
	c->len -= len + 1;
	memmove(c->text, end + 1, c->len);
	return 1;
}

int trk__control_next(struct trk_control *c, char *line)
{
	for (;;) {
		ssize_t n;

		if (cut_line(c, line))
			return 1;
		n = trk__os_receive(c->fd, c->text + c->len, sizeof(c->text) - c->len);
		if (n == -EAGAIN)
			return 0;
		if (n <= 0)
			return -EPIPE;
		c->len += (size_t) n;
	}
}

int trk__control_send(int fd, const char *word, const char *rest)
{
	char line[TRK_CONTROL_LINE];
	int len = snprintf(line, sizeof(line), "%s%s%s", word, *rest ? " " : "", rest);

	if (len < 0 || (size_t) len >= sizeof(line) - 1)
		len = (int) sizeof(line) - 2;
	for (int i = 0; i < len; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[len++] = '\n';
	return trk__os_send(fd, line, (size_t) len);
}
