/* SHA-256 by libcrypto, which is loaded on first use. */
#ifndef TRK_BASE_SHA256_H
#define TRK_BASE_SHA256_H

#include <stddef.h>

enum { TRK_SHA256_SIZE = 65 /* 64 hexadecimal digits, lower case, and their end */ };

/* SHA-256 of data[0..len). 0, or -TRK_ERR_UNSUPPORTED without libcrypto. */
int trk__sha256(const void *data, size_t len, char ret[TRK_SHA256_SIZE]);

/* HMAC-SHA256 of data[0..len) by a key. 0, or -TRK_ERR_UNSUPPORTED without libcrypto. */
int trk__hmac_sha256(const char *key, const void *data, size_t len, char ret[TRK_SHA256_SIZE]);

#endif
