#include "serve/tcp_owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"

enum { TABLE_MAX = 64 << 20, ADDRESS_SIZE = 48, USER_FIELD = 7 };

/* "0100007F:1F90", and the form of the same address for an IPv6 socket. */
struct names {
	char four[ADDRESS_SIZE], six[ADDRESS_SIZE];
};

static void name_address(const struct sockaddr_in *a, struct names *ret)
{
	unsigned int port = ntohs(a->sin_port);
	uint32_t mapped = htonl(0xffff);

	(void) snprintf(ret->four, sizeof(ret->four), "%08" PRIX32 ":%04X", a->sin_addr.s_addr,
			port);
	(void) snprintf(ret->six, sizeof(ret->six), "%016X%08" PRIX32 "%08" PRIX32 ":%04X", 0u,
			mapped, a->sin_addr.s_addr, port);
}

/* Field number `at` of a line, whose fields are separated by blanks; NULL: the line has fewer. */
static const char *field(const char *line, int at, size_t *ret_len)
{
	for (;; at--) {
		line += strspn(line, " ");
		*ret_len = strcspn(line, " \n");
		if (*ret_len == 0 || at == 0)
			return *ret_len ? line : NULL;
		line += *ret_len;
	}
}

static bool is_address(const char *line, int at, const struct names *names)
{
	size_t len;
	const char *text = field(line, at, &len);

	return text && ((len == strlen(names->four) && !memcmp(text, names->four, len)) ||
			(len == strlen(names->six) && !memcmp(text, names->six, len)));
}

int trk__tcp_owner_parse(const char *text, const struct sockaddr_in *local,
			 const struct sockaddr_in *remote, uid_t *ret)
{
	struct names here, there;

	name_address(local, &here);
	name_address(remote, &there);
	while (*text) {
		size_t len;
		const char *user;
		uint64_t uid;

		if (is_address(text, 1, &here) && is_address(text, 2, &there)) {
			user = field(text, USER_FIELD, &len);
			if (user && trk__scan_u64(&user, &uid) && uid <= UINT32_MAX &&
			    (*user == ' ' || *user == '\n' || !*user)) {
				*ret = (uid_t) uid;
				return 0;
			}
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return -ENOENT;
}

static int read_table(int proc_fd, const char *path, const struct sockaddr_in *local,
		      const struct sockaddr_in *remote, uid_t *ret)
{
	char *text = NULL;
	ssize_t len = trk__read_all_at(proc_fd, path, TABLE_MAX, &text);
	int r = len < 0 ? (int) len : trk__tcp_owner_parse(text, local, remote, ret);

	free(text);
	return r;
}

int trk__tcp_owner_read(int proc_fd, const struct sockaddr_in *local,
			const struct sockaddr_in *remote, uid_t *ret)
{
	int r = read_table(proc_fd, "net/tcp", local, remote, ret);

	return r < 0 ? read_table(proc_fd, "net/tcp6", local, remote, ret) : 0;
}
