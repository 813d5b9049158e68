#include "catalog/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/edits.h"

/* Edits that turn a into b; a name that begins with what was typed is close. */
static size_t distance(const char *a, const char *b)
{
	size_t len = strlen(a);

	return len >= 2 && len < strlen(b) && !strncasecmp(a, b, len) ? 1 : trk__edits(a, b);
}

struct nearest {
	size_t far[TRK_SUGGESTIONS];
	const char **names;
	int n;
};

static void offer(struct nearest *best, const char *name, size_t far, size_t limit)
{
	int at = best->n;

	if (far > limit)
		return;
	for (int i = 0; i < best->n; i++)
		if (!strcmp(best->names[i], name))
			return;
	while (at > 0 && best->far[at - 1] > far)
		at--;
	if (at == TRK_SUGGESTIONS)
		return;
	if (best->n < TRK_SUGGESTIONS)
		best->n++;
	for (int i = best->n - 1; i > at; i--) {
		best->far[i] = best->far[i - 1];
		best->names[i] = best->names[i - 1];
	}
	best->far[at] = far;
	best->names[at] = name;
}

/* A region may be named by its town. */
static bool is_place(const char *place, const char *typed)
{
	return strlen(typed) >= 4 && strcasestr(place, typed);
}

int trk__catalog_suggest(const struct trk_catalog *c, enum trk_catalog_kind kind, int vendor,
			 const char *typed, const char *ret[TRK_SUGGESTIONS])
{
	struct nearest best = {.names = ret};
	size_t n, limit = 2 + strlen(typed) / 4;

	for (int i = 0; i < TRK_SUGGESTIONS; i++)
		ret[i] = NULL;
	n = kind == TRK_KIND_VENDOR   ? c->image->vendors.count
	    : kind == TRK_KIND_REGION ? c->image->regions.count
				      : c->image->servers.count;
	for (size_t i = 0; i < n; i++) {
		const struct trk_catalog_region *r = &trk__catalog_regions(c, NULL)[i];
		const struct trk_catalog_server *s = &trk__catalog_servers(c, NULL)[i];
		const char *name = kind == TRK_KIND_VENDOR   ? trk__catalog_vendor_id(c, i)
				   : kind == TRK_KIND_REGION ? trk__catalog_text(c, r->id)
							     : trk__catalog_text(c, s->name);
		bool is_town =
			kind == TRK_KIND_REGION && is_place(trk__catalog_text(c, r->place), typed);

		if (kind == TRK_KIND_VENDOR || vendor < 0 ||
		    vendor == (kind == TRK_KIND_REGION ? r->vendor : s->vendor))
			offer(&best, name, is_town ? 0 : distance(typed, name), limit);
	}
	return best.n;
}

/* As many as find room. */
static void list_regions(const struct trk_catalog *c, int vendor, char *names, size_t size)
{
	size_t regions, at = 0;
	const struct trk_catalog_region *g = trk__catalog_regions(c, &regions);

	for (size_t i = 0; i < regions && at + 40 < size; i++)
		if (g[i].vendor == vendor)
			at += (size_t) snprintf(names + at, size - at, "%s%s", at ? ", " : "",
						trk__catalog_text(c, g[i].id));
}

int trk__catalog_unknown(const struct trk_catalog *c, enum trk_catalog_kind kind, int vendor,
			 const char *typed, struct trk_error *reterr)
{
	static const char *const words[] = {"vendor", "region", "type"};
	const char *near[TRK_SUGGESTIONS];
	char names[200] = "";
	int n = trk__catalog_suggest(c, kind, vendor, typed, near);
	size_t at = 0, vendors;
	const struct trk_catalog_vendor *v = trk__catalog_vendors(c, &vendors);

	for (int i = 0; i < n && at < sizeof(names); i++)
		at += (size_t) snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
					near[i]);
	for (size_t i = 0; kind == TRK_KIND_VENDOR && !n && i < vendors && at < sizeof(names); i++)
		at += (size_t) snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
					trk__catalog_text(c, v[i].id));
	if (kind == TRK_KIND_REGION && vendor >= 0 && !n)
		list_regions(c, vendor, names, sizeof(names));
	return trk__error_set(reterr, -ENOENT, "", "unknown %s %.80s. Try: %s", words[kind], typed,
			      names[0] ? names : "resource-tracker catalog info");
}
