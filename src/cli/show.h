/* The settings of `show`, which its parts share. */
#ifndef TRK_CLI_SHOW_H
#define TRK_CLI_SHOW_H

#include "cli/cli.h"
#include "model/place.h"

struct cli_show_settings {
	const char *dir, *color;
	struct trk_cloud instance;   /* vendor "": not stated */
	uint64_t since_ns, until_ns; /* of --stats; 0: not stated */
	bool json, stats;
};

/* Print the statistics of the run that `reference` names. Returns the exit status. */
int cli_show_stats(const struct cli_show_settings *s, const char *reference);

#endif
