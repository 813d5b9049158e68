/* Programs of a job and its processes: which used CPU and memory, and when.
 *
 * A program is the base name of a process's executable, or the script that an interpreter runs
 * (program_name.h). The tree counts per program at each sample (tree/program_use.c), a recording
 * stores the use of each interval and the processes with start and end
 * (recording/program_record.h), and a reader adds them up here. */
#ifndef TRK_MODEL_PROGRAMS_H
#define TRK_MODEL_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/course.h"
#include "model/sample.h"

enum {
	TRK_PROGRAM_NAME_SIZE = 48,
	TRK_PROGRAMS_MAX = 64, /* of one run; others are counted as TRK_PROGRAM_REST */
	TRK_SPAN_COMMAND_SIZE = 160,
	TRK_SPANS_MAX = 8192, /* processes that one recording lists */
	TRK_PROGRAM_BLOCKS_MAX = 1024,
	TRK_SPANS_WAITING_MAX = 256 /* between two rows; later ones are counted, not listed */
};

/* Index of the use of no listed program: processes with unknown parent that lived between two
 * samples, programs beyond the size of the table, and what another source (perf clock, control
 * group) adds to the sum of the processes. */
enum { TRK_PROGRAM_REST = 0 };

enum trk_program_kind {
	TRK_PROGRAM_PLAIN,
	/* Children of this program that lived between two samples, and the last moments of others,
	 * from the CPU time that their parent received when it waited for them. Their memory is
	 * unknown. */
	TRK_PROGRAM_UNSEEN,
	TRK_PROGRAM_KINDS
};

struct trk_program {
	char name[TRK_PROGRAM_NAME_SIZE];
	enum trk_program_kind kind;
	uint64_t cpu_ns;        /* so far */
	uint64_t memory_bytes;  /* at the last sample: PSS if known */
	uint64_t largest_bytes; /* largest RSS of one of its processes */
	uint64_t ended;         /* processes that were sampled and have ended */
	uint32_t alive;         /* at the last look */
};

/* One process. Times are ms since the start of the run; below 0: before it. */
struct trk_process_span {
	pid_t pid;
	unsigned int program; /* index */
	int64_t start_ms, end_ms;
	bool ended;  /* else it was alive when this was written, and end_ms is that moment */
	bool listed; /* as alive, in an earlier record */
	uint64_t cpu_ms, peak_bytes;         /* as far as they were sampled */
	char command[TRK_SPAN_COMMAND_SIZE]; /* "": not kept */
};

/* The first listed command line of each program: others are stored as differences from it. */
struct trk_first_commands {
	char text[TRK_PROGRAMS_MAX][TRK_SPAN_COMMAND_SIZE];
};

/* The programs of the tree after an update: views until the next one. */
struct trk_programs_now {
	const struct trk_program *program; /* [0] is the rest */
	size_t count;
	const struct trk_process_span *span; /* ended, or listed as alive, since the last call */
	size_t spans;
	/* processes that ended and have no span, as there were too many at once */
	uint64_t unlisted;
	/* Upper bound of pids allocated since the start on which no process was sampled:
	 * short-lived processes, and threads. UINT64_MAX: unknown. */
	uint64_t unseen_pids;
};

/* Of each program CPU seconds and MiB * s, from start_s to end_s. */
struct trk_program_block {
	double end_s, start_s;
	double seconds, memory_seconds; /* that rows cover; those in which a process was alive */
	float cpu_s[TRK_PROGRAMS_MAX], memory[TRK_PROGRAMS_MAX];
};

/* The programs of a recording. `program[i].cpu_ns` and `ended` are totals of the run so far. */
struct trk_program_log {
	struct trk_program *program;      /* owned; NULL: the recording has none */
	struct trk_first_commands *first; /* owned */
	size_t count;
	uint64_t
		peak_bytes[TRK_PROGRAMS_MAX]; /* largest sum of memory of the program at one look */
	/* Of the newest record: */
	uint64_t cpu_ms[TRK_PROGRAMS_MAX];
	int64_t elapsed_ms;
	uint64_t rows;                 /* records so far */
	struct trk_process_span *span; /* owned; in the order of the recording */
	size_t spans, spans_cap;
	uint64_t misses; /* ends of processes that are not in the full list */
	uint64_t unlisted;
	uint64_t unseen; /* upper bound of processes and threads that no sample found */
	struct trk_program_block *block; /* owned: the course over the run */
	struct trk_course course;
};

void trk__program_log_release(struct trk_program_log *log);
/* Make the tables. 0 or -ENOMEM. */
int trk__program_log_init(struct trk_program_log *log);
/* Copy totals without spans: for the tracker, which stores no course of the run. */
int trk__program_log_take(struct trk_program_log *log, const struct trk_programs_now *now);
/* Add a process, or update one that was listed as alive. Beyond TRK_SPANS_MAX, or without memory,
 * it counts as unlisted. */
void trk__program_log_span(struct trk_program_log *log, const struct trk_process_span *span);
/* Add a row that covers this time to the course; is_new: the newest record belongs to this row. */
void trk__program_log_row(struct trk_program_log *log, double from_s, double to_s, bool is_new);
/* A program's CPU seconds and MiB * s in a stretch of time; *ret_seconds: the part that rows cover.
 * After the last process has ended, the memory before its end is used. */
void trk__program_log_use(const struct trk_program_log *log, size_t program, double from_s,
			  double to_s, double *ret_cpu_s, double *ret_memory, double *ret_seconds);
/* Number of processes of a program in the run, ended and alive. */
uint64_t trk__program_processes(const struct trk_program *program);
/* "sort", or "short processes of bash". */
const char *trk__program_label(const struct trk_program *program, char *text, size_t size);

/* What a program used in a row. */
struct trk_program_row {
	size_t program; /* index; TRK_PROGRAM_REST: use of no listed program */
	double cpu_s, memory_mib;
	uint64_t processes; /* at its end */
};

/* Write an entry for each program that used CPU time in the row or holds memory, and one for the
 * rest, so that the sums equal the row's values. At most TRK_PROGRAMS_MAX + 1; returns how many.
 * `is_new`: the log's newest record belongs to this row. */
size_t trk__program_rows(const struct trk_program_log *log, const struct trk_sample *row,
			 bool is_new, struct trk_program_row *list);

#endif
