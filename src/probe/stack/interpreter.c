#include "probe/stack/interpreter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/stack/mappings.h"

enum { MAPS_MAX_BYTES = 4 * 1024 * 1024 };

static bool starts(const char *name, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && memcmp(name, prefix, n) == 0;
}

static bool is(const char *name, size_t len, const char *text)
{
	return len == strlen(text) && memcmp(name, text, len) == 0;
}

static bool is_other_runtime(const char *name, size_t len)
{
	return starts(name, len, "libpypy") || starts(name, len, "pypy") || is(name, len, "node") ||
	       is(name, len, "nodejs") || is(name, len, "libjvm.so") || is(name, len, "libR.so");
}

void trk__interpreter_parse(const char *text, struct trk_interpreter_maps *ret)
{
	struct trk_maps_line l;
	bool is_first = true;

	memset(ret, 0, sizeof(*ret));
	for (const char *line = text; *line; line = trk__skip_line(line)) {
		const char *name;
		size_t len;

		/* Lines that map the start of a file. */
		if (!trk__maps_line_parse(line, &l) || l.offset != 0)
			continue;
		name = memrchr(l.path, '/', l.len);
		if (!name)
			continue;
		len = (size_t) (l.path + l.len - ++name);
		ret->other_runtime |= is_other_runtime(name, len);
		/* The executable usually has the lowest address; with embedded Python, any name. */
		if ((is_first || starts(name, len, "libpython") || starts(name, len, "python")) &&
		    ret->count < TRK_INTERPRETER_FILES &&
		    (ret->count == 0 || ret->base[ret->count - 1] != l.start))
			ret->base[ret->count++] = l.start;
		is_first = false;
	}
}

/* The more specific of two reasons. */
static enum trk_stack_why graver(enum trk_stack_why a, enum trk_stack_why b)
{
	return b == TRK_STACK_NOT_PYTHON ? a : b;
}

static enum trk_stack_why open_at(struct trk_remote *r, uint64_t base, pid_t pid,
				  struct trk_cpython **ret)
{
	struct trk_cpython_runtime runtime;
	enum trk_stack_why why;
	unsigned char first;
	int error;

	error = trk__remote_copy(r, base, &first, 1);
	if (error < 0)
		return error == -EPERM || error == -EACCES ? TRK_STACK_DENIED
							   : TRK_STACK_NOT_PYTHON;
	why = trk__cpython_find(r, base, &runtime);
	if (why == TRK_STACK_READ)
		why = trk__cpython_check(r, &runtime);
	if (why != TRK_STACK_READ)
		return why;
	*ret = trk__cpython_new(&runtime, pid, r);
	return *ret ? TRK_STACK_READ : TRK_STACK_NO_MEMORY;
}

enum trk_stack_why trk__interpreter_open(const struct trk_env *env, pid_t pid, struct trk_remote *r,
					 struct trk_cpython **ret)
{
	enum trk_stack_why why = TRK_STACK_NOT_PYTHON;
	struct trk_interpreter_maps maps;
	char *text = NULL;
	ssize_t len = trk__read_all_at(env->proc_fd, TRK_PATH("%d/maps", (int) pid), MAPS_MAX_BYTES,
				       &text);

	if (len < 0)
		return len == -EACCES || len == -EPERM ? TRK_STACK_DENIED
		       : len == -EFBIG                 ? TRK_STACK_TOO_MUCH
						       : TRK_STACK_NOT_PYTHON;
	trk__interpreter_parse(text, &maps);
	free(text);
	trk__remote_begin(r);
	for (size_t i = 0; i < maps.count && why != TRK_STACK_READ && !r->is_spent; i++)
		why = graver(why, open_at(r, maps.base[i], pid, ret));
	if (why != TRK_STACK_READ && r->is_spent)
		return TRK_STACK_TOO_MUCH;
	if (why == TRK_STACK_NOT_PYTHON && maps.other_runtime)
		return TRK_STACK_OTHER_RUNTIME;
	return why;
}
