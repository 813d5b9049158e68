/* A source file of which lines are shown: the first byte chooses its name and the size of the line.
 * What is shown is one line that fits. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "lines/source.h"

#include "fuzz.h"

static char folder[] = "/dev/shm/fuzz-source-XXXXXX";

static void clean_up(void)
{
	trk__remove_tree(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"a.py", "a.c", "script"};
	static bool is_made;
	struct trk_lines_source s = {.start_s = INFINITY};
	size_t room = size ? (size_t) data[0] / 3 + 1 : 1;
	char path[64], *text = malloc(room);
	struct trk_lines_function f = {.file = path};
	const char *why;
	int fd;

	FUZZ_CHECK(text && (is_made || (mkdtemp(folder) && atexit(clean_up) == 0)));
	is_made = true;
	(void) snprintf(path, sizeof(path), "%s/%s", folder, names[size ? data[0] % 3 : 0]);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_CHECK(fd >= 0 && (size < 2 || trk__write_all(fd, data + 1, size - 1) == 0));
	(void) close(fd);
	for (int line = -1; line < 6; line++) {
		const char *shown = trk__lines_source(&s, &f, line, text, room, &why);

		FUZZ_CHECK(!shown || (shown == text && strnlen(text, room) < room));
		FUZZ_CHECK(!shown || (*text && !strpbrk(text, "\r\n")));
	}
	trk__lines_source_release(&s);
	free(text);
	return 0;
}
