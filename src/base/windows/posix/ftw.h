/* A walk through a folder. */
#ifndef TRK_POSIX_FTW_H
#define TRK_POSIX_FTW_H

#include <sys/stat.h>

#define FTW_DEPTH 8
#define FTW_PHYS  1

struct FTW {
	int base, level;
};

int nftw(const char *path,
	 int (*visit)(const char *path, const struct stat *st, int type, struct FTW *at),
	 int folders, int flags);

#endif
