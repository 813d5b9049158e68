/* resource-tracker recommend: what to request next time, how sure that is, and where it runs
 * cheapest. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "answer/snippets.h"
#include "cli/named_runs.h"
#include "cli/server_options.h"
#include "recording/store.h"
#include "service/recommend.h"

enum { TEXT_MAX = 4 * 1024 * 1024, NOTE_MAX = 512 };

struct settings {
	struct trk_recommend_request request;
	const char *dir, *kind;
	const char *online; /* address of the Keeper; "": the usual one; NULL: not asked for */
	uint64_t input_bytes;
	struct trk_cloud instance; /* vendor "": not stated */
	bool json, no_servers;
};

#define WORD(field)  AT(request.words.field)
#define QUERY(field) AT(request.wishes.field)

static int set_tag(void *settings, const struct cli_option *o, const char *value)
{
	struct settings *s = settings;
	int r = trk__recommend_request_tag(&s->request, value);

	if (r == -EINVAL)
		cli_complain("recommend: --%s %s: not of the form KEY or KEY=VALUE", o->name,
			     value);
	else if (r < 0)
		cli_complain("recommend: --%s: too many or too long tags (2 kB in all)", o->name);
	return r < 0 ? EXIT_USAGE : 0;
}

/* Whether only lines to paste are printed. */
static bool is_snippet(const struct settings *s)
{
	return s->kind && strcmp(s->kind, "json") != 0;
}

/* A word that is one of a list. */
static int set_word(void *settings, const struct cli_option *o, const char *value)
{
	struct settings *s = settings;
	struct trk_error error = {.code = 0};
	bool is_kind = !strcmp(o->name, "for");

	if (is_kind)
		s->kind = value;
	if ((is_kind && !is_snippet(s)) ||
	    trk__recommend_request_set(&s->request, o->name, value, &error) == 0)
		return 0;
	return cli_reject(EXIT_USAGE, "recommend: --%s%s", error.message, is_kind ? " json" : "");
}

#define KIND_WORD(print, kind, ...) kind ", "

static const struct cli_option options[] = {
	{"method", 0, "default|original", "rule for memory and CPU (default)", set_word, 0},
	{"risk", 0, "cheap|default|safe",
	 "risk that the request is too small: cheap allows more, safe less (default)", set_word, 0},
	{"input-size", 0, "SIZE", "size of the next run's input", cli_set_size, AT(input_bytes)},
	{"tag", 0, "K[=V]", "tag of the next run; only earlier runs with this tag count (repeat)",
	 set_tag, 0},
	{"for", 0, "KIND", "print lines to paste: " TRK_SNIPPET_LIST(KIND_WORD) "json", set_word,
	 0},
	CLI_INSTANCE_OPTION(AT(instance)),
	CLI_SERVER_OPTIONS(WORD, QUERY),
	{"arch", 0, "x86_64|arm64|any",
	 "architecture of the servers (default: that of the run's machine)", cli_set_text,
	 WORD(arch)},
	{"allocation", 0, "KIND", "dedicated, shared, burstable or any (not burstable)",
	 cli_set_text, WORD(allocation)},
	{"order-by", 0, "KEY", "run-cost, price or score-per-price (run-cost)", set_word, 0},
	{"online", 0, "[=URL]",
	 "fetch prices from the Keeper API of Spare Cores, or of this address", cli_set_optional,
	 AT(online)},
	{"no-servers", 0, NULL, "do not list servers", cli_set_flag, AT(no_servers)},
	{"json", 0, NULL, "print JSON", cli_set_flag, AT(json)},
	{"recording", 0, "DIR", "directory of the recordings", cli_set_text, AT(dir)},
	CLI_MORE_OPTIONS,
	CLI_SERVER_MORE_OPTIONS(QUERY),
	{"url", 0, "URL", "address of the Keeper of --online", cli_set_text, AT(request.url)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static int write_answer(const struct settings *s, const struct trk_recommendation *answer)
{
	const struct trk_terminal_style style = cli_style(STDOUT_FILENO, TRK_TERMINAL_MAX);
	TRK_BUF_LOCAL(b, TEXT_MAX);
	TRK_BUF_LOCAL(note, NOTE_MAX);

	if (is_snippet(s))
		(void) trk__recommendation_lines(&b, answer, s->kind, &note);
	else if (s->json || s->kind)
		trk__recommendation_json(&b, answer);
	else
		trk__recommendation_text(&b, answer, &style);
	if (note.len)
		cli_complain("%s", note.data);
	return cli_print(&b);
}

static int ask(struct settings *s, const struct trk_service *service, struct trk_history *h,
	       const char *reference)
{
	struct trk_recommendation *answer = NULL;
	struct trk_error error = {.code = 0};
	struct cli_run_file file;
	int r = cli_run_find(s->dir, reference, &file);

	if (r != 0)
		return r;
	s->request.dirfd = file.dirfd;
	s->request.path = file.path;
	r = trk__recommend(service, h, &s->request, &answer, &error);
	cli_run_close(&file);
	r = r < 0 ? cli_fail("recommend", r, &error) : write_answer(s, answer);
	trk__recommendation_free(answer);
	return r;
}

static int find_and_ask(struct settings *s, const char *reference)
{
	const struct trk_service service = cli_service(s->dir);
	struct trk_history *h = NULL;
	char newest[TRK_RUN_ID_SIZE];
	int r = 0;

	/* Without any recording, complain about the reference. */
	if (service.history_url || trk__store_exists(service.dir))
		h = cli_history_open(&service, &r);
	if (!h && r != 0 && r != EXIT_NODATA)
		return r;
	/* A plain name is a job: use its newest run. */
	r = ask(s, &service, h, cli_newest_of(h, reference, "recommend", newest));
	trk__history_free(h);
	return r;
}

static int run(int argc, char **argv)
{
	static struct settings s;
	struct trk_recommend_request *q = &s.request;
	int at;

	trk__recommend_request_init(q);
	at = cli_options(&cli_recommend, argc, argv, &s);
	if (q->wishes.vram_bytes && !q->wishes.gpus)
		q->wishes.gpus = 1;
	if (s.input_bytes)
		q->input_bytes = (double) s.input_bytes;
	q->online = s.online != NULL;
	q->url = s.online && *s.online ? s.online : q->url;
	q->servers = !s.no_servers && !is_snippet(&s);
	q->stated = s.instance.vendor[0] ? &s.instance : NULL;
	return find_and_ask(&s, at < argc ? argv[at] : "@");
}

const struct cli_command cli_recommend = {
	.name = "recommend",
	.usage = "recommend [OPTIONS] [RUN|JOB]",
	.summary =
		"Print what to request for the next run, with confidence, and the cheapest server.",
	.details = "The advice is based on the earlier runs of the job. For memory, runs with the "
		   "same tags count, or "
		   "else\nruns with the same arguments. docs/advice.md explains the method.",
	.example = "resource-tracker recommend --for slurm @",
	.options = options,
	.operands = 1,
	.run = run,
};
