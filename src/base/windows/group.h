/* A process group of the console for this program and its job, so that a console event can be sent to
 * them alone.
 *
 * Only the first process of a group can be named, and it starts with Ctrl-C ignored, which its
 * children inherit. It alone can change that. So this program is started once more as the first
 * process of a group, in which Ctrl-C works as before and which the job inherits. The program that
 * was started first waits for it and exits as it does. */
#ifndef TRK_BASE_WINDOWS_GROUP_H
#define TRK_BASE_WINDOWS_GROUP_H

#include <stdbool.h>

/* At the start of the program: is it the one that was started in a group of its own? */
bool trk__group_begin(void);

/* Go on in a group of its own, with the same command line: does not return then. Returns in the
 * program that is in one, without a console, and where it cannot be started. */
void trk__group_enter(void);

/* Ctrl-C or Ctrl-Break has arrived, in another thread. */
void trk__group_note_event(void);

/* Send Ctrl-Break to the job (Ctrl-C, where the console refuses the other). False: this program has
 * no group of its own, or no console. */
bool trk__group_ask_to_end(void);
/* Has it been sent? */
bool trk__group_has_asked(void);

#endif
