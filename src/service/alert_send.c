#include "service/alert_send.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trust.h"
#include "recording/store.h"

enum { PATH_SIZE = 4096, FAILED_MAX = 16 };
static const double KEPT_S = 7 * 86400;

/* ---- the address and the account ---- */

/* The first line of a file. */
static int read_secret(const struct trk_alert_sender *s, const char *path,
		       char text[TRK_ALERT_SECRET_SIZE])
{
	TRK_FD_CLEANUP int fd = trk__open_regular_at(AT_FDCWD, path);
	ssize_t len = fd < 0 ? fd : read(fd, text, TRK_ALERT_SECRET_SIZE - 1);
	int r = fd < 0 ? fd : len < 0 ? -errno : 0;

	if (r < 0) {
		trk__service_note(&s->service, "%s: %s", path, trk__strerror(r));
		return r == -EIO ? -EBADF : r; /* -EIO: only this sink failed */
	}
	text[len] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	return 0;
}

/* Read an address @FILE or $NAME from the file or variable, so that no command line contains the
 * secret. */
static int read_address(const struct trk_alert_sender *s, const char *text,
			char address[TRK_ALERT_SECRET_SIZE])
{
	const char *value = *text == '$' ? s->variable(text + 1) : text;

	if (*text == '@')
		return read_secret(s, text + 1, address);
	if (!value || strlen(value) >= TRK_ALERT_SECRET_SIZE) {
		trk__service_note(&s->service, "%s: %s. Try: export %s=https://…", text,
				  value ? "too long" : "not set", text + 1);
		return -EINVAL;
	}
	(void) snprintf(address, TRK_ALERT_SECRET_SIZE, "%s", value);
	return 0;
}

struct account {
	struct trk_alert_account names;
	char password[TRK_ALERT_SECRET_SIZE], key[TRK_ALERT_SECRET_SIZE];
};

static int read_account(const struct trk_alert_sender *s, struct account *a)
{
	const char *password = s->variable("TRACKER_SMTP_PASSWORD_FILE");
	const char *key = s->variable("TRACKER_ALERT_KEY_FILE");
	int r = 0;

	a->names = (struct trk_alert_account){
		.smtp_url = s->variable("TRACKER_SMTP"),
		.smtp_user = s->variable("TRACKER_SMTP_USER"),
		.mail_from = s->variable("TRACKER_MAIL_FROM"),
		.hosts = s->variable("TRACKER_ALERT_HOSTS"),
	};
	if (password && *password) {
		r = read_secret(s, password, a->password);
		a->names.smtp_password = a->password;
	}
	if (r == 0 && key && *key) {
		r = read_secret(s, key, a->key);
		a->names.key = a->key;
	}
	return r;
}

/* ---- sinks ---- */

/* A sink to send to. NULL after a note. */
static const struct trk_alert_sink *find_sink(const struct trk_alert_sender *s, const char *text,
					      const char **ret_address)
{
	const struct trk_alert_sink *sink = trk__alert_sink_parse(s, text, ret_address);

	if (!sink || !trk__alert_delivers_nothing)
		return sink;
	trk__service_note(&s->service, "alerts: %s: %s", sink->kind, trk__alert_delivers_nothing);
	return NULL;
}

int trk__alert_route(const struct trk_alert_sender *s, const char *text,
		     struct trk_alert_route *ret)
{
	const char *address;
	const struct trk_alert_sink *sink = find_sink(s, text, &address);

	if (!sink)
		return -EINVAL;
	*ret = (struct trk_alert_route){.kind = sink->kind, .key = trk__alert_sink_key(text)};
	return 0;
}

int trk__alert_send(const struct trk_alert_sender *s, const char *text,
		    const struct trk_alert_message *m)
{
	const char *where;
	const struct trk_alert_sink *sink = find_sink(s, text, &where);
	char address[TRK_ALERT_SECRET_SIZE];
	struct account account;
	struct trk_error error = {.code = 0};
	int r = sink ? read_account(s, &account) : -EINVAL;

	if (r == 0)
		r = read_address(s, where, address);
	if (r < 0)
		return r;
	r = trk__alert_deliver(sink, address, &account.names, m, &error);
	if (r < 0)
		trk__service_note(&s->service, "alerts: %s", error.message);
	return r == -EINVAL ? -EACCES : r; /* -EINVAL: a wrong argument */
}

/* ---- the state directory ---- */

/* Made where it is missing. A descriptor or a negative error. */
static int open_state(const struct trk_alert_sender *s)
{
	const char *dir = s->service.dir;
	struct trk_error error = {.code = 0};
	int fd;

	if (!dir || !*dir)
		return -ENOENT; /* the note was written before */
	fd = trk__store_open(dir, true, &error);
	if (fd >= 0) {
		trk__close(fd);
		fd = trk__trust_open_named_dir(dir);
	}
	if (fd < 0)
		trk__service_note(&s->service, "%s: %s", dir, trk__error_text(&error, fd));
	return fd;
}

int trk__alert_store_open(const struct trk_alert_sender *s, struct trk_alert_store *ret)
{
	struct trk_error error = {.code = 0};
	char name[TRK_ALERT_NAME_SIZE];

	ret->dirfd = open_state(s);
	if (ret->dirfd < 0)
		return ret->dirfd;
	ret->lock = trk__alert_book_load(ret->dirfd, &ret->book, &error);
	trk__alert_own_name(ret->dirfd, "alerts.json", name);
	if (ret->lock < 0 || error.code)
		trk__service_note(&s->service, "%s/%s: %s%s", s->service.dir, name,
				  trk__error_text(&error, ret->lock),
				  ret->lock < 0 ? "" : "; ignored");
	if (ret->lock >= 0)
		return 0;
	trk__close(ret->dirfd);
	return ret->lock;
}

