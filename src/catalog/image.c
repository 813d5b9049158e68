#include "catalog/image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "catalog/catalog.h"

const char *const trk__catalog_arch_names[TRK_ARCHES] = {
	"x86_64", "arm64", "x86_64_mac", "arm64_mac", "i386",
};

const char *const trk__catalog_allocation_names[TRK_ALLOCATIONS] = {
	"dedicated",
	"shared",
	"burstable",
};

const char *const trk__catalog_quality_names[TRK_FACTS] = {
	"exact", "est", "corrected", "low", "rule", "family", "negotiated",
};

int trk__catalog_mistake(const struct trk_catalog_line *in, const char *at, const char *format, ...)
{
	char text[150];
	va_list args;

	va_start(args, format);
	(void) vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	(void) trk__error_set(in->reterr, -EBADMSG, in->file, "%s:%lu:%zu: %s",
			      trk__catalog_file_tail(in->file), in->line,
			      (size_t) (at - in->line_start) + 1, text);
	if (in->reterr)
		in->reterr->line = in->line;
	return -EBADMSG;
}

void trk__catalog_release(struct trk_catalog *c)
{
	free(c->owned);
	*c = (struct trk_catalog){.image = NULL};
}

#define ACCESSOR(type, table)                                                                      \
	const struct trk_catalog_##type *trk__catalog_##table(const struct trk_catalog *c,         \
							      size_t *retn)                        \
	{                                                                                          \
		if (retn)                                                                          \
			*retn = c->image->table.count;                                             \
		return (const void *) ((const char *) c->image + c->image->table.offset);          \
	}
ACCESSOR(vendor, vendors)
ACCESSOR(region, regions)
ACCESSOR(source, sources)
ACCESSOR(server, servers)
ACCESSOR(block, blocks)

struct trk_catalog_prices trk__catalog_prices(const struct trk_catalog *c, size_t *retn)
{
	const struct trk_catalog_table *t = &c->image->prices;
	const char *at = (const char *) c->image + t->offset;
	struct trk_catalog_prices p = {.price = (const void *) at};

	p.server = (const void *) (at + t->count * sizeof(*p.price));
	p.saving = (const uint8_t *) (p.server + t->count);
	p.klass = p.saving + t->count;
	if (retn)
		*retn = t->count;
	return p;
}

const char *trk__catalog_text(const struct trk_catalog *c, uint32_t offset)
{
	return (const char *) c->image + c->image->texts.offset + offset;
}

/* What may follow a region's name in the name of one of its zones. */
static bool is_zone_rest(const char *rest)
{
	if (*rest == '-' || (*rest >= '0' && *rest <= '9'))
		return true;
	return *rest >= 'a' && *rest <= 'z' && !rest[1];
}

/* True if `id` is in `list` or, with `zones`, is a zone of an entry. */
static bool is_listed(const char *list, const char *id, bool zones)
{
	while (*list) {
		size_t len = strcspn(list, " ");

		if (!strncasecmp(list, id, len) && (!id[len] || (zones && is_zone_rest(id + len))))
			return len > 0;
		list += len + (list[len] == ' ');
	}
	return false;
}

const char *trk__catalog_vendor_id(const struct trk_catalog *c, size_t vendor)
{
	return trk__catalog_text(c, trk__catalog_vendors(c, NULL)[vendor].id);
}

const char *trk__catalog_region_id(const struct trk_catalog *c, size_t region)
{
	return trk__catalog_text(c, trk__catalog_regions(c, NULL)[region].id);
}

const char *trk__catalog_server_name(const struct trk_catalog *c, size_t server)
{
	return trk__catalog_text(c, trk__catalog_servers(c, NULL)[server].name);
}

const char *trk__catalog_date(uint32_t date, char text[16])
{
	text[0] = '\0';
	if (date)
		(void) snprintf(text, 16, "%04u-%02u-%02u", date / 10000 % 10000, date / 100 % 100,
				date % 100);
	return text;
}

/* Days since a fixed day. */
static long days_of(uint32_t date)
{
	long y = (long) (date / 10000), m = (long) (date / 100 % 100), d = (long) (date % 100);

	/* A year that begins in March has its leap day last. */
	y -= m <= 2;
	m = (m + 9) % 12;
	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d;
}

long trk__catalog_age_days(uint32_t date, uint32_t today)
{
	return date && today ? days_of(today) - days_of(date) : -1;
}

