#include "cli/alert_send.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alert/deliver.h"
#include "alert/end.h"
#include "alert/outbox.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/trust.h"
#include "cli/config.h"
#include "cli/environment.h"

enum {
	PATH_SIZE = 4096,
	SECRET_SIZE = 2048,
	SINK_SIZE = 1000,
	SINKS_ROOM = 16384,
	FAILED_MAX = 16
};
static const double KEPT_S = 7 * 86400;

/* ---- options ---- */

const char *cli_alert_rule_names(void)
{
	static char names[512];

	if (names[0])
		return names;
	(void) snprintf(names, sizeof(names), "all");
	for (int i = 0; i < (int) TRK_ALERT_RULES + (int) TRK_ALERT_END_RULES; i++) {
		size_t used = strlen(names);

		(void) snprintf(names + used, sizeof(names) - used, ", %s",
				trk__alert_hook_rule(i));
	}
	return names;
}

static int take_passed(const struct cli_command *configured, void *settings)
{
	static const char *const passed[][2] = {{"alert", "TRACKER_ALERT"},
						{"quiet-hours", "TRACKER_QUIET_HOURS"}};
	int r = 0;

	for (size_t i = 0; i < 2 && r == 0; i++) {
		const struct cli_option *o = configured->options;
		const char *value = getenv(passed[i][1]);

		while (strcmp(o->name, passed[i][0]) != 0)
			o++;
		cli_speak_of(passed[i][1]);
		if (value && *value)
			r = o->take(settings, o, value);
		cli_speak_of(NULL);
	}
	return r;
}

int cli_alert_configure(const struct cli_command *configured, int argc, char **argv, void *settings)
{
	char **words;
	int r;

	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--no-config"))
			return take_passed(configured, settings);
	/* Looking for --config puts arguments in another order, by the options that it knows. */
	words = calloc((size_t) argc + 1, sizeof(*words));
	if (!words)
		return EXIT_ERROR;
	memcpy(words, argv, (size_t) argc * sizeof(*words));
	r = cli_config(configured, argc, words, settings, NULL);
	free(words);
	return r;
}

/* Settings borrow their texts. */
static const char *keep(const char *text, size_t len)
{
	static char room[SINKS_ROOM];
	static size_t used;
	char *kept = room + used;

	if (len >= SINK_SIZE || len + 1 > sizeof(room) - used)
		return NULL;
	memcpy(kept, text, len);
	kept[len] = '\0';
	used += len + 1;
	return kept;
}

/* RULE= may stand before it. */
static bool is_secret_shown(const char *sink)
{
	const char *equals = strchr(sink, '=');

	return cli_alert_shows_secret(equals && equals < sink + strcspn(sink, ":") ? equals + 1
										   : sink);
}

int cli_take_sink(void *settings, const struct cli_option *o, const char *value)
{
	struct trk_alert_hooks *h = (void *) ((char *) settings + o->offset);

	for (const char *at = value + strspn(value, " \n"); *at; at += strspn(at, " \n")) {
		size_t len = strcspn(at, " \n");
		const char *sink = keep(at, len);
		int r = sink ? trk__alert_hooks_add_sink(h, sink) : -ENOSPC;

		if (r == -ENOSPC)
			cli_complain("--%s: more than %d, or too long", o->name,
				     TRK_ALERT_HOOKS_MAX);
		else if (r < 0)
			cli_complain("--%s %.*s: not of the form [RULE=]KIND:ADDRESS. Kinds: mail, "
				     "slack, teams, discord, json, alertmanager. Rules: %s",
				     o->name, (int) strcspn(sink, ":"), sink,
				     cli_alert_rule_names());
		if (r < 0 || (cli_is_of_flag() && is_secret_shown(sink)))
			return EXIT_USAGE;
		at += len;
	}
	return 0;
}

int cli_take_hook(void *settings, const struct cli_option *o, const char *value)
{
	struct trk_alert_hooks *h = (void *) ((char *) settings + o->offset);
	int r = trk__alert_hooks_add(h, value);

	if (r == -ENOSPC)
		cli_complain("--%s %s: more than %d", o->name, value, TRK_ALERT_HOOKS_MAX);
	else if (r < 0)
		cli_complain("--%s %s: not of the form RULE=COMMAND. Rules: %s", o->name, value,
			     cli_alert_rule_names());
	return r < 0 ? EXIT_USAGE : 0;
}

