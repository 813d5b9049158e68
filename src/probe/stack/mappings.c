#include "probe/stack/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"

enum { MAPS_MAX_BYTES = 4 * 1024 * 1024 };

bool trk__maps_line_parse(const char *text, struct trk_maps_line *ret)
{
	const char *at = text, *stop = strchrnul(text, '\n');

	if (!trk__scan_hex(&at, &ret->start) || *at++ != '-' || !trk__scan_hex(&at, &ret->end) ||
	    stop - at < 6 || *at != ' ')
		return false;
	ret->is_code = at[3] == 'x';
	at += 6; /* the permissions */
	if (!trk__scan_hex(&at, &ret->offset))
		return false;
	for (int field = 0; field < 2; field++) { /* device and inode */
		at = trk__skip_blanks(at);
		at += strcspn(at, " \n");
	}
	ret->path = trk__skip_blanks(at);
	ret->len = ret->path < stop ? (size_t) (stop - ret->path) : 0;
	return true;
}

static bool starts(const struct trk_maps_line *l, const char *prefix)
{
	size_t n = strlen(prefix);

	return l->len >= n && !memcmp(l->path, prefix, n);
}

/* A JIT keeps its code in memory without a name, in a shared memory file, or under a name such as
 * "[anon:v8]". */
static bool is_generated(const struct trk_maps_line *l)
{
	return (l->len == 0 || l->path[0] != '/' || starts(l, "/memfd:") ||
		starts(l, "/dev/zero") || starts(l, "/dev/shm/")) &&
	       !starts(l, "[vdso]");
}

static char *path_of(const struct trk_maps_line *l)
{
	static const char deleted[] = " (deleted)";
	size_t len = is_generated(l) ? 0 : l->len, more = sizeof(deleted) - 1;

	if (len > more && !memcmp(l->path + len - more, deleted, more))
		len -= more;
	return strndup(l->path, len);
}

static int add(struct trk_mappings *m, const struct trk_maps_line *l, uint64_t base)
{
	struct trk_mapping *more = realloc(m->mapping, (m->count + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	m->mapping = more;
	more[m->count] = (struct trk_mapping){l->start, l->end, l->offset, base, path_of(l), 0};
	if (!more[m->count].path)
		return -ENOMEM;
	m->count++;
	m->bytes += sizeof(*more) + strlen(more[m->count - 1].path);
	return 0;
}

int trk__mappings_parse(const char *text, struct trk_mappings *ret)
{
	struct trk_mappings m = {.count = 0};
	struct trk_maps_line l, first = {.len = 0};
	int r = 0;

	for (const char *at = text; *at && r == 0 && m.count < TRK_MAPPINGS;
	     at = trk__skip_line(at)) {
		bool is_same;

		if (!trk__maps_line_parse(at, &l))
			continue;
		if (l.offset == 0)
			first = l; /* start of the file whose parts follow */
		is_same = l.len > 0 && l.len == first.len && !memcmp(l.path, first.path, l.len);
		if (l.is_code && !starts(&l, "[vsyscall]"))
			r = add(&m, &l, is_same ? first.start : 0);
	}
	if (r < 0)
		trk__mappings_release(&m);
	else
		*ret = m;
	return r;
}

int trk__mappings_read(const struct trk_env *env, pid_t pid, struct trk_mappings *ret)
{
	char *text = NULL;
	ssize_t len = trk__read_all_at(env->proc_fd, TRK_PATH("%d/maps", (int) pid), MAPS_MAX_BYTES,
				       &text);
	int r;

	if (len < 0)
		return (int) len;
	r = trk__mappings_parse(text, ret);
	free(text);
	return r;
}

void trk__mappings_release(struct trk_mappings *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->mapping[i].path);
	free(m->mapping);
	memset(m, 0, sizeof(*m));
}

struct trk_mapping *trk__mappings_find(const struct trk_mappings *m, uint64_t address)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->mapping[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->count && m->mapping[low].start <= address ? &m->mapping[low] : NULL;
}
