#include "cli/recommend_servers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "base/maths.h"
#include "catalog/suggest.h"
#include "cli/catalog_online.h"
#include "cli/cli.h"

static const double boot_s = 60; /* paid before the job starts */

/* A program that was built for one architecture runs on that one. */
static int take_arch(const struct cli_wanted_servers *w, const struct trk_place *place,
		     unsigned int *ret)
{
	const char *arch = w->arch ? w->arch : place->server.arch;
	struct utsname name;

	if (!*arch && uname(&name) == 0)
		arch = name.machine;
	*ret = 0;
	if (!strcasecmp(arch, "any"))
		return 0;
	if (!strcasecmp(arch, "aarch64") || !strcasecmp(arch, "arm64"))
		*ret = 1u << TRK_ARCH_ARM64;
	else if (!strcasecmp(arch, "x86_64") || !strcasecmp(arch, "amd64") || !w->arch)
		*ret = 1u << TRK_ARCH_X86_64;
	if (*ret)
		return 0;
	cli_complain("recommend: --arch %s: not one of: x86_64 arm64 any", arch);
	return EXIT_USAGE;
}

static int unknown(const struct cli_found_servers *f, const char *what, const char *typed, int kind)
{
	cli_catalog_complain_unknown(&f->catalog.c, "recommend", what, typed, kind, -1);
	return EXIT_USAGE;
}

/* Where the run ran, unless a vendor or a region was named: data, quotas and habits are there. */
static void stay(struct cli_found_servers *f, const struct trk_cloud *cloud)
{
	const struct trk_catalog *c = &f->catalog.c;
	int vendor = cloud->vendor[0] ? trk__catalog_find_vendor(c, cloud->vendor) : -1;
	int region = vendor < 0 ? -1 : trk__catalog_find_region(c, vendor, cloud->region);

	if (vendor < 0)
		return;
	f->vendors[vendor] = 1;
	f->query.vendors_ok = f->vendors;
	if (region < 0)
		return;
	f->regions[region] = 1;
	f->query.regions_ok = f->regions;
}

static int take_places(struct cli_found_servers *f, const struct cli_wanted_servers *w,
		       const struct trk_place *place)
{
	const struct trk_catalog *c = &f->catalog.c;
	int at;

	if (!w->vendor && !w->region) {
		stay(f, &place->cloud);
		return 0;
	}
	if (w->vendor && strcasecmp(w->vendor, "any") != 0) {
		at = trk__catalog_find_vendor(c, w->vendor);
		if (at < 0)
			return unknown(f, "vendor", w->vendor, TRK_KIND_VENDOR);
		f->vendors[at] = 1;
		f->query.vendors_ok = f->vendors;
	}
	if (w->region && strcasecmp(w->region, "any") != 0) {
		if (!trk__catalog_mark_region(c, f->query.vendors_ok, w->region, f->regions))
			return unknown(f, "region", w->region, TRK_KIND_REGION);
		f->query.regions_ok = f->regions;
	}
	return 0;
}

/* The speed of the server on which the run was measured, where the catalogue has it. */
static void take_speed(const struct cli_found_servers *f, const struct trk_place *place,
		       struct trk_server_work *work)
{
	const struct trk_catalog *c = &f->catalog.c;
	size_t n;
	int vendor = trk__catalog_find_vendor(c, place->cloud.vendor);
	int server =
		vendor < 0 ? -1 : trk__catalog_find_server(c, vendor, place->cloud.instance_type);

	if (server >= 0)
		trk__server_measured_on(work, &trk__catalog_servers(c, &n)[server]);
}

static size_t take_busy(struct cli_found_servers *f, const struct trk_advice *a,
			const struct trk_busy *busy)
{
	size_t n = 0;

	for (int i = 0; busy && i < TRK_BUSY_BINS; i++)
		if (busy->seconds[i] > 0)
			f->slices[n++] = (struct trk_busy_slice){
				busy->core_seconds[i] / busy->seconds[i], busy->seconds[i]};
	if (n == 0)
		f->slices[n++] = (struct trk_busy_slice){1, a->duration_s > 0 ? a->duration_s : 1};
	return n;
}

int cli_recommend_servers(const struct cli_wanted_servers *w, const struct trk_advice *a,
			  const struct trk_busy *busy, const struct trk_place *place,
			  struct cli_found_servers **ret)
{
	struct cli_found_servers *f = calloc(1, sizeof(*f));
	struct trk_server_work work = {.here_one = {NAN, NAN}, .boot_s = boot_s};
	int r;

	*ret = f;
	if (!f)
		return EXIT_ERROR;
	f->query = (struct trk_catalog_query){
		.vcpus = isnan(a->cores) ? 1 : (uint32_t) trk__ceil(a->cores),
		.memory_bytes = isnan(a->memory_mib) ? 0 : (uint64_t) (a->memory_mib * 1048576),
		.gpus = (uint32_t) a->gpus,
		.vram_bytes = (uint64_t) (a->vram_mib * 1048576),
		/* Not burstable: its price holds for a share of its cores only. */
		.allocations = 1u << TRK_ALLOCATION_DEDICATED | 1u << TRK_ALLOCATION_SHARED,
	};
	r = take_arch(w, place, &f->query.archs);
	r = r ? r : cli_catalog_load(&w->choice, &f->catalog);
	r = r ? r : take_places(f, w, place);
	if (r != 0)
		return r;
	if (w->online)
		cli_catalog_online(&f->catalog.c, &f->query, w->url, f->regions);
	work.slices = f->slices;
	work.n = take_busy(f, a, busy);
	take_speed(f, place, &work);
	f->result = (struct cli_servers_result){
		.c = &f->catalog.c, .query = &f->query, .limit = w->limit, .costs = true};
	if (trk__server_advise(&f->catalog.c, &f->query, &work, &f->result.advice) < 0) {
		(void) cli_servers_nothing(&f->catalog.c, &f->query, NULL, f->nothing,
					   sizeof(f->nothing));
		return 0;
	}
	f->result.list = f->result.advice.list;
	f->result.n = f->result.advice.n < w->limit ? f->result.advice.n : w->limit;
	return 0;
}

void cli_found_servers_free(struct cli_found_servers *f)
{
	if (!f)
		return;
	trk__server_advice_release(&f->result.advice);
	if (f->catalog.c.image)
		trk__catalog_release(&f->catalog.c);
	free(f);
}

void cli_found_servers_text(struct trk_buf *b, const struct cli_found_servers *f)
{
	trk__buf_putc(b, '\n');
	if (f->nothing[0]) {
		trk__buf_printf(b, "%s\n", f->nothing);
		return;
	}
	cli_servers_text(b, &f->result, false);
	cli_servers_notes(b, &f->result);
}

void cli_found_servers_json(struct trk_json *j, const struct cli_found_servers *f)
{
	cli_servers_members_json(j, &f->result);
	trk__json_key_text(j, "no_server_reason", f->nothing[0] ? f->nothing : NULL);
}
