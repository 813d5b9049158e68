/* CRC-32C (Castagnoli), the check sum of recordings. Table-driven. */
#ifndef TRK_BASE_CRC32C_H
#define TRK_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continue a check sum; start with 0. "123456789" gives 0xe3069283. */
uint32_t trk__crc32c(uint32_t crc, const void *data, size_t len);

/* The same without CRC instructions, for processors that lack them and for tests. */
uint32_t trk__crc32c_table(uint32_t crc, const void *data, size_t len);

#endif
