/* NVIDIA GPUs through the program nvidia-smi, used if NVML cannot be loaded: in a statically linked
 * tracker, or if the loader does not find the library.
 *
 * A round runs the program for the GPUs, for compute processes and for their activity, one after
 * the other, in a separate thread; a poll copies the results of the last round. A round begins
 * every 5 s, and less often if the programs would use more than 2 % of a core. The first round
 * omits pmon, which takes 1 s; the second follows at once. A program that exceeds its deadline is
 * killed and started again a minute later. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/os.h"
#include "base/parse.h"
#include "probe/gpu/gpu.h"
#include "probe/gpu/nvidia_smi_text.h"
#include "probe/helper_process.h"

enum {
	OUTPUT_MAX = 256 * 1024,
	PROCESSES_MAX = 1024,
	INSTANCES_MAX = 32,
	OLD_NAME = TRK_SMI_FIELDS - 2,
	ARGUMENTS_MAX = 10,
	PMON_GPUS = 4,
	QUERY_SIZE = 1024,
	STACK_SIZE = 256 * 1024,
	CPU_PERIODS = 50, /* 2 % of a core */
};

#define PATIENCE_NS  (15 * TRK_NS_PER_S)
#define PERIOD_NS    (5 * TRK_NS_PER_S)
#define FAILED_WAIT  12 /* periods until a program that failed is started again */
#define CLOSE_NS     (15 * TRK_NS_PER_MS)
#define STALE        6 /* periods after which a figure is discarded, plus patience_ns */
#define LOOK_NS      (20 * TRK_NS_PER_MS)
#define KILL_WAIT_NS (TRK_NS_PER_S)

/* Results of a round. */
struct found {
	uint64_t stale_ns; /* when it becomes too old; 0: no results yet */
	size_t gpus, processes, instances;
	struct trk_smi_gpu gpu[TRK_GPUS_MAX];
	struct trk_smi_process process[PROCESSES_MAX];
	struct trk_smi_instance instance[INSTANCES_MAX];
	bool knows_processes;
	bool first;  /* the first round, which leaves out pmon (1 s) */
	bool strays; /* some process is on an instance that is not listed */
};

struct smi {
	struct trk_env env; /* borrowed */
	char file[512];
	char *environment[4]; /* owned */
	uint64_t patience_ns, period_ns;
	int stop[2]; /* a pipe; a write ends the worker */

	/* Used by the worker thread only. */
	bool refused[TRK_SMI_FIELDS], no_pmon, pmon_answers;
	struct trk_helper_process program;
	char *text;         /* owned: OUTPUT_MAX */
	struct found *work; /* owned */

	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t changed;
	bool ended, left;
	bool asleep;         /* all GPUs are suspended: no program is started */
	struct found *found; /* owned */
	char wrong[TRK_GPU_TEXT_SIZE];
};

/* Where distributions and containers install the program, searched after the caller's path. */
static const char folders[] = "/usr/bin:/usr/local/bin:/bin:/usr/local/nvidia/bin:/usr/lib/wsl/lib:"
			      "/opt/bin:/run/current-system/sw/bin";

/* ---- running the program ---- */

static bool is_stopped(struct smi *s, uint64_t wait_ns)
{
	struct pollfd fd = {.fd = s->stop[0], .events = POLLIN};
	uint64_t ms = (wait_ns + TRK_NS_PER_MS - 1) / TRK_NS_PER_MS;

	return poll(&fd, 1, ms > INT32_MAX ? INT32_MAX : (int) ms) > 0;
}

/* Read the available output: 0 while more may follow, 1 at its end, -EFBIG. */
static int read_some(struct smi *s, size_t *len)
{
	ssize_t n;

	for (;;) {
		if (*len == OUTPUT_MAX - 1)
			return -EFBIG;
		n = read(s->program.fd, s->text + *len, OUTPUT_MAX - 1 - *len);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : 1;
		if (n == 0)
			return 1;
		*len += (size_t) n;
	}
}

