/* Sampled stacks of a job, and the CPU time, wall time and memory that each line used.
 *
 * Stacks form a tree: a node is a line of a function, called from the line of its parent. Counts
 * are stored at the node of the line that ran; the use of a line including its callees is the sum
 * over the nodes below. Filled by sample/stacks.c, stored by recording/line_record.h, added up by
 * lines/profile.h. */
#ifndef TRK_MODEL_LINES_H
#define TRK_MODEL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Why the stacks of a process can or cannot be read. Recordings store these numbers. */
#define TRK_STACK_LIST(X)                                                                          \
	X(READ, "read")                                                                            \
	X(NOT_PYTHON, "no Python: only CPython is read")                                           \
	X(STARTING, "the interpreter had not started, or had ended, at each sample")               \
	X(DENIED, "the kernel does not let the tracker read its memory")                           \
	X(NO_SYMBOL, "the Python does not export _PyRuntime")                                      \
	X(OLD, "CPython older than 3.9")                                                           \
	X(NEW, "CPython newer than 3.14")                                                          \
	X(FREE_THREADED, "a free-threaded CPython")                                                \
	X(UNEXPECTED, "the memory is not laid out as in a release build of its version")           \
	X(OTHER_RUNTIME, "PyPy, Node.js, Java or R: not supported")                                \
	X(TOO_MANY, "more processes than can be read at once")                                     \
	X(NO_MEMORY, "the tracker ran out of memory for it")                                       \
	X(TOO_MUCH, "reading all of it takes too much time or memory")                             \
	X(STUCK, "it was stuck in the kernel when its memory was read")

enum trk_stack_why {
#define X(name, text) TRK_STACK_##name,
	TRK_STACK_LIST(X)
#undef X
		TRK_STACK_WHYS
};
const char *trk__stack_why_text(unsigned int why); /* static */

/* Why native code was or was not sampled. Recordings store these numbers. */
#define TRK_NATIVE_LIST(X)                                                                         \
	X(NONE, "no thread used CPU time for long enough")                                         \
	X(READ, "read")                                                                            \
	X(DENIED, "the kernel refuses perf_event_open (kernel.perf_event_paranoid, seccomp)")      \
	X(ABSENT, "the kernel has no perf_event_open with call chains (Linux 4.8)")                \
	X(NO_ROOM, "no locked memory or no descriptors left for perf_event_open")

enum trk_native_why {
#define X(name, text) TRK_NATIVE_##name,
	TRK_NATIVE_LIST(X)
#undef X
		TRK_NATIVE_WHYS
};
const char *trk__native_why_text(unsigned int why); /* static */

enum {
	TRK_LINES_FUNCTIONS = 8192,
	TRK_LINES_NODES = 32768,
	TRK_LINES_LANES = 512,
	TRK_LINES_COUNTS = 65536,     /* pairs of lane and node of one window */
	TRK_LINES_KEPT = 1024 * 1024, /* counts of all windows that a reader keeps */
	TRK_LINES_PROCESSES = 256,    /* whose reading state is recorded */
	TRK_LINES_NAME_SIZE = 16,     /* of a process, with its end */
	TRK_LINES_DEPTH = 300,        /* of a stack; more than is sampled of one */
};

/* Node 0 is the root. Function 0 is used for functions that did not fit into the tables. */
enum { TRK_LINES_ROOT = 0, TRK_LINES_OTHER = 0 };

struct trk_lines_function {
	char *file, *name; /* owned; file names are bytes, not always UTF-8 */
	int first_line;
	bool is_library; /* of the standard library or an installed package */
	/* Native code: modification time of its program or library, seconds since 1970; 0: Python
	 * code. Set when the symbol was looked up (lines/native.h). */
	double built_s;
};

struct trk_lines_node {
	uint32_t parent; /* smaller than the node itself */
	uint32_t function;
	int line; /* 0: unknown */
};

