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

static bool is_source(const char *file, const char *text)
{
	static const char *const ends[] = {".py",  ".pyw", ".pyx", ".c",   ".h",  ".cc",
					   ".cpp", ".cxx", ".hh",  ".hpp", ".rs", ".go",
					   ".f90", ".F90", ".f",   ".F",   ".cu", ".jl"};
	size_t first = strcspn(text, "\n");
	const char *name = strstr(text, "python");

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_with(file, ends[i]))
			return true;
	return !strncmp(text, "#!", 2) && name && (size_t) (name - text) < first;
}

const char *trk__lines_closed_file(int64_t user)
{
	if (user == (int64_t) geteuid())
		return "the file cannot be read";
	return user < 0 ? "not every user may read the file, and the job's user is not known"
			: "the job's user could not read the file";
}

/* NULL, or why no line of the file can be shown. */
static const char *read_source(struct trk_lines_source *s)
{
	TRK_FD_CLEANUP int fd = trk__trust_open_as(s->user, s->file);
	struct stat st;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return "the file does not exist here: it was deleted, or is in a container";
	if (fd == -EACCES)
		return trk__lines_closed_file(s->user);
	if (fd < 0 || fstat(fd, &st) < 0)
		return "the file cannot be read";
	if (st.st_uid != geteuid() && st.st_uid != 0 && st.st_uid != s->user)
		return "the file belongs to another user";
	s->changed_s = (double) st.st_mtime;
	if (s->changed_s >= s->start_s)
		return "the file was changed after the run began";
	if (trk__read_all_fd(fd, SOURCE_MAX, &s->text) < 0)
		return "the file cannot be read";
	if (is_source(s->file, s->text))
		return NULL;
	free(s->text);
	s->text = NULL;
	return "the file is not source code of a known language";
}

const char *trk__lines_source(struct trk_lines_source *s, const struct trk_lines_function *f,
			      int line, char *text, size_t size, const char **ret_why)
{
	struct trk_mask mask = {.is_source = true};
	char raw[LINE_MAX_BYTES];
	const char *at;

	*ret_why = NULL;
	if (f->file[0] != '/')
		return NULL; /* relative to an unknown directory, or not a file */
	if (!s->file || strcmp(s->file, f->file) != 0) {
		trk__lines_source_release(s);
		s->file = strdup(f->file);
		s->why = s->file ? read_source(s) : NULL;
	}
	*ret_why = s->why;
	if (s->text && f->built_s > 0 && s->changed_s > f->built_s)
		*ret_why = "the file was changed after its program was built";
	at = *ret_why ? NULL : s->text;
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
