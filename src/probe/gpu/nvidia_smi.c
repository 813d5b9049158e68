/* NVIDIA GPUs through the program nvidia-smi, used if NVML cannot be loaded, as by a static tracker.
 *
 * A poll runs the program three times, at most every 5 s and with 2 % of a core; other polls give the
 * figures of the last round. The tracker does not wait for a poll (poller.h). If the program exceeds
 * its deadline, it is killed and started again a minute later. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "probe/gpu/nvidia_smi_text.h"
#include "probe/helper_process.h"

enum {
	OUTPUT_MAX = 256 * 1024,
	FILE_SIZE = 512,
	ARGUMENTS_MAX = 5,
	CPU_PERIODS = 50, /* 2 % of a core */
	FAILED_WAIT = 12, /* periods until programs that failed are started again */
};

/* Where distributions and containers install the program, searched after the caller's path. */
static const char folders[] = "/usr/bin:/usr/local/bin:/bin:/usr/local/nvidia/bin:/usr/lib/wsl/lib:"
			      "/opt/bin:/run/current-system/sw/bin";

static const char *const arguments[][ARGUMENTS_MAX] = {
	{TRK_SMI_GPUS, "--format=csv,nounits"},
	{"pmon", "-c", "1", "-s", "um"}, /* takes 1 s */
	{TRK_SMI_APPS, "--format=csv,nounits"},
};

struct smi {
	struct trk_env env; /* borrowed */
	char file[FILE_SIZE], library_path[4096];
	uint64_t patience_ns, period_ns, next_ns;
	struct trk_smi_tables tables;
	char wrong[TRK_GPU_TEXT_SIZE], text[OUTPUT_MAX];
};

/* Run the program, and append its output to s->text. 0, -ETIMEDOUT, or why it did not start. */
static int run(struct smi *s, const char *const *argument, int *ret_status)
{
	uint64_t until_ns = trk__clock_monotonic_ns() + s->patience_ns;
	char locale[] = "LC_ALL=C", *environment[] = {locale, s->library_path, NULL};
	char *argv[ARGUMENTS_MAX + 2] = {s->file};
	struct trk_helper_process program;
	size_t len = strlen(s->text);
	bool has_ended = false;
	int r;

	for (size_t i = 0; i < ARGUMENTS_MAX; i++)
		argv[i + 1] = (char *) (uintptr_t) argument[i];
	r = trk__helper_process_start(&program, s->file, argv, environment);
	if (r < 0)
		return r;
	while (!has_ended && trk__clock_monotonic_ns() < until_ns) {
		struct pollfd fd = {.fd = program.fd, .events = POLLIN};
		ssize_t n;

		(void) poll(&fd, 1, 20);
		has_ended = trk__helper_process_ended(&program, ret_status);
		while ((n = read(fd.fd, s->text + len, OUTPUT_MAX - 1 - len)) > 0)
			len += (size_t) n;
		s->text[len] = '\0';
		len = len < OUTPUT_MAX - 1 ? len : 0; /* no list is so long */
	}
	(void) close(program.fd);
	if (has_ended)
		return 0;
	trk__helper_process_kill(&program);
	trk__helper_process_leave(&program);
	return -ETIMEDOUT;
}

/* The first program fails if a GPU is lost, but its table still lists the others. */
static void go_round(struct smi *s)
{
	int status = 0, other, r = 0;

	s->text[0] = s->wrong[0] = '\0';
	for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]) && r == 0; i++)
		r = run(s, arguments[i], i ? &other : &status);
	trk__smi_parse(r == 0 ? s->text : "", &s->tables);
	if (r < 0)
		(void) snprintf(s->wrong, sizeof(s->wrong), "%s",
				r == -ETIMEDOUT ? "it hung, and was killed" : trk__strerror(r));
	else if (!s->tables.knows_gpus || s->tables.gpus == 0)
		(void) snprintf(s->wrong, sizeof(s->wrong), "exit code %d: %.*s",
				WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
				(int) strcspn(s->text, "\r\n"), s->text);
}

/* A process may be in both lists; that of pmon is first. */
static void add_process(struct trk_gpu_scan *scan, const struct trk_smi_process *from,
			bool unknown_is_zero)
{
	struct trk_gpu_process *p = trk__gpu_add_process(scan, scan->devices - 1, from->pid, 0);

	if (!p)
		return;
	scan->device[p->device].processes += !p->is_listed;
	p->is_listed = true;
	p->bytes = isnan(p->bytes) ? from->bytes : p->bytes;
	p->share = isnan(p->share) ? from->share : p->share;
	if (isnan(p->share) && unknown_is_zero)
		p->share = 0;
}

