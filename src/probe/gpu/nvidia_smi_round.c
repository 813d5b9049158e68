/* A round of nvidia-smi: the programs one after the other, each with a deadline, and what they print put
 * together. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"
#include "probe/gpu/nvidia_smi_private.h"

enum { ARGUMENTS_MAX = 8, QUERY_SIZE = 512, OLD_NAME = TRK_SMI_FIELDS - 2 };

#define STALE        6 /* periods after which a figure is none any more, beside the patience */
#define LOOK_NS      (20 * TRK_NS_PER_MS)
#define KILL_WAIT_NS (TRK_NS_PER_S)

/* Newest name first. What a driver does not know it says, and is not asked for again. */
static const char *const fields[TRK_SMI_FIELDS] = {
	"index",
	"uuid",
	"pci.bus_id",
	"driver_version",
	"mig.mode.current",
	"memory.total",
	"memory.used",
	"utilization.gpu",
	"utilization.memory",
	"utilization.encoder",
	"utilization.decoder",
	"temperature.gpu",
	"power.draw",
	"clocks.sm",
	"clocks.mem",
	"clocks_event_reasons.active",
	"clocks_throttle_reasons.active", /* the name of the one before in older drivers */
	"name",
};

/* ---- running it ---- */

bool trk__smi_is_stopped(struct trk_smi *s, uint64_t wait_ns)
{
	struct pollfd fd = {.fd = s->stop_fd, .events = POLLIN};
	uint64_t ms = (wait_ns + TRK_NS_PER_MS - 1) / TRK_NS_PER_MS;

	return poll(&fd, 1, ms > INT32_MAX ? INT32_MAX : (int) ms) > 0;
}

/* Read what there is: 0 while more may come, 1 at the end, -EFBIG. */
static int read_some(struct trk_smi *s, size_t *len)
{
	ssize_t n;

	for (;;) {
		if (*len == TRK_SMI_OUTPUT_MAX - 1)
			return -EFBIG;
		n = read(s->tool.fd, s->text + *len, TRK_SMI_OUTPUT_MAX - 1 - *len);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : 1;
		if (n == 0)
			return 1;
		*len += (size_t) n;
	}
}

/* Until its end, the deadline, or ours. 0 with its status, -ETIMEDOUT, -EFBIG, or -ECANCELED. */
static int follow(struct trk_smi *s, uint64_t deadline_ns, int *ret_status)
{
	size_t len = 0;
	int r = 0, at_end = 0;

	while (r == 0) {
		struct pollfd fds[] = {{.fd = at_end ? -1 : s->tool.fd, .events = POLLIN},
				       {.fd = s->stop_fd, .events = POLLIN}};

		(void) poll(fds, 2, (int) (LOOK_NS / TRK_NS_PER_MS));
		if (fds[1].revents)
			return -ECANCELED;
		if (!at_end)
			at_end = read_some(s, &len);
		if (at_end < 0)
			return at_end;
		if (trk__tool_ended(&s->tool, ret_status)) {
			/* What it has left behind is killed, and the pipe has all that comes. */
			r = at_end ? 0 : read_some(s, &len);
			s->text[len] = '\0';
			return trk__tool_is_held() ? -ECANCELED : r < 0 ? r : 0;
		}
		if (trk__clock_monotonic_ns() > deadline_ns)
			return -ETIMEDOUT;
	}
	return r;
}

/* Killed, it is gone in a moment; unless it hangs in the driver, and then no other is started. */
static void put_away(struct trk_smi *s)
{
	uint64_t until_ns = trk__clock_monotonic_ns() + KILL_WAIT_NS;
	const struct timespec nap = {.tv_nsec = (long) TRK_NS_PER_MS};
	int status;

	trk__tool_kill(&s->tool);
	while (!trk__tool_ended(&s->tool, &status) && s->tool.slot >= 0 &&
	       trk__clock_monotonic_ns() < until_ns)
		(void) nanosleep(&nap, NULL);
}

static void complain(struct trk_smi *s, const char *text)
{
	(void) pthread_mutex_lock(&s->lock);
	(void) snprintf(s->wrong, sizeof(s->wrong), "%s", text);
	(void) pthread_mutex_unlock(&s->lock);
}

static void complain_of(struct trk_smi *s, int error, int status)
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
	complain(s, text);
}

/* Run it with these arguments; the output is in s->text. 0 with its status, or as follow(). */
static int run(struct trk_smi *s, char *const argument[], int *ret_status)
{
	char *argv[ARGUMENTS_MAX] = {s->file};
	int r;

	for (int i = 0; argument[i] && i + 2 < ARGUMENTS_MAX; i++)
		argv[i + 1] = argument[i];
	s->text[0] = '\0';
	if (s->tool.slot >= 0 && !trk__tool_ended(&s->tool, ret_status))
		return -EBUSY;
	r = trk__tool_start(&s->tool, s->file, argv, s->environment);
	if (r < 0)
		return r;
	r = follow(s, trk__clock_monotonic_ns() + s->patience_ns, ret_status);
	if (r < 0)
		put_away(s);
	trk__close(s->tool.fd);
	s->tool.fd = -1;
	return r;
}

/* ---- a round ---- */

static void write_query(const struct trk_smi *s, char query[QUERY_SIZE])
{
	size_t n = (size_t) snprintf(query, QUERY_SIZE, "--query-gpu=");

	for (int i = 0; i < TRK_SMI_FIELDS && n < QUERY_SIZE; i++)
		if (!s->refused[i] && (i != OLD_NAME || s->refused[i - 1]))
			n += (size_t) snprintf(query + n, QUERY_SIZE - n, "%s%s", i ? "," : "",
					       fields[i]);
}

