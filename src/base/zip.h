/* A file out of a zip archive that lies in memory, by zlib, which is loaded on first use. */
#ifndef TRK_BASE_ZIP_H
#define TRK_BASE_ZIP_H

#include "base/buf.h"
#include "base/error.h"

/* Add the file of that name to `ret`, whose maximum bounds it. Stored and deflated files of archives
 * without encryption, in one part and below 4 GiB. 0; -EBADMSG for what is no such archive, or is cut or
 * damaged; -ENOENT: it has no such file; -EFBIG; -ENOMEM; -TRK_E_UNSUPPORTED without libz.so.1. With a
 * sentence in *reterr. */
int trk__zip_read(const char *zip, size_t len, const char *name, struct trk_buf *ret,
		  struct trk_error *reterr);

#endif
