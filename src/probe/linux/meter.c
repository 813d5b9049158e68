#include "probe/linux/meter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"

enum { TEXT_SIZE = 128 * 1024 }; /* about 1000 lines */

int trk__meter_init(struct trk_meter *m, const struct trk_meter_table *table,
		    const struct trk_env *env)
{
	*m = (struct trk_meter){.table = table, .sys_fd = env->sys_fd};
	m->text = malloc(TEXT_SIZE);
	m->fd = openat(env->proc_fd, table->path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	return m->text ? 0 : -ENOMEM;
}

void trk__meter_release(struct trk_meter *m)
{
	trk__close(m->fd);
	free(m->text);
	free(m->member);
	*m = (struct trk_meter){.fd = -1};
}

static bool is_named(const struct trk_meter_member *member, const char *name, size_t len)
{
	return !strncmp(member->name, name, len) && member->name[len] == '\0';
}

/* NULL when there is no room. */
static struct trk_meter_member *find_or_add(struct trk_meter *m, const struct trk_meter_line *line)
{
	struct trk_meter_member *new;

	if (line->name_len >= TRK_METER_NAME)
		return NULL;
	for (size_t i = 0; i < m->count; i++) {
		size_t at = (m->at + i) % m->count;

		if (is_named(&m->member[at], line->name, line->name_len)) {
			m->at = at + 1;
			return &m->member[at];
		}
	}
	if (m->count == TRK_METER_MEMBERS ||
	    trk__array_reserve(&m->member, &m->cap, m->count + 1, sizeof(*m->member)) < 0)
		return NULL;
	new = &m->member[m->count++];
	*new = (struct trk_meter_member){.is_new = true};
	memcpy(new->name, line->name, line->name_len);
	return new;
}

static void take(struct trk_meter *m, struct trk_meter_member *member,
		 const struct trk_meter_line *line)
{
	if (member->counted && !member->is_new) {
		m->in += line->in > member->in ? line->in - member->in : 0;
		m->out += line->out > member->out ? line->out - member->out : 0;
	}
	member->in_before = member->in;
	member->out_before = member->out;
	member->in = line->in;
	member->out = line->out;
	member->seen = true;
}

/* Remove members that were not seen. True when there were any. */
static bool drop_unseen(struct trk_meter *m)
{
	size_t kept = 0;
	bool any;

	for (size_t i = 0; i < m->count; i++)
		if (m->member[i].seen)
			m->member[kept++] = m->member[i];
	any = kept != m->count;
	m->count = kept;
	return any;
}

int trk__meter_update(struct trk_meter *m)
{
	struct trk_meter_line line;
	const char *at = m->text;
	bool changed = false;
	ssize_t len;
	int r;

	if (m->fd < 0 || !m->text)
		return -ENODATA;
	len = trk__read_lines_fd(m->fd, m->text, TEXT_SIZE);
	/* The rest of a longer text is ignored. A cut line fails to parse unless all used numbers
	 * are complete. */
	if (len < 0 && len != -EFBIG)
		return (int) len;
	for (size_t i = 0; i < m->count; i++)
		m->member[i].seen = m->member[i].is_new = false;
	m->at = 0;
	while ((r = m->table->parse(&at, &line)) != 0) {
		struct trk_meter_member *member = r > 0 ? find_or_add(m, &line) : NULL;

		if (!member)
			continue;
		take(m, member, &line);
		changed |= member->is_new;
	}
	changed |= drop_unseen(m);
	if (changed)
		m->table->classify(m->member, m->count, m->sys_fd);
	return 0;
}
