/* NVIDIA through its program nvidia-smi, where the library cannot be loaded: in a statically linked
 * tracker, or where the folder of the library is not known to the loader.
 *
 * A round asks for the GPUs, for who computes on them and for what each process does, one program after
 * the other, in a thread of its own: the poll takes what the last round has found. A round begins every
 * five seconds at most (the second at once after the first, which leaves out what takes a second), and
 * never so often that the programs take more than 2 % of a core. What does not end in time is killed, and
 * asked again a minute later. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "probe/gpu/nvidia_smi_private.h"

enum {
	STACK_SIZE = 256 * 1024,
	CPU_PERIODS = 50, /* a fiftieth of a core */
};

#define PATIENCE_NS (15 * TRK_NS_PER_S)
#define PERIOD_NS   (5 * TRK_NS_PER_S)
#define TROUBLE     12 /* periods until a program that failed is tried again */
#define CLOSE_NS    (15 * TRK_NS_PER_MS)

/* Where distributions and containers have it, beside what the caller says. */
static const char folders[] = "/usr/bin:/usr/local/bin:/bin:/usr/local/nvidia/bin:/usr/lib/wsl/lib:"
			      "/opt/bin:/run/current-system/sw/bin";

static void destroy(struct trk_smi *s)
{
	for (size_t i = 0; i < sizeof(s->environment) / sizeof(s->environment[0]); i++)
		free(s->environment[i]);
	trk__close(s->stop_fd);
	free(s->text);
	free(s->work);
	free(s->found);
	(void) pthread_cond_destroy(&s->changed);
	(void) pthread_mutex_destroy(&s->lock);
	free(s);
}

/* One round, and how long to wait for the next. */
static uint64_t go_round(struct trk_smi *s)
{
	uint64_t start_ns = trk__clock_monotonic_ns(), before_ns, after_ns, wait_ns;
	int r;

	(void) trk__tool_cpu_ns(&before_ns);
	r = trk__smi_round(s);
	if (r == 0 && s->found->first)
		return 0;
	wait_ns = s->period_ns * (r ? TROUBLE : 1);
	(void) trk__tool_cpu_ns(&after_ns);
	if (after_ns > before_ns && (after_ns - before_ns) * CPU_PERIODS > wait_ns)
		wait_ns = (after_ns - before_ns) * CPU_PERIODS;
	if (r == 0 && wait_ns > s->period_ns) {
		(void) pthread_mutex_lock(&s->lock);
		s->found->stale_ns += wait_ns;
		(void) pthread_mutex_unlock(&s->lock);
	}
	start_ns = trk__clock_monotonic_ns() - start_ns;
	return wait_ns > start_ns ? wait_ns - start_ns : 0;
}

static void *work(void *data)
{
	struct trk_smi *s = data;
	bool left;

	while (!trk__smi_is_stopped(s, go_round(s)))
		;
	(void) pthread_mutex_lock(&s->lock);
	s->ended = true;
	left = s->left;
	(void) pthread_cond_broadcast(&s->changed);
	(void) pthread_mutex_unlock(&s->lock);
	if (left)
		destroy(s);
	trk__gpu_count_thread(-1);
	return NULL;
}

/* ---- life ---- */

static bool find_in(const char *path, char file[512])
{
	while (path && *path) {
		size_t len = strcspn(path, ":");
		struct stat st;

		if (*path == '/' && len < 480) {
			(void) snprintf(file, 512, "%.*s/nvidia-smi", (int) len, path);
			if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0)
				return true;
		}
		path += len + (path[len] == ':');
	}
	return false;
}

static char *variable(const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *text = malloc(size);

	if (text)
		(void) snprintf(text, size, "%s=%s", name, value);
	return text;
}

/* Nothing of the job's environment gets in: preloaded libraries and languages least of all. */
static bool make_environment(struct trk_smi *s, const struct trk_gpu_hints *hints)
{
	size_t n = 0;

	s->environment[n++] = variable("LC_ALL", "C");
	s->environment[n++] = variable("PATH", folders);
	if (hints->library_path)
		s->environment[n++] = variable("LD_LIBRARY_PATH", hints->library_path);
	for (size_t i = 0; i < n; i++)
		if (!s->environment[i])
			return false;
	return true;
}

static int start_worker(struct trk_smi *s)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r = pthread_attr_init(&attributes);

	if (r)
		return -r;
	(void) pthread_attr_setstacksize(&attributes, STACK_SIZE);
	(void) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	trk__gpu_count_thread(1);
	r = pthread_create(&thread, &attributes, work, s);
	if (r)
		trk__gpu_count_thread(-1);
	(void) pthread_attr_destroy(&attributes);
	return -r;
}

static int smi_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		    char why[TRK_GPU_TEXT_SIZE])
{
	struct trk_smi *s;
	char file[512];
	int r = -ENOMEM;

	if (!hints->path) {
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "nvidia-smi is not started here");
		return -TRK_E_UNSUPPORTED;
	}
	if (!find_in(hints->path, file) && !find_in(folders, file)) {
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "no nvidia-smi in PATH");
		return -TRK_E_UNSUPPORTED;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->env = *env;
	s->tool = (struct trk_tool){.slot = -1, .fd = -1};
	memcpy(s->file, file, sizeof(s->file));
	s->patience_ns = hints->patience_ns ? hints->patience_ns : PATIENCE_NS;
	s->period_ns = hints->period_ns ? hints->period_ns : PERIOD_NS;
	(void) snprintf(s->wrong, sizeof(s->wrong), "has not answered yet");
	(void) pthread_mutex_init(&s->lock, NULL);
	(void) pthread_cond_init(&s->changed, NULL);
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->text = malloc(TRK_SMI_OUTPUT_MAX);
	s->work = calloc(1, sizeof(*s->work));
	s->found = calloc(1, sizeof(*s->found));
	if (s->stop_fd >= 0 && s->text && s->work && s->found && make_environment(s, hints))
		r = start_worker(s);
	if (r < 0) {
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "nvidia-smi: %s", trk__strerror(r));
		destroy(s);
		return r;
	}
	*ret = s;
	return 0;
}

