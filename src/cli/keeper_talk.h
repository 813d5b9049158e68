/* Questions to the Keeper API, and its answers as they come. */
#ifndef TRK_CLI_KEEPER_TALK_H
#define TRK_CLI_KEEPER_TALK_H

#include "catalog/keeper.h"

enum { CLI_KEEPER_ANSWERS_MAX = 20 /* of /servers: so many a minute are free */ };

/* The answers, with the text that they become. */
struct cli_keeper_talk {
	const char *url;
	unsigned int timeout_s;
	bool patient; /* busy is asked again after a minute */
	struct trk_keeper_answer answer[CLI_KEEPER_ANSWERS_MAX];
	size_t n;
	struct trk_json_doc table; /* of regions; asked for once, where it is needed */
	struct trk_buf text;
	struct trk_keeper_tally tally;
	char date[32];
	struct trk_error error;
};

/* `url` NULL: the Keeper's own. */
void cli_keeper_talk_init(struct cli_keeper_talk *t, const char *url, unsigned int timeout_s);
void cli_keeper_talk_release(struct cli_keeper_talk *t);

/* GET a path of the API, as JSON. 0 or a negative error, with t->error. */
int cli_keeper_get(struct cli_keeper_talk *t, struct trk_json_doc *ret, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The Keeper's name of a region, which is a number for some vendors. */
int cli_keeper_region(struct cli_keeper_talk *t, const char *vendor, const char *region, char *name,
		      size_t size);

#endif
