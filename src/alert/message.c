#include "alert/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alert/deliver.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/trust.h"
#include "base/utf8.h"

enum { LINE_SIZE = 2 * TRK_ALERT_SENTENCE_SIZE };

void trk__alert_text(char *ret, size_t size, const char *text)
{
	size_t len = 0, left = text ? strlen(text) : 0, n;

	for (; left > 0; text += n, left -= n) {
		bool hidden;

		n = trk__utf8_length(text, left);
		hidden = trk__utf8_is_hidden(text, n);
		n = n ? n : 1;
		if (len + (hidden ? 1 : n) >= size)
			break;
		memcpy(ret + len, hidden ? " " : text, hidden ? 1 : n);
		len += hidden ? 1 : n;
	}
	ret[len] = '\0';
}

static void take(const struct trk_json_doc *d, const char *key, char *ret, size_t size)
{
	trk__alert_text(ret, size, trk__json_get_text(d, trk__json_root(d), key));
}

static bool add_line(struct trk_alert_message *m, const char *line)
{
	size_t used = strlen(m->list), len = strlen(line);

	if (used + len + 2 > sizeof(m->list))
		return false;
	(void) snprintf(m->list + used, sizeof(m->list) - used, "%s\n", line);
	return true;
}

bool trk__alert_message_add(struct trk_alert_message *m, const char *format, ...)
{
	char raw[LINE_SIZE], line[LINE_SIZE + 1] = " ";
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	if (len < 0)
		return false;
	trk__alert_text(line + 1, LINE_SIZE, raw);
	/* A line that begins with a name must not become a heading or a line to paste. */
	return add_line(m, strchr("#$", line[1]) && line[1] != format[0] ? line : line + 1);
}

static void take_list(const struct trk_json_doc *d, struct trk_alert_message *m)
{
	const struct trk_json_value *list = trk__json_get(d, trk__json_root(d), "list");
	char line[LINE_SIZE];

	if (!list || list->type != TRK_JSON_ARRAY)
		return;
	for (const struct trk_json_value *v = trk__json_first(d, list); v;
	     v = trk__json_next(d, v)) {
		trk__alert_text(line, sizeof(line), trk__json_as_text(v));
		if (!add_line(m, line))
			break;
	}
}

int trk__alert_message_read(const char *json, size_t len, struct trk_alert_message *ret,
			    struct trk_error *reterr)
{
	TRK_JSON_DOC_CLEANUP struct trk_json_doc d = {.values = NULL};
	char state[TRK_ALERT_FIELD_SIZE];
	double at;
	int r = trk__json_read(json, len, NULL, "alert", &d, reterr);

	if (r < 0)
		return -EBADMSG;
	*ret = (struct trk_alert_message){.firing = true};
	take(&d, "rule", ret->rule, sizeof(ret->rule));
	take(&d, "severity", ret->severity, sizeof(ret->severity));
	take(&d, "state", state, sizeof(state));
	take(&d, "text", ret->text, sizeof(ret->text));
	take(&d, "fix", ret->fix, sizeof(ret->fix));
	take(&d, "job", ret->job, sizeof(ret->job));
	take(&d, "run", ret->run, sizeof(ret->run));
	take(&d, "host", ret->host, sizeof(ret->host));
	ret->value = trk__json_get_double(&d, trk__json_root(&d), "value");
	ret->limit = trk__json_get_double(&d, trk__json_root(&d), "limit");
	at = trk__json_get_double(&d, trk__json_root(&d), "time");
	ret->wall_ns = at > 0 && at < 1e10 ? (uint64_t) (at * 1e9) : 0;
	take_list(&d, ret);
	ret->firing = strcmp(state, "resolved") != 0;
	if (!ret->rule[0] || !ret->text[0] || (ret->firing && strcmp(state, "firing") != 0))
		return trk__error_set(reterr, -EBADMSG, "",
				      "an alert has rule, text, and a state: firing or resolved");
	return 0;
}

static void write_list(struct trk_json *j, const char *list)
{
	trk__json_key_open(j, "list", '[');
	for (const char *at = list; *at; at += strcspn(at, "\n") + 1)
		trk__json_text_n(j, at, strcspn(at, "\n"));
	trk__json_close(j, ']');
}

void trk__alert_message_write(const struct trk_alert_message *m, struct trk_buf *b)
{
	struct trk_json j;

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "rule", m->rule);
	trk__json_key_text(&j, "severity", m->severity);
	trk__json_key_text(&j, "state", m->firing ? "firing" : "resolved");
	trk__json_key_text(&j, "text", m->text);
	trk__json_key_text(&j, "fix", m->fix[0] ? m->fix : NULL);
	trk__json_key_double(&j, "value", m->value);
	trk__json_key_double(&j, "limit", m->limit);
	trk__json_key_text(&j, "job", m->job);
	trk__json_key_text(&j, "run", m->run);
	trk__json_key_text(&j, "host", m->host);
	if (m->list[0])
		write_list(&j, m->list);
	trk__json_key(&j, "time");
	trk__json_fixed(&j, (int64_t) (m->wall_ns / TRK_NS_PER_MS), 3);
	trk__json_close(&j, '}');
}

