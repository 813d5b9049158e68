#include "base/crc32c.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* One nibble at a time: 16 entries fit in a cache line, and a record is a few hundred bytes. */
static const uint32_t table[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static uint32_t by_table(uint32_t crc, const unsigned char *at, size_t len)
{
	while (len--) {
		crc ^= *at++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

#ifdef __x86_64__
/* The processor's CRC instruction, on all but the oldest machines. clang has a separate feature
 * name for it. */
#ifdef __clang__
#define CRC32_TARGET "crc32"
#else
#define CRC32_TARGET "sse4.2"
#endif

__attribute__((target(CRC32_TARGET))) static uint32_t by_instruction(uint32_t crc,
								     const unsigned char *at,
								     size_t len)
{
	uint64_t wide = crc;

	for (; len >= 8; len -= 8, at += 8) {
		uint64_t eight;

		memcpy(&eight, at, sizeof(eight));
		wide = __builtin_ia32_crc32di(wide, eight);
	}
	crc = (uint32_t) wide;
	while (len--)
		crc = __builtin_ia32_crc32qi(crc, *at++);
	return crc;
}

/* Check once: CPUID is slow in a virtual machine. */
static bool has_instruction(void)
{
	enum { UNASKED, NO, YES };
	static atomic_int known;
	unsigned int a, b, c = 0, d;

	if (known == UNASKED)
		known = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) ? YES : NO;
	return known == YES;
}

static uint32_t add_bytes(uint32_t crc, const unsigned char *at, size_t len)
{
	return has_instruction() ? by_instruction(crc, at, len) : by_table(crc, at, len);
}
#else
static uint32_t add_bytes(uint32_t crc, const unsigned char *at, size_t len)
{
	return by_table(crc, at, len);
}
#endif

uint32_t trk__crc32c(uint32_t crc, const void *data, size_t len)
{
	return ~add_bytes(~crc, data, len);
}

uint32_t trk__crc32c_table(uint32_t crc, const void *data, size_t len)
{
	return ~by_table(~crc, data, len);
}