int trk__alert_store_close(const struct trk_alert_sender *s, struct trk_alert_store *b,
			   bool changed)
{
	char name[TRK_ALERT_NAME_SIZE];
	int r = 0;

	if (changed)
		r = trk__alert_book_save(b->dirfd, b->lock, &b->book);
	else
		trk__close(b->lock);
	trk__alert_own_name(b->dirfd, "alerts.json", name);
	if (r < 0)
		trk__service_note(&s->service, "%s/%s: cannot write: %s", s->service.dir, name,
				  trk__strerror(r));
	trk__close(b->dirfd);
	trk__alert_book_release(&b->book);
	return r;
}

/* ---- the outbox ---- */

/* Made where it is missing. A descriptor or a negative error. */
static int open_outbox(const struct trk_alert_sender *s)
{
	char path[PATH_SIZE + TRK_ALERT_NAME_SIZE], name[TRK_ALERT_NAME_SIZE];
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int state = open_state(s);
	int r = 0;

	if (state < 0)
		return state;
	trk__alert_own_name(state, "outbox", name);
	(void) snprintf(path, sizeof(path), "%.4000s/%s", s->service.dir, name);
	if (mkdirat(state, name, 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r == 0)
		r = trk__trust_open_dir(path, TRK_TRUST_FIND, &error);
	if (r < 0)
		trk__service_note(&s->service, "%s", trk__error_text(&error, r));
	return r;
}

/* A sink that did not answer is not tried again in the same flush: each try may take its full
 * timeout. */
struct flushing {
	const struct trk_alert_sender *sender;
	uint32_t failed[FAILED_MAX];
	size_t count;
};

static int deliver_again(void *data, const char *sink, const struct trk_alert_message *m)
{
	struct flushing *f = data;
	uint32_t key = trk__alert_sink_key(sink);
	int r = 0;

	for (size_t i = 0; i < f->count && r == 0; i++)
		r = f->failed[i] == key ? -EIO : 0;
	if (r == 0)
		r = trk__alert_send(f->sender, sink, m);
	if (r == -EPROTO) {
		trk__service_note(&f->sender->service,
				  "alerts: %s of %s: not kept, as the sink refuses it", m->rule,
				  m->job);
		return 0;
	}
	if (r < 0 && f->count < FAILED_MAX)
		f->failed[f->count++] = key;
	if (r < 0 && (double) m->wall_ns / 1e9 + KEPT_S < f->sender->now_s) {
		trk__service_note(&f->sender->service, "alerts: %s of %s: given up after 7 days",
				  m->rule, m->job);
		return 0;
	}
	return r;
}

int trk__alert_outbox_flush(const struct trk_alert_sender *s)
{
	TRK_FD_CLEANUP int fd = open_outbox(s);
	struct flushing f = {.sender = s};
	int left = fd < 0 ? fd : trk__alert_outbox_each(fd, deliver_again, &f);

	if (left > 0)
		trk__service_note(&s->service,
				  "alerts: messages in the outbox that are not delivered yet: %d",
				  left);
	return left > 0 ? -EAGAIN : left;
}

/* ---- the queue ---- */

void trk__alert_queue_add(struct trk_alert_queue *q, const char *sink,
			  const struct trk_alert_message *m)
{
	struct trk_alert_queued *one = &q->at[q->count];

	if (q->count == TRK_ALERT_QUEUE_MAX)
		return;
	one->message = malloc(sizeof(*m));
	if (!one->message)
		return;
	*one->message = *m;
	one->sink = sink;
	if (q->count == 0)
		q->outbox = open_outbox(q->sender);
	one->fd = q->outbox < 0 ? -1 : trk__alert_outbox_put(q->outbox, sink, m, one->name);
	q->count++;
}

void trk__alert_queue_collect(struct trk_alert_queue *q, struct trk_alert_book *b, const char *sink,
			      const struct trk_alert_route *route)
{
	struct trk_alert_message *m = malloc(sizeof(*m));

	while (m && q->count < TRK_ALERT_QUEUE_MAX &&
	       trk__alert_book_collect(b, route, true, q->sender->now_s, m))
		trk__alert_queue_add(q, sink, m);
	free(m);
}

static int send_queued(struct trk_alert_queue *q, struct trk_alert_queued *one)
{
	int r = trk__alert_send(q->sender, one->sink, one->message);

	if (r < 0)
		trk__service_note(
			&q->sender->service,
			r == -EPROTO ? "alerts: not kept: the sink refuses the message"
			: one->fd >= 0
				? "alerts: kept in the outbox. Try: resource-tracker alerts flush"
				: "alerts: lost: the outbox cannot be written to");
	/* What a sink refuses would be refused again; settings that it lacks may be set. */
	if (one->fd >= 0 && (r == 0 || r == -EPROTO))
		trk__alert_outbox_done(q->outbox, one->name);
	trk__close(one->fd);
	free(one->message);
	return r;
}

int trk__alert_queue_send(struct trk_alert_queue *q)
{
	int worst = 0;

	for (size_t i = 0; i < q->count; i++) {
		int r = send_queued(q, &q->at[i]);

		worst = r < 0 ? r : worst;
	}
	if (q->count)
		trk__close(q->outbox);
	q->count = 0;
	return worst;
}
