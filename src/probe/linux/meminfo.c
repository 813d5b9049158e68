#include "probe/linux/meminfo.h"

#include <errno.h>

#include "base/parse.h"

int trk__meminfo_parse(const char *text, struct trk_meminfo *ret)
{
	struct trk_meminfo m = {0};
	bool has_total = false;
	/* In the file's order, as the next line usually matches the next entry. */
	const struct {
		const char *key;
		uint64_t *value;
		bool *seen; /* may be NULL */
	} fields[] = {
		{"MemTotal:", &m.total, &has_total},
		{"MemFree:", &m.free, NULL},
		{"MemAvailable:", &m.available, &m.has_available},
		{"Buffers:", &m.buffers, NULL},
		{"Cached:", &m.cached, NULL},
		{"Active:", &m.active, NULL},
		{"Inactive:", &m.inactive, NULL},
		{"SwapTotal:", &m.swap_total, NULL},
		{"SwapFree:", &m.swap_free, NULL},
		{"Dirty:", &m.dirty, NULL},
		{"Shmem:", &m.shmem, NULL},
		{"SReclaimable:", &m.reclaimable, NULL},
	};
	const size_t count = sizeof(fields) / sizeof(fields[0]);
	size_t found = 0, last = 0;

	for (; *text && found < count; text = trk__skip_line(text)) {
		for (size_t k = 0; k < count; k++) {
			size_t i = last + k < count ? last + k : last + k - count;
			const char *at = trk__skip_prefix(text, fields[i].key);
			uint64_t kib;

			if (!at)
				continue;
			if (!trk__scan_u64(&at, &kib) || kib > UINT64_MAX >> 13)
				return -EBADMSG;
			*fields[i].value = kib << 10;
			if (fields[i].seen)
				*fields[i].seen = true;
			found++;
			last = i + 1;
			break;
		}
	}
	if (!has_total)
		return -EBADMSG;
	*ret = m;
	return 0;
}

uint64_t trk__meminfo_used(const struct trk_meminfo *m)
{
	/* The sum cannot overflow: the parser limits each value to 1/8 of the range. */
	uint64_t rest =
		m->has_available ? m->available : m->free + m->buffers + m->cached + m->reclaimable;

	return m->total > rest ? m->total - rest : 0;
}
