/* The stacks of a CPython process, read from outside while it runs.
 *
 * Source: the memory of the process, from the symbol _PyRuntime on: interpreters, their threads,
 * the chain of frames of each, and their code objects. The process is not stopped and does not
 * notice, so that a stack can be torn: each step is checked, and a stack that fails a check is
 * dropped and counted. CPython 3.9 to 3.14 with the GIL (cpython_layouts.def has where each keeps
 * what is read here). */
#ifndef TRK_PROBE_STACK_CPYTHON_H
#define TRK_PROBE_STACK_CPYTHON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/lines.h"
#include "probe/stack/cpython_lines.h"
#include "probe/stack/remote.h"

enum {
	TRK_STACK_FRAMES = 256,    /* of a stack, equal ones in a row counted once */
	TRK_STACK_WALKED = 20000,  /* frames of a stack that are looked at */
	TRK_STACK_THREADS = 64,    /* of a process */
	TRK_CPYTHON_CODES = 8192,  /* code objects that are remembered of a process */
	TRK_CPYTHON_TEXT = 1024,   /* bytes of a file's name, at most */
	TRK_CPYTHON_TABLE = 65536, /* bytes of a line table, at most */
};

/* Offsets in bytes; -1: the version has no such thing. See tools/python_layouts.py. */
struct trk_cpython_layout {
	int version; /* 0x30b for 3.11 */
	int interpreters, interpreter_next, interpreter_threads;
	int thread_next, thread_interpreter, thread_id, thread_native_id, thread_frame;
	int cframe_frame;
	int frame_back, frame_code, frame_place, frame_owner;
	int code_file, code_name, code_first_line, code_table, code_bytes;
	int object_type, type_name, bytes_size, bytes_data;
	int text_state, text_length, ascii_size;
};

/* An interpreter that was found in a process. */
struct trk_cpython_runtime {
	uint64_t addr;       /* of _PyRuntime */
	uint32_t hexversion; /* 0x030b02f0 for 3.11.2; the lowest two bytes may be unknown, 0 */
	struct trk_cpython_layout layout;
	uint64_t code_type; /* address of the type of code objects; 0: not checked yet */
};

/* What is remembered of a code object. */
struct trk_cpython_code {
	uint64_t addr; /* 0: an empty place of the table */
	uint64_t file_addr, name_addr, table_addr;
	int first_line;
	uint32_t checked;     /* the walk in which it was compared last */
	uint32_t walks;       /* that found it the same */
	char *file, *name;    /* owned */
	unsigned char *table; /* owned */
	size_t table_len;
	uint32_t user;         /* of the caller: 0 when the object is new */
	int place[4], line[4]; /* lines that were looked up last */
};

struct trk_stack_frame {
	struct trk_cpython_code *code; /* valid until the next walk */
	int line;                      /* 0: unknown */
};

struct trk_stack {
	uint64_t thread; /* pthread_t */
	pid_t tid;       /* 0: unknown */
	bool is_oldest;  /* of its interpreter's threads */
	bool is_cut;     /* there are more frames towards the root */
	unsigned int depth;
	struct trk_stack_frame frame[TRK_STACK_FRAMES]; /* the running one first */
};

struct trk_cpython; /* opaque */

/* The table's row of a version (0x30b); NULL: not known. From 3.13 on its values are places in the
 * process's own table. */
const struct trk_cpython_layout *trk__cpython_layout(int version);

/* Look for an interpreter in the ELF file that is mapped at `base`. TRK_STACK_READ with *ret, or
 * why not; NOT_PYTHON where the file is something else. */
enum trk_stack_why trk__cpython_find(struct trk_remote *r, uint64_t base,
				     struct trk_cpython_runtime *ret);
/* Follow the chain from the runtime to a code object and its names, and see that each is what it is
 * taken for. Sets runtime->code_type. READ, STARTING or UNEXPECTED. */
enum trk_stack_why trk__cpython_check(struct trk_remote *r, struct trk_cpython_runtime *runtime);

/* NULL: no memory. pid: of the process, to find the kernel's number of each thread. */
struct trk_cpython *trk__cpython_new(const struct trk_cpython_runtime *runtime, pid_t pid);
void trk__cpython_free(struct trk_cpython *c);
/* 0x30b02 for 3.11.2; the last byte is 0 where it is not known. */
unsigned int trk__cpython_version(const struct trk_cpython *c);
/* Forget code objects where there are too many, between two walks, as stacks point to them. */
void trk__cpython_trim(struct trk_cpython *c);

/* Read the memory that the next walk finds the running lines in, in one system call: less time
 * passes than in the whole walk. Where r->late is not 0 after the walk, it read more of it. */
void trk__cpython_fetch(struct trk_cpython *c, struct trk_remote *r);

typedef void trk_stack_fn(void *data, struct trk_stack *stack);
/* Call for the stack of each thread that runs Python. Returns how many there were, or a negative
 * errno when the process cannot be read any more. *ret_torn: stacks that were dropped. */
int trk__cpython_walk(struct trk_cpython *c, struct trk_remote *r, trk_stack_fn *on_stack,
		      void *data, unsigned int *ret_torn);

/* Text of a str object as UTF-8 (bytes that were no UTF-8 in a file's name as they were), at most
 * size - 1 bytes, the start of a longer one left out ("…" in its place). Length, or -EBADMSG. */
int trk__cpython_text(struct trk_remote *r, const struct trk_cpython_layout *l, uint64_t addr,
		      char *text, size_t size);
/* Read a code object that has code->addr and is not remembered yet. 0, -EBADMSG or -ENOMEM. */
int trk__cpython_read_code(struct trk_remote *r, const struct trk_cpython_runtime *runtime,
			   struct trk_cpython_code *code);
/* Does it still have the names, the table and the first line that were read? By their addresses. */
bool trk__cpython_same_code(struct trk_remote *r, const struct trk_cpython_runtime *runtime,
			    const struct trk_cpython_code *code);
void trk__cpython_forget_code(struct trk_cpython_code *code);
/* The line of the instruction at byte `offset`. */
int trk__cpython_code_line(const struct trk_cpython_layout *l, struct trk_cpython_code *code,
			   int offset);

#endif
