/* Settings of the simulated libproc that a test can change. */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdint.h>
#include <sys/types.h>

extern uint64_t stand_in_hz;  /* hw.tbfrequency, before the first use */
extern pid_t stand_in_denied; /* a process that may not be read; 0: none */

#endif
