/* The terminal: raw keys, the alternate screen, and its state restored however the program ends.
 *
 * Signals that end the program restore the terminal first, by async-signal-safe calls alone, and
 * end it then by the same signal. Against SIGKILL a small process of its own session waits for the
 * end of this one and restores what is left to restore. So this file is the one place of the
 * library that sets signal handlers, and only while a screen is open. */
#ifndef TRK_TOP_SCREEN_H
#define TRK_TOP_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Take over the terminal. One screen at a time in a process. 0 or a negative errno, with the
 * terminal as it was. */
int trk__screen_open(int in_fd, int out_fd);
/* Give it back. */
void trk__screen_close(void);

/* Columns and rows; false where the terminal does not tell. */
bool trk__screen_size(int *ret_columns, int *ret_rows);
/* Wait for a key or a change of size, at most timeout_ms. Returns true if keys can be read;
 * *ret_resized as the name says. */
bool trk__screen_wait(int timeout_ms, bool *ret_resized);
/* Stop as by Ctrl-Z, with the terminal given back meanwhile. */
void trk__screen_suspend(void);

#endif