int cli_take_quiet_hours(void *settings, const struct cli_option *o, const char *value)
{
	struct trk_alert_route route;

	if (trk__alert_quiet_parse(value, &route) < 0) {
		cli_complain("--%s %s: not of the form HH:MM-HH:MM, such as 22:00-07:00", o->name,
			     value);
		return EXIT_USAGE;
	}
	return cli_set_text(settings, o, value);
}

double cli_alert_now(const struct cli_alert_settings *s)
{
	double now = 0;

	if (s->now && trk__parse_decimal(s->now, &now) == 0 && now > 0 && now < 1e10)
		return now;
	return (double) trk__clock_wall_ns() / 1e9;
}

int cli_take_until(const char *text, double *ret_s)
{
	struct tm tm = {.tm_isdst = -1};
	const char *end = strptime(text, "%Y-%m-%d", &tm);

	if (end && !*end)
		tm.tm_mday++;
	else if (end)
		end = strptime(end + (*end == 'T'), "%H:%M", &tm);
	if (!end || *end) {
		cli_complain(
			"alerts: --until %s: not a date such as 2026-12-24 or '2026-12-24 08:00'",
			text);
		return EXIT_USAGE;
	}
	*ret_s = (double) mktime(&tm);
	return 0;
}

double cli_utc_offset(double now_s)
{
	time_t now = (time_t) now_s;
	struct tm tm;

	return localtime_r(&now, &tm) ? (double) tm.tm_gmtoff : 0;
}

/* ---- the address and the account ---- */

/* The first line of a file. 0, or an exit status after having complained. */
static int read_secret(const char *path, char text[SECRET_SIZE])
{
	TRK_FD_CLEANUP int fd = trk__open_regular_at(AT_FDCWD, path);
	ssize_t len = fd < 0 ? fd : read(fd, text, SECRET_SIZE - 1);

	if (len < 0) {
		cli_complain("%s: %s", path, trk__strerror(fd < 0 ? fd : -errno));
		return EXIT_ERROR;
	}
	text[len] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	return 0;
}

/* An address that is @FILE or $NAME is read from there, so that a secret is in no command line. */
static int read_address(const char *text, char address[SECRET_SIZE])
{
	const char *value = *text == '$' ? getenv(text + 1) : text;

	if (*text == '@')
		return read_secret(text + 1, address);
	if (!value || strlen(value) >= SECRET_SIZE) {
		cli_complain("%s: not set. Try: export %s=https://…", text, text + 1);
		return EXIT_USAGE;
	}
	(void) snprintf(address, SECRET_SIZE, "%s", value);
	return 0;
}

struct account {
	struct trk_alert_account names;
	char password[SECRET_SIZE], key[SECRET_SIZE];
};

static int read_account(struct account *a)
{
	const char *password = getenv("TRACKER_SMTP_PASSWORD_FILE");
	const char *key = getenv("TRACKER_ALERT_KEY_FILE");
	int r = 0;

	a->names = (struct trk_alert_account){
		.smtp_url = getenv("TRACKER_SMTP"),
		.smtp_user = getenv("TRACKER_SMTP_USER"),
		.smtp_password = getenv("TRACKER_SMTP_PASSWORD"),
		.mail_from = getenv("TRACKER_MAIL_FROM"),
		.hosts = getenv("TRACKER_ALERT_HOSTS"),
	};
	if (password && *password) {
		r = read_secret(password, a->password);
		a->names.smtp_password = a->password;
	}
	if (r == 0 && key && *key) {
		r = read_secret(key, a->key);
		a->names.key = a->key;
	}
	return r;
}

/* ---- sinks ---- */

/* KIND:ADDRESS. NULL after having complained. */
static const struct trk_alert_sink *parse_sink(const char *text, const char **address)
{
	const char *colon = strchr(text, ':');
	const struct trk_alert_sink *sink =
		colon ? trk__alert_sink_find(text, (size_t) (colon - text)) : NULL;

	if (!sink || !colon[1]) {
		cli_complain(
			"alerts: %.*s: not of the form KIND:ADDRESS. Kinds: mail, slack, teams, "
			"discord, json, alertmanager",
			(int) strcspn(text, ":"), text);
		return NULL;
	}
	*address = colon + 1;
	return sink;
}

