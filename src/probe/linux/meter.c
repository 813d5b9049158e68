#include "probe/linux/meter.h"

#include <stdlib.h>
#include <string.h>

void trk__meter_init(struct trk_meter *m, size_t max)
{
	*m = (struct trk_meter){.max = max};
}

void trk__meter_release(struct trk_meter *m)
{
	free(m->member);
	*m = (struct trk_meter){.max = m->max};
}

void trk__meter_begin(struct trk_meter *m)
{
	for (size_t i = 0; i < m->count; i++)
		m->member[i].seen = false;
	m->at = 0;
}

static bool is_named(const struct trk_meter_member *member, const char *name, size_t len)
{
	return !strncmp(member->name, name, len) && member->name[len] == '\0';
}

static bool grow(struct trk_meter *m)
{
	struct trk_meter_member *bigger;
	size_t cap = m->cap ? m->cap * 2 : 16;

	if (cap > m->max)
		cap = m->max;
	if (cap <= m->cap)
		return false;
	bigger = realloc(m->member, cap * sizeof(*bigger));
	if (!bigger)
		return false;
	m->member = bigger;
	m->cap = cap;
	return true;
}

struct trk_meter_member *trk__meter_find(struct trk_meter *m, const char *name, size_t len,
					 bool *ret_new)
{
	*ret_new = false;
	if (len >= TRK_METER_NAME)
		return NULL;
	for (size_t i = 0; i < m->count; i++) {
		size_t at = (m->at + i) % m->count;

		if (is_named(&m->member[at], name, len)) {
			m->at = at + 1;
			return &m->member[at];
		}
	}
	if (m->count == m->cap && !grow(m))
		return NULL;
	m->member[m->count] = (struct trk_meter_member){.counted = false};
	memcpy(m->member[m->count].name, name, len);
	*ret_new = true;
	return &m->member[m->count++];
}

void trk__meter_take(struct trk_meter *m, struct trk_meter_member *member, bool is_new, uint64_t in,
		     uint64_t out)
{
	if (member->counted && !is_new) {
		m->in += in > member->in ? in - member->in : 0;
		m->out += out > member->out ? out - member->out : 0;
	}
	member->in = in;
	member->out = out;
	member->seen = true;
}

bool trk__meter_end(struct trk_meter *m)
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