static void add_processes(const struct trk_smi_tables *t, int index, struct trk_gpu_device *d,
			  struct trk_gpu_scan *scan)
{
	/* pmon's '-' means 0 if the GPU is idle, or if another process of it has a figure. */
	bool in_pmon = false, zero = d->metric[TRK_GPU_UTILIZATION_METRIC].value <= 0;
	const struct trk_smi_process *end = t->process + t->processes;

	for (const struct trk_smi_process *p = t->process; p < end; p++) {
		in_pmon |= p->index == index;
		zero |= p->index == index && !isnan(p->share);
	}
	if (!in_pmon)
		trk__gpu_set_tree_unknown(d, TRK_GPU_UNSUPPORTED);
	if (!t->knows_memory)
		d->metric[TRK_GPU_TREE_MEMORY_METRIC] = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	for (const struct trk_smi_process *p = t->process; p < end; p++)
		if (p->pid && (p->index == index || (p->index < 0 && !strcmp(p->uuid, d->uuid))))
			add_process(scan, p, zero);
}

static void smi_poll(void *state, struct trk_gpu_scan *scan)
{
	struct smi *s = state;
	const struct trk_smi_tables *t = &s->tables;
	bool is_asleep = trk__gpu_nvidia_is_asleep(s->env.sys_fd); /* they would wake */
	uint64_t before_ns, after_ns, now_ns = trk__clock_monotonic_ns();

	if (is_asleep)
		(void) snprintf(s->wrong, sizeof(s->wrong), "%s",
				trk__gpu_why_text(TRK_GPU_ASLEEP));
	else if (now_ns >= s->next_ns) {
		(void) trk__helper_process_cpu_ns(&before_ns);
		go_round(s);
		(void) trk__helper_process_cpu_ns(&after_ns);
		s->next_ns = now_ns + s->period_ns * (t->knows_gpus ? 1 : FAILED_WAIT);
		if (s->next_ns < now_ns + (after_ns - before_ns) * CPU_PERIODS)
			s->next_ns = now_ns + (after_ns - before_ns) * CPU_PERIODS;
	}
	for (size_t i = 0; i < t->gpus; i++) {
		struct trk_gpu_device *d = trk__gpu_add_device(scan, "nvidia");

		if (!d)
			return;
		*d = t->gpu[i];
		if (is_asleep)
			trk__gpu_set_asleep(d);
		else if (!t->is_listed[i])
			trk__gpu_set_unknown(d, t->knows_gpus ? TRK_GPU_LOST : TRK_GPU_NO_ANSWER);
		else
			add_processes(t, (int) i, d, scan);
	}
}

static void smi_say(void *state, char text[TRK_GPU_TEXT_SIZE])
{
	memcpy(text, ((struct smi *) state)->wrong, TRK_GPU_TEXT_SIZE);
}

/* Search the absolute folders of a path. */
static bool find_in(const char *path, char file[FILE_SIZE])
{
	for (size_t len; path && *path; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		(void) snprintf(file, FILE_SIZE, "%.*s/nvidia-smi", (int) len, path);
		if (*file == '/' && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static int smi_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		    char why[TRK_GPU_TEXT_SIZE])
{
	struct smi *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (!hints->path || (!find_in(hints->path, s->file) && !find_in(folders, s->file))) {
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "%s",
				hints->path ? "no nvidia-smi in PATH"
					    : "nvidia-smi is not started here");
		free(s);
		return -TRK_ERR_UNSUPPORTED;
	}
	s->env = *env;
	(void) snprintf(s->library_path, sizeof(s->library_path), "LD_LIBRARY_PATH=%s",
			hints->library_path ? hints->library_path : "");
	s->patience_ns = hints->patience_ns ? hints->patience_ns : 15 * TRK_NS_PER_S;
	s->period_ns = hints->period_ns ? hints->period_ns : 5 * TRK_NS_PER_S;
	(void) snprintf(s->wrong, sizeof(s->wrong), "has not answered yet");
	*ret = s;
	return 0;
}

static bool smi_is_likely(const struct trk_env *env)
{
	return trk__gpu_nvml.is_likely(env);
}

const struct trk_gpu_ops trk__gpu_nvidia_smi = {
	.name = "nvidia-smi",
	.instead_of = &trk__gpu_nvml,
	.is_likely = smi_is_likely,
	.open = smi_open,
	.poll = smi_poll,
	.say = smi_say,
	.close = free,
};
