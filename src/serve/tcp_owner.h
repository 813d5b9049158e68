/* The user who owns a TCP socket of this machine.
 *
 * Source: /proc/net/tcp, and /proc/net/tcp6 for an IPv6 socket that is connected to an IPv4
 * address; one line per socket: addresses in hexadecimal in memory byte order, the user id in the
 * eighth field. Ids are those of the reader's user namespace. */
#ifndef TRK_SERVE_TCP_OWNER_H
#define TRK_SERVE_TCP_OWNER_H

#include <netinet/in.h>
#include <sys/types.h>

/* Find the socket at `local` that is connected to `remote` in the text of such a file; *ret: its
 * owner. Pure. 0, or -ENOENT and leaves *ret untouched. */
int trk__tcp_owner_parse(const char *text, const struct sockaddr_in *local,
			 const struct sockaddr_in *remote, uid_t *ret);

/* As above, in the files below proc_fd (borrowed). Also returns a negative errno of reading. */
int trk__tcp_owner_read(int proc_fd, const struct sockaddr_in *local,
			const struct sockaddr_in *remote, uid_t *ret);

#endif
