#include "model/end.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/libc.h"

static const struct {
	const char *name;
	const char *words; /* for a person; NULL: the name */
} ends[] = {
	[TRK_END_RUNNING] = {"running", "still running"},
	[TRK_END_EXITED] = {"exited", "ended (exit code not known)"},
	[TRK_END_SIGNALLED] = {"signalled", NULL},
	[TRK_END_OUT_OF_MEMORY] = {"out_of_memory", "out of memory"},
	[TRK_END_TIMEOUT] = {"timeout", NULL},
	[TRK_END_TRACKER_DIED] = {"tracker_died", "no end recorded"},
	[TRK_END_STOPPED] = {"stopped", NULL},
	[TRK_END_MEMORY_LIMIT] = {"memory_limit", "memory limit"},
	[TRK_END_VANISHED] = {"vanished", "ended unexpectedly"},
	[TRK_END_FAILED] = {"failed", NULL},
};

enum { ENDS = sizeof(ends) / sizeof(ends[0]) };

const char *trk__end_name(enum trk_end end)
{
	return (size_t) end < ENDS ? ends[end].name : "unknown";
}

int trk__end_find(const char *name)
{
	for (int i = 0; i < ENDS; i++)
		if (!strcmp(ends[i].name, name))
			return i;
	return -1;
}

const char *trk__end_words(enum trk_end end, int code, int signal, char text[TRK_END_WORDS_SIZE])
{
	const char *name = trk__signal_name(signal);
	const char *words = (size_t) end < ENDS ? ends[end].words : NULL;

	if (end == TRK_END_SIGNALLED)
		(void) snprintf(text, TRK_END_WORDS_SIZE, "signal %d (%s)", signal,
				name ? name : "unknown");
	else if (end == TRK_END_EXITED && code >= 0)
		(void) snprintf(text, TRK_END_WORDS_SIZE, "exit %d", code);
	else
		(void) snprintf(text, TRK_END_WORDS_SIZE, "%s", words ? words : trk__end_name(end));
	return text;
}
