/* libmicrohttpd with our own loop and socket: one thread. */
#include "serve/http.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/dynamic.h"
#include "base/file.h"
#include "base/os.h"
#include "serve/tcp_owner.h"

struct MHD_Daemon;

/* Flags and options of start_daemon. */
enum {
	USE_SELECT = 0,
	OPTION_END = 0,
	OPTION_CONNECTION_LIMIT = 2,
	OPTION_CONNECTION_TIMEOUT = 3,
	OPTION_URI_LOG_CALLBACK = 7,
	OPTION_LISTEN_SOCKET = 12,
};

/* 1 or 0: whether the connection is taken. */
typedef int accept_fn(void *data, const struct sockaddr *from, socklen_t len);

static struct {
	struct MHD_Daemon *(*start_daemon)(unsigned int flags, uint16_t port, accept_fn *, void *,
					   trk_http_request_fn *, void *, ...);
	void (*stop_daemon)(struct MHD_Daemon *);
	int (*get_fdset)(struct MHD_Daemon *, fd_set *read, fd_set *write, fd_set *except,
			 int *max);
	int (*run)(struct MHD_Daemon *);
	int (*get_timeout)(struct MHD_Daemon *, unsigned long long *ret_ms);
} mhd;

int trk__http_load(struct trk_http *ret)
{
	const struct trk_symbol wanted[] = {
		{"MHD_start_daemon", &mhd.start_daemon},
		{"MHD_stop_daemon", &mhd.stop_daemon},
		{"MHD_get_fdset", &mhd.get_fdset},
		{"MHD_run", &mhd.run},
		{"MHD_get_timeout", &mhd.get_timeout},
		{"MHD_lookup_connection_value", &ret->lookup_value},
		{"MHD_get_connection_values", &ret->get_values},
		{"MHD_create_response_from_buffer", &ret->create_response},
		{"MHD_add_response_header", &ret->add_header},
		{"MHD_queue_response", &ret->queue_response},
		{"MHD_destroy_response", &ret->destroy_response},
	};

	if (trk__library_load("libmicrohttpd.so.12", wanted, sizeof(wanted) / sizeof(wanted[0])))
		return 0;
	return -TRK_ERR_UNSUPPORTED;
}

int trk__http_random(void *ret, size_t size)
{
	TRK_FD_CLEANUP int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, ret, size);

	if (len == (ssize_t) size)
		return 0;
	return len < 0 ? -errno : -EIO;
}

/* ---- who ---- */

struct listening {
	int fd, proc_fd;
	struct sockaddr_in address;
};

/* False: the other end belongs to another user. root can read all recordings as they lie. */
static int may_connect(void *data, const struct sockaddr *from, socklen_t len)
{
	const struct listening *l = data;
	struct sockaddr_in peer;
	uid_t uid;

	if (len != sizeof(peer) || from->sa_family != AF_INET)
		return TRK_HTTP_NO;
	memcpy(&peer, from, sizeof(peer));
	if (trk__tcp_owner_read(l->proc_fd, &peer, &l->address, &uid) < 0)
		return TRK_HTTP_YES; /* not known: the secret decides */
	return uid == geteuid() || uid == 0 ? TRK_HTTP_YES : TRK_HTTP_NO;
}

/* Called with the target of a request, which is in a buffer of the library, before it parses the
 * query. What it returns is the *state of the first call. */
static void *limit_arguments(void *data, const char *target, struct MHD_Connection *c)
{
	char *query = strchr((char *) (uintptr_t) target, '?');
	int arguments = 1;

	for (const char *at = query; at && (at = strchr(at + 1, '&'));)
		arguments++;
	if (arguments <= TRK_HTTP_ARGUMENTS_MAX && strlen(target) <= TRK_HTTP_TARGET_MAX)
		return NULL;
	if (query)
		query[1] = '\0';
	return TRK_HTTP_CROWDED;
}

/* ---- the loop ---- */

/* A listening socket, and *ret with its port. */
static int listen_at(uint16_t port, struct sockaddr_in *ret)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = trk__os_socket(AF_INET, SOCK_STREAM, 0), on = 1, r;
	socklen_t len = sizeof(address);

	if (fd < 0)
		return fd;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	(void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
	    bind(fd, (struct sockaddr *) &address, sizeof(address)) < 0 ||
	    listen(fd, TRK_HTTP_WAITING_MAX) < 0 ||
	    getsockname(fd, (struct sockaddr *) &address, &len) < 0) {
		r = -errno;
		(void) close(fd);
		return r;
	}
	*ret = address;
	return fd;
}

/* Wait for a connection or the end. 1, 0 at the end, or a negative errno. */
static int wait_for_more(int stop_fd, struct MHD_Daemon *daemon)
{
	unsigned long long wait_ms = 60000;
	fd_set readable, writable, exceptional;
	struct timeval timeout;
	int max = stop_fd;

	FD_ZERO(&readable);
	FD_ZERO(&writable);
	FD_ZERO(&exceptional);
	if (max >= FD_SETSIZE ||
	    mhd.get_fdset(daemon, &readable, &writable, &exceptional, &max) != TRK_HTTP_YES)
		return -EMFILE;
	FD_SET(stop_fd, &readable);
	if (mhd.get_timeout(daemon, &wait_ms) != TRK_HTTP_YES || wait_ms > 60000)
		wait_ms = 60000;
	timeout = (struct timeval){.tv_sec = (time_t) (wait_ms / 1000),
				   .tv_usec = (int) (wait_ms % 1000 * 1000)};
	if (select(max + 1, &readable, &writable, &exceptional, &timeout) < 0)
		return errno == EINTR ? 1 : -errno;
	return !FD_ISSET(stop_fd, &readable);
}

int trk__http_serve(const struct trk_http_server *o, struct trk_error *reterr)
{
	TRK_FD_CLEANUP int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listening l = {.proc_fd = proc_fd};
	struct MHD_Daemon *daemon;
	int r;

	l.fd = listen_at(o->port, &l.address);
	if (l.fd < 0)
		return trk__error_set(reterr, l.fd, NULL, "127.0.0.1:%u: %s", o->port,
				      trk__strerror(l.fd));
	daemon = mhd.start_daemon(USE_SELECT, 0, may_connect, &l, o->answer, o->data,
				  OPTION_LISTEN_SOCKET, l.fd, OPTION_CONNECTION_LIMIT,
				  (unsigned int) TRK_HTTP_CONNECTIONS_MAX,
				  OPTION_CONNECTION_TIMEOUT, (unsigned int) TRK_HTTP_IDLE_S,
				  OPTION_URI_LOG_CALLBACK, limit_arguments, NULL, OPTION_END);
	if (!daemon) {
		(void) close(l.fd);
		return trk__error_set(reterr, -EIO, NULL, "libmicrohttpd cannot start");
	}
	o->on_ready(o->data, ntohs(l.address.sin_port));
	do {
		(void) mhd.run(daemon);
		r = wait_for_more(o->stop_fd, daemon);
	} while (r > 0);
	mhd.stop_daemon(daemon);
	return r;
}
