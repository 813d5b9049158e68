/* A thread for each connection, since browsers open some that they do not use at once; one lock, so
 * that one request is answered at a time. */
#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include "serve/windows/connection.h"

#include <windows.h>

#include <ntsecapi.h>

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/windows/wake.h"

static struct {
	struct trk_http_server o;
	SRWLOCK answering;
	atomic_int connections;
} server = {.answering = SRWLOCK_INIT};

int trk__http_load(struct trk_http *ret)
{
	trk__connection_functions(ret);
	return 0;
}

int trk__http_random(void *ret, size_t size)
{
	return RtlGenRandom(ret, (ULONG) size) ? 0 : -EIO;
}

static void lock(bool take)
{
	if (take)
		AcquireSRWLockExclusive(&server.answering);
	else
		ReleaseSRWLockExclusive(&server.answering);
}

static DWORD WINAPI serve_connection(void *data)
{
	trk_tcp connection = (trk_tcp) data;

	if (trk__tcp_peer(connection) == TRK_TCP_PEER_OTHER)
		trk__tcp_close(connection);
	else
		trk__connection_serve(connection, &server.o, lock);
	(void) atomic_fetch_sub(&server.connections, 1);
	return 0;
}

static void take(trk_tcp connection)
{
	HANDLE thread = NULL;

	if (atomic_fetch_add(&server.connections, 1) < TRK_HTTP_CONNECTIONS_MAX)
		thread = CreateThread(NULL, 0, serve_connection, (void *) connection, 0, NULL);
	if (thread) {
		(void) CloseHandle(thread);
		return;
	}
	(void) atomic_fetch_sub(&server.connections, 1);
	trk__tcp_close(connection);
}

int trk__http_serve(const struct trk_http_server *o, struct trk_error *reterr)
{
	trk_tcp listening, connection;
	uint16_t port;
	int r = trk__tcp_listen(o->port, TRK_HTTP_WAITING_MAX, &listening, &port);

	if (r < 0)
		return trk__error_set(reterr, r, NULL, "127.0.0.1:%u: %s", o->port,
				      trk__strerror(r));
	server.o = *o;
	o->on_ready(o->data, port);
	while ((r = trk__tcp_accept(listening, trk__wake_handle(o->stop_fd), TRK_HTTP_IDLE_S,
				    &connection)) > 0)
		take(connection);
	trk__tcp_close(listening);
	lock(true); /* never given back: what the answers use is released now */
	return r;
}

#endif
