#include "catalog/needs.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "catalog/suggest.h"

int trk__needs_arch(const char *word)
{
	static const struct {
		const char *name;
		int archs;
	} known[] = {
		{"x86_64", 1 << TRK_ARCH_X86_64},
		{"amd64", 1 << TRK_ARCH_X86_64},
		{"arm64", 1 << TRK_ARCH_ARM64},
		{"aarch64", 1 << TRK_ARCH_ARM64},
		{"any", 0},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcasecmp(word, known[i].name))
			return known[i].archs;
	return -EINVAL;
}

static int take_arch(struct trk_needs *needs, const char *word, struct trk_error *reterr)
{
	struct utsname name;
	int archs;

	if (!word)
		word = uname(&name) == 0 ? name.machine : "x86_64";
	archs = trk__needs_arch(word);
	if (archs < 0)
		return trk__error_set(reterr, archs, "", "arch %.80s: not one of: x86_64 arm64 any",
				      word);
	needs->query.archs = (unsigned int) archs;
	return 0;
}

static int take_allocation(struct trk_needs *needs, const char *word, struct trk_error *reterr)
{
	if (!word)
		return 0;
	if (!strcasecmp(word, "any")) {
		needs->query.allocations = 0;
		return 0;
	}
	for (unsigned int i = 0; i < TRK_ALLOCATIONS; i++) {
		if (strcasecmp(word, trk__catalog_allocation_names[i]) != 0)
			continue;
		needs->query.allocations = 1u << i;
		return 0;
	}
	return trk__error_set(reterr, -EINVAL, "",
			      "allocation %.80s: not one of: dedicated shared burstable any", word);
}

/* The names of a list, one at a time. */
typedef int take_name(struct trk_needs *needs, const struct trk_catalog *c, const char *name,
		      struct trk_error *reterr);

static int each_name(struct trk_needs *needs, const struct trk_catalog *c, const char *list,
		     take_name *take, struct trk_error *reterr)
{
	char name[128];
	int r = 0;

	while (list && *list && r == 0) {
		size_t len = strcspn(list, ",");

		if (len >= sizeof(name))
			return trk__error_set(reterr, -E2BIG, "", "%.80s…: the name is too long",
					      list);
		memcpy(name, list, len);
		name[len] = '\0';
		if (len && strcasecmp(name, "any") != 0)
			r = take(needs, c, name, reterr);
		list += len + (list[len] == ',');
	}
	return r;
}

static int take_vendor(struct trk_needs *needs, const struct trk_catalog *c, const char *name,
		       struct trk_error *reterr)
{
	int at = trk__catalog_find_vendor(c, name);

	if (at < 0)
		return trk__catalog_unknown(c, TRK_KIND_VENDOR, -1, name, reterr);
	needs->vendors[at] = 1;
	needs->query.vendors_ok = needs->vendors;
	return 0;
}

/* The one vendor that was named, or -1. */
static int only_vendor(const struct trk_needs *needs)
{
	int only = -1;

	for (int i = 0; needs->query.vendors_ok && i < TRK_CATALOG_VENDORS_MAX; i++) {
		if (!needs->vendors[i])
			continue;
		if (only >= 0)
			return -1;
		only = i;
	}
	return only;
}

static int take_region(struct trk_needs *needs, const struct trk_catalog *c, const char *name,
		       struct trk_error *reterr)
{
	if (!trk__catalog_mark_region(c, needs->query.vendors_ok, name, needs->regions))
		return trk__catalog_unknown(c, TRK_KIND_REGION, only_vendor(needs), name, reterr);
	needs->query.regions_ok = needs->regions;
	return 0;
}

static int take_country(struct trk_needs *needs, const struct trk_catalog *c, const char *name,
			struct trk_error *reterr)
{
	if (!trk__catalog_mark_country(c, name, needs->regions))
		return trk__error_set(reterr, -ENOENT, "",
				      "country %s: no region there. Try: two letters such as DE, "
				      "or EU",
				      name);
	needs->query.regions_ok = needs->regions;
	return 0;
}

static int take_excluded(struct trk_needs *needs, const struct trk_catalog *c, const char *name,
			 struct trk_error *reterr)
{
	size_t n = needs->query.excludes, len = strlen(name) + 1, used = 0;

	if (n)
		used = (size_t) (needs->exclude[n - 1] - needs->words) +
		       strlen(needs->exclude[n - 1]) + 1;
	if (n == TRK_NEEDS_LIST_MAX || len > sizeof(needs->words) - used)
		return trk__error_set(reterr, -E2BIG, "", "exclude %s: too many", name);
	needs->exclude[n] = memcpy(needs->words + used, name, len);
	needs->query.exclude = needs->exclude;
	needs->query.excludes = n + 1;
	return 0;
}

int trk__needs_read(struct trk_needs *needs, const struct trk_catalog *c,
		    const struct trk_need_words *words, struct trk_error *reterr)
{
	int r = take_arch(needs, words->arch, reterr);

	r = r ? r : take_allocation(needs, words->allocation, reterr);
	r = r ? r : each_name(needs, c, words->vendors, take_vendor, reterr);
	r = r ? r : each_name(needs, c, words->regions, take_region, reterr);
	r = r ? r : each_name(needs, c, words->countries, take_country, reterr);
	return r ? r : each_name(needs, c, words->exclude, take_excluded, reterr);
}
