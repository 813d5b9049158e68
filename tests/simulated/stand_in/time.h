/* The system's time.h with a clock of macOS, which stops while the machine is suspended. */
#ifndef STAND_IN_TIME_H
#define STAND_IN_TIME_H

#include_next <time.h>

#include <stdint.h>

enum { CLOCK_UPTIME_RAW = 8 };

uint64_t clock_gettime_nsec_np(clockid_t clock);

#endif
