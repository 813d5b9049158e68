/* What `doctor` has found about one source of figures. src/cli/linux and src/cli/darwin look for those of
 * their system. */
#ifndef TRK_CLI_DOCTOR_FINDINGS_H
#define TRK_CLI_DOCTOR_FINDINGS_H

#include <stddef.h>

#include "base/env.h"

enum { CLI_FINDINGS_MAX = 20 };
enum cli_finding_state { CLI_GOOD, CLI_PART, CLI_MISSING };

struct cli_finding {
	const char *what; /* static */
	enum cli_finding_state state;
	char source[160];
	char hint[320]; /* how to allow it; empty when there is nothing to do */
};

/* The hint is left out where all is well. */
void cli_finding_set(struct cli_finding *f, const char *what, enum cli_finding_state state,
		     const char *source, const char *hint);

/* Fill in a list with room for CLI_FINDINGS_MAX - 1. Returns how many there are. */
size_t cli_find(struct cli_finding *list, const struct trk_env *env);

#endif
