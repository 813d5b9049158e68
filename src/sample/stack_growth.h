/* Which line of a process takes memory.
 *
 * Between two samples memory may have grown on any line that ran. The kernel's count of page faults
 * distinguishes the lines: if it rises while a stack is read, the line of that stack allocates
 * memory at that moment. Growth between two samples on one line is "sure" if the process stayed on
 * the line, and the line allocated memory in at least half of the looks at it. All other growth is
 * divided among the lines that were seen allocating memory. If there is none, it is charged to the
 * nearest common caller of all lines that ran.
 *
 * While memory reaches new heights, samples alone are too few: there is one more look for each
 * 1/512 that memory grows by, and eight as long as no line was seen taking memory. Their number is
 * thus bounded by the size that memory reaches. */
#ifndef TRK_SAMPLE_STACK_GROWTH_H
#define TRK_SAMPLE_STACK_GROWTH_H

#include "model/lines.h"

enum { TRK_GROWTH_LINES = 16 };
enum { TRK_GROWTH_CLEAR = 8 }; /* weight of a clear sign that a line takes memory */

/* A line on which the process was seen. Zero-initialised. */
struct trk_growth_line {
	uint32_t node, lane;
	uint64_t seen_ns;
	bool sleeps; /* its thread, at the last sample */
	/* Since the last settling. */
	unsigned int visits, looks, hits; /* hits: looks that clearly saw it take memory */
	uint64_t stay_bytes;              /* growth between two samples of one visit */
	unsigned int stays, slow_stays;   /* such pairs of samples, and those of little growth */
	double signs;                     /* seen lately: the older, the less they count */
};

struct trk_growth {
	struct trk_growth_line line[TRK_GROWTH_LINES];
	size_t lines;
	bool has_memory, was_alone;
	size_t at;                       /* line of the last sample */
	uint64_t bytes, high_bytes;      /* at the last sample, and the highest so far */
	uint64_t high_ns;                /* when it was the highest */
	uint64_t hot_ns;                 /* memory grew lately, until then */
	uint64_t period_ns;              /* between two looks that growth asks for; 0: none */
	uint64_t settled_ns;             /* the last settling */
	uint64_t loose_bytes;            /* growth that is at no line yet */
	uint64_t loose_ns;               /* since when */
	uint32_t loose_node, loose_lane; /* where all stacks since then lead through */
	bool loose_sleeps;               /* all of them slept */
};

/* What a sample found. */
struct trk_growth_sample {
	uint64_t now_ns, bytes; /* bytes: memory of the process */
	uint32_t node, lane;    /* of the thread that memory is charged to */
	bool alone;             /* no other thread can have taken any */
	bool is_look;           /* the thread was on a CPU, and page faults were counted */
	unsigned int sign;      /* how clearly it was seen taking memory */
	uint64_t cpu_ns;        /* that the process used since the sample before */
	bool sleeps;            /* the thread: it takes no memory on its line at this moment */
};

void trk__growth_take(struct trk_growth *g, const struct trk_lines *l,
		      const struct trk_growth_sample *sample, struct trk_lines_sums *ret_sums);
/* A look between two samples saw a line take memory. */
void trk__growth_note(struct trk_growth *g, const struct trk_lines *l, uint32_t node, uint32_t lane,
		      unsigned int sign, uint64_t now_ns);
/* Whether page faults are worth counting now. */
bool trk__growth_is_hot(const struct trk_growth *g, uint64_t now_ns);
/* Charge the growth since the last settling to lines; with `last` all of it. */
void trk__growth_settle(struct trk_growth *g, const struct trk_lines *l, uint64_t now_ns, bool last,
			struct trk_lines_sums *ret_sums);

#endif