bool cli_alert_shows_secret(const char *text)
{
	const char *address;
	const struct trk_alert_sink *sink = parse_sink(text, &address);

	if (!sink || !sink->secret || *address == '@' || *address == '$')
		return sink == NULL;
	cli_complain(
		"alerts: %s: its address is a secret, and a command line is shown to all. Try: "
		"%s:@FILE, or '%s:$NAME'",
		sink->kind, sink->kind, sink->kind);
	return true;
}

int cli_alert_route(const struct cli_alert_settings *s, const char *text, double now_s,
		    struct trk_alert_route *ret)
{
	const char *address;
	const struct trk_alert_sink *sink = parse_sink(text, &address);

	if (!sink)
		return EXIT_USAGE;
	*ret = (struct trk_alert_route){.kind = sink->kind,
					.key = trk__alert_sink_key(text),
					.utc_offset_s = cli_utc_offset(now_s)};
	if (s->quiet_hours)
		(void) trk__alert_quiet_parse(s->quiet_hours, ret);
	return 0;
}

int cli_alert_deliver(const char *text, const struct trk_alert_message *m)
{
	const char *where;
	const struct trk_alert_sink *sink = parse_sink(text, &where);
	char address[SECRET_SIZE];
	struct account account;
	struct trk_error error = {.code = 0};
	int r;

	if (!sink)
		return EXIT_USAGE;
	r = read_account(&account);
	if (r == 0)
		r = read_address(where, address);
	if (r != 0)
		return r;
	r = trk__alert_deliver(sink, address, &account.names, m, &error);
	if (r < 0)
		cli_complain("alerts: %s", error.message);
	return r == 0 ? EXIT_OK : r == -EIO ? EXIT_NODATA : EXIT_ERROR;
}

/* ---- the state directory ---- */

static int open_store(const struct cli_alert_settings *s, const char **ret_dir)
{
	const char *dir = cli_state_dir(s->dir);
	struct trk_error error = {.code = 0};
	int fd;

	*ret_dir = dir;
	if (!*dir)
		return -1;
	fd = trk__store_open(dir, true, &error); /* makes it */
	if (fd >= 0) {
		trk__close(fd);
		fd = trk__open_dir_at(AT_FDCWD, dir);
	}
	if (fd < 0)
		cli_complain("%s: %s", dir, error.message[0] ? error.message : trk__strerror(fd));
	return fd < 0 ? -1 : fd;
}

int cli_alert_book_open(const struct cli_alert_settings *s, struct cli_alert_book *ret)
{
	struct trk_error error = {.code = 0};
	const char *dir;

	ret->dirfd = open_store(s, &dir);
	if (ret->dirfd < 0)
		return EXIT_ERROR;
	ret->lock = trk__alert_book_load(ret->dirfd, &ret->book, &error);
	if (ret->lock >= 0)
		return 0;
	cli_complain("%s/alerts.json: %s", dir,
		     error.message[0] ? error.message : trk__strerror(ret->lock));
	trk__close(ret->dirfd);
	return EXIT_ERROR;
}

int cli_alert_book_close(struct cli_alert_book *b, bool changed)
{
	int r = 0;

	if (changed)
		r = trk__alert_book_save(b->dirfd, b->lock, &b->book);
	else
		trk__close(b->lock);
	if (r < 0)
		cli_complain("alerts.json: cannot write: %s", trk__strerror(r));
	trk__close(b->dirfd);
	trk__alert_book_release(&b->book);
	return r < 0 ? EXIT_ERROR : 0;
}

/* ---- the outbox ---- */

/* A descriptor of the outbox, made where it is missing, or -1 after having complained. */
static int open_outbox(const struct cli_alert_settings *s)
{
	char path[PATH_SIZE + 8];
	struct trk_error error = {.code = 0};
	const char *dir;
	TRK_FD_CLEANUP int store = open_store(s, &dir);
	int fd;

	if (store < 0)
		return -1;
	(void) snprintf(path, sizeof(path), "%.4000s/outbox", dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		cli_complain("%s: %s", path, strerror(errno));
		return -1;
	}
	fd = trk__trust_open_dir(path, TRK_TRUST_FIND, &error);
	if (fd < 0)
		cli_complain("%s", error.message[0] ? error.message : trk__strerror(fd));
	return fd < 0 ? -1 : fd;
}

