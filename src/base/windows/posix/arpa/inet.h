/* Address conversion, from ws2_32. */
#ifndef TRK_POSIX_ARPA_INET_H
#define TRK_POSIX_ARPA_INET_H

#include <netinet/in.h>

int inet_pton(int family, const char *text, void *ret);

#endif
