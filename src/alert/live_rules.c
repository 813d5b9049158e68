#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alert/live.h"
#include "base/human.h"
#include "base/maths.h"

static const double OOM_AHEAD_S = 600, OOM_WAIT_SHARE = 0.2, DISK_AHEAD_S = 1800;
static const double NEAR_SHARE = 0.9, VRAM_SHARE = 0.95, SWAP_MIB = 64, THROTTLED_SHARE = 0.25;
static const double IDLE_CORES = 0.01, IDLE_BYTES_PER_S = 1024, TIME_SHARE = 0.9;
/* A request for the next time is a multiple of it, with this much above what is needed. */
static const double REQUEST_STEP_MIB = 128, REQUEST_ROOM = 1.25;

const struct trk_alert_rule_info trk__alert_rules[TRK_ALERT_RULES] = {
#define X(id, name, severity, window_s, text) {name, TRK_ALERT_##severity, window_s, text},
	TRK_ALERT_RULE_LIST(X)
#undef X
};

const char *trk__alert_severity_name(enum trk_alert_severity severity)
{
	static const char *const names[] = {"info", "warning", "critical"};

	return names[severity];
}

int trk__alert_rule_find(const char *name, size_t len)
{
	for (int i = 0; i < TRK_ALERT_RULES; i++)
		if (strlen(trk__alert_rules[i].name) == len &&
		    !memcmp(trk__alert_rules[i].name, name, len))
			return i;
	return -1;
}

__attribute__((format(printf, 2, 3))) static void put(char *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void) vsnprintf(text, TRK_ALERT_TEXT_SIZE, format, args);
	va_end(args);
}

static void put_memory(struct trk_alert *a, const char *what, double value, double limit)
{
	char used[TRK_HUMAN_SIZE], of[TRK_HUMAN_SIZE];

	a->value = value;
	a->limit = limit;
	put(a->text, "%s at %s of %s (%.0f %%)", what, trk__human_memory(used, value),
	    trk__human_memory(of, limit), 100 * value / limit);
}

/* The job needs more than its limit; how much is not known yet. */
static void put_request(struct trk_alert *a, double limit_mib)
{
	double mib = trk__ceil(limit_mib * REQUEST_ROOM / REQUEST_STEP_MIB) * REQUEST_STEP_MIB;
	char text[TRK_HUMAN_SIZE];

	put(a->fix, "write a checkpoint, and request %s or more next time",
	    trk__human_request(text, mib));
}

static bool oom_risk(const struct trk_alert_facts *f, struct trk_alert *a)
{
	double left_s = (f->memory_limit_mib - f->memory_mib) / f->memory_per_s;
	bool grows = f->memory_mib > TRK_ALERT_OOM_SHARE * f->memory_limit_mib &&
		     f->memory_per_s > 0 && left_s < OOM_AHEAD_S;
	bool waits = f->memory_wait_share > OOM_WAIT_SHARE &&
		     f->memory_mib > TRK_ALERT_OOM_SHARE * f->memory_limit_mib;
	char text[TRK_HUMAN_SIZE];

	if (!grows && !waits && !f->limit_is_hit)
		return false;
	put_memory(a, "memory", f->memory_mib, f->memory_limit_mib);
	put_request(a, f->memory_limit_mib);
	if (grows)
		put(a->text + strlen(a->text), ", which is reached in about %s",
		    trk__human_rough_seconds(text, left_s > 1 ? left_s : 1));
	else if (f->limit_is_hit)
		put(a->text + strlen(a->text),
		    ", and the kernel reclaims memory at the limit again and again");
	else
		put(a->text + strlen(a->text),
		    ", and the job waits for memory for %.0f %% of the time",
		    100 * f->memory_wait_share);
	return true;
}

static bool mem_near_limit(const struct trk_alert_facts *f, struct trk_alert *a)
{
	if (!(f->memory_mib > NEAR_SHARE * f->memory_limit_mib))
		return false;
	put_memory(a, "memory", f->memory_mib, f->memory_limit_mib);
	put_request(a, f->memory_limit_mib);
	return true;
}

static bool vram_near_limit(const struct trk_alert_facts *f, struct trk_alert *a)
{
	if (!(f->vram_mib > VRAM_SHARE * f->vram_limit_mib))
		return false;
	put_memory(a, "GPU memory", f->vram_mib, f->vram_limit_mib);
	put(a->fix, "use a smaller batch, or a GPU with more memory");
	return true;
}

static bool disk_full(const struct trk_alert_facts *f, struct trk_alert *a)
{
	double left_s = f->space_gb / -f->space_gb_per_s;
	char left[TRK_HUMAN_SIZE], of[TRK_HUMAN_SIZE], in[TRK_HUMAN_SIZE];

	if (!(f->space_gb_per_s < 0) || !(left_s < DISK_AHEAD_S))
		return false;
	a->value = f->space_gb;
	a->limit = f->space_total_gb;
	put(a->text, "%s of %s are left on the local disks, which are full in about %s",
	    trk__human_space(left, f->space_gb), trk__human_space(of, f->space_total_gb),
	    trk__human_rough_seconds(in, left_s > 1 ? left_s : 1));
	put(a->fix, "free space, or write to another disk");
	return true;
}

