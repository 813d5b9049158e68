/* sysctl(3) of macOS. */
#ifndef STAND_IN_SYS_SYSCTL_H
#define STAND_IN_SYS_SYSCTL_H

#include <stddef.h>

enum { CTL_KERN = 1, KERN_PROCARGS2 = 49 };

int sysctl(int *name, unsigned int names, void *old, size_t *len, void *new, size_t new_len);
int sysctlbyname(const char *name, void *old, size_t *len, void *new, size_t new_len);

#endif