/* Does the driver not know a field? Then it is left out from now on. */
static bool learn(struct trk_smi *s)
{
	char field[64];

	if (!trk__smi_refused(s->text, field, sizeof(field)))
		return false;
	for (int i = 1; i < TRK_SMI_FIELDS; i++)
		if (!strcmp(fields[i], field) && !s->refused[i])
			return s->refused[i] = true;
	return false;
}

static int ask_gpus(struct trk_smi *s)
{
	char query[QUERY_SIZE], format[] = "--format=csv,nounits";
	char *argument[] = {query, format, NULL};
	int r, status = 0;

	do {
		write_query(s, query);
		r = run(s, argument, &status);
	} while (r == 0 && learn(s));
	/* A GPU that is lost makes it fail, and the others stand in the table all the same. */
	if (r == 0 && trk__smi_gpus_parse(s->text, s->work->gpu, TRK_GPUS_MAX, &s->work->gpus) == 0)
		return 0;
	if (r != -ECANCELED)
		complain_of(s, r, status);
	return r ? r : -EBADMSG;
}

static int ask_apps(struct trk_smi *s)
{
	char query[] = "--query-compute-apps=gpu_uuid,pid,used_gpu_memory";
	char format[] = "--format=csv,nounits";
	char *argument[] = {query, format, NULL};
	struct trk_smi_found *w = s->work;
	int status, r = run(s, argument, &status);

	w->knows_processes =
		r == 0 &&
		trk__smi_apps_parse(s->text, w->process, TRK_SMI_PROCESSES_MAX, &w->processes) == 0;
	return r == -ECANCELED || r == -ETIMEDOUT ? r : 0;
}

/* It watches for a second, and draws too: one that only draws stands in no other list. */
static int ask_pmon(struct trk_smi *s)
{
	char pmon[] = "pmon", once[] = "-c", one[] = "1", what[] = "-s", both[] = "um";
	char *argument[] = {pmon, once, one, what, both, NULL};
	struct trk_smi_found *w = s->work;
	size_t more = 0;
	int status, r;

	if (s->no_pmon || w->first)
		return 0;
	r = run(s, argument, &status);
	w->knows_shares =
		r == 0 && trk__smi_pmon_parse(s->text, w->process + w->processes,
					      TRK_SMI_PROCESSES_MAX - w->processes, &more) == 0;
	w->processes += more;
	w->knows_processes |= w->knows_shares;
	s->no_pmon = r == 0 && !w->knows_shares; /* not with this driver, or these GPUs */
	return r == -ECANCELED || r == -ETIMEDOUT ? r : 0;
}

static int ask_instances(struct trk_smi *s)
{
	char list[] = "-L", *argument[] = {list, NULL};
	bool any = false;
	int status, r;

	for (size_t i = 0; i < s->work->gpus; i++)
		any |= s->work->gpu[i].device.mig;
	if (!any)
		return 0;
	r = run(s, argument, &status);
	if (r == 0)
		(void) trk__smi_list_parse(s->text, s->work->instance, TRK_SMI_INSTANCES_MAX,
					   &s->work->instances);
	return r == -ECANCELED || r == -ETIMEDOUT ? r : 0;
}

/* "Device Minor: 3" of /proc/driver/nvidia/gpus/0000:01:00.0/information; the program shows the domain
 * with eight digits. */
static int find_node(const struct trk_smi *s, const char *bus)
{
	char path[96], text[2048];
	const char *at;
	uint64_t minor;

	if (strlen(bus) < 12 || strchr(bus, '/'))
		return -1;
	(void) snprintf(path, sizeof(path), "driver/nvidia/gpus/%s/information",
			bus + strlen(bus) - 12);
	for (char *c = path; *c; c++)
		*c = *c >= 'A' && *c <= 'F' ? (char) (*c - 'A' + 'a') : *c;
	if (trk__read_at(s->env.proc_fd, path, text, sizeof(text)) < 0)
		return -1;
	at = strstr(text, "Device Minor:");
	at = at ? at + strlen("Device Minor:") : "";
	return trk__scan_u64(&at, &minor) && minor < 1024 ? (int) minor : -1;
}

int trk__smi_place_on(const struct trk_smi_found *f, const struct trk_smi_process *p,
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

static bool has_place(const struct trk_smi_found *f, const struct trk_smi_process *p)
{
	for (size_t i = 0; i < f->gpus; i++)
		if (trk__smi_place_on(f, p, &f->gpu[i]) >= 0)
			return true;
	return false;
}

/* A GPU that was there and is not listed any more has gone: it keeps its place. */
static void publish(struct trk_smi *s)
{
	struct trk_smi_found *w = s->work, *f = s->found;

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
		for (int k = 0; k < TRK_GPU_METRICS; k++)
			w->gpu[at].device.metric[k] = trk__gpu_unknown(TRK_GPU_LOST);
	}
	w->stale_ns = trk__clock_monotonic_ns() + STALE * s->period_ns + 2 * s->patience_ns;
	(void) pthread_mutex_lock(&s->lock);
	s->work = f;
	s->found = w;
	(void) snprintf(s->wrong, sizeof(s->wrong), "%s", w->gpus ? "" : "no device was found");
	(void) pthread_mutex_unlock(&s->lock);
}

int trk__smi_round(struct trk_smi *s)
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
