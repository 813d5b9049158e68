/* Compressed files, by zlib, which is loaded on first use. */
#ifndef TRK_BASE_GZIP_H
#define TRK_BASE_GZIP_H

#include <stddef.h>

struct trk_gzip; /* opaque */

/* Open a gzip stream over a duplicate of fd. NULL with *reterr: -TRK_ERR_UNSUPPORTED without
 * libz.so.1, -ENOMEM, or another negative errno. */
struct trk_gzip *trk__gzip_open(int fd, int write, int *reterr);
/* Bytes read, 0 at the end, or -EBADMSG. */
int trk__gzip_read(struct trk_gzip *z, void *to, unsigned int len);
/* 0, or -EIO (a full disk among others). */
int trk__gzip_write(struct trk_gzip *z, const void *data, size_t len);
/* 0; -EBADMSG when the input was cut off, -EIO when the output was not written completely. */
int trk__gzip_close(struct trk_gzip *z);

#endif