static bool swap(const struct trk_alert_facts *f, struct trk_alert *a)
{
	char text[TRK_HUMAN_SIZE];

	if (!(f->swap_growth_mib > SWAP_MIB))
		return false;
	a->value = f->swap_growth_mib;
	a->limit = SWAP_MIB;
	put(a->text, "the machine has swapped out %s since the start",
	    trk__human_memory(text, f->swap_growth_mib));
	put(a->fix, "request more memory, or run fewer jobs at the same time");
	return true;
}

static bool cpu_throttled(const struct trk_alert_facts *f, struct trk_alert *a)
{
	if (!(f->throttled_share > THROTTLED_SHARE))
		return false;
	a->value = f->throttled_share;
	a->limit = THROTTLED_SHARE;
	put(a->text, "the CPU quota throttles the job for %.0f %% of the time",
	    100 * f->throttled_share);
	put(a->fix, "request more CPUs, or start fewer threads");
	return true;
}

static bool gpu_idle(const struct trk_alert_facts *f, struct trk_alert *a)
{
	char idle[TRK_HUMAN_SIZE];

	if (isnan(f->gpu_idle_s))
		return false;
	a->value = 0;
	put(a->text, "%zu GPU%s of the job ha%s computed nothing for %s", f->gpus,
	    f->gpus == 1 ? "" : "s", f->gpus == 1 ? "s" : "ve",
	    trk__human_rough_seconds(idle, f->gpu_idle_s));
	put(a->fix, "release the GPU, or run this step on CPUs");
	return true;
}

static bool stalled(const struct trk_alert_facts *f, struct trk_alert *a)
{
	if (f->waits_as_marked || !(f->cores < IDLE_CORES) ||
	    !(f->disk_bytes_per_s < IDLE_BYTES_PER_S) || (f->gpus > 0 && !(f->gpu_usage <= 0)))
		return false;
	a->value = f->cores;
	a->limit = IDLE_CORES;
	put(a->text, "the job uses no CPU, disk or GPU");
	put(a->fix, "check it with resource-tracker top; if it waits on purpose, call "
		    "resource-tracker mark wait in it");
	return true;
}

/* A run that is expected to end in time raises no alert near its limit. */
static bool takes_too_long(const struct trk_alert_facts *f, struct trk_alert *a)
{
	char expected[TRK_HUMAN_SIZE], limit[TRK_HUMAN_SIZE];
	double minutes = trk__ceil(f->expected_s * REQUEST_ROOM / 60);

	if (!(f->expected_s > f->time_limit_s))
		return false;
	a->value = f->expected_s;
	a->limit = f->time_limit_s;
	put(a->text, "the run is expected to take %s, from %zu earlier runs, and %s are requested",
	    trk__human_seconds(expected, f->expected_s), f->earlier,
	    trk__human_seconds(limit, f->time_limit_s));
	put(a->fix,
	    "write a checkpoint, and request %.0f minutes or more next time (Slurm: --time=%.0f)",
	    minutes, minutes);
	return true;
}

static bool time_limit(const struct trk_alert_facts *f, struct trk_alert *a)
{
	char passed[TRK_HUMAN_SIZE], limit[TRK_HUMAN_SIZE];

	if (!isnan(f->expected_s))
		return takes_too_long(f, a);
	if (!(f->elapsed_s >= TIME_SHARE * f->time_limit_s))
		return false;
	a->value = f->elapsed_s;
	a->limit = f->time_limit_s;
	put(a->text, "%s of the requested %s have passed", trk__human_seconds(passed, f->elapsed_s),
	    trk__human_seconds(limit, f->time_limit_s));
	put(a->fix, "write a checkpoint, and request more time");
	return true;
}

bool trk__alert_judge(enum trk_alert_rule rule, const struct trk_alert_facts *f,
		      struct trk_alert *ret)
{
	static bool (*const judge[TRK_ALERT_RULES])(const struct trk_alert_facts *,
						    struct trk_alert *) = {
		[TRK_ALERT_OOM_RISK] = oom_risk,
		[TRK_ALERT_MEM_NEAR_LIMIT] = mem_near_limit,
		[TRK_ALERT_VRAM_NEAR_LIMIT] = vram_near_limit,
		[TRK_ALERT_DISK_FULL] = disk_full,
		[TRK_ALERT_SWAP] = swap,
		[TRK_ALERT_CPU_THROTTLED] = cpu_throttled,
		[TRK_ALERT_GPU_IDLE] = gpu_idle,
		[TRK_ALERT_STALLED] = stalled,
		[TRK_ALERT_TIME_LIMIT] = time_limit,
	};

	*ret = (struct trk_alert){.rule = rule, .value = NAN, .limit = NAN};
	return judge[rule](f, ret);
}
