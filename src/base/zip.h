/* A file out of a zip archive that lies in memory, by zlib, which is loaded on first use. */
#ifndef TRK_BASE_ZIP_H
#define TRK_BASE_ZIP_H

#include "base/buf.h"
#include "base/error.h"

/* Add the file of that name to `ret`, whose maximum bounds it. Supports stored and deflated files
 * of single-part archives below 4 GiB without encryption. 0; -EBADMSG for another format and for a
 * cut or damaged archive; -ENOENT: no such file in it; -EFBIG; -ENOMEM; -TRK_E_UNSUPPORTED without
 * libz.so.1. With a sentence in *reterr. */
int trk__zip_read(const char *zip, size_t len, const char *name, struct trk_buf *ret,
		  struct trk_error *reterr);

#endif
