#include "api/helper.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/helper_system.h"
#include "api/install_path.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/os.h"

enum { PATH_SIZE = 4096, WORDS_MAX = 24 };

/* ---- the program ---- */

/* The stated program; or that of the installation; or one next to the library, as in a Python
 * wheel; or one in PATH. */
static const char *program_of(const struct trk_helper_options *o, char *path)
{
	static const char *const places[] = {"../bin/", "../../bin/", ""};

	if (o->program)
		return o->program;
	if (access(TRK_PROGRAM, X_OK) == 0)
		return TRK_PROGRAM;
	return trk__install_path(places, 3, "resource-tracker", X_OK, path, PATH_SIZE)
		       ? path
		       : "resource-tracker";
}

static size_t count_of(char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

static size_t add_all(const char **word, size_t n, char *const *words)
{
	while (words && *words)
		word[n++] = *words++;
	return n;
}

static size_t add_options(const char **word, size_t n, const struct trk_helper_options *o)
{
	const struct {
		bool is_set;
		const char *option, *value;
	} options[] = {
		{o->job, "--job", o->job},
		{o->one_process, "--no-children", NULL},
		{o->no_system, "--no-system", NULL},
		{!o->argv, "--detach", NULL},
		{!o->argv && o->temporary, "--temporary", NULL},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!options[i].is_set)
			continue;
		word[n++] = options[i].option;
		if (options[i].value)
			word[n++] = options[i].value;
	}
	return n;
}

/* The arguments of the program; `text` holds the generated ones. */
static char **words_of(const struct trk_helper_options *o, int control_fd, char text[3][32])
{
	const char *const first[] = {"resource-tracker",
				     "internal",
				     o->argv  ? "run"
				     : o->pid ? "attach"
					      : "system",
				     "--quiet",
				     "--control-fd",
				     text[0],
				     "--interval",
				     text[1],
				     "--recording",
				     o->dir};
	size_t n = sizeof(first) / sizeof(first[0]);
	const char **word =
		calloc(WORDS_MAX + count_of(o->argv) + count_of(o->more), sizeof(*word));

	if (!word)
		return NULL;
	(void) snprintf(text[0], 32, "%d", control_fd);
	(void) snprintf(text[1], 32, "%llums",
			(unsigned long long) (o->interval_ns / TRK_NS_PER_MS));
	(void) snprintf(text[2], 32, "%d", (int) o->pid);
	memcpy(word, first, sizeof(first));
	n = add_options(word, n, o);
	n = add_all(word, n, o->more);
	word[n++] = "--";
	if (o->pid)
		word[n++] = text[2];
	(void) add_all(word, n, o->argv);
	return (char **) (void *) word;
}

static int start_process(struct trk_helper *h, const struct trk_helper_options *o, int fd,
			 char *error)
{
	char path[PATH_SIZE], text[3][32];
	const char *program = program_of(o, path);
	char **words = words_of(o, fd, text);
	pid_t pid = 0;
	int r = words ? trk__helper_spawn(program, words, fd, !o->argv, &pid) : -ENOMEM;

	free(words);
	(void) snprintf(h->program, sizeof(h->program), "%s", program);
	if (r < 0) {
		(void) snprintf(error, TRK_HELPER_TEXT_SIZE, "%.200s: %s", program,
				trk__strerror(r));
		return r;
	}
	if (o->argv)
		h->job_pid = pid;
	return 0;
}

/* ---- life ---- */

int trk__helper_start(struct trk_helper *h, const struct trk_helper_options *o,
		      char error[TRK_HELPER_TEXT_SIZE])
{
	int pair[2], r = trk__os_socket_pair(pair);

	*h = (struct trk_helper){.control = {.fd = -1}};
	if (r < 0) {
		(void) snprintf(error, TRK_HELPER_TEXT_SIZE, "socket: %s", trk__strerror(r));
		return r;
	}
	if (o->in_thread) {
		r = trk__helper_thread(h, o, pair[1]);
		(void) snprintf(error, TRK_HELPER_TEXT_SIZE, "thread: %s", trk__strerror(r));
	} else {
		r = start_process(h, o, pair[1], error);
	}
	(void) close(pair[1]);
	if (r < 0)
		(void) close(pair[0]);
	else
		h->control.fd = pair[0];
	h->identity = trk__fd_identity(h->control.fd);
	return r;
}

int trk__helper_fd(struct trk_helper *h)
{
	if (h->control.fd >= 0 && !trk__fd_is(h->control.fd, h->identity))
		h->control.fd = -1;
	return h->control.fd;
}

char *trk__helper_alert(struct trk_helper *h)
{
	char *text = h->alerts ? h->alert[0] : NULL;

	if (text)
		memmove(&h->alert[0], &h->alert[1], --h->alerts * sizeof(h->alert[0]));
	return text;
}

/* The next line that is not an alert. */
static int next_line(struct trk_helper *h, char *line)
{
	int r;

	while ((r = trk__control_next(&h->control, line)) > 0 && !strncmp(line, "alert ", 6)) {
		char *text = strdup(line + 6);

		if (h->alerts == TRK_HELPER_ALERTS_MAX)
			free(trk__helper_alert(h));
		if (text)
			h->alert[h->alerts++] = text;
	}
	return r;
}

int trk__helper_line(struct trk_helper *h, int timeout_ms, char line[TRK_CONTROL_LINE])
{
	uint64_t now = trk__clock_monotonic_ns();
	uint64_t end = now + (uint64_t) timeout_ms * TRK_NS_PER_MS;
	const struct timespec nap = {.tv_nsec = TRK_NS_PER_MS};
	int r;

	if (trk__helper_fd(h) < 0)
		return -EPIPE;
	while ((r = next_line(h, line)) == 0 && now < end) {
		struct pollfd fd = {.fd = h->control.fd, .events = POLLIN};

		if (poll(&fd, 1, (int) ((end - now + TRK_NS_PER_MS - 1) / TRK_NS_PER_MS)) < 0)
			(void) nanosleep(&nap, NULL); /* no busy loop if poll fails */
		now = trk__clock_monotonic_ns();
	}
	return r;
}

int trk__helper_stop(struct trk_helper *h, int exit_code, int timeout_ms)
{
	char line[TRK_CONTROL_LINE], code[16] = "";
	int r;

	if (trk__helper_fd(h) < 0)
		return 0;
	if (exit_code >= 0)
		(void) snprintf(code, sizeof(code), "%d", exit_code);
	if (!h->job_pid)
		(void) trk__control_send(h->control.fd, "stop", code);
	while ((r = trk__helper_line(h, timeout_ms, line)) > 0)
		;
	if (r == 0)
		return -ETIMEDOUT;
	if (h->threaded && !h->joined)
		h->joined = pthread_join(h->thread, NULL) == 0;
	return 0;
}

void trk__helper_release(struct trk_helper *h)
{
	trk__close(trk__helper_fd(h));
	h->control.fd = -1;
	while (h->alerts)
		free(h->alert[--h->alerts]);
	if (h->threaded && !h->joined) {
		(void) pthread_detach(h->thread);
		h->joined = true;
	}
}