/* Read until the program ends. 0 with its status, -ETIMEDOUT, -EFBIG, or -ECANCELED. */
static int follow(struct smi *s, uint64_t deadline_ns, int *ret_status)
{
	size_t len = 0;
	int r = 0, at_end = 0;

	while (r == 0) {
		struct pollfd fds[] = {{.fd = at_end ? -1 : s->program.fd, .events = POLLIN},
				       {.fd = s->stop[0], .events = POLLIN}};

		(void) poll(fds, 2, (int) (LOOK_NS / TRK_NS_PER_MS));
		if (fds[1].revents)
			return -ECANCELED;
		if (!at_end)
			at_end = read_some(s, &len);
		if (at_end < 0)
			return at_end;
		if (trk__helper_process_ended(&s->program, ret_status)) {
			/* Its other processes were killed: the pipe contains the rest of the
			 * output. */
			r = at_end ? 0 : read_some(s, &len);
			s->text[len] = '\0';
			return trk__helper_process_is_held() ? -ECANCELED : r < 0 ? r : 0;
		}
		if (trk__clock_monotonic_ns() > deadline_ns)
			return -ETIMEDOUT;
	}
	return r;
}

/* Kill it and wait 1 s. If it hangs in the driver, no other program is started. */
static void put_away(struct smi *s)
{
	uint64_t until_ns = trk__clock_monotonic_ns() + KILL_WAIT_NS;
	const struct timespec nap = {.tv_nsec = (long) TRK_NS_PER_MS};
	int status;

	trk__helper_process_kill(&s->program);
	while (!trk__helper_process_ended(&s->program, &status) && s->program.slot >= 0 &&
	       trk__clock_monotonic_ns() < until_ns)
		(void) nanosleep(&nap, NULL);
}

