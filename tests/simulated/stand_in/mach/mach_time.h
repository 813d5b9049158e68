/* The kernel's clock of macOS, in ticks of hw.tbfrequency. */
#ifndef STAND_IN_MACH_MACH_TIME_H
#define STAND_IN_MACH_MACH_TIME_H

#include <stdint.h>

uint64_t mach_absolute_time(void);

#endif
