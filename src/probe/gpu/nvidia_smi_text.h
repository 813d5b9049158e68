/* What the parsers of nvidia-smi's text share. */
#ifndef TRK_PROBE_GPU_NVIDIA_SMI_TEXT_H
#define TRK_PROBE_GPU_NVIDIA_SMI_TEXT_H

#include "probe/gpu/gpu.h"

enum { FIELDS_MAX = 64 };

/* A part of the text. */
struct span {
	const char *at;
	size_t len;
};

/* From one place to before another, without the blanks at both ends. */
struct span trk__smi_trimmed(const char *from, const char *to);
/* The line that begins here. */
struct span trk__smi_line(const char *text);
/* Whatever the case of the letters. */
bool trk__smi_is(struct span s, const char *word);
bool trk__smi_holds(struct span s, const char *word);
/* Cut to fit, ended by a NUL, and without control characters. */
void trk__smi_copy(struct span s, char *to, size_t size);
bool trk__smi_integer(struct span s, uint64_t max, uint64_t *ret);

/* The fields between commas; their number, or 0 where there are more than FIELDS_MAX. */
size_t trk__smi_split(struct span line, struct span *field);
/* "memory.total [MiB]" without the unit. */
struct span trk__smi_bare(struct span head);
/* Put the parts of a name with commas together. False: the row does not fit its head. */
bool trk__smi_join(struct span *field, size_t *n, size_t heads, size_t name);

enum kind { MEBIBYTES, PERCENT, PLAIN, MEGAHERTZ, BITS };

/* In bytes, as a share, or in Hz; or the reason why there is none. */
struct trk_gpu_value trk__smi_value(struct span s, enum kind kind);

#endif
