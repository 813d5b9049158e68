/* Alerts about a running job, from its rows. Pure: no I/O, no clock.
 *
 * A rule's condition is judged with each row. It must hold for the rule's window before the alert
 * fires; the alert is resolved when the condition was false for twice the window, and for 5 minutes
 * at least. A rule that has fired fires again 30 minutes later at the earliest. A condition that
 * cannot be judged, because a limit or a figure is not known, never holds. */
#ifndef TRK_ALERT_LIVE_H
#define TRK_ALERT_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alert/live_rules.def"
#include "model/gpu.h"
#include "model/run.h"
#include "model/sample.h"

enum trk_alert_rule {
#define X(id, name, severity, window_s, text) TRK_ALERT_##id,
	TRK_ALERT_RULE_LIST(X)
#undef X
		TRK_ALERT_RULES
};

enum trk_alert_severity { TRK_ALERT_INFO, TRK_ALERT_WARNING, TRK_ALERT_CRITICAL };

struct trk_alert_rule_info {
	const char *name;
	enum trk_alert_severity severity;
	unsigned int window_s;
	const char *condition;
};
extern const struct trk_alert_rule_info trk__alert_rules[TRK_ALERT_RULES];
const char *trk__alert_severity_name(enum trk_alert_severity severity);
/* By name; -1: none. */
int trk__alert_rule_find(const char *name, size_t len);

enum { TRK_ALERT_TEXT_SIZE = 200 };

struct trk_alert {
	enum trk_alert_rule rule;
	bool firing;                    /* false: resolved */
	double value, limit;            /* in the rule's unit; NaN: none */
	char text[TRK_ALERT_TEXT_SIZE]; /* the situation, in one line */
	char fix[TRK_ALERT_TEXT_SIZE];  /* what to do; "": nothing is known */
};
typedef void trk_alert_fn(void *data, const struct trk_record *record,
			  const struct trk_alert *alert);

enum trk_alert_state { TRK_ALERT_QUIET, TRK_ALERT_PENDING, TRK_ALERT_FIRING };

struct trk_alert_rule_state {
	enum trk_alert_state state;
	double since_s; /* of a pending condition; of a condition that is false while it fires */
	double last_fired_s;    /* NaN: never */
	struct trk_alert alert; /* that is firing */
};

/* The slope of a figure over the last five minutes: the median of the slopes between all pairs of
 * points (Theil-Sen), on which a spike has no effect. */
enum { TRK_ALERT_POINTS = 30 };

struct trk_alert_trend {
	double at_s[TRK_ALERT_POINTS], value[TRK_ALERT_POINTS]; /* a ring */
	size_t count, next;
	double slope;
	bool is_old; /* the slope is outdated: a point was added */
};

enum { TRK_ALERT_EARLIER_MAX = 40, TRK_ALERT_EARLIER_MIN = 5 };

struct trk_alert_live {
	struct trk_alert_rule_state rule[TRK_ALERT_RULES];
	double earlier_s[TRK_ALERT_EARLIER_MAX]; /* run times, shortest first */
	size_t earlier;
	struct trk_alert_trend memory, space;
	double swap_start_mib;  /* NaN: not known yet */
	double throttled_share; /* mean of about a minute */
	double gpu_idle_from_s; /* NaN: they are not idle */
	double limit_hits;      /* of the record, when it was last known */
	double limit_hit_s;     /* when it last rose; NaN: never */
};

void trk__alert_live_init(struct trk_alert_live *live);
/* Run times of earlier runs of the job that ended well, TRK_ALERT_EARLIER_MAX at most. */
void trk__alert_live_earlier(struct trk_alert_live *live, const double *time_s, size_t count);
/* The next row of the record's run. device: its GPUs, `devices` of them, 0: none are measured. */
void trk__alert_live_row(struct trk_alert_live *live, const struct trk_record *record,
			 const struct trk_sample *row, const struct trk_gpu_device *device,
			 size_t devices, trk_alert_fn *on_alert, void *data);

/* ---- live_rules.c: one condition each ---- */

/* Below this share of the limit, growth is not a risk. */
#define TRK_ALERT_OOM_SHARE 0.6

/* The facts of a row. NaN: not known. */
struct trk_alert_facts {
	double elapsed_s;
	double memory_mib, memory_limit_mib;
	double memory_per_s;             /* MiB a second over the last 5 minutes; NaN: too short, or
					  * below that share */
	double memory_wait_share;        /* of the interval */
	bool limit_is_hit;               /* again and again, by a job near its limit */
	double space_gb, space_total_gb; /* left, and in all, on local file systems */
	double space_gb_per_s;           /* as memory_per_s; negative where it shrinks */
	double swap_growth_mib;
	double throttled_share;
	double cores, disk_bytes_per_s;
	bool waits_as_marked;            /* the last mark begins with "wait" */
	size_t gpus;                     /* that the job uses */
	double gpu_usage;                /* of these, 0 to their number */
	double gpu_idle_s;               /* for how long it has been 0; NaN: it is not */
	double vram_mib, vram_limit_mib; /* of the fullest */
	double time_limit_s;
	double expected_s; /* run time of this run in all; NaN: not known */
	size_t earlier;    /* runs that this is expected from */
};

/* Whether the rule's condition holds; value, limit, text and fix of *ret are set where it does. */
bool trk__alert_judge(enum trk_alert_rule rule, const struct trk_alert_facts *f,
		      struct trk_alert *ret);

/* ---- what a stalled job waits for ---- */

/* "a timer", "a pipe", "function do_something of the kernel"; "" where neither is known. state: the
 * letter of PID/stat; wchan: the text of the file. */
void trk__alert_wait_name(char state, const char *wchan, char *text, size_t size);
/* The alert; if it is a firing `stalled`, with the process and what it waits for in the text. */
struct trk_alert trk__alert_with_wait(const struct trk_alert *alert,
				      const struct trk_record *record);

#endif
