/* Space of a file system. */
#ifndef TRK_POSIX_SYS_STATVFS_H
#define TRK_POSIX_SYS_STATVFS_H

struct statvfs {
	unsigned long long f_frsize, f_bsize, f_blocks, f_bfree, f_bavail;
	unsigned long f_flag;
};

int fstatvfs(int fd, struct statvfs *ret);

#endif
