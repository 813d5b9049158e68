/* Units of memory, in bytes. */
#ifndef TRK_BASE_BYTES_H
#define TRK_BASE_BYTES_H

#define TRK_MIB 1048576.0
#define TRK_GIB 1073741824.0

#endif
