/* The size of the console. */
#ifndef TRK_POSIX_SYS_IOCTL_H
#define TRK_POSIX_SYS_IOCTL_H

#define TIOCGWINSZ 0x5413

struct winsize {
	unsigned short ws_row, ws_col;
};

int ioctl(int fd, unsigned long request, struct winsize *ret);

#endif
