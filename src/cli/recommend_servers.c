#include "cli/recommend_servers.h"

#include <stdlib.h>

#include "cli/catalog_online.h"
#include "cli/cli.h"

static const double boot_s = 60; /* paid before the job starts */

static int load(struct cli_found_servers *f, const struct cli_wanted_servers *w,
		const struct trk_advice *a, const struct trk_place *place)
{
	const struct trk_need_words words = {
		.arch = w->arch, .vendors = w->vendor, .regions = w->region};
	struct trk_error error = {.code = 0};
	int r = cli_catalog_load(&w->choice, &f->catalog);

	if (r != 0)
		return r;
	if (trk__run_needs_read(&f->needs, &f->catalog.c, &words, a, place, &error) < 0) {
		cli_complain("recommend: %s", error.message);
		return EXIT_USAGE;
	}
	if (w->online)
		cli_catalog_online(&f->catalog.c, &f->needs.query, w->url, f->needs.regions);
	return 0;
}

int cli_recommend_servers(const struct cli_wanted_servers *w, const struct trk_advice *a,
			  const struct trk_busy *busy, const struct trk_record *record,
			  struct cli_found_servers **ret)
{
	struct cli_found_servers *f = calloc(1, sizeof(*f));
	int r;

	*ret = f;
	if (!f)
		return EXIT_ERROR;
	r = load(f, w, a, &record->place);
	if (r != 0)
		return r;
	trk__run_work_read(&f->work, &f->catalog.c, busy, record);
	f->work.work.boot_s = boot_s;
	if (trk__offers_find(&f->catalog.c, &f->needs.query, TRK_ORDER_RUN_COST, &f->work.work,
			     &f->result) < 0)
		return EXIT_ERROR;
	f->result.limit = w->limit;
	f->result.today = cli_servers_today();
	/* More than these are not worth a line that says so. */
	if (f->result.n > w->limit)
		f->result.n = w->limit;
	return 0;
}

void cli_found_servers_free(struct cli_found_servers *f)
{
	if (!f)
		return;
	trk__offers_release(&f->result);
	if (f->catalog.c.image)
		trk__catalog_release(&f->catalog.c);
	free(f);
}

void cli_found_servers_text(struct trk_buf *b, const struct cli_found_servers *f)
{
	trk__buf_putc(b, '\n');
	if (f->result.nothing[0]) {
		trk__buf_printf(b, "%s\n", f->result.nothing);
		return;
	}
	cli_servers_text(b, &f->result, false);
	cli_servers_notes(b, &f->result);
}

void cli_found_servers_json(struct trk_json *j, const struct cli_found_servers *f)
{
	trk__offers_members_json(j, &f->result);
	trk__json_key_text(j, "no_server_reason", f->result.nothing[0] ? f->result.nothing : NULL);
}
