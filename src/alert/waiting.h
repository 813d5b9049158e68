/* What a stalled job waits for: of the live processes that do not wait for a child, the one with
 * the most CPU time, and the kernel function in which it sleeps.
 *
 * Source: /proc/PID/stat and /proc/PID/wchan (CONFIG_KALLSYMS; "0" where it may not be read). */
#ifndef TRK_ALERT_WAITING_H
#define TRK_ALERT_WAITING_H

#include "alert/live.h"

/* "a timer", "a pipe", "function do_something of the kernel"; "" where neither is known. state: the
 * letter of PID/stat; wchan: the text of the file. */
void trk__alert_wait_name(char state, const char *wchan, char *text, size_t size);
/* The alert; if it is a firing `stalled`, with the process and what it waits for in the text. */
struct trk_alert trk__alert_with_wait(const struct trk_alert *alert,
				      const struct trk_record *record);

#endif