static void complain_of(struct smi *s, int error, int status)
{
	char text[TRK_GPU_TEXT_SIZE], line[64];

	trk__smi_first_line(error ? "" : s->text, line, sizeof(line));
	if (error == -ETIMEDOUT)
		(void) snprintf(text, sizeof(text), "it hung, and was killed");
	else if (error == -EFBIG)
		(void) snprintf(text, sizeof(text), "too much output");
	else if (error == -EBUSY)
		(void) snprintf(text, sizeof(text), "it hangs, and cannot be killed");
	else if (error)
		(void) snprintf(text, sizeof(text), "cannot be started: %s", trk__strerror(error));
	else if (WIFSIGNALED(status))
		(void) snprintf(text, sizeof(text), "ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		(void) snprintf(text, sizeof(text), "exit code %d: %s", WEXITSTATUS(status), line);
	else
		(void) snprintf(text, sizeof(text), "not understood: %s", line);
	(void) pthread_mutex_lock(&s->lock);
	memcpy(s->wrong, text, sizeof(s->wrong));
	(void) pthread_mutex_unlock(&s->lock);
}

/* Run it with these arguments; the output is in s->text. Returns as follow() does. */
static int run_program(struct smi *s, char *const argument[], int *ret_status)
{
	char *argv[ARGUMENTS_MAX] = {s->file};
	int r;

	for (int i = 0; argument[i] && i + 2 < ARGUMENTS_MAX; i++)
		argv[i + 1] = argument[i];
	s->text[0] = '\0';
	if (s->program.slot >= 0 && !trk__helper_process_ended(&s->program, ret_status))
		return -EBUSY;
	r = trk__helper_process_start(&s->program, s->file, argv, s->environment);
	if (r < 0)
		return r;
	r = follow(s, trk__clock_monotonic_ns() + s->patience_ns, ret_status);
	if (r < 0)
		put_away(s);
	trk__close(s->program.fd);
	s->program.fd = -1;
	return r;
}

/* ---- a round ---- */

static void write_query(const struct smi *s, char query[QUERY_SIZE])
{
	size_t n = (size_t) snprintf(query, QUERY_SIZE, "--query-gpu=");

	for (int i = 0; i < TRK_SMI_FIELDS && n < QUERY_SIZE; i++)
		if (!s->refused[i] && (i != OLD_NAME || s->refused[i - 1]))
			n += (size_t) snprintf(query + n, QUERY_SIZE - n, "%s%s", i ? "," : "",
					       trk__smi_field(i));
}

/* True if the driver refused a field, which is then left out. */
static bool drop_refused_field(struct smi *s)
{
	char field[64];

	if (!trk__smi_refused(s->text, field, sizeof(field)))
		return false;
	for (int i = 1; i < TRK_SMI_FIELDS; i++)
		if (!strcmp(trk__smi_field(i), field) && !s->refused[i])
			return s->refused[i] = true;
	return false;
}

static int ask_gpus(struct smi *s)
{
	char query[QUERY_SIZE], format[] = "--format=csv,nounits";
	char *argument[] = {query, format, NULL};
	int r, status = 0;

	do {
		write_query(s, query);
		r = run_program(s, argument, &status);
	} while (r == 0 && drop_refused_field(s));
	/* It fails if a GPU is lost, but the table still lists the others. */
	if (r == 0 && trk__smi_gpus_parse(s->text, s->work->gpu, TRK_GPUS_MAX, &s->work->gpus) == 0)
		return 0;
	if (r != -ECANCELED)
		complain_of(s, r, status);
	return r ? r : -EBADMSG;
}

static int ask_apps(struct smi *s)
{
	char query[] = "--query-compute-apps=gpu_uuid,pid,used_gpu_memory";
	char format[] = "--format=csv,nounits";
	char *argument[] = {query, format, NULL};
	struct found *w = s->work;
	int status, r = run_program(s, argument, &status);

	w->knows_processes = r == 0 && trk__smi_apps_parse(s->text, w->process, PROCESSES_MAX,
							   &w->processes) == 0;
	return r == -ECANCELED || r == -ETIMEDOUT ? r : 0;
}

/* pmon accepts four GPUs: write their numbers, from index `from` on, separated by commas. */
static size_t write_group(const struct found *w, size_t from, char *to, size_t size)
{
	size_t i, used = 0;

	to[0] = '\0';
	for (i = from; i < w->gpus && i < from + PMON_GPUS && used < size; i++)
		used += (size_t) snprintf(to + used, size - used, "%s%d", used ? "," : "",
					  w->gpu[i].index);
	return i;
}

/* Run pmon for the GPUs with index `from` up to `to` - 1. */
static int ask_pmon_group(struct smi *s, size_t from, size_t to, char *group)
{
	char pmon[] = "pmon", once[] = "-c", one[] = "1", what[] = "-s", both[] = "um";
	char which[] = "-i", *argument[] = {pmon, once, one, what, both, which, group, NULL};
	struct found *w = s->work;
	size_t more = 0;
	int status, r;

	if (w->gpus <= PMON_GPUS)
		argument[5] = NULL; /* some drivers do not support -i there */
	r = run_program(s, argument, &status);
	if (r == 0 && trk__smi_pmon_parse(s->text, w->process + w->processes,
					  PROCESSES_MAX - w->processes, &more) == 0) {
		for (size_t i = from; i < to; i++)
			w->gpu[i].knows_shares = true;
		w->processes += more;
		w->knows_processes = true;
		s->pmon_answers = true;
	}
	return r;
}

/* pmon samples for 1 s, and is the only list with graphics processes. */
static int ask_pmon(struct smi *s)
{
	struct found *w = s->work;
	char group[PMON_GPUS * 12];
	size_t to;
	int r = 0;

	if (s->no_pmon || w->first)
		return 0;
	for (size_t from = 0; from < w->gpus; from = to) {
		to = write_group(w, from, group, sizeof(group));
		r = ask_pmon_group(s, from, to, group);
		if (r == -ECANCELED || r == -ETIMEDOUT)
			return r;
	}
	s->no_pmon = r == 0 && !s->pmon_answers; /* not supported by the driver or the GPUs */
	return 0;
}

static int ask_instances(struct smi *s)
{
	char list[] = "-L", *argument[] = {list, NULL};
	bool any = false;
	int status, r;

	for (size_t i = 0; i < s->work->gpus; i++)
		any |= s->work->gpu[i].device.mig;
	if (!any)
		return 0;
	r = run_program(s, argument, &status);
	if (r == 0)
		(void) trk__smi_list_parse(s->text, s->work->instance, INSTANCES_MAX,
					   &s->work->instances);
	return r == -ECANCELED || r == -ETIMEDOUT ? r : 0;
}

/* Read "Device Minor: 3" in /proc/driver/nvidia/gpus/0000:01:00.0/information; the program shows
 * the domain with eight digits. */
static int find_node(const struct smi *s, const char *bus)
{
	char path[96], text[2048];
	const char *at;
	uint64_t minor;

	if (strlen(bus) < 12 || strchr(bus, '/'))
		return -1;
	(void) snprintf(path, sizeof(path), "driver/nvidia/gpus/%s/information",
			bus + strlen(bus) - 12);
	trk__gpu_lower_bus(path);
	if (trk__read_at(s->env.proc_fd, path, text, sizeof(text)) < 0)
		return -1;
	at = strstr(text, "Device Minor:");
	at = at ? at + strlen("Device Minor:") : "";
	return trk__scan_u64(&at, &minor) && minor < 1024 ? (int) minor : -1;
}

static int place_on(const struct found *f, const struct trk_smi_process *p,
		    const struct trk_smi_gpu *gpu)
{
	if (p->index >= 0)
		return p->index == gpu->index ? 0 : -1;
	if (!strcmp(p->uuid, gpu->device.uuid))
		return 0;
	for (size_t i = 0; i < f->instances; i++)
		if (f->instance[i].index == gpu->index && !strcmp(p->uuid, f->instance[i].uuid))
			return (int) i + 1;
	return -1;
}

static bool has_place(const struct found *f, const struct trk_smi_process *p)
{
	for (size_t i = 0; i < f->gpus; i++)
		if (place_on(f, p, &f->gpu[i]) >= 0)
			return true;
	return false;
}

/* A GPU that is no longer listed keeps its index and is marked as lost. */
static void publish(struct smi *s)
{
	struct found *w = s->work, *f = s->found;

	for (size_t i = 0; i < w->gpus; i++)
		w->gpu[i].device.node = find_node(s, w->gpu[i].device.bus);
	for (size_t i = 0; i < w->processes; i++)
		w->strays |= !has_place(w, &w->process[i]);
	for (size_t i = 0; i < f->gpus; i++) {
		size_t at = 0;

		while (at < w->gpus && strcmp(w->gpu[at].device.uuid, f->gpu[i].device.uuid) != 0)
			at++;
		if (at < w->gpus || w->gpus == TRK_GPUS_MAX)
			continue;
		at = i < w->gpus ? i : w->gpus;
		memmove(&w->gpu[at + 1], &w->gpu[at], (w->gpus - at) * sizeof(w->gpu[0]));
		w->gpus++;
		w->gpu[at] = f->gpu[i];
		w->gpu[at].index = -1;
		trk__gpu_set_unknown(&w->gpu[at].device, TRK_GPU_LOST);
	}
	w->stale_ns = trk__clock_monotonic_ns() + STALE * s->period_ns + 2 * s->patience_ns;
	(void) pthread_mutex_lock(&s->lock);
	s->work = f;
	s->found = w;
	(void) snprintf(s->wrong, sizeof(s->wrong), "%s", w->gpus ? "" : "no device was found");
	(void) pthread_mutex_unlock(&s->lock);
}

static int read_round(struct smi *s)
{
	int r;

	memset(s->work, 0, sizeof(*s->work));
	s->work->first = s->found->stale_ns == 0;
	r = ask_gpus(s);
	r = r ? r : ask_instances(s);
	r = r ? r : ask_apps(s);
	r = r ? r : ask_pmon(s);
	if (r == 0)
		publish(s);
	else if (r == -ETIMEDOUT)
		complain_of(s, r, 0);
	return r;
}

static void destroy(struct smi *s)
{
	for (size_t i = 0; i < sizeof(s->environment) / sizeof(s->environment[0]); i++)
		free(s->environment[i]);
	trk__close(s->stop[0]);
	trk__close(s->stop[1]);
	free(s->text);
	free(s->work);
	free(s->found);
	(void) pthread_cond_destroy(&s->changed);
	(void) pthread_mutex_destroy(&s->lock);
	free(s);
}

/* The program would wake GPUs that are suspended. */
static bool is_asleep(struct smi *s)
{
	bool asleep = trk__gpu_nvidia_is_asleep(s->env.sys_fd);

	(void) pthread_mutex_lock(&s->lock);
	if (asleep)
		(void) snprintf(s->wrong, sizeof(s->wrong), "%s",
				trk__gpu_why_text(TRK_GPU_ASLEEP));
	s->asleep = asleep;
	(void) pthread_mutex_unlock(&s->lock);
	return asleep;
}

/* Run one round. Returns the time to wait for the next. */
static uint64_t go_round(struct smi *s)
{
	uint64_t start_ns = trk__clock_monotonic_ns(), before_ns, after_ns, wait_ns;
	int r;

	if (is_asleep(s))
		return s->period_ns;
	(void) trk__helper_process_cpu_ns(&before_ns);
	r = read_round(s);
	if (r == 0 && s->found->first)
		return 0;
	wait_ns = s->period_ns * (r ? FAILED_WAIT : 1);
	(void) trk__helper_process_cpu_ns(&after_ns);
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
	struct smi *s = data;
	bool left;

	while (!is_stopped(s, go_round(s)))
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

/* ---- open and close ---- */

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

/* The program gets no other variables of the job, such as LD_PRELOAD or LANG. */
static bool make_environment(struct smi *s, const struct trk_gpu_hints *hints)
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

static int smi_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		    char why[TRK_GPU_TEXT_SIZE])
{
	struct smi *s;
	char file[512];
	int r = -ENOMEM;

	if (!hints->path) {
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "nvidia-smi is not started here");
		return -TRK_ERR_UNSUPPORTED;
	}
	if (!find_in(hints->path, file) && !find_in(folders, file)) {
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "no nvidia-smi in PATH");
		return -TRK_ERR_UNSUPPORTED;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->env = *env;
	s->program = (struct trk_helper_process){.slot = -1, .fd = -1};
	memcpy(s->file, file, sizeof(s->file));
	s->patience_ns = hints->patience_ns ? hints->patience_ns : PATIENCE_NS;
	s->period_ns = hints->period_ns ? hints->period_ns : PERIOD_NS;
	(void) snprintf(s->wrong, sizeof(s->wrong), "has not answered yet");
	(void) pthread_mutex_init(&s->lock, NULL);
	(void) pthread_cond_init(&s->changed, NULL);
	s->stop[0] = s->stop[1] = -1;
	(void) trk__os_pipe(s->stop);
	s->text = malloc(OUTPUT_MAX);
	s->work = calloc(1, sizeof(*s->work));
	s->found = calloc(1, sizeof(*s->found));
	if (s->stop[0] >= 0 && s->text && s->work && s->found && make_environment(s, hints))
		r = trk__gpu_start_thread(work, s, STACK_SIZE);
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
	struct smi *s = state;
	struct timespec until;
	bool ended;

	(void) clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long) CLOSE_NS;
	until.tv_sec += until.tv_nsec / (long) TRK_NS_PER_S;
	until.tv_nsec %= (long) TRK_NS_PER_S;
	(void) pthread_mutex_lock(&s->lock);
	(void) !write(s->stop[1], "", 1);
	while (!s->ended && pthread_cond_timedwait(&s->changed, &s->lock, &until) != ETIMEDOUT)
		;
	ended = s->ended; /* it may have just ended */
	s->left = !ended;
	(void) pthread_mutex_unlock(&s->lock);
	if (ended)
		destroy(s);
}