/* A thread of a process; lane 0 is used for threads that did not fit. */
struct trk_lines_lane {
	pid_t pid, tid;
	char process[TRK_LINES_NAME_SIZE]; /* name of the process */
};

struct trk_lines_amounts {
	uint64_t samples;
	uint64_t cpu_us, wall_us;
	uint64_t sure_bytes;     /* growth of memory, certainly on this line */
	uint64_t between_bytes;  /* growth of memory, probably on this line */
	uint64_t released_bytes; /* decrease of memory since the sample before */
};

struct trk_lines_count {
	uint32_t lane, node;
	struct trk_lines_amounts amounts;
};

/* Counts of a stretch of time. */
struct trk_lines_window {
	int64_t from_us, to_us; /* since the start of the run */
	size_t first, count;    /* of trk_lines.kept */
};

/* Whether a process was read. `why` is an enum trk_stack_why, or a newer reason. */
struct trk_lines_process {
	pid_t pid;
	unsigned int why;
	unsigned int version; /* of its Python, 0x30b02 for 3.11.2; 0: unknown */
	char name[TRK_LINES_NAME_SIZE];
};

/* What a thread did at its last sample. */
struct trk_lines_last {
	uint32_t lane, node;
	int64_t at_us;
	bool running;
};

/* Sampling of native code. */
struct trk_lines_native {
	unsigned int why; /* an enum trk_native_why, or a newer reason */
	uint64_t samples, lost;
};

/* State of the symbols of a file with native code; set by a reader that looked them up. */
struct trk_lines_symbols {
	char *file;      /* owned */
	const char *why; /* static; NULL: they were found */
	bool is_usual;   /* a system library without symbols: not reported */
};

/* Values of trk_lines.user other than a uid. */
enum { TRK_LINES_USER_UNKNOWN = -1, TRK_LINES_SEVERAL_USERS = -2 };

struct trk_lines_table {
	uint32_t *slot; /* owned: number + 1 */
	size_t slots;   /* a power of two, or 0 */
};

struct trk_lines {
	struct trk_lines_function *function; /* owned */
	struct trk_lines_node *node;         /* owned */
	struct trk_lines_lane *lane;         /* owned */
	size_t functions, nodes, lanes;
	struct trk_lines_table function_at, node_at, total_at;

	struct trk_lines_count *total; /* owned: of the whole run */
	size_t totals;

	bool keeps_windows;              /* set by a reader */
	struct trk_lines_window *window; /* owned */
	struct trk_lines_count *kept;    /* owned */
	size_t windows, kepts;

	struct trk_lines_process process[TRK_LINES_PROCESSES];
	size_t processes;
	struct trk_lines_last *last; /* owned: by lane */
	uint64_t samples, torn;      /* stacks that were read, and that were dropped */
	double rate_hz;              /* requested */
	uint64_t rounds, cost_us;    /* rounds over all processes, and their CPU time */
	struct trk_lines_native native;
	/* The user whose processes were read. Files that these name are read only if this user could
	 * read them (base/trust.h). Of a recording that another user owns: the owner. */
	int64_t user;
	struct trk_lines_symbols *symbols; /* owned */
	size_t symbol_files;
};

/* Native code whose symbols were not looked up is a function with the mapped file as `file`, this
 * name, and first line 0; the line of its nodes is the offset in the file, 0 if not recorded. The
 * name contains the build id in hexadecimal digits, "" if unknown: "[native 8f3a…]". */
enum { TRK_LINES_NATIVE_SIZE = 64 };
void trk__lines_native_name(char name[TRK_LINES_NATIVE_SIZE], const char *build_id);
/* Whether a function is such native code; *ret_id, if not NULL, is its build id, *ret_len digits
 * long. */
bool trk__lines_is_native(const struct trk_lines_function *f, const char **ret_id, size_t *ret_len);

/* Create with the root and the entries for what does not fit. NULL: no memory. */
struct trk_lines *trk__lines_new(void);
void trk__lines_free(struct trk_lines *l);

