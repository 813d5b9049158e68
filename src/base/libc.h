/* Functions of newer C libraries and kernels, with fallbacks: the program runs on glibc 2.17 and on
 * kernels without the system call. */
#ifndef TRK_BASE_LIBC_H
#define TRK_BASE_LIBC_H

#include <stddef.h>
#include <stdint.h>

/* Random bits without blocking: from the kernel, else from clock and pid. Good for names, not for
 * secrets. */
uint32_t trk__random_bits(void);

/* A file in memory, as memfd_create(2) makes it (Linux 3.17): a descriptor or a negative errno. */
int trk__memory_file(const char *name);

/* Close all descriptors from `first` to `last`, both included. */
void trk__close_range(unsigned int first, unsigned int last);
/* The same by reading the list of open descriptors, for Linux before 5.9 and macOS. Returns 0, or a
 * negative errno when there is no such list. */
int trk__close_listed(unsigned int first, unsigned int last);

/* "KILL" for SIGKILL; NULL for a number that has no name. Never freed. */
const char *trk__signal_name(int number);

/* The untranslated text of an errno; NULL for an unknown number. Never freed. */
const char *trk__errno_text(int code);

#endif
