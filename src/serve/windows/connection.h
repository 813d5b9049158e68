/* A connection of the HTTP server on Windows: requests one after the other, each with one answer. */
#ifndef TRK_SERVE_WINDOWS_CONNECTION_H
#define TRK_SERVE_WINDOWS_CONNECTION_H

#include <stdbool.h>

#include "serve/http.h"
#include "serve/windows/tcp.h"

/* Fill *ret. */
void trk__connection_functions(struct trk_http *ret);

/* Answer requests until the client ends the connection, is silent for too long, or sends something
 * else; then close it. `answer` is called between lock(true) and lock(false). */
void trk__connection_serve(trk_tcp socket, const struct trk_http_server *o,
			   void (*lock)(bool take));

#endif
