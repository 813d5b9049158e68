/* How a helper is started. */
#ifndef TRK_API_HELPER_SYSTEM_H
#define TRK_API_HELPER_SYSTEM_H

#include "api/helper.h"

/* Start a program, which inherits fd (borrowed). Detached: in the background, where it inherits
 * nothing else, is no child of this process, and gets no signal of the terminal. Else with all that
 * this process has, as the child *ret_pid. Returns 0 or a negative errno. */
int trk__helper_spawn(const char *program, char *const words[], int fd, bool detached,
		      pid_t *ret_pid);

/* Start the thread h->thread, which samples and exchanges lines over a copy of fd. 0, or a negative
 * errno. */
int trk__helper_thread(struct trk_helper *h, const struct trk_helper_options *o, int fd);

#endif
