/* The address of a request to the dashboard after its secret: a path, and arguments as NAME=VALUE, a
 * line each. Every answer has a status, and a view that was found is valid JSON. */
#include "serve/dashboard_server.c"

#include "fleet/dashboard.h"
#include "use_runs.h"
#include "../unit/past_runs.h"

#define TOKEN "0123456789012345678901234567890123456789abc"
enum { LINES_MAX = 40, RUNS = 12 };

struct MHD_Connection {
	char *line[LINES_MAX];
	size_t lines;
	unsigned int status;
};

struct MHD_Response {
	bool is_json;
	size_t len;
	void *body;
};

static struct MHD_Response response;

static const char *lookup(struct MHD_Connection *c, int kind, const char *key)
{
	size_t len = strlen(key);

	if (kind == TRK_HTTP_HEADER)
		return !strcmp(key, "Host") ? "127.0.0.1:8080" : NULL;
	for (size_t i = 1; i < c->lines; i++)
		if (!strncmp(c->line[i], key, len) && c->line[i][len] == '=')
			return c->line[i] + len + 1;
	return NULL;
}

static int each_value(struct MHD_Connection *c, int kind,
		      int (*fn)(void *data, int kind, const char *key, const char *value),
		      void *data)
{
	return fn(data, kind, "Host", "127.0.0.1:8080");
}

static struct MHD_Response *create(size_t size, void *body, int mode)
{
	response = (struct MHD_Response){.len = size, .body = body};
	return &response;
}

static int add_header(struct MHD_Response *r, const char *name, const char *value)
{
	FUZZ_CHECK(!strpbrk(value, "\r\n"));
	r->is_json |= !strcmp(value, "application/json");
	return TRK_HTTP_YES;
}

static int queue(struct MHD_Connection *c, unsigned int status, struct MHD_Response *r)
{
	struct trk_json_doc doc;

	c->status = status;
	if (r->is_json) {
		FUZZ_CHECK(trk__json_read(r->body, r->len, NULL, "", &doc, NULL) == 0);
		trk__json_doc_release(&doc);
	}
	return TRK_HTTP_YES;
}

static void destroy(struct MHD_Response *r)
{
	r->body = NULL;
}

static void fill(struct board *b)
{
	struct trk_past_run run;
	char job[8];

	past_run_init(&run);
	trk__fleet_rows_init(&b->rows, 1795334400, 3600);
	for (int i = 0; i < RUNS; i++) {
		run.start_s = 1795334400 - 3600.0 * i;
		run.duration_s = 60 + i;
		run.cpu_s = run.cpu_mean = run.cpu_max = 1 + i % 3;
		run.memory.bytes = (1 + i % 3) * 1048576.0;
		run.capacity[TRK_RESOURCE_CPU] =
			(struct trk_capacity){4, TRK_CAPACITY_REQUESTED, ""};
		run.capacity[TRK_RESOURCE_MEMORY_MIB] =
			(struct trk_capacity){4096, TRK_CAPACITY_REQUESTED, ""};
		run.cost_usd = 0.25;
		run.ended = true;
		run.code = i % 4 == 3;
		(void) snprintf(run.id, sizeof(run.id), "r-%08x", (unsigned int) i);
		(void) snprintf(job, sizeof(job), "job%d", i % 2);
		run.job = job;
		run.kind = "run";
		run.end_name = "exited";
		run.end = trk__past_run_end(&run);
		FUZZ_CHECK(trk__fleet_rows_add(&b->rows, &run) == 0);
	}
	FUZZ_CHECK(trk__fleet_rows_sort(&b->rows) == 0 &&
		   trk__dashboard_make(&b->rows, &b->dashboard) == 0);
	b->made = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct trk_service service = {.dir = "/nonexistent"};
	static struct server s = {
		.http = {lookup, each_value, create, add_header, queue, destroy},
		.board = {.service = &service, .page = {.max = PAGE_MAX}},
		.port = 8080,
		.token = TOKEN,
	};
	struct MHD_Connection c = {.lines = 0};
	char *text = fuzz_text(data, size), path[4096];
	void *state = NULL;
	size_t none = 0;

	if (!s.board.made)
		fill(&s.board);
	s.board.made_ns = trk__clock_monotonic_ns();
	for (char *line = text; line && c.lines < LINES_MAX;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		c.line[c.lines++] = line;
		line = end ? end + 1 : NULL;
	}
	(void) snprintf(path, sizeof(path), "/" TOKEN "/%s", c.line[0]);
	for (int i = 0; i < 2 && c.status == 0; i++)
		FUZZ_CHECK(answer_request(&s, &c, path, "GET", "HTTP/1.1", NULL, &none, &state) ==
			   TRK_HTTP_YES);
	FUZZ_CHECK(c.status == 200 || c.status == 400 || c.status == 404);
	free(text);
	return 0;
}
