/* Checks of the sources of figures of one system, for trk__machine_check(): machine_sources.c in
 * src/service/linux, darwin and windows. */
#ifndef TRK_SERVICE_MACHINE_SOURCES_H
#define TRK_SERVICE_MACHINE_SOURCES_H

#include <stddef.h>

#include "base/env.h"
#include "service/check.h"

/* Fill in a list with room for TRK_CHECKS_MAX - 1. Returns how many there are. */
size_t trk__machine_sources(const struct trk_env *env, const struct trk_gpu_hints *hints,
			    struct trk_check *list);

#endif
