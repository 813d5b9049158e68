/* Use by program, and the processes, in a recording.
 *
 * A row with changes is preceded by one record TRK_RECORD_PROGRAMS of the same moment:
 *
 *     elapsed ms                              of that row
 *     names    count, then index, kind, name  programs that were not named yet
 *     uses     count, then index * 4 + flags, CPU ms of that row, memory KiB,
 *              flag 1: processes alive, flag 2: processes that ended
 *     spans    count, then program, pid, start, flags, end, CPU ms, peak KiB; flag 4:
 *                                             bytes shared with the first command line of the
 *                                             program, and the rest of this one
 *     unlisted, unseen                        counts since the last record
 *
 * A program without an entry in `uses` has used no CPU time, and its memory is unchanged. Every
 * KEYFRAME records all programs are named and listed again, which limits the effect of damage. The
 * size is limited to TRK_PROGRAMS_TICK_BYTES a row on average: beyond it, first short processes are
 * counted but not listed, then programs with small changes are merged into the rest. Older readers
 * skip the record. */
#ifndef TRK_RECORDING_PROGRAM_RECORD_H
#define TRK_RECORDING_PROGRAM_RECORD_H

#include "base/buf.h"
#include "model/programs.h"

enum {
	TRK_PROGRAMS_TICK_BYTES = 60,    /* a row, with the frame of the record */
	TRK_PROGRAMS_START_BYTES = 4096, /* in addition, of a whole recording */
	TRK_PROGRAMS_LAST_BYTES = 32768, /* in addition, for long-lived processes */
};

/* What was written so far. Zero-initialised: nothing yet. */
struct trk_programs_written {
	struct {
		uint64_t cpu_ms, memory_kib, ended;
		uint32_t alive;
		bool named;
	} program[TRK_PROGRAMS_MAX];
	struct trk_first_commands first;
	uint64_t unlisted, unseen;
	uint64_t records, rows, bytes, spans;
	uint64_t left_out; /* short processes that were counted but not listed, to save space */
};

/* Append the record of a row, or nothing if nothing changed. */
void trk__format_programs(struct trk_buf *b, struct trk_programs_written *w,
			  const struct trk_programs_now *now, int64_t elapsed_ms, bool is_last);

/* Decode a record: sets log->cpu_ms and the other figures of the newest record, and adds to the
 * totals. 0, -EBADMSG (entries before the error count) or -ENOMEM. */
int trk__parse_programs(const void *data, size_t len, struct trk_program_log *log);

/* Several rows merged into one, each decoded by trk__parse_programs. */
struct trk_programs_merged {
	struct trk_program_log *log; /* borrowed: as of the newest record */
	uint64_t cpu_ms[TRK_PROGRAMS_MAX], ended[TRK_PROGRAMS_MAX];
	double memory_s[TRK_PROGRAMS_MAX], seconds; /* KiB * s */
	/* As written last. */
	uint64_t ended_before[TRK_PROGRAMS_MAX], memory_kib[TRK_PROGRAMS_MAX];
	size_t named;
	struct trk_first_commands first;
	uint64_t unlisted_done, unseen_done, records;
	bool any;
};

/* Add a row that covers `seconds`. Call after decoding its record; is_new: it has one. */
void trk__programs_merge(struct trk_programs_merged *m, double seconds, bool is_new);
/* Append the record of the merged rows, or nothing; then begin anew. */
void trk__programs_merge_end(struct trk_buf *b, struct trk_programs_merged *m);

#endif
