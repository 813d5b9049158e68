/* A request to the local dashboard: method, path, headers and a body, one per line; an empty line is
 * one that is missing. The answer must follow the rules of gate.h. */
#include "serve/gate.h"

#include "fuzz.h"

#define TOKEN "0123456789012345678901234567890123456789abc"
enum { PORT = 8080 };

/* The next line, ended in place; NULL: none, or an empty one. */
static const char *next_line(char **at)
{
	char *line = *at, *end;

	if (!line)
		return NULL;
	end = strchr(line, '\n');
	*at = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return *line ? line : NULL;
}

static void check_open(const struct trk_gate_request *r, const char *rest)
{
	size_t len = strlen("/" TOKEN);

	FUZZ_CHECK(!r->has_body && (!strcmp(r->method, "GET") || !strcmp(r->method, "HEAD")));
	FUZZ_CHECK(r->host && strlen(r->host) == strlen("127.0.0.1:8080") &&
		   !strcmp(strchr(r->host, ':'), ":8080"));
	FUZZ_CHECK(!r->origin || !strncmp(r->origin, "http://", 7));
	FUZZ_CHECK(!r->origin || strlen(r->origin) == strlen("http://127.0.0.1:8080"));
	FUZZ_CHECK(!strncmp(r->path, "/" TOKEN, len));
	FUZZ_CHECK(rest == r->path + len && (*rest == '\0' || *rest == '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char untouched[] = "";
	char *text = fuzz_text(data, size), *at = text;
	const char *method = next_line(&at), *path = next_line(&at), *rest = untouched;
	struct trk_gate_request r = {.method = method ? method : "", .path = path ? path : ""};
	enum trk_gate gate;

	r.host = next_line(&at);
	r.origin = next_line(&at);
	r.fetch_site = next_line(&at);
	r.fetch_mode = next_line(&at);
	r.fetch_dest = next_line(&at);
	r.has_body = next_line(&at) != NULL;
	gate = trk__gate_judge(&r, TOKEN, PORT, &rest);
	if (gate == TRK_GATE_OPEN)
		check_open(&r, rest);
	else
		FUZZ_CHECK(rest == untouched);
	/* No request is answered for another secret of the same length. */
	FUZZ_CHECK(trk__gate_judge(&r, "x" TOKEN, PORT, &rest) != TRK_GATE_OPEN ||
		   gate == TRK_GATE_TOKEN);
	FUZZ_CHECK(trk__gate_judge(&r, "", PORT, &rest) != TRK_GATE_OPEN);
	free(text);
	return 0;
}
