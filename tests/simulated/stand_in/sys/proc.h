/* Process states of macOS. */
#ifndef STAND_IN_SYS_PROC_H
#define STAND_IN_SYS_PROC_H

enum { SRUN = 2, SZOMB = 5 };

#endif
