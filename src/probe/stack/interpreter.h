/* Which interpreter a process runs, and in which of its mapped files.
 *
 * Source: /proc/PID/maps, then the memory of the process (cpython.h). Reading either needs the
 * permission that a debugger needs (ptrace(2), "ptrace access mode checking"). */
#ifndef TRK_PROBE_STACK_INTERPRETER_H
#define TRK_PROBE_STACK_INTERPRETER_H

#include "base/env.h"
#include "probe/stack/cpython.h"

enum { TRK_INTERPRETER_FILES = 16 };

/* Files of a process that may hold an interpreter: the first one mapped is its executable. */
struct trk_interpreter_maps {
	uint64_t base[TRK_INTERPRETER_FILES]; /* where the start of each is mapped */
	size_t count;
	bool other_runtime; /* PyPy, Node.js, Java or R */
};

/* Parse the text of /proc/PID/maps. Pure. */
void trk__interpreter_parse(const char *text, struct trk_interpreter_maps *ret);

/* Look at a process. TRK_STACK_READ with *ret (the caller frees), or why not. r reads the memory of
 * this pid. */
enum trk_stack_why trk__interpreter_open(const struct trk_env *env, pid_t pid, struct trk_remote *r,
					 struct trk_cpython **ret);

#endif