void trk__alert_message_line(const struct trk_alert_message *m, struct trk_buf *b)
{
	trk__buf_printf(b, "[%s] %s: %s%s%s", m->firing ? m->severity : "resolved", m->rule, m->job,
			m->job[0] ? ": " : "", m->text);
}

/* ---- the outbox ---- */

/* FILE: the sink in the first line, the message as JSON in the second. */
enum { FILE_MAX = 65536, KEPT_MAX = 1000, LISTED_MAX = 65536 };
static const char SUFFIX[] = ".alert";

static int write_file(int fd, const char *sink, const struct trk_alert_message *m)
{
	TRK_BUF_LOCAL(b, FILE_MAX);
	int r;

	trk__buf_printf(&b, "%s\n", sink);
	trk__alert_message_write(m, &b);
	trk__buf_putc(&b, '\n');
	r = b.error ? b.error : trk__write_all(fd, b.data, b.len);
	return r == 0 && fsync(fd) < 0 ? -errno : r;
}

int trk__alert_outbox_put(int dirfd, const char *sink, const struct trk_alert_message *m,
			  char ret_name[TRK_ALERT_OUTBOX_NAME_SIZE])
{
	char temporary[TRK_TEMPORARY_SIZE];
	int fd, r;

	(void) snprintf(ret_name, TRK_ALERT_OUTBOX_NAME_SIZE, "%020llu-%d%s",
			(unsigned long long) trk__clock_wall_ns(), (int) getpid(), SUFFIX);
	fd = trk__create_temporary_at(dirfd, ret_name, 0600, temporary);
	if (fd < 0)
		return fd;
	r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : write_file(fd, sink, m);
	if (r == 0 && renameat(dirfd, temporary, dirfd, ret_name) < 0)
		r = -errno;
	if (r == 0)
		return fd;
	(void) unlinkat(dirfd, temporary, 0);
	trk__close(fd);
	return r;
}

void trk__alert_outbox_done(int dirfd, const char *name)
{
	(void) unlinkat(dirfd, name, 0);
}

static bool is_ours(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > sizeof(SUFFIX) && len < TRK_ALERT_OUTBOX_NAME_SIZE &&
	       !strcmp(name + len - sizeof(SUFFIX) + 1, SUFFIX);
}

/* Whether no other process delivers it, or has done so since it was listed. */
static bool is_free(int fd)
{
	struct stat st;

	return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* True if it was removed or belongs to another process. */
static bool deliver(int dirfd, const char *name, trk_alert_outbox_fn *on_message, void *data)
{
	TRK_FD_CLEANUP int fd = trk__trust_open_entry(dirfd, name, NULL);
	struct trk_alert_message *m;
	char *text = NULL, *line;
	bool done = false;

	if (fd >= 0 && !is_free(fd))
		return true;
	m = malloc(sizeof(*m));
	if (fd < 0 || !m || trk__read_all_fd(fd, FILE_MAX, &text) < 0) {
		free(m);
		return false;
	}
	line = strchr(text, '\n');
	if (line) {
		*line++ = '\0';
		done = trk__alert_message_read(line, strlen(line), m, NULL) == 0 &&
		       on_message(data, text, m) == 0;
	}
	free(text);
	free(m);
	return done && unlinkat(dirfd, name, 0) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The names of the messages, oldest first, owned by *ret. 0 or a negative errno. */
static int list_messages(int dirfd, char *(*ret)[LISTED_MAX], int *ret_count)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(dirfd, ".");
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return -errno;
	while (n < LISTED_MAX && (entry = readdir(dir)))
		if (is_ours(entry->d_name) && ((*ret)[n] = strdup(entry->d_name)))
			n++;
	qsort(*ret, (size_t) n, sizeof((*ret)[0]), by_name);
	*ret_count = n;
	return 0;
}

int trk__alert_outbox_each(int dirfd, trk_alert_outbox_fn *on_message, void *data)
{
	char *(*name)[LISTED_MAX] = malloc(sizeof(*name));
	int n = 0, left = name ? list_messages(dirfd, name, &n) : -ENOMEM;

	for (int i = 0; i < n; i++) {
		left += i >= KEPT_MAX || !deliver(dirfd, (*name)[i], on_message, data);
		free((*name)[i]);
	}
	free(name);
	return left;
}
