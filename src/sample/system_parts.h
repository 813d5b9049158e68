/* The figures of the machine where each tick reads all of them: macOS and Windows. */
#ifndef TRK_SAMPLE_SYSTEM_PARTS_H
#define TRK_SAMPLE_SYSTEM_PARTS_H

#include "sample/sampler_private.h"

/* SYSTEM/sampler_system.c. What cannot be read stays empty in the row. */
void trk__system_read_cpu(struct trk_sampler *s, uint64_t now_ns);
void trk__system_read_memory(struct trk_sampler *s);
void trk__system_read_disks(struct trk_sampler *s);
void trk__system_read_net(struct trk_sampler *s);
void trk__system_read_rest(struct trk_sampler *s);

#endif
