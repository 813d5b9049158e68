/* Who may ask the local dashboard. Pure.
 *
 * The server listens on 127.0.0.1, which every user and every web page that this machine opens can
 * reach. So a request is answered only if
 * - its Host is 127.0.0.1 or localhost with the server's port (another name that points to this
 *   machine, "DNS rebinding", is refused),
 * - it comes from the dashboard itself or from the address bar, by Sec-Fetch-Site and Origin where
 *   the browser sends them; a link from elsewhere may open the page in a tab of its own, no more,
 * - the first part of its path is the secret of this server. */
#ifndef TRK_SERVE_GATE_H
#define TRK_SERVE_GATE_H

#include <stdbool.h>
#include <stdint.h>

enum { TRK_GATE_TOKEN_SIZE = 44 };

/* Headers are NULL where the request has none. */
struct trk_gate_request {
	const char *method, *path, *host, *origin;
	const char *fetch_site, *fetch_mode, *fetch_dest;
	bool has_body;
};

enum trk_gate {
	TRK_GATE_OPEN,
	TRK_GATE_METHOD,  /* neither GET nor HEAD */
	TRK_GATE_BODY,    /* with a body, which no page takes */
	TRK_GATE_HOST,    /* for another host */
	TRK_GATE_FOREIGN, /* from another site */
	TRK_GATE_TOKEN,   /* without the secret */
};

/* A secret of 256 bits from the kernel as 43 characters for an address. 0 or a negative errno. */
int trk__gate_token(char ret[TRK_GATE_TOKEN_SIZE]);

/* *ret_rest: what follows "/TOKEN" in the path, where it is open; a view. */
enum trk_gate trk__gate_judge(const struct trk_gate_request *request, const char *token,
			      uint16_t port, const char **ret_rest);

#endif