/* Sinks that did not answer are not asked again at once: each may take the whole of its time. */
struct flushing {
	double now_s;
	uint32_t failed[FAILED_MAX];
	size_t count;
};

static int deliver_again(void *data, const char *sink, const struct trk_alert_message *m)
{
	struct flushing *f = data;
	uint32_t key = trk__alert_sink_key(sink);
	int r = EXIT_OK;

	for (size_t i = 0; i < f->count && r == EXIT_OK; i++)
		r = f->failed[i] == key ? EXIT_NODATA : EXIT_OK;
	if (r == EXIT_OK)
		r = cli_alert_deliver(sink, m);
	if (r != EXIT_OK && f->count < FAILED_MAX)
		f->failed[f->count++] = key;
	if (r != EXIT_OK && (double) m->wall_ns / 1e9 + KEPT_S < f->now_s) {
		cli_complain("alerts: %s of %s: given up after 7 days", m->rule, m->job);
		return EXIT_OK;
	}
	return r;
}

int cli_alert_outbox_flush(const struct cli_alert_settings *s)
{
	TRK_FD_CLEANUP int fd = open_outbox(s);
	struct flushing f = {.now_s = cli_alert_now(s)};
	int left = fd < 0 ? fd : trk__alert_outbox_each(fd, deliver_again, &f);

	if (fd < 0)
		return EXIT_ERROR;
	if (left > 0)
		cli_complain("alerts: %d wait in the outbox", left);
	return left == 0 ? EXIT_OK : EXIT_ERROR;
}

/* ---- the queue ---- */

void cli_alert_queue(struct cli_alert_queue *q, const char *sink, const struct trk_alert_message *m)
{
	struct cli_alert_queued *one = &q->at[q->count];

	if (q->count == CLI_ALERT_QUEUE_MAX)
		return;
	one->message = malloc(sizeof(*m));
	if (!one->message)
		return;
	*one->message = *m;
	one->sink = sink;
	if (q->count == 0)
		q->outbox = open_outbox(q->settings);
	one->fd = q->outbox < 0 ? -1 : trk__alert_outbox_put(q->outbox, sink, m, one->name);
	q->count++;
}

void cli_alert_collect(struct cli_alert_queue *q, struct trk_alert_book *b, const char *sink,
		       const struct trk_alert_route *route, double now_s)
{
	struct trk_alert_message *m = malloc(sizeof(*m));

	while (m && q->count < CLI_ALERT_QUEUE_MAX &&
	       trk__alert_book_collect(b, route, true, now_s, m))
		cli_alert_queue(q, sink, m);
	free(m);
}

static int send_queued(struct cli_alert_queue *q, struct cli_alert_queued *one)
{
	int r = cli_alert_deliver(one->sink, one->message);

	if (r == EXIT_NODATA) {
		cli_complain(
			one->fd >= 0
				? "alerts: kept in the outbox. Try: resource-tracker alerts flush"
				: "alerts: lost: the outbox cannot be written to");
		r = EXIT_ERROR;
	} else if (one->fd >= 0) {
		trk__alert_outbox_done(q->outbox, one->name);
	}
	trk__close(one->fd);
	free(one->message);
	return r;
}

int cli_alert_queue_send(struct cli_alert_queue *q)
{
	int worst = 0;

	for (size_t i = 0; i < q->count; i++) {
		int r = send_queued(q, &q->at[i]);

		worst = r > worst ? r : worst;
	}
	if (q->count)
		trk__close(q->outbox);
	q->count = 0;
	return worst;
}

/* ---- GitHub ---- */

bool cli_is_github(void)
{
	const char *github = getenv("GITHUB_ACTIONS");

	return github && !strcmp(github, "true");
}

/* A line of a workflow's log that GitHub reads: per cent signs and line ends are its own. */
void cli_alert_github(struct trk_buf *b, const char *rule, const char *text)
{
	trk__buf_printf(b, "::warning title=resource-tracker %s::", rule);
	for (; *text; text++) {
		if (*text == '%' || *text == '\r' || *text == '\n')
			trk__buf_printf(b, "%%%02X", (unsigned char) *text);
		else
			trk__buf_putc(b, *text);
	}
	trk__buf_putc(b, '\n');
}