const char *trk__catalog_age(long days, char text[16])
{
	text[0] = '\0';
	if (days >= 365)
		(void) snprintf(text, 16, "%.1f years", (double) days / 365.25);
	else if (days >= 61)
		(void) snprintf(text, 16, "%.0f months", (double) days / 30.44);
	else if (days >= 0)
		(void) snprintf(text, 16, "%ld day%s", days, days == 1 ? "" : "s");
	return text;
}

uint32_t trk__catalog_today(void)
{
	char text[32];
	unsigned int y = 0, m = 0, d = 0;

	trk__clock_iso8601(trk__clock_wall_ns(), text);
	return sscanf(text, "%u-%u-%u", &y, &m, &d) == 3 ? y * 10000 + m * 100 + d : 0;
}

int trk__catalog_find_vendor(const struct trk_catalog *c, const char *id)
{
	size_t n;
	const struct trk_catalog_vendor *v = trk__catalog_vendors(c, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(trk__catalog_text(c, v[i].id), id) ||
		    is_listed(trk__catalog_text(c, v[i].aliases), id, false))
			return (int) i;
	return -ENOENT;
}

/* Whether the text after the name of a region makes it a zone: a letter after the number (AWS),
 * "-a" (GCP), a local zone ("-bos-1a"). "eu-west-9" is not a zone of the region "eu". */
static bool is_zone_of(const char *name, const char *rest)
{
	if (*rest == '-')
		return strchr(name, '-') || (rest[1] && !rest[2]);
	return !(*rest >= '0' && *rest <= '9') && is_zone_rest(rest);
}

int trk__catalog_find_region(const struct trk_catalog *c, int vendor, const char *id)
{
	size_t n;
	const struct trk_catalog_region *r = trk__catalog_regions(c, &n);
	int zone = -ENOENT;

	for (size_t i = 0; i < n; i++) {
		const char *name = trk__catalog_text(c, r[i].id);
		size_t len = strlen(name);

		if (r[i].vendor != vendor)
			continue;
		if (!strcasecmp(name, id))
			return (int) i;
		if (is_listed(trk__catalog_text(c, r[i].aliases), id, true) ||
		    (!strncasecmp(name, id, len) && is_zone_of(name, id + len)))
			zone = (int) i;
	}
	return zone;
}

int trk__catalog_find_server(const struct trk_catalog *c, int vendor, const char *name)
{
	size_t n;
	const struct trk_catalog_server *s = trk__catalog_servers(c, &n);

	for (size_t i = 0; i < n; i++)
		if ((vendor < 0 || s[i].vendor == vendor) &&
		    !strcasecmp(trk__catalog_text(c, s[i].name), name))
			return (int) i;
	return -ENOENT;
}

uint64_t trk__catalog_usable_bytes(const struct trk_catalog_server *s)
{
	uint64_t mib = s->usable_mib;

	if (!mib) {
		mib = (uint64_t) s->memory_mib * 93 / 100;
		mib = mib > 128 ? mib - 128 : 0;
	}
	return mib << 20;
}

/* Median of CoreMark / stress-ng over the types that have both, in the shipped tables; older Intel
 * processors lie above it, because dividing integers is slow on them. */
static const double coremark_per_stressng = 17;

/* Relative speed of a thread when its sibling on the core is busy too. */
static const double smt_share = 0.62;

static bool speed_by_stressng(const struct trk_catalog_server *s, struct trk_catalog_speed *ret)
{
	if (!s->one_thread || !s->all_threads)
		return false;
	ret->one = s->one_thread * coremark_per_stressng;
	ret->all = s->all_threads * coremark_per_stressng;
	ret->basis =
		s->stressng_quality == TRK_FACT_FAMILY ? "stress-ng of the family" : "stress-ng";
	return true;
}

static bool speed_by_coremark(const struct trk_catalog_server *s, struct trk_catalog_speed *ret)
{
	if (!s->coremark || !s->vcpus)
		return false;
	ret->all = s->coremark;
	ret->one = (double) s->coremark / s->vcpus;
	if (s->threads_per_core > 1)
		ret->one /= smt_share;
	ret->basis = s->coremark_quality == TRK_FACT_FAMILY ? "CoreMark of the family" : "CoreMark";
	return true;
}

bool trk__catalog_speed_by(const struct trk_catalog_server *s, enum trk_speed_basis basis,
			   struct trk_catalog_speed *ret)
{
	return basis == TRK_SPEED_STRESSNG ? speed_by_stressng(s, ret) : speed_by_coremark(s, ret);
}

bool trk__catalog_speed_of(const struct trk_catalog_server *s, struct trk_catalog_speed *ret)
{
	return speed_by_stressng(s, ret) || speed_by_coremark(s, ret);
}
