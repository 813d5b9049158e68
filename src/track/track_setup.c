/* Set-up before the first tick: the run's description, its recording, the sampler. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "probe/linux/pid_children.h"
#include "probe/tree/pss_budget.h"
#include "recording/store.h"
#include "track/private.h"

/* The CPU clock of a running process advances in ticks of the kernel, up to 10 ms. A rate over a
 * shorter interval, such as the last one, would be dominated by this error. */
#define MIN_RATE_NS (100 * TRK_NS_PER_MS)

static const char *kind_of(const struct trk_track_options *o)
{
	return o->argv ? "run" : o->pid ? "attach" : "system";
}

/* Cut a very long command line. */
static bool keep_argument(struct trk_run *run, const char *text)
{
	size_t len = strlen(text) + 1;

	if (run->command_len + len > sizeof(run->command) - 1)
		return false;
	memcpy(run->command + run->command_len, text, len);
	run->command_len += len;
	return true;
}

static void describe_command(const struct trk_track_options *o, struct trk_run *run)
{
	char masked[TRK_RUN_COMMAND_SIZE];
	struct trk_mask mask = {.strict = o->redaction == TRK_REDACT_STRICT};

	for (char *const *arg = o->argv; *arg; arg++) {
		const char *text = *arg;

		if (o->redaction == TRK_REDACT_ALL && arg != o->argv) {
			(void) keep_argument(run, TRK_REDACTED);
			break; /* nor how many there were */
		}
		if (o->redaction != TRK_REDACT_NOTHING) {
			(void) trk__mask_argument(&mask, text, masked, sizeof(masked));
			text = masked;
		}
		if (!keep_argument(run, text))
			break;
	}
}

void trk__track_describe(struct track *t)
{
	const struct trk_track_options *o = t->options;
	struct trk_run *run = &t->record->run;

	(void) snprintf(run->job, sizeof(run->job), "%s", o->job ? o->job : "");
	(void) snprintf(run->scope, sizeof(run->scope), "%s", o->scope ? o->scope : "");
	run->has_scope = true;
	run->unlisted = o->unlisted;
	run->input_bytes = o->input_bytes;
	(void) snprintf(run->kind, sizeof(run->kind), "%s", kind_of(o));
	(void) snprintf(run->version, sizeof(run->version), "%s", TRK_BUILD_VERSION);
	if (o->argv)
		describe_command(o, run);
	if (o->tags_len <= sizeof(run->tags) - 1) {
		if (o->tags_len)
			memcpy(run->tags, o->tags, o->tags_len);
		run->tags_len = o->tags_len;
	}
	if (o->request)
		memcpy(run->request, o->request, sizeof(run->request));
	run->start_ns = t->env.wall_ns();
	trk__store_new_id(run);
	run->interval_ns = o->interval_ns;
}

void trk__track_note_old_children(struct track *t)
{
	int n = t->env.proc_fd >= 0 && !t->has_proc
			? 0
			: trk__pid_children_read(t->env.proc_fd, getpid(), t->old_child,
						 OLD_CHILDREN_MAX);

	t->old_children = n < 0 ? 0 : n < OLD_CHILDREN_MAX ? n : OLD_CHILDREN_MAX;
}

bool trk__track_is_old_child(const struct track *t, pid_t pid)
{
	for (int i = 0; i < t->old_children; i++)
		if (t->old_child[i] == pid)
			return true;
	return false;
}

static int open_file(struct track *t, const char *name)
{
	TRK_MAY_BLOCK(TRK_BLOCKING_STORAGE, 0);
	struct trk_error error = {.code = 0};
	int r;

	t->runs_fd = trk__store_open(t->options->dir, true, &error);
	r = t->runs_fd < 0 ? error.code : trk__writer_open(t->writer, t->runs_fd, name);
	return r < 0 ? r : trk__writer_flush(t->writer);
}

void trk__track_open_recording(struct track *t)
{
	struct trk_track_result *result = t->result;
	char name[96];
	int r;

	if (!t->options->dir)
		return;
	trk__store_name(&t->record->run, name);
	(void) snprintf(result->recording_where, sizeof(result->recording_where), "%.4096s/runs/%s",
			t->options->dir, name);
	t->writer = trk__writer_held(&t->record->run);
	r = t->writer ? open_file(t, name) : -ENOMEM;
	if (r == 0)
		return;
	trk__writer_discard(t->writer);
	t->writer = NULL;
	result->recording_error = r;
}

void trk__track_announce(struct track *t)
{
	enum { DIR_MAX = 140 };
	const struct trk_track_result *result = t->result;
	char text[256];

	if (!t->options->dir || t->control.fd < 0)
		return;
	(void) snprintf(text, sizeof(text), "%.*s%s: no recording: %s", DIR_MAX, t->options->dir,
			strlen(t->options->dir) > DIR_MAX ? "..." : "",
			trk__strerror(result->recording_error));
	(void) trk__control_send(t->control.fd, t->writer ? "recording" : "error",
				 t->writer ? result->recording_where : text);
}

/* If /proc is not that of this pid namespace (unshare --pid without --mount-proc), the job's pid
 * refers to another process in it, or to none. */
void trk__track_look_at_proc(struct track *t)
{
	char text[16];
	uint64_t pid;

	t->has_proc = t->env.proc_fd >= 0 &&
		      trk__read_link_at(t->env.proc_fd, "self", text, sizeof(text)) > 0 &&
		      trk__parse_u64(text, &pid) == 0 && pid == (uint64_t) getpid();
}

/* 0, -ESRCH if /proc is that of another pid namespace, or -ENOENT if it is not mounted: there is no
 * "self". */
static int check_proc(const struct track *t)
{
	struct stat st;

	if (t->env.proc_fd < 0 || t->has_proc) /* or this system has none */
		return 0;
	return fstatat(t->env.proc_fd, "self", &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : -ESRCH;
}

int trk__track_open_sampler(struct track *t)
{
	struct trk_tree_options tree = {
		.root = t->options->argv ? t->job.pid : t->options->pid,
		.one_process = t->options->one_process,
		.redaction = t->options->redaction,
		.subreaper = t->options->argv != NULL,
		.self = t->options->in_thread ? 0 : getpid(),
		.reader = t->reader,
		.pss_share = t->options->pss_share < 0 ? TRK_TREE_PSS_SHARE : t->options->pss_share,
	};
	struct trk_sampler_options options = {
		.tree = tree.root ? &tree : NULL,
		.no_system = t->options->no_system,
		.group_is_own = t->options->argv && t->finish.holders != TRK_PEAK_GROUP_NONE,
		.cpu_group_is_own = t->options->argv && t->finish.group_is_own,
		.group_cpu_ns = t->finish.group_cpu_ns,
		.own_cpu_ns = t->finish.own_cpu_ns,
		.gpu = t->options->gpu,
		/* In a thread of another program, that program reaps all children: start none. */
		.gpu_hints = t->options->in_thread ? NULL : t->options->gpu_hints,
		.perf_fd = t->job.perf_fd,
		.root_perf_fd = t->job.root_perf_fd,
		.min_interval_ns = t->options->interval_ns / 2 < MIN_RATE_NS
					   ? t->options->interval_ns / 2
					   : MIN_RATE_NS,
		.start_ns = t->spawn_ns,
	};
	int r = tree.root ? check_proc(t) : 0;

	t->record->run.pid = tree.root;
	if (r < 0)
		return r;
	t->sampler = trk__sampler_new(&t->env, &options, &r);
	return t->sampler ? 0 : r;
}
