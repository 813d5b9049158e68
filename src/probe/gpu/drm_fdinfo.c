#include "probe/gpu/drm_fdinfo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

/* Memory has three keys, in order of preference, the best last: requested memory, the key of the
 * first kernels, resident memory. */
enum rank { TOTAL = 1, MEMORY, RESIDENT, RANKS };

struct parsing {
	struct trk_drm_client client;
	bool has_id, has_driver;
	bool has_rank[RANKS], has_gtt_rank[RANKS];
	uint64_t rank_bytes[RANKS], gtt_rank_bytes[RANKS];
};

static struct trk_drm_engine *engine_of(struct trk_drm_client *c, const char *name, size_t len)
{
	struct trk_drm_engine *e;

	if (len == 0 || len >= sizeof(e->name))
		return NULL;
	for (size_t i = 0; i < c->engines; i++)
		if (!strncmp(c->engine[i].name, name, len) && !c->engine[i].name[len])
			return &c->engine[i];
	if (c->engines == TRK_DRM_ENGINES_MAX)
		return NULL;
	e = &c->engine[c->engines++];
	*e = (struct trk_drm_engine){.capacity = 1};
	memcpy(e->name, name, len);
	return e;
}

static void copy_word(const char *value, char *to, size_t size)
{
	size_t n = 0;

	for (value = trk__skip_blanks(value); *value > ' ' && *value < 0x7f && n < size - 1;
	     value++)
		to[n++] = *value;
	to[n] = '\0';
}

/* "12 KiB", "3 MiB", "4096" */
static bool size_of(const char *at, uint64_t *ret)
{
	uint64_t value, unit = 1;

	if (!trk__scan_u64(&at, &value))
		return false;
	at = trk__skip_blanks(at);
	if (!strncmp(at, "KiB", 3))
		unit = 1024;
	else if (!strncmp(at, "MiB", 3))
		unit = 1048576;
	else if (*at && *at != '\n')
		return false;
	return !__builtin_mul_overflow(value, unit, ret);
}

/* vram, vram0, local0: on the device. system, gtt, stolen: main memory. */
static bool is_on_device(const char *region)
{
	return !strncmp(region, "vram", 4) || !strncmp(region, "local", 5);
}

static void take_memory(struct parsing *p, enum rank rank, const char *region, const char *value)
{
	uint64_t bytes;

	if (!size_of(value, &bytes))
		return;
	if (!strncmp(region, "gtt:", 4)) {
		p->has_gtt_rank[rank] = true;
		p->gtt_rank_bytes[rank] = bytes;
	}
	if (!is_on_device(region) || bytes > UINT64_MAX / 4 - p->rank_bytes[rank] / 4)
		return;
	p->has_rank[rank] = true;
	p->rank_bytes[rank] += bytes;
}

static void take_engine(struct parsing *p, const char *key, size_t len, const char *value)
{
	static const struct {
		const char *prefix;
		enum { CAPACITY, BUSY, TOTAL_CYCLES, CYCLES } what;
	} kinds[] = {
		{"engine-capacity-", CAPACITY},
		{"engine-", BUSY},
		{"total-cycles-", TOTAL_CYCLES},
		{"cycles-", CYCLES},
	};
	struct trk_drm_engine *e;
	uint64_t number;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t skip = strlen(kinds[i].prefix);

		if (len <= skip || strncmp(key, kinds[i].prefix, skip) != 0)
			continue;
		if (!trk__scan_u64(&value, &number))
			return;
		e = engine_of(&p->client, key + skip, len - skip);
		if (!e)
			return;
		if (kinds[i].what == CAPACITY)
			e->capacity = number ? number : 1;
		else if (kinds[i].what == BUSY)
			e->has_ns = true, e->busy_ns = number;
		else if (kinds[i].what == TOTAL_CYCLES)
			e->total_cycles = number;
		else
			e->has_cycles = true, e->cycles = number;
		return;
	}
}