static void smi_close(void *state)
{
	struct trk_smi *s = state;
	const uint64_t one = 1;
	struct timespec until;
	bool ended;

	(void) clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long) CLOSE_NS;
	until.tv_sec += until.tv_nsec / (long) TRK_NS_PER_S;
	until.tv_nsec %= (long) TRK_NS_PER_S;
	(void) pthread_mutex_lock(&s->lock);
	(void) !write(s->stop_fd, &one, sizeof(one));
	while (!s->ended && pthread_cond_timedwait(&s->changed, &s->lock, &until) != ETIMEDOUT)
		;
	ended = s->ended; /* it may have ended in the last moment */
	s->left = !ended;
	(void) pthread_mutex_unlock(&s->lock);
	if (ended)
		destroy(s);
}

/* ---- a poll ---- */

static void add_instances(const struct trk_smi_found *f, struct trk_gpu_scan *scan, size_t parent,
			  int index)
{
	for (size_t i = 0; i < f->instances; i++) {
		struct trk_gpu_device *d;

		if (f->instance[i].index != index)
			continue;
		d = trk__gpu_add_device(scan, "nvidia");
		if (!d)
			return;
		d->parent = (int) parent;
		d->mig = true;
		memcpy(d->name, f->instance[i].name, sizeof(d->name));
		memcpy(d->uuid, f->instance[i].uuid, sizeof(d->uuid));
		d->metric[TRK_GPU_UTILIZATION_METRIC] = trk__gpu_unknown(TRK_GPU_MIG);
	}
}

/* A process may stand in both lists, with the same memory. '-' for what it does means
 * nothing where the GPU did nothing, else it is not known. */
static void add_processes(const struct trk_smi_found *f, struct trk_gpu_scan *scan, size_t device,
			  const struct trk_smi_gpu *gpu)
{
	struct trk_gpu_value busy = gpu->device.metric[TRK_GPU_UTILIZATION_METRIC];

	for (size_t i = 0; i < f->processes; i++) {
		const struct trk_smi_process *from = &f->process[i];
		int part = trk__smi_place_on(f, from, gpu);
		struct trk_gpu_process *p;

		if (part < 0)
			continue;
		p = trk__gpu_add_process(scan, device, from->pid, (unsigned int) part);
		if (!p)
			return;
		scan->device[device].processes += !p->is_listed;
		p->is_listed = true;
		if (isnan(p->bytes))
			p->bytes = from->bytes;
		if (isnan(p->share))
			p->share = busy.why == TRK_GPU_KNOWN && busy.value <= 0 ? 0 : from->share;
	}
}

static void explain_processes(const struct trk_smi_found *f, struct trk_gpu_device *d)
{
	struct trk_gpu_value none = trk__gpu_unknown(d->mig     ? TRK_GPU_MIG
						     : f->first ? TRK_GPU_FIRST_LOOK
								: TRK_GPU_UNSUPPORTED);

	if (!f->knows_shares)
		d->metric[TRK_GPU_TREE_SHARE_METRIC] = none;
	if (f->knows_processes && !f->strays)
		return;
	d->metric[TRK_GPU_TREE_SHARE_METRIC] = none;
	d->metric[TRK_GPU_TREE_MEMORY_METRIC] = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
}

static void poll_gpu(const struct trk_smi_found *f, struct trk_gpu_scan *scan,
		     const struct trk_smi_gpu *gpu, bool stale)
{
	size_t index = scan->devices;
	struct trk_gpu_device *d = trk__gpu_add_device(scan, "nvidia");

	if (!d)
		return;
	*d = gpu->device;
	if (stale)
		for (int i = 0; i < TRK_GPU_METRICS; i++)
			d->metric[i] = trk__gpu_unknown(TRK_GPU_NO_ANSWER);
	if (stale || gpu->index < 0)
		return;
	explain_processes(f, d);
	add_processes(f, scan, index, gpu);
	if (d->mig)
		add_instances(f, scan, index, gpu->index);
}

static void smi_poll(void *state, struct trk_gpu_scan *scan)
{
	struct trk_smi *s = state;
	const struct trk_smi_found *f;
	bool stale;

	(void) pthread_mutex_lock(&s->lock);
	f = s->found;
	stale = f->stale_ns && scan->now_ns > f->stale_ns;
	for (size_t i = 0; i < f->gpus; i++)
		poll_gpu(f, scan, &f->gpu[i], stale);
	(void) pthread_mutex_unlock(&s->lock);
}

static void smi_say(void *state, char text[TRK_GPU_TEXT_SIZE])
{
	struct trk_smi *s = state;

	(void) pthread_mutex_lock(&s->lock);
	memcpy(text, s->wrong, TRK_GPU_TEXT_SIZE);
	(void) pthread_mutex_unlock(&s->lock);
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
	.close = smi_close,
};
