/* Addresses, without the headers of Winsock, whose names clash with those of the program. */
#ifndef TRK_POSIX_NETINET_IN_H
#define TRK_POSIX_NETINET_IN_H

#include <stdint.h>

#define AF_INET          2
#define AF_INET6         23
#define INET6_ADDRSTRLEN 46
#define INADDR_LOOPBACK  0x7f000001u
#define IN_LOOPBACKNET   127

struct in_addr {
	uint32_t s_addr;
};

struct in6_addr {
	uint8_t s6_addr[16];
};

struct sockaddr_in {
	uint16_t sin_family, sin_port;
	struct in_addr sin_addr;
	uint8_t sin_zero[8];
};

static inline uint16_t htons(uint16_t number)
{
	return __builtin_bswap16(number);
}

static inline uint16_t ntohs(uint16_t number)
{
	return __builtin_bswap16(number);
}

static inline uint32_t htonl(uint32_t number)
{
	return __builtin_bswap32(number);
}

static inline uint32_t ntohl(uint32_t number)
{
	return __builtin_bswap32(number);
}

#endif
