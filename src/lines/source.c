#include "lines/source.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mask.h"
#include "base/parse.h"
#include "base/trust.h"

enum { SOURCE_MAX = 4 * 1024 * 1024, LINE_MAX_BYTES = 512 };

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), more = strlen(end);

	return len >= more && !strcmp(text + len - more, end);
}

static bool is_python(const char *file, const char *text)
{
	size_t first = strcspn(text, "\n");
	const char *name = strstr(text, "python");

	if (ends_with(file, ".py") || ends_with(file, ".pyw"))
		return true;
	return !strncmp(text, "#!", 2) && name && (size_t) (name - text) < first;
}

static char *read_source(const struct trk_lines_source *s, const char *file)
{
	TRK_FD_CLEANUP int fd = trk__open_regular_at(AT_FDCWD, file);
	char *text = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || (double) st.st_mtime >= s->start_s ||
	    (st.st_uid != geteuid() && st.st_uid != 0) ||
	    trk__read_all_fd(fd, SOURCE_MAX, &text) < 0)
		return NULL;
	if (is_python(file, text))
		return text;
	free(text);
	return NULL;
}

const char *trk__lines_source(void *data, const char *file, int line, char *text, size_t size)
{
	struct trk_lines_source *s = data;
	struct trk_mask mask = {.strict = false};
	char raw[LINE_MAX_BYTES];
	const char *at;

	if (file[0] != '/')
		return NULL; /* of another directory, or no file */
	if (!s->file || strcmp(s->file, file) != 0) {
		trk__lines_source_release(s);
		s->file = strdup(file);
		s->text = s->file ? read_source(s, file) : NULL;
	}
	at = s->text;
	for (int i = 1; at && *at && i < line; i++)
		at = trk__skip_line(at);
	if (!at || !*at)
		return NULL;
	at = trk__skip_blanks(at);
	(void) snprintf(raw, sizeof(raw), "%.*s", (int) strcspn(at, "\r\n"), at);
	(void) trk__mask_argument(&mask, raw, text, size);
	return *text ? text : NULL;
}

void trk__lines_source_release(struct trk_lines_source *s)
{
	free(s->file);
	free(s->text);
	s->file = s->text = NULL;
}
