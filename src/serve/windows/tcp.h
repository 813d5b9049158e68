/* TCP on the loopback address, by Winsock, whose headers are included in tcp.c only: their names
 * clash with those of other headers here. */
#ifndef TRK_SERVE_WINDOWS_TCP_H
#define TRK_SERVE_WINDOWS_TCP_H

#include <stddef.h>
#include <stdint.h>

/* A socket. */
typedef uintptr_t trk_tcp;

/* Listen on 127.0.0.1; port 0: one that is free. Returns 0 with its port, or a negative errno. */
int trk__tcp_listen(uint16_t port, int waiting_max, trk_tcp *ret, uint16_t *ret_port);

/* Wait for a connection, or until the event `stop` is set. Returns 1 with a connection that times
 * out after idle_s, 0 at the stop, or a negative errno. */
int trk__tcp_accept(trk_tcp listening, void *stop, unsigned int idle_s, trk_tcp *ret);

/* The number of bytes, 0 at the end of the stream, or a negative errno. */
int trk__tcp_receive(trk_tcp connection, char *data, size_t size);
/* All of it: 0 or a negative errno. */
int trk__tcp_send(trk_tcp connection, const char *data, size_t len);

/* Close it. What was sent arrives. */
void trk__tcp_close(trk_tcp connection);

enum trk_tcp_peer { TRK_TCP_PEER_OWN, TRK_TCP_PEER_OTHER, TRK_TCP_PEER_UNKNOWN };

/* Whose the program at the other end is: this user's or the system's, or another user's. A process
 * that this user may not look at is another user's, or one of this user that runs as administrator.
 *
 * Source: GetExtendedTcpTable, which has the process of each connection, and its token. */
enum trk_tcp_peer trk__tcp_peer(trk_tcp connection);

#endif
