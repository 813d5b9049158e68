#ifdef _WIN32 /* else a checker of code reads this file with the headers of another system */

#include <winsock2.h>
#include <ws2tcpip.h>

#include <windows.h>

#include <iphlpapi.h>

#include "serve/windows/tcp.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static int error_of(int error)
{
	switch (error) {
	case WSAEADDRINUSE:
		return -EADDRINUSE;
	case WSAEACCES: /* also a port that another program listens on alone */
		return -EACCES;
	case WSAEMFILE:
		return -EMFILE;
	case WSAETIMEDOUT:
	case WSAEWOULDBLOCK:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

static int last_error(void)
{
	return error_of(WSAGetLastError());
}

/* ---- listening ---- */

static int begin(void)
{
	static bool has_begun;
	WSADATA data;
	int r = has_begun ? 0 : WSAStartup(MAKEWORD(2, 2), &data);

	has_begun = r == 0;
	return r == 0 ? 0 : error_of(r);
}

int trk__tcp_listen(uint16_t port, int waiting_max, trk_tcp *ret, uint16_t *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int len = sizeof(address), r = begin();
	BOOL alone = TRUE; /* else another program could listen on the same port */
	SOCKET s;

	if (r < 0)
		return r;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0,
		       WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
	if (s == INVALID_SOCKET)
		return last_error();
	(void) setsockopt(s, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (const char *) &alone, sizeof(alone));
	if (bind(s, (struct sockaddr *) &address, len) != 0 || listen(s, waiting_max) != 0 ||
	    getsockname(s, (struct sockaddr *) &address, &len) != 0) {
		r = last_error();
		(void) closesocket(s);
		return r;
	}
	*ret = s;
	*ret_port = ntohs(address.sin_port);
	return 0;
}

/* The connection inherits the events of the listening socket, and that it does not block. */
static void prepare(SOCKET connection, unsigned int idle_s)
{
	DWORD idle_ms = idle_s * 1000;
	BOOL at_once = TRUE;
	u_long waits = 0;

	(void) WSAEventSelect(connection, NULL, 0);
	(void) ioctlsocket(connection, (long) FIONBIO, &waits);
	(void) SetHandleInformation((HANDLE) connection, HANDLE_FLAG_INHERIT, 0);
	(void) setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, (const char *) &idle_ms,
			  sizeof(idle_ms));
	(void) setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, (const char *) &idle_ms,
			  sizeof(idle_ms));
	(void) setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, (const char *) &at_once,
			  sizeof(at_once));
}

int trk__tcp_accept(trk_tcp listening, void *stop, unsigned int idle_s, trk_tcp *ret)
{
	HANDLE events[2] = {stop, WSACreateEvent()};
	SOCKET s;
	int r = 0;

	if (events[1] == WSA_INVALID_EVENT || WSAEventSelect(listening, events[1], FD_ACCEPT) != 0)
		r = last_error();
	while (r == 0) {
		s = accept(listening, NULL, NULL);
		if (s != INVALID_SOCKET) {
			prepare(s, idle_s);
			*ret = s;
			r = 1;
		} else if (WSAGetLastError() == WSAEMFILE) {
			r = -EMFILE;
		} else if (WaitForMultipleObjects(2, events, FALSE, INFINITE) == WAIT_OBJECT_0) {
			break;
		} else {
			(void) WSAResetEvent(events[1]);
		}
	}
	(void) WSACloseEvent(events[1]);
	return r;
}

/* ---- a connection ---- */

int trk__tcp_receive(trk_tcp connection, char *data, size_t size)
{
	int n = recv(connection, data, size > INT_MAX ? INT_MAX : (int) size, 0);

	return n >= 0 ? n : last_error();
}

int trk__tcp_send(trk_tcp connection, const char *data, size_t len)
{
	while (len > 0) {
		int n = send(connection, data, len > INT_MAX ? INT_MAX : (int) len, 0);

		if (n <= 0)
			return last_error();
		data += n;
		len -= (size_t) n;
	}
	return 0;
}

