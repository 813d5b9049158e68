#include "cli/cloud_options.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "cli/cli.h"

int cli_take_instance(const char *value, struct trk_cloud *ret)
{
	if (trk__cloud_state(value, ret) == 0)
		return 0;
	cli_complain("--instance %s: not of the form VENDOR/REGION/TYPE, such as "
		     "aws/us-east-1/m5.large",
		     value);
	return EXIT_USAGE;
}

static bool parse_endpoint(const char *value, struct sockaddr_in *ret)
{
	const char *colon = strchr(value, ':');
	struct sockaddr_in to = {.sin_family = AF_INET};
	char address[32];
	uint64_t port;

	if (!colon || trk__parse_u64(colon + 1, &port) < 0 || port == 0 || port > 65535)
		return false;
	(void) snprintf(address, sizeof(address), "%.*s", (int) (colon - value), value);
	if (inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    (ntohl(to.sin_addr.s_addr) >> 24) != IN_LOOPBACKNET)
		return false;
	to.sin_port = htons((uint16_t) port);
	*ret = to;
	return true;
}

const struct sockaddr_in *cli_cloud_endpoint(struct sockaddr_in *room)
{
	const char *value = getenv("RESOURCE_TRACKER_METADATA");

	if (!value)
		return NULL;
	if (!parse_endpoint(value, room)) {
		*room = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(1)};
		room->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	return room;
}
