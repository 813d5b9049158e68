/* The servers at the end of `recommend`: those on which such a run is cheapest. */
#ifndef TRK_CLI_RECOMMEND_SERVERS_H
#define TRK_CLI_RECOMMEND_SERVERS_H

#include "cli/catalog_files.h"
#include "cli/servers_output.h"
#include "report/run_needs.h"

struct cli_wanted_servers {
	/* As typed, lists with commas; NULL: where and on what the run ran, else any. */
	const char *vendor, *region, *arch;
	bool online;
	const char *url; /* of the Keeper; NULL: its own */
	size_t limit;
	struct cli_catalog_choice choice;
};

struct cli_found_servers {
	struct cli_catalog catalog;
	struct trk_needs needs;
	struct trk_run_work work;
	struct trk_offers result; /* n is 0 where nothing fits */
};

/* 0, or an exit status after having complained. _free in both cases; *ret may be NULL. */
int cli_recommend_servers(const struct cli_wanted_servers *w, const struct trk_advice *a,
			  const struct trk_busy *busy, const struct trk_record *record,
			  struct cli_found_servers **ret);
void cli_found_servers_free(struct cli_found_servers *f);

void cli_found_servers_text(struct trk_buf *b, const struct cli_found_servers *f);
/* The keys of `servers --json`, and "no_server_reason". */
void cli_found_servers_json(struct trk_json *j, const struct cli_found_servers *f);

#endif
