/* The reasons of a request for memory, in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "advise/memory_private.h"

#define MIB 1048576.0
#define GIB 1073741824.0

enum { REPLAY_RUNS = 20, SIZE_TEXT = 24 };

const char *trk__basis_name(enum trk_basis basis)
{
	switch (basis) {
	case TRK_BASIS_MAX:
		return "largest peak so far";
	case TRK_BASIS_AVERAGE:
		return "moving average of the peaks";
	case TRK_BASIS_LINE:
		return "line through input size";
	case TRK_BASIS_ALIKE:
		return "largest peak of the three runs with the nearest input size";
	default:
		return "unknown";
	}
}

const char *trk__confidence_name(enum trk_confidence confidence)
{
	switch (confidence) {
	case TRK_CONFIDENCE_FIRST_ESTIMATE:
		return "first estimate";
	case TRK_CONFIDENCE_LOW:
		return "low";
	case TRK_CONFIDENCE_MEDIUM:
		return "medium";
	case TRK_CONFIDENCE_HIGH:
		return "high";
	default:
		return "unknown";
	}
}

/* "844 MiB", "3.5 GiB". */
static const char *size_text(double bytes, char text[SIZE_TEXT])
{
	if (bytes < 10 * MIB)
		(void) snprintf(text, SIZE_TEXT, "%.2g MiB", bytes / MIB);
	else if (bytes < GIB)
		(void) snprintf(text, SIZE_TEXT, "%.0f MiB", bytes / MIB);
	else
		(void) snprintf(text, SIZE_TEXT, "%.3g GiB", bytes / GIB);
	return text;
}

__attribute__((format(printf, 2, 3))) static void say(struct trk_memory_advice *a,
						      const char *format, ...)
{
	va_list args;

	if (a->reason_count == TRK_MEMORY_REASONS_MAX)
		return;
	va_start(args, format);
	(void) vsnprintf(a->reason[a->reason_count++], TRK_MEMORY_REASON_SIZE, format, args);
	va_end(args);
}

/* What a rule would have cost over the newest runs. */
struct replayed {
	double gib_hours;
	unsigned int runs, fails;
};

static void replay_run(struct replayed *r, double request, double need, double duration_s)
{
	double hours = (isnan(duration_s) ? 3600 : duration_s) / 3600;

	r->runs++;
	while (request < need) {
		r->fails++;
		r->gib_hours += request / GIB * hours;
		request *= 2;
	}
	r->gib_hours += request / GIB * hours;
}

/* The chosen predictor and factor against the largest so far times 1.2, over the same runs. */
static void say_replay(const struct trk_choice *c, const struct trk_memory_tuning *tuning,
		       struct trk_memory_advice *a)
{
	const struct trk_history *h = &c->history;
	struct replayed ours = {0}, plain = {0};
	size_t first = h->count > REPLAY_RUNS ? h->count - REPLAY_RUNS : 1;
	double max = 0;

	for (size_t i = 0; i < h->count; i++) {
		double past = c->ratios.past_bytes[i];

		if (i >= first && past > 0) {
			replay_run(&ours, trk__memory_round(tuning, past * c->factor),
				   h->need_bytes[i], h->duration_s[i]);
			replay_run(&plain, trk__memory_round(tuning, max * 1.2), h->need_bytes[i],
				   h->duration_s[i]);
		}
		if (h->need_bytes[i] > max)
			max = h->need_bytes[i];
	}
	if (ours.runs < 3)
		return;
	say(a,
	    "in the last %u runs this rule would have cost %.3g GiB*h and failed %u times; "
	    "largest so far x 1.2: %.3g GiB*h, %u times",
	    ours.runs, ours.gib_hours, ours.fails, plain.gib_hours, plain.fails);
}

static void say_basis(const struct trk_choice *c, const struct trk_memory_tuning *tuning,
		      struct trk_memory_advice *a)
{
	char size[SIZE_TEXT], least[SIZE_TEXT];

	say(a, "%s (%s) x %.3g, rounded up, from %zu run%s", trk__basis_name(c->basis),
	    size_text(c->ratios.forecast_bytes, size), c->factor, c->history.count,
	    c->history.count == 1 ? "" : "s");
	if (c->ratios.forecast_bytes * c->factor <= tuning->floor_bytes - tuning->step_bytes &&
	    a->request_bytes == tuning->floor_bytes)
		say(a, "%s is the least that is requested", size_text(tuning->floor_bytes, least));
	if (c->no_success)
		say(a, "no run has succeeded yet: what one needs to succeed is not known");
	if (c->forgotten > 0)
		say(a, "memory %s %zu runs ago: the %zu older ones are not used",
		    c->shift_up ? "rose" : "fell", c->history.count, c->forgotten);
}

static void say_failure(const struct trk_failure_floor *floor, struct trk_memory_advice *a)
{
	char need[SIZE_TEXT];

	if (!(floor->bytes > 0))
		return;
	size_text(floor->bytes, need);
	if (floor->run->end == TRK_PAST_OUT_OF_MEMORY)
		say(a, "a run was killed out of memory: its need is counted as %s at least", need);
	else
		say(a, "a run failed at a peak of %s: it may have needed more", need);
	if (a->retry)
		say(a, "the newest run ran out of memory: this is the request for its retry");
}

/* Why the request stays below an earlier peak. */
static void say_passed(const struct trk_choice *c, const struct trk_memory_options *options,
		       struct trk_memory_advice *a)
{
	char peak[SIZE_TEXT], request[SIZE_TEXT];
	const char *why;

	if (isnan(a->passed_peak_bytes))
		return;
	if (a->exceeds_machine)
		why = "the machine has no more";
	else if (c->basis == TRK_BASIS_LINE || c->basis == TRK_BASIS_ALIKE)
		why = "the input of the next run speaks for less";
	else if (c->forgotten > 0 && !c->shift_up)
		why = "it lies before memory fell";
	else
		why = "a retry now and then costs less than reserving it for every run";
	say(a, "%s is below an earlier peak of %s (chance of meeting it again %.2g %%): %s",
	    size_text(a->request_bytes, request), size_text(a->passed_peak_bytes, peak),
	    100 * a->passed_peak_chance, why);
	if (options->risk == TRK_RISK_SAFE && !a->exceeds_machine)
		say(a, "at risk safe only a larger input lets an earlier peak be passed");
}

void trk__memory_explain(const struct trk_choice *choice, const struct trk_memory_options *options,
			 const struct trk_failure_floor *floor, struct trk_memory_advice *ret)
{
	char size[SIZE_TEXT];

	ret->reason_count = 0;
	say_basis(choice, options->tuning, ret);
	say(ret,
	    "chance that the next run needs more: %.2g %%; that it exceeds every run so far: 1 in "
	    "%zu",
	    100 * ret->chance_exceed, choice->history.count + 1);
	say_failure(floor, ret);
	say_passed(choice, options, ret);
	say_replay(choice, options->tuning, ret);
	if (ret->exceeds_machine)
		say(ret, "the machine has %s only: the request was cut to that",
		    size_text(options->machine_bytes, size));
}
