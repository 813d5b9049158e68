/* The console of this program: UTF-8 and escape sequences are set while the program runs. They are
 * settings of the console window, which other programs share. */
#ifndef TRK_BASE_WINDOWS_CONSOLE_H
#define TRK_BASE_WINDOWS_CONSOLE_H

#include <stdbool.h>

/* Set them, where standard output or standard error is a console. Returns whether standard output
 * is one that understands escape sequences (Windows 10). */
bool trk__console_take(void);
/* Restore what was set before _take: when the program ends. */
void trk__console_give_back(void);

#endif
