/* How a helper is started, in each system's own way. */
#ifndef TRK_API_HELPER_SYSTEM_H
#define TRK_API_HELPER_SYSTEM_H

#include "api/helper.h"

/* The file of the program. */
extern const char trk__helper_program[];

/* Does the program go into the background by itself ("--detach")? Else it is started there. */
extern const bool trk__helper_forks;

/* The number under which a started program has the descriptor. */
unsigned long trk__helper_number(int fd);

/* Start a program, which inherits fd (borrowed). Detached: in the background, where it inherits
 * nothing else, is no child of this process, and gets no signal of the terminal. Else with all that
 * this process has, as the child *ret_pid. Returns 0 or a negative errno. */
int trk__helper_spawn(const char *program, char *const words[], int fd, bool detached,
		      pid_t *ret_pid);

/* Start the thread h->thread, which samples and exchanges lines over a copy of fd. 0, or a negative
 * errno: -TRK_ERR_UNSUPPORTED where a thread cannot sample. */
int trk__helper_thread(struct trk_helper *h, const struct trk_helper_options *o, int fd);

#endif
