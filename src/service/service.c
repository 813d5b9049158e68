#include "service/service.h"

#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

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
