#include "probe/linux/cgroup_files.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/parse.h"

/* A part of the text; borrowed. */
struct span {
	const char *at;
	size_t len;
};

static bool copy(char *ret, size_t size, struct span s)
{
	if (s.len >= size)
		return false;
	memcpy(ret, s.at, s.len);
	ret[s.len] = '\0';
	return true;
}

/* True if `word` is in the comma-separated list. */
static bool has_word(struct span list, const char *word)
{
	size_t len = strlen(word);
	const char *end = list.at + list.len;

	for (const char *at = list.at; at < end;) {
		const char *comma = memchr(at, ',', (size_t) (end - at));
		const char *stop = comma ? comma : end;

		if ((size_t) (stop - at) == len && !memcmp(at, word, len))
			return true;
		at = stop + 1;
	}
	return false;
}

int trk__cgroup_member_parse(const char *text, const char *controller,
			     struct trk_cgroup_member *ret)
{
	static const char deleted[] = " (deleted)";
	const size_t deleted_len = sizeof(deleted) - 1;

	for (; *text; text = trk__skip_line(text)) {
		const char *at = text, *end = text + strcspn(text, "\n");
		struct trk_cgroup_member m;
		struct span list, path;
		uint64_t id;

		if (!trk__scan_u64(&at, &id) || *at++ != ':')
			return -EBADMSG;
		list.at = at;
		list.len = strcspn(at, ":\n");
		if (list.at[list.len] != ':')
			return -EBADMSG;
		if (controller ? !has_word(list, controller) : id != 0 || list.len != 0)
			continue;
		path.at = at + list.len + 1;
		path.len = (size_t) (end - path.at);
		if (path.len > deleted_len && !memcmp(end - deleted_len, deleted, deleted_len))
			path.len -= deleted_len;
		if (path.len == 0 || *path.at != '/')
			return -EBADMSG;
		if (!copy(m.controllers, sizeof(m.controllers), list) ||
		    !copy(m.path, sizeof(m.path), path))
			return -ENAMETOOLONG;
		*ret = m;
		return 0;
	}
	return -ENOENT;
}

/* FNV-1a. */
uint64_t trk__text_hash(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char) *text) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

static bool is_mount_of(const struct trk_mount *m, const char *controller)
{
	struct span options = {m->super, m->super_len};

	if (m->root[0] != '/' || m->point[0] != '/')
		return false;
	return controller ? !strcmp(m->type, "cgroup") && has_word(options, controller)
			  : !strcmp(m->type, "cgroup2");
}

static bool climbs(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/..")); at += 3)
		if (at[3] == '/' || at[3] == '\0')
			return true;
	return false;
}

const char *trk__cgroup_path_below(const char *path, const char *root)
{
	size_t len = strlen(root);
	const char *rest;

	while (len > 0 && root[len - 1] == '/')
		len--;
	if (strncmp(path, root, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return NULL;
	rest = path + len;
	if (climbs(rest))
		return NULL;
	return rest[strspn(rest, "/")] ? rest : rest + strlen(rest);
}

/* How well a mount shows a group: higher is better. The usual place wins among equals. */
static size_t mount_rank(const struct trk_mount *m, const char *path)
{
	const char *below = trk__cgroup_path_below(path, m->root);
	bool usual = !strncmp(m->point, "/sys/fs/cgroup", 14);

	return (below ? 2 + 2 * strlen(below) : 0) + usual;
}

int trk__cgroup_mount_parse(const char *text, const char *controller, const char *path,
			    struct trk_mount *ret)
{
	bool found = false;
	size_t best = 0;
	struct trk_mount m;
	int r;

	while ((r = trk__mount_parse(&text, &m)) != 0) {
		size_t rank;

		if (r < 0 || !is_mount_of(&m, controller))
			continue;
		rank = mount_rank(&m, path);
		/* A later mount at the same point covers the earlier one, better or not. */
		if (found && rank < best && strcmp(m.point, ret->point) != 0)
			continue;
		*ret = m;
		best = rank;
		found = true;
	}
	return found ? 0 : -ENOENT;
}

/* True if only blanks and line ends follow. */
static bool at_end(const char *at)
{
	return at[strspn(at, " \t\n")] == '\0';
}

int trk__cgroup_number_parse(const char *text, uint64_t *ret)
{
	uint64_t value;

	if (!trk__scan_u64(&text, &value) || !at_end(text))
		return -EBADMSG;
	*ret = value;
	return 0;
}

int trk__cgroup_limit_parse(const char *text, uint64_t *ret)
{
	uint64_t value;
	int r;

	if (!strncmp(text, "max", 3) && at_end(text + 3)) {
		*ret = UINT64_MAX;
		return 0;
	}
	r = trk__cgroup_number_parse(text, &value);
	if (r < 0)
		return r;
	/* From 2^62 on it is v1's value for "no limit". */
	*ret = value >> 62 ? UINT64_MAX : value;
	return 0;
}

int trk__cgroup_cpu_max_parse(const char *text, double *ret)
{
	uint64_t quota, period;
	bool none = !strncmp(text, "max ", 4);

	if (none)
		text += 4;
	else if (!trk__scan_u64(&text, &quota))
		return -EBADMSG;
	if (!trk__scan_u64(&text, &period) || period == 0 || !at_end(text))
		return -EBADMSG;
	*ret = none ? (double) NAN : (double) quota / (double) period;
	return 0;
}

int trk__cgroup_cfs_parse(const char *quota, const char *period, double *ret)
{
	uint64_t period_us;
	int64_t quota_us;

	if (!trk__scan_i64(&quota, &quota_us) || !at_end(quota) ||
	    trk__cgroup_number_parse(period, &period_us) < 0 || period_us == 0)
		return -EBADMSG;
	*ret = quota_us < 0 ? (double) NAN : (double) quota_us / (double) period_us;
	return 0;
}

int trk__cgroup_cpu_list_parse(const char *text, unsigned int *ret)
{
	const uint64_t max = 1 << 20;
	unsigned int count = 0;

	if (at_end(text)) {
		*ret = 0;
		return 0;
	}
	for (;;) {
		uint64_t first, last;

		if (!trk__scan_u64(&text, &first))
			return -EBADMSG;
		last = first;
		if (*text == '-') {
			text++;
			if (!trk__scan_u64(&text, &last))
				return -EBADMSG;
		}
		if (last < first || last >= max || last - first >= max - count)
			return -EBADMSG;
		count += (unsigned int) (last - first) + 1;
		if (*text != ',')
			break;
		text++;
	}
	if (!at_end(text))
		return -EBADMSG;
	*ret = count;
	return 0;
}

int trk__cgroup_keyed_parse(const char *text, const char *key, uint64_t *ret)
{
	size_t len = strlen(key);

	for (; *text; text = trk__skip_line(text)) {
		const char *at = text + len;
		uint64_t value;

		if (strncmp(text, key, len) != 0 || *at != ' ')
			continue;
		if (!trk__scan_u64(&at, &value) || (*at != '\n' && *at != '\0'))
			return -EBADMSG;
		*ret = value;
		return 0;
	}
	return -ENOENT;
}
