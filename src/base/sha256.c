#include "base/sha256.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/dynamic.h"
#include "base/error.h"

enum { DIGEST_SIZE = 32, DIGEST_MAX = 64 };

static bool load(const struct trk_symbol *wanted, size_t n)
{
	static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (trk__library_load(names[i], wanted, n))
			return true;
	return false;
}

static void write_hex(const unsigned char *digest, char ret[TRK_SHA256_SIZE])
{
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		(void) snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

int trk__sha256(const void *data, size_t len, char ret[TRK_SHA256_SIZE])
{
	unsigned char *(*sha256)(const unsigned char *, size_t, unsigned char *);
	const struct trk_symbol wanted[] = {{"SHA256", &sha256}};
	unsigned char digest[DIGEST_SIZE];

	if (!load(wanted, 1) || !sha256(data, len, digest))
		return -TRK_ERR_UNSUPPORTED;
	write_hex(digest, ret);
	return 0;
}

int trk__hmac_sha256(const char *key, const void *data, size_t len, char ret[TRK_SHA256_SIZE])
{
	const void *(*sha256)(void);
	unsigned char *(*hmac)(const void *, const void *, int, const unsigned char *, size_t,
			       unsigned char *, unsigned int *);
	const struct trk_symbol wanted[] = {{"EVP_sha256", &sha256}, {"HMAC", &hmac}};
	unsigned char digest[DIGEST_MAX];
	unsigned int digest_len = 0;

	if (!load(wanted, 2) ||
	    !hmac(sha256(), key, (int) strlen(key), data, len, digest, &digest_len) ||
	    digest_len != DIGEST_SIZE)
		return -TRK_ERR_UNSUPPORTED;
	write_hex(digest, ret);
	return 0;
}
