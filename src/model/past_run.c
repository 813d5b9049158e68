#include "model/past_run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A signal by which a user or a batch system stops a job, whatever its memory. */
static bool is_stop_signal(int signal)
{
	return signal == SIGHUP || signal == SIGINT || signal == SIGTERM || signal == SIGXCPU;
}

enum trk_past_end trk__past_run_end(const struct trk_past_run *run)
{
	enum { SHELL_BASE = 128 }; /* a shell adds the signal of its child to this */
	const char *end = run->end_name;

	if (!strcmp(end, "out_of_memory") || !strcmp(end, "memory_limit"))
		return TRK_PAST_OUT_OF_MEMORY;
	if (!strcmp(end, "exited") && run->code <= 0)
		return TRK_PAST_SUCCEEDED;
	if (!strcmp(end, "stopped") || !strcmp(end, "timeout") || !strcmp(end, "running") ||
	    is_stop_signal(run->signal) ||
	    (!strcmp(end, "exited") && is_stop_signal(run->code - SHELL_BASE)))
		return TRK_PAST_STOPPED;
	return TRK_PAST_FAILED;
}

double trk__past_run_held(const struct trk_past_run *run)
{
	if (run->needed_bytes >= run->memory.bytes)
		return run->needed_bytes;
	return run->memory.bytes + (run->swap.bytes > 0 ? run->swap.bytes : 0);
}

void trk__past_run_hold(struct trk_past_run *run, const struct trk_past_peak *peak)
{
	run->memory = *peak;
	run->swap.bytes = run->huge_bytes = run->needed_bytes = NAN;
}

int trk__past_run_keep(struct trk_past_run *run, struct trk_texts *texts)
{
	const char **of[] = {&run->job,  &run->scope, &run->kind,    &run->command,
			     &run->tags, &run->file,  &run->end_name};
	size_t n = sizeof(of) / sizeof(of[0]);

	for (size_t i = 0; i < n + TRK_RESOURCES; i++) {
		const char **text = i < n ? of[i] : &run->capacity[i - n].source;
		long at = trk__texts_add(texts, *text, strlen(*text));

		if (at < 0)
			return -ENOMEM;
		*text = trk__texts_at(texts, (size_t) at);
	}
	return 0;
}

const char *trk__past_run_end_words(const struct trk_past_run *run, char text[TRK_END_WORDS_SIZE])
{
	int end = trk__end_find(run->end_name);

	if (end >= 0)
		return trk__end_words((enum trk_end) end, run->code, run->signal, text);
	(void) snprintf(text, TRK_END_WORDS_SIZE, "%s", run->end_name);
	for (char *c = text; *c; c++)
		if (*c == '_')
			*c = ' ';
	return text;
}