void trk__tcp_close(trk_tcp connection)
{
	(void) shutdown(connection, SD_SEND);
	(void) closesocket(connection);
}

/* ---- who ---- */

typedef DWORD WINAPI get_table(void *table, DWORD *size, BOOL sorted, ULONG family,
			       TCP_TABLE_CLASS kind, ULONG reserved);

/* The table of connections, which the caller frees; NULL: not known. */
static MIB_TCPTABLE_OWNER_PID *read_table(void)
{
	HMODULE library = LoadLibraryExW(L"iphlpapi.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
	get_table *get =
		library ? (get_table *) (uintptr_t) GetProcAddress(library, "GetExtendedTcpTable")
			: NULL;
	MIB_TCPTABLE_OWNER_PID *table = NULL;
	DWORD size = 0, error = ERROR_INSUFFICIENT_BUFFER;

	/* It grows meanwhile. */
	for (int i = 0; get && i < 8 && error == ERROR_INSUFFICIENT_BUFFER; i++) {
		void *room = size ? realloc(table, size) : NULL;

		if (size && !room)
			break;
		table = room;
		error = get(table, &size, FALSE, AF_INET, TCP_TABLE_OWNER_PID_CONNECTIONS, 0);
	}
	if (error == NO_ERROR)
		return table;
	free(table);
	return NULL;
}

/* The process that owns the socket at the other end; 0: not known. */
static DWORD owner_of(const struct sockaddr_in *own, const struct sockaddr_in *peer)
{
	MIB_TCPTABLE_OWNER_PID *table = read_table();
	DWORD pid = 0;

	for (DWORD i = 0; table && pid == 0 && i < table->dwNumEntries; i++) {
		const MIB_TCPROW_OWNER_PID *row = &table->table[i];

		if (row->dwLocalAddr == peer->sin_addr.s_addr &&
		    (row->dwLocalPort & 0xffff) == peer->sin_port &&
		    row->dwRemoteAddr == own->sin_addr.s_addr &&
		    (row->dwRemotePort & 0xffff) == own->sin_port)
			pid = row->dwOwningPid;
	}
	free(table);
	return pid;
}

struct user {
	union {
		TOKEN_USER user;
		BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
	} token;
};

/* The user of a process: 0, or the error of Windows. */
static DWORD read_user(HANDLE process, struct user *ret)
{
	HANDLE token;
	DWORD len, error = NO_ERROR;

	if (!OpenProcessToken(process, TOKEN_QUERY, &token))
		return GetLastError();
	if (!GetTokenInformation(token, TokenUser, &ret->token, sizeof(ret->token), &len))
		error = GetLastError();
	(void) CloseHandle(token);
	return error;
}

static enum trk_tcp_peer judge(DWORD pid)
{
	HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid);
	struct user own, other;
	DWORD error = process ? read_user(process, &other) : GetLastError();

	if (process)
		(void) CloseHandle(process);
	if (error == ERROR_ACCESS_DENIED)
		return TRK_TCP_PEER_OTHER;
	if (error != NO_ERROR || read_user(GetCurrentProcess(), &own) != NO_ERROR)
		return TRK_TCP_PEER_UNKNOWN;
	return EqualSid(other.token.user.User.Sid, own.token.user.User.Sid) ||
			       IsWellKnownSid(other.token.user.User.Sid, WinLocalSystemSid)
		       ? TRK_TCP_PEER_OWN
		       : TRK_TCP_PEER_OTHER;
}

enum trk_tcp_peer trk__tcp_peer(trk_tcp connection)
{
	struct sockaddr_in own, peer;
	int own_len = sizeof(own), peer_len = sizeof(peer);
	DWORD pid;

	if (getsockname(connection, (struct sockaddr *) &own, &own_len) != 0 ||
	    getpeername(connection, (struct sockaddr *) &peer, &peer_len) != 0)
		return TRK_TCP_PEER_UNKNOWN;
	pid = owner_of(&own, &peer);
	return pid ? judge(pid) : TRK_TCP_PEER_UNKNOWN;
}

#endif
