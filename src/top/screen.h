/* The terminal: raw keys, the alternate screen, and its state restored however the program ends.
 *
 * Handlers of signals that end the program restore the terminal with async-signal-safe calls only,
 * and then end the program with the same signal. For SIGKILL a small process in its own session
 * waits for the end of this one and restores the terminal. Only this file of the library sets
 * signal handlers, and only while a screen is open. */
#ifndef TRK_TOP_SCREEN_H
#define TRK_TOP_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Take over the terminal; at most one screen per process. 0, or a negative errno with the terminal
 * unchanged. */
int trk__screen_open(int in_fd, int out_fd);
/* Restore the terminal. */
void trk__screen_close(void);

/* Columns and rows; false if unknown. */
bool trk__screen_size(int *ret_columns, int *ret_rows);
/* Wait for a key or a change of size, at most timeout_ms. Returns true if keys can be read. */
bool trk__screen_wait(int timeout_ms, bool *ret_resized);
/* Read the keys, as the bytes that a terminal sends. Their number; 0: the terminal hung up; -1 with
 * errno. */
ssize_t trk__screen_read(char *keys, size_t size);
/* Stop as by Ctrl-Z; the terminal is restored meanwhile. */
void trk__screen_suspend(void);

#endif