/* Find or add a function, a node or a lane, and return its number. Without room: TRK_LINES_OTHER
 * for a function or a lane, the parent for a node. */
uint32_t trk__lines_function(struct trk_lines *l, const char *file, const char *name,
			     int first_line);
/* As above, but stores only the last part of the file's path. */
uint32_t trk__lines_base_function(struct trk_lines *l, const char *path, const char *name,
				  int first_line);
/* As trk__lines_function(), with is_library given by the caller. */
uint32_t trk__lines_function_of(struct trk_lines *l, const char *file, bool is_library,
				const char *name, int first_line);
uint32_t trk__lines_node(struct trk_lines *l, uint32_t parent, uint32_t function, int line);
uint32_t trk__lines_lane(struct trk_lines *l, pid_t pid, pid_t tid, const char *process);

/* A function of a recording. Its texts are borrowed and not terminated. */
struct trk_lines_named {
	const char *file, *name;
	size_t file_len, name_len;
	int first_line;
	bool is_library; /* not derived from the file's name */
};

/* For readers of recordings: append with the number that the file gives. 0, -EBADMSG or -ENOMEM. */
int trk__lines_put_function(struct trk_lines *l, uint64_t number, const struct trk_lines_named *f);
int trk__lines_put_node(struct trk_lines *l, uint64_t number, const struct trk_lines_node *node);
int trk__lines_put_lane(struct trk_lines *l, uint64_t number, const struct trk_lines_lane *lane);

/* Add counts of a stretch of time to the totals, and keep them where windows are kept. */
int trk__lines_add(struct trk_lines *l, int64_t from_us, int64_t to_us,
		   const struct trk_lines_count *count, size_t counts);

/* Keep counts of a stretch of time, without adding them to the totals. */
void trk__lines_keep(struct trk_lines *l, int64_t from_us, int64_t to_us,
		     const struct trk_lines_count *count, size_t counts);

/* Record how a process is read. The newest state of a pid replaces the one before, but a process
 * that was read stays so when it no longer has an interpreter. */
void trk__lines_process(struct trk_lines *l, const struct trk_lines_process *process);
/* Name of a process, or "process" if unknown: it ended before its name was read. */
const char *trk__lines_process_name(const struct trk_lines_process *process);
/* Note the user of a process that is read; TRK_LINES_SEVERAL_USERS: not a single one. */
void trk__lines_add_user(struct trk_lines *l, int64_t uid);
/* Whether there are data about lines to record: an interpreter or native code was seen. */
bool trk__lines_has_any(const struct trk_lines *l);
/* Whether a process was seen that runs Python, or another language whose lines are not read. */
bool trk__lines_has_interpreter(const struct trk_lines *l);
/* Record what a lane did last. */
void trk__lines_note_last(struct trk_lines *l, const struct trk_lines_last *last);

/* The node or its nearest ancestor whose line is in the user's own code; the node if there is
 * none. */
uint32_t trk__lines_user(const struct trk_lines *l, uint32_t node);
/* Whether both are on the same line of the user's own code. */
bool trk__lines_same(const struct trk_lines *l, uint32_t a, uint32_t b);
/* The deepest common ancestor of both nodes, which may be one of them. */
uint32_t trk__lines_common(const struct trk_lines *l, uint32_t a, uint32_t b);

/* Whether a file belongs to the standard library or to an installed package. */
bool trk__lines_is_library(const char *file);

/* Adding up counts of pairs of lane and node: the current window of a sampler. */
struct trk_lines_sums {
	struct trk_lines_count *count; /* owned */
	size_t counts;
	struct trk_lines_table at;
};
/* The amounts of a pair, which the caller adds to; NULL: no room. Valid until the next call. */
struct trk_lines_amounts *trk__lines_sum(struct trk_lines_sums *s, uint32_t lane, uint32_t node);
void trk__lines_sums_release(struct trk_lines_sums *s);
void trk__lines_amounts_add(struct trk_lines_amounts *to, const struct trk_lines_amounts *more);

#endif
