/* How a person says where a machine stands, and where tests have metadata services answer. */
#ifndef TRK_CLI_CLOUD_OPTIONS_H
#define TRK_CLI_CLOUD_OPTIONS_H

#include <netinet/in.h>

#include "probe/cloud/cloud.h"

/* "aws/us-east-1/m5.large", or "aws//m5.large", "aws/us-east-1". 0, or EXIT_USAGE after having
 * complained. */
int cli_take_instance(const char *value, struct trk_cloud *ret);

/* RESOURCE_TRACKER_METADATA=127.0.0.1:PORT: the server that is asked in the place of all vendors'. Only
 * an address of this machine is taken; for anything else it is one where nobody listens, so that nobody is
 * asked by mistake. NULL: not set. */
const struct sockaddr_in *cli_cloud_endpoint(struct sockaddr_in *room);

#endif
