/* The engine of `run`, `attach` and `system`: it tracks, judges alerts and writes the page while the
 * job runs, and makes the summary with what the earlier runs say. It prints nothing: the caller
 * prints what it gets in the callbacks and in struct trk_run_end. */
#ifndef TRK_SERVICE_RUN_ENGINE_H
#define TRK_SERVICE_RUN_ENGINE_H

#include "alert/hook.h"
#include "report/summary.h"
#include "service/page.h"
#include "track/track.h"

/* All borrowed. */
struct trk_run_engine {
	/* Without callbacks but on_word. A job without a name is named after the environment and
	 * the command. */
	struct trk_track_options track;
	const char *(*variable)(const char *name); /* of the job that is started, as getenv(3) */
	struct trk_service service;                /* dir "": no recording */
	/* While the job runs. */
	bool judges_alerts; /* even if no hook is set */
	double alert_speed; /* seconds that the rules count for one second, for tests */
	struct trk_alert_hooks hooks;
	struct trk_page_request page;
	const char *page_path, *page_via; /* as of trk__page_save */
	uint64_t page_every_ns;           /* 0: no page while the job runs */
	/* The summary. */
	bool wants_text, wants_json;

	/* The first argument of these is `data`. */
	void *data;
	trk_track_row_fn *on_row;
	void (*on_alert)(void *data, const char *rule, const char *text); /* it fires */
	trk_alert_word_fn *on_word; /* about the commands of alerts */
	trk_track_status_fn *on_status;
	/* The terminal at the end; the engine adds what it knows of the run. */
	struct trk_summary_style (*style)(void *data);
};

struct trk_run_end {
	struct trk_track_result track;
	struct trk_buf text, json; /* the summary; empty where it is not wanted */
	char unsent[256];          /* why the run is not sent to the database of the team; "" */
	bool is_unrecorded;
};

/* Track until the end. Returns as trk__track; then also sends an error to track.control_fd. A
 * database, which may be locked or far away, holds up the end by 0.3 s at most. The caller releases
 * *ret in each case. */
int trk__run(const struct trk_env *env, const struct trk_run_engine *engine,
	     struct trk_run_end *ret);
void trk__run_end_release(struct trk_run_end *end);

#endif
