/* The parser of /proc/net/tcp. If it rejects the text, it does not change its result. */
#include <arpa/inet.h>

#include "serve/tcp_owner.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sockaddr_in server = {.sin_port = htons(8080),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in peer = {.sin_port = htons(0xc001),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	uid_t uid = 77;
	char *text = fuzz_text(data, size);

	if (trk__tcp_owner_parse(text, &peer, &server, &uid) < 0)
		FUZZ_CHECK(uid == 77);
	free(text);
	return 0;
}