/* Parse a line "KEY: VALUE"; `key` starts after "drm-". */
static void take_line(struct parsing *p, const char *key)
{
	size_t len = strcspn(key, ":\n");
	const char *value = key + len + 1;

	if (key[len] != ':')
		return;
	if (!strncmp(key, "driver:", 7)) {
		copy_word(value, p->client.driver, sizeof(p->client.driver));
		p->has_driver = true;
	} else if (!strncmp(key, "pdev:", 5)) {
		copy_word(value, p->client.bus, sizeof(p->client.bus));
	} else if (!strncmp(key, "client-id:", 10)) {
		p->has_id = trk__scan_u64(&value, &p->client.id);
	} else if (!strncmp(key, "memory-", 7)) {
		take_memory(p, MEMORY, key + 7, value);
	} else if (!strncmp(key, "resident-", 9)) {
		take_memory(p, RESIDENT, key + 9, value);
	} else if (!strncmp(key, "total-", 6) && strncmp(key, "total-cycles-", 13) != 0) {
		take_memory(p, TOTAL, key + 6, value);
	} else {
		take_engine(p, key, len, value);
	}
}

int trk__drm_fdinfo_parse(const char *text, struct trk_drm_client *ret)
{
	struct parsing p = {.has_id = false};

	for (; *text; text = trk__skip_line(text))
		if (!strncmp(text, "drm-", 4))
			take_line(&p, text + 4);
	if (!p.has_id || !p.has_driver)
		return -ENODATA;
	for (int rank = RANKS - 1; rank > 0 && !p.client.has_memory; rank--) {
		p.client.has_memory = p.has_rank[rank];
		p.client.memory_bytes = p.rank_bytes[rank];
	}
	for (int rank = RANKS - 1; rank > 0 && !p.client.has_gtt; rank--) {
		p.client.has_gtt = p.has_gtt_rank[rank];
		p.client.gtt_bytes = p.gtt_rank_bytes[rank];
	}
	*ret = p.client;
	return 0;
}

static const struct trk_drm_engine *same_engine(const struct trk_drm_client *c, const char *name)
{
	for (size_t i = 0; c && i < c->engines; i++)
		if (!strcmp(c->engine[i].name, name))
			return &c->engine[i];
	return NULL;
}

static double engine_share(const struct trk_drm_engine *now, const struct trk_drm_engine *before,
			   uint64_t over_ns)
{
	uint64_t busy_before = before ? before->busy_ns : 0;
	uint64_t cycles_before = before ? before->cycles : 0;
	uint64_t total_before = before ? before->total_cycles : 0;

	if (now->has_ns && over_ns > 0)
		return now->busy_ns < busy_before
			       ? 0
			       : (double) (now->busy_ns - busy_before) /
					 ((double) over_ns * (double) now->capacity);
	/* The clock of a suspended GPU does not advance. */
	if (now->has_cycles && before && now->total_cycles == total_before &&
	    now->cycles == cycles_before)
		return 0;
	/* The engine's clock also runs without a client, so its rate needs two readings. */
	if (now->has_cycles && before && now->total_cycles > total_before)
		return now->cycles < cycles_before
			       ? 0
			       : (double) (now->cycles - cycles_before) /
					 ((double) (now->total_cycles - total_before) *
					  (double) now->capacity);
	return NAN;
}

double trk__drm_kind_share(const struct trk_drm_client *now, const struct trk_drm_client *before,
			   const char *kind, uint64_t over_ns)
{
	/* amdgpu omits the lines of engines that were never used. */
	double most = strcmp(now->driver, "amdgpu") ? (double) NAN : 0;

	for (size_t i = 0; i < now->engines; i++) {
		double share;

		if (strncmp(now->engine[i].name, kind, strlen(kind)) != 0)
			continue;
		share = engine_share(&now->engine[i], same_engine(before, now->engine[i].name),
				     over_ns);
		if (!(most >= share) && !isnan(share))
			most = share;
	}
	return most > 1 ? 1 : most;
}
