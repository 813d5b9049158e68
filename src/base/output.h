/* Output files that a user has named: --output, --summary-json, --report and their like.
 *
 * What stands there decides. A link is followed to the file behind it, which need not be there yet;
 * a loop of links is -ELOOP; a pipe or a device is written to as it is (a FIFO waits for its
 * reader, as for any program); a folder is -EISDIR. A name of an own descriptor (/dev/stdout,
 * /dev/fd/N, /proc/self/fd/N, or a link to one) is that descriptor with its place in the file, so
 * that nothing that was written before it is overwritten. The kernel's protection of links in
 * folders that all users may write to (fs.protected_symlinks) holds, also where it is off. */
#ifndef TRK_BASE_OUTPUT_H
#define TRK_BASE_OUTPUT_H

#include <stddef.h>

/* Open it for text that comes in pieces: emptied, and made where it is missing. The caller closes.
 * A descriptor (close-on-exec) or a negative errno. */
int trk__output_open(const char *path);

/* The number of the own descriptor that it names, else -1. */
int trk__output_descriptor(const char *path);

/* Write all of these bytes, or change nothing: a new file in the same directory takes the name
 * atomically, with owner and mode of the old one. Where that is impossible (no permission to write
 * to the directory, a file with several names, of another owner, or mounted by itself) the file is
 * written in place. 0 or a negative errno. */
int trk__output_replace(const char *path, const void *data, size_t len);
/* The same under a name that the program has chosen, and another user can foresee: what stands
 * there already is replaced only if it is a regular file of the user's, and no link is followed.
 * -TRK_E_SYMLINK, -TRK_E_NOTFILE or -EPERM where it is not. */
int trk__output_replace_own(const char *path, const void *data, size_t len);
/* The same by way of a file that the caller names, on the same file system. */
int trk__output_replace_via(const char *via, const char *path, const void *data, size_t len);

#endif