/* ---- a poll ---- */

static void add_instances(const struct found *f, struct trk_gpu_scan *scan, size_t parent,
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

/* True if pmon shows the activity of some process of this GPU. Then '-' means 0, like a missing
 * sample of NVML. A GPU in MIG mode shows '-' for all. */
static bool reports_some(const struct found *f, const struct trk_smi_gpu *gpu)
{
	for (size_t i = 0; i < f->processes; i++)
		if (f->process[i].index == gpu->index && !isnan(f->process[i].share))
			return true;
	return false;
}

static void add_shares(struct trk_gpu_process *p, const struct trk_smi_process *from, bool is_idle,
		       bool does_nothing)
{
	if (isnan(p->share))
		p->share = is_idle || does_nothing ? 0 : from->share;
	if (isnan(p->encoder))
		p->encoder = does_nothing ? 0 : from->encoder;
	if (isnan(p->decoder))
		p->decoder = does_nothing ? 0 : from->decoder;
}

/* A process may be in both lists, with the same memory. */
static void add_processes(const struct found *f, struct trk_gpu_scan *scan, size_t device,
			  const struct trk_smi_gpu *gpu)
{
	struct trk_gpu_value busy = gpu->device.metric[TRK_GPU_UTILIZATION_METRIC];
	bool is_idle = busy.why == TRK_GPU_KNOWN && busy.value <= 0;
	bool dash_is_zero = reports_some(f, gpu);

	for (size_t i = 0; i < f->processes; i++) {
		const struct trk_smi_process *from = &f->process[i];
		int part = place_on(f, from, gpu);
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
		add_shares(p, from, is_idle, dash_is_zero && from->is_idle);
	}
}

static void explain_processes(const struct found *f, const struct trk_smi_gpu *gpu,
			      struct trk_gpu_device *d)
{
	struct trk_gpu_value none = trk__gpu_unknown(d->mig     ? TRK_GPU_MIG
						     : f->first ? TRK_GPU_FIRST_LOOK
								: TRK_GPU_UNSUPPORTED);

	d->metric[TRK_GPU_TREE_ENCODER_METRIC] = d->metric[TRK_GPU_TREE_DECODER_METRIC] = none;
	if (!gpu->knows_shares || d->mig)
		trk__gpu_set_tree_unknown(d, none.why);
	if (f->knows_processes && !f->strays)
		return;
	d->metric[TRK_GPU_TREE_SHARE_METRIC] = none;
	d->metric[TRK_GPU_TREE_MEMORY_METRIC] = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
}

static void poll_gpu(const struct found *f, struct trk_gpu_scan *scan,
		     const struct trk_smi_gpu *gpu, bool stale)
{
	size_t index = scan->devices;
	struct trk_gpu_device *d = trk__gpu_add_device(scan, "nvidia");

	if (!d)
		return;
	*d = gpu->device;
	if (stale)
		trk__gpu_set_unknown(d, TRK_GPU_NO_ANSWER);
	if (stale || gpu->index < 0)
		return;
	explain_processes(f, gpu, d);
	add_processes(f, scan, index, gpu);
	if (d->mig)
		add_instances(f, scan, index, gpu->index);
}

static void smi_poll(void *state, struct trk_gpu_scan *scan)
{
	struct smi *s = state;
	const struct found *f;
	bool stale;

	(void) pthread_mutex_lock(&s->lock);
	f = s->found;
	stale = s->asleep || (f->stale_ns && scan->now_ns > f->stale_ns);
	for (size_t i = 0; i < f->gpus; i++) {
		poll_gpu(f, scan, &f->gpu[i], stale);
		if (s->asleep && scan->devices)
			trk__gpu_set_asleep(&scan->device[scan->devices - 1]);
	}
	(void) pthread_mutex_unlock(&s->lock);
}

static void smi_say(void *state, char text[TRK_GPU_TEXT_SIZE])
{
	struct smi *s = state;

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
