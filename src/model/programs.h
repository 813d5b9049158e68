/* Programs of a job and its processes: which used CPU and memory, and when.
 *
 * A program is what people call a process by: the base name of its executable, or the script that
 * an interpreter runs (program_name.h). The tree counts per program at each look
 * (tree/program_use.c), a recording keeps the use of each interval and the processes with start and
 * end (recording/program_record.h), and a reader adds them up here. */
#ifndef TRK_MODEL_PROGRAMS_H
#define TRK_MODEL_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	TRK_PROGRAM_NAME_SIZE = 48,
	TRK_PROGRAMS_MAX = 64, /* of one run; others are counted as TRK_PROGRAM_REST */
	TRK_SPAN_COMMAND_SIZE = 160,
	TRK_SPANS_MAX = 8192, /* processes that one recording lists */
	TRK_PROGRAM_BLOCKS_MAX = 1024,
	TRK_SPANS_WAITING_MAX = 256 /* between two rows; later ones are counted, not listed */
};

/* Index of what belongs to no program that is listed: of processes that came and went between two
 * looks where no parent is known, of more programs than the table has, and what another source
 * (perf clock, control group) adds to the sum of the processes. */
enum { TRK_PROGRAM_REST = 0 };

enum trk_program_kind {
	TRK_PROGRAM_PLAIN,
	/* Children of this program that lived between two looks, and the last moments of others:
	 * their parent was given their CPU time when it waited for them. They have no memory
	 * here. */
	TRK_PROGRAM_UNSEEN,
	TRK_PROGRAM_KINDS
};

struct trk_program {
	char name[TRK_PROGRAM_NAME_SIZE];
	enum trk_program_kind kind;
	uint64_t cpu_ns;        /* so far */
	uint64_t memory_bytes;  /* at the last look: PSS where that is known */
	uint64_t largest_bytes; /* largest RSS of one of its processes */
	uint64_t ended;         /* processes that were seen and have ended */
	uint32_t alive;         /* at the last look */
};

/* One process. Times are ms since the start of the run; below 0: before it. */
struct trk_process_span {
	pid_t pid;
	unsigned int program; /* index */
	int64_t start_ms, end_ms;
	bool ended;  /* else it was alive when this was written, and end_ms is that moment */
	bool listed; /* as alive, in an earlier record */
	uint64_t cpu_ms, peak_bytes;         /* as far as they were seen */
	char command[TRK_SPAN_COMMAND_SIZE]; /* "": not kept */
};

/* The first command line that was listed of each program: others are stored as where they
 * differ. */
struct trk_first_commands {
	char text[TRK_PROGRAMS_MAX][TRK_SPAN_COMMAND_SIZE];
};

/* The programs of the tree after an update: views until the next one. */
struct trk_programs_now {
	const struct trk_program *program; /* [0] is the rest */
	size_t count;
	const struct trk_process_span *span; /* ended, or found to last, since the last call */
	size_t spans;
	uint64_t
		unlisted; /* processes that ended and are in no span: there were too many at once */
	/* Pids that were given out since the start and on which no process was found, at most: of
	 * processes that came and went unseen, and of threads. UINT64_MAX: not known. */
	uint64_t unseen_pids;
};

/* The course of the programs in blocks of equal time. When there are too many, each two neighbours
 * become one: so it takes bounded memory however long the run is. */
struct trk_program_course {
	double width_s; /* of a block */
	size_t blocks;  /* in use */
	/* Owned: of each block and program CPU seconds, and MiB * s; of each block the seconds that
	 * rows cover. */
	float (*cpu_s)[TRK_PROGRAMS_MAX], (*memory)[TRK_PROGRAMS_MAX];
	float *seconds;
	float *memory_seconds; /* of these, those in which a process was alive */
};

/* The same as a reader gathers it. `program[i].cpu_ns` and `ended` are of the run so far. */
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
	uint64_t unlisted;
	uint64_t unseen; /* processes and threads that came and went unseen, at most */
	struct trk_program_course course;
};

void trk__program_log_release(struct trk_program_log *log);
/* Make the tables. 0 or -ENOMEM. */
int trk__program_log_init(struct trk_program_log *log);
/* Take over totals without spans: for the tracker, which keeps no course of the run. */
int trk__program_log_take(struct trk_program_log *log, const struct trk_programs_now *now);
/* Add a process, or bring one up to date that was listed as alive. Beyond the bound, or without
 * memory, it counts as unlisted. */
void trk__program_log_span(struct trk_program_log *log, const struct trk_process_span *span);
/* Count a row that covers this time into the course; is_new: the newest record is of this row. */
void trk__program_log_row(struct trk_program_log *log, double from_s, double to_s, bool is_new);
/* A program's CPU seconds and MiB * s of a stretch of time; *ret_seconds: of it that rows cover.
 * Where no process was alive any more, its memory before that stands. */
void trk__program_log_use(const struct trk_program_log *log, size_t program, double from_s,
			  double to_s, double *ret_cpu_s, double *ret_memory, double *ret_seconds);
/* Processes of a program that the run has had: ended and alive. */
uint64_t trk__program_processes(const struct trk_program *program);
/* "sort", or "short processes of bash". */
const char *trk__program_label(const struct trk_program *program, char *text, size_t size);

#endif
