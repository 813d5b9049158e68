#include "lines/source.h"

#include <errno.h>
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

/* NULL, or why no line of the file can be shown. */
static const char *read_source(struct trk_lines_source *s)
{
	TRK_FD_CLEANUP int fd = trk__open_regular_at(AT_FDCWD, s->file);
	struct stat st;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return "the file is not here: it is gone, or of a container";
	if (fd < 0 || fstat(fd, &st) < 0)
		return "the file cannot be read";
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "the file is of another user";
	if ((double) st.st_mtime >= s->start_s)
		return "the file was written to since the run began";
	if (trk__read_all_fd(fd, SOURCE_MAX, &s->text) < 0)
		return "the file cannot be read";
	if (is_python(s->file, s->text))
		return NULL;
	free(s->text);
	s->text = NULL;
	return "the file is no Python source";
}

const char *trk__lines_source(void *data, const char *file, int line, char *text, size_t size,
			      const char **ret_why)
{
	struct trk_lines_source *s = data;
	struct trk_mask mask = {.strict = false};
	char raw[LINE_MAX_BYTES];
	const char *at;

	*ret_why = NULL;
	if (file[0] != '/')
		return NULL; /* of another directory, or no file */
	if (!s->file || strcmp(s->file, file) != 0) {
		trk__lines_source_release(s);
		s->file = strdup(file);
		s->why = s->file ? read_source(s) : NULL;
	}
	*ret_why = s->why;
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
	s->why = NULL;
}
