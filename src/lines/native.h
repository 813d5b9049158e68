/* Names and lines of native code, which a recording stores as offsets in files (sample/native.h).
 *
 * Looked up when lines are shown: functions in the symbols of the file (lines/elf_file.h), lines in
 * its line table (lines/dwarf.h). A file whose build id (or, without one, modification time) shows
 * that it is not the one that ran is not used. A function that is not found is named
 * "[libx.so+0x1234]". */
#ifndef TRK_LINES_NATIVE_H
#define TRK_LINES_NATIVE_H

#include "model/lines.h"

/* Copy *l with the names of its native code; *ret is freed by the caller, and NULL without native
 * code. 0 or -ENOMEM. */
int trk__lines_looked_up(const struct trk_lines *l, double start_s, struct trk_lines **ret);
/* Replace *l by a copy with the names of its native code, if it has any. start_s: of the run,
 * seconds since 1970. 0 or -ENOMEM, which leaves *l unchanged. */
int trk__lines_look_up(struct trk_lines **l, double start_s);

#endif
