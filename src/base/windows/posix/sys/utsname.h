/* The name of the system. */
#ifndef TRK_POSIX_SYS_UTSNAME_H
#define TRK_POSIX_SYS_UTSNAME_H

struct utsname {
	char sysname[16], release[32], machine[16];
};

int uname(struct utsname *ret);

#endif
