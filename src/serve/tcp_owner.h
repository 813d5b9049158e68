/* Which user has the other end of a TCP connection of this machine.
 *
 * Source: /proc/net/tcp and /proc/net/tcp6 (a socket of IPv6 that is connected to an address of
 * IPv4), one line a socket: addresses in hexadecimal digits in the order of the bytes in memory,
 * the user in the eighth field. Ids are those of the reader's user namespace. */
#ifndef TRK_SERVE_TCP_OWNER_H
#define TRK_SERVE_TCP_OWNER_H

#include <netinet/in.h>
#include <sys/types.h>

/* Find the socket at `local` that is connected to `remote` in the text of such a file. Pure. 0, or
 * -ENOENT and *ret untouched. */
int trk__tcp_owner_parse(const char *text, const struct sockaddr_in *local,
			 const struct sockaddr_in *remote, uid_t *ret);

/* The same in the files of proc_fd (borrowed). Also a negative errno of reading. */
int trk__tcp_owner_read(int proc_fd, const struct sockaddr_in *local,
			const struct sockaddr_in *remote, uid_t *ret);

#endif
