#include "track/marks.h"

#include <errno.h>
#include <string.h>

#include "track/marks_system.h"

/* One line, cut at the start of a character. */
static void clean(char *name, size_t len)
{
	if (len >= TRK_MARK_NAME_SIZE) {
		len = TRK_MARK_NAME_SIZE - 1;
		while (len > 0 && ((unsigned char) name[len] & 0xc0) == 0x80)
			len--;
	}
	name[len] = '\0';
	for (char *c = name; *c; c++)
		if ((unsigned char) *c < 0x20 || *c == 0x7f)
			*c = ' ';
}

int trk__marks_read(int fd, char name[TRK_MARK_NAME_SIZE])
{
	char text[TRK_MARK_NAME_SIZE + 4];
	ssize_t n;

	do {
		n = trk__marks_receive(fd, text, sizeof(text) - 1);
		if (n < 0)
			return 0;
	} while (n == 0);
	text[n] = '\0';
	clean(text, (size_t) n);
	memcpy(name, text, TRK_MARK_NAME_SIZE);
	return 1;
}

int trk__marks_send(const char *guard, const char *name)
{
	size_t id_len = strcspn(guard, ":");

	if (*name == '\0' || id_len == 0 || id_len > 64)
		return -EINVAL;
	return trk__marks_deliver(guard, id_len, name, strnlen(name, TRK_MARK_NAME_SIZE + 2));
}
