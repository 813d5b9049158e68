/* How a run ended: the keys of the file and of JSON, and the words for a person. track/outcome.c decides
 * it. The fleet counts kinds of ends with words of its own (fleet/rows.c). */
#ifndef TRK_MODEL_END_H
#define TRK_MODEL_END_H

enum trk_end {
	TRK_END_RUNNING,
	TRK_END_EXITED,
	TRK_END_SIGNALLED,
	TRK_END_OUT_OF_MEMORY,
	TRK_END_TIMEOUT,
	TRK_END_TRACKER_DIED,
	TRK_END_STOPPED,      /* attach and system: tracking was ended, not the job */
	TRK_END_MEMORY_LIMIT, /* ended by the tracker: above the limit that it enforces */
	/* attach: the job ended without a stop message; run: another process reaped the job */
	TRK_END_VANISHED,
	TRK_END_FAILED, /* reported by the job's own program, without an exit code */
};

const char *trk__end_name(enum trk_end end);
/* -1: none has that name. */
int trk__end_find(const char *name);

enum { TRK_END_WORDS_SIZE = 40 };
/* How a run ended, for a person: "exit 3", "signal 9 (KILL)", "out of memory" …; the code is
 * negative where it is unknown. Returns `text`. */
const char *trk__end_words(enum trk_end end, int code, int signal, char text[TRK_END_WORDS_SIZE]);

#endif
