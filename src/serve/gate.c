#include "serve/gate.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "serve/http.h"

enum { SECRET_BYTES = 32, HOST_SIZE = 64 };

int trk__gate_token(char ret[TRK_GATE_TOKEN_SIZE])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned char secret[SECRET_BYTES + 1] = {0};
	int r = trk__http_random(secret, SECRET_BYTES);

	if (r < 0)
		return r;
	for (size_t i = 0; i < TRK_GATE_TOKEN_SIZE - 1; i++) {
		size_t bit = i * 6;
		unsigned int two = (unsigned int) secret[bit / 8] << 8 | secret[bit / 8 + 1];

		ret[i] = digits[two >> (10 - bit % 8) & 63];
	}
	ret[TRK_GATE_TOKEN_SIZE - 1] = '\0';
	return 0;
}

/* In a time that does not depend on where they differ. */
static bool is_equal(const char *text, const char *token, size_t len)
{
	unsigned int different = 0;

	for (size_t i = 0; i < len; i++)
		different |= (unsigned int) (unsigned char) text[i] ^ (unsigned char) token[i];
	return different == 0;
}

static bool is_own_host(const char *host, uint16_t port)
{
	char own[HOST_SIZE];

	(void) snprintf(own, sizeof(own), "127.0.0.1:%u", port);
	if (!strcmp(host, own))
		return true;
	(void) snprintf(own, sizeof(own), "localhost:%u", port);
	return !strcasecmp(host, own);
}

static bool is_own_origin(const char *origin, uint16_t port)
{
	static const char scheme[] = "http://";

	return !strncmp(origin, scheme, sizeof(scheme) - 1) &&
	       is_own_host(origin + sizeof(scheme) - 1, port);
}

/* A tab that another page, or a file, opens on the dashboard: what it shows stays in the tab. */
static bool is_tab(const struct trk_gate_request *r)
{
	return r->fetch_mode && !strcmp(r->fetch_mode, "navigate") && r->fetch_dest &&
	       !strcmp(r->fetch_dest, "document") && !r->origin;
}

static bool is_foreign(const struct trk_gate_request *r, uint16_t port)
{
	if (r->origin && !is_own_origin(r->origin, port))
		return true;
	return r->fetch_site && strcmp(r->fetch_site, "same-origin") != 0 &&
	       strcmp(r->fetch_site, "none") != 0 && !is_tab(r);
}

enum trk_gate trk__gate_judge(const struct trk_gate_request *request, const char *token,
			      uint16_t port, const char **ret_rest)
{
	size_t len = strlen(token);

	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
		return TRK_GATE_METHOD;
	if (request->has_body)
		return TRK_GATE_BODY;
	if (!request->host || !is_own_host(request->host, port))
		return TRK_GATE_HOST;
	if (is_foreign(request, port))
		return TRK_GATE_FOREIGN;
	if (request->path[0] != '/' || strlen(request->path) < len + 1 || len == 0 ||
	    !is_equal(request->path + 1, token, len) ||
	    (request->path[len + 1] != '\0' && request->path[len + 1] != '/'))
		return TRK_GATE_TOKEN;
	*ret_rest = request->path + len + 1;
	return TRK_GATE_OPEN;
}
