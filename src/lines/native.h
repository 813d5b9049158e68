/* Names and lines of native code, which a recording has as places in files (sample/native.h).
 *
 * Looked up when lines are shown: functions in the symbols of the file (lines/elf_file.h), lines in
 * its line table (lines/dwarf.h). A file that is not the one that ran, by its build id or, without
 * one, by the time it was written to, is not used. Where nothing is found the function is named
 * "[libx.so+0x1234]". */
#ifndef TRK_LINES_NATIVE_H
#define TRK_LINES_NATIVE_H

#include "model/lines.h"

/* A copy with the names of its native code, which the caller frees; NULL where there is no such
 * code. 0 or -ENOMEM. */
int trk__lines_looked_up(const struct trk_lines *l, double start_s, struct trk_lines **ret);
/* Replace *l by one with the names of its native code; without such code it stays. start_s: of the
 * run, seconds since 1970. On -ENOMEM *l stays as it was. */
int trk__lines_look_up(struct trk_lines **l, double start_s);

/* Whether code of a file, or its source, belongs to the system, to a compiler's library or to an
 * installed package, not to the user. */
bool trk__native_is_of_system(const char *path);

#endif
