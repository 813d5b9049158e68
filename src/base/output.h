/* Output files that a user has named: --output, --summary-json, --report and their like.
 *
 * A link is followed to its target, which need not exist yet; a loop of links is -ELOOP. A pipe or
 * a device is written to directly (opening a FIFO waits for its reader, as in any program); a
 * folder is -EISDIR. The name of a descriptor of this process (/dev/stdout, /dev/fd/N,
 * /proc/self/fd/N, or a link to one) means that descriptor at its current offset, so that earlier
 * output is not overwritten.
 *
 * Nothing that another user has put on the path is followed or written to (base/trust.h):
 * -TRK_ERR_UNTRUSTED. What is there may be exchanged at any time. So names are looked up below open
 * folders, the last one is opened without following a link, and what was opened is checked before
 * it is truncated. */
#ifndef TRK_BASE_OUTPUT_H
#define TRK_BASE_OUTPUT_H

#include <stddef.h>

/* Open for text that is written in pieces: truncate the file, or create it; "-" is stdout. Returns
 * a descriptor (close-on-exec; the caller closes) or a negative errno. */
int trk__output_open(const char *path);

/* The descriptor of this process that the path names, else -1. */
int trk__output_descriptor(const char *path);

/* Write all of these bytes, or change nothing: a new file in the same directory takes the name
 * atomically, with owner and mode of the old one. Where that is impossible (no permission to write
 * to the directory; a file with several names, of another owner, or with its own mount) the file is
 * written in place. `via`: the name of the new file until then, on the same file system; NULL: any.
 * 0 or a negative errno. */
int trk__output_replace(const char *via, const char *path, const void *data, size_t len);
/* The same for a name that the program has chosen and another user can predict: an existing file is
 * replaced only if it is a regular file of this user. -TRK_ERR_SYMLINK (links are not followed),
 * -TRK_ERR_NOTFILE or -EPERM if it is not. */
int trk__output_replace_own(const char *path, const void *data, size_t len);

#endif
