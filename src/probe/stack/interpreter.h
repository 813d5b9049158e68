/* Finds the interpreter that a process runs, among its mapped files.
 *
 * Source: /proc/PID/maps, then the memory of the process (cpython.h). Both require permission to
 * trace the process (ptrace(2), "ptrace access mode checking"). */
#ifndef TRK_PROBE_STACK_INTERPRETER_H
#define TRK_PROBE_STACK_INTERPRETER_H

#include "base/env.h"
#include "probe/stack/cpython.h"

enum { TRK_INTERPRETER_FILES = 16 };

/* Mapped files of a process that may contain an interpreter, its executable first. */
struct trk_interpreter_maps {
	uint64_t base[TRK_INTERPRETER_FILES]; /* address of the start of each */
	size_t count;
	bool other_runtime; /* PyPy, Node.js, Java or R */
};

/* Parse the text of /proc/PID/maps. Pure. */
void trk__interpreter_parse(const char *text, struct trk_interpreter_maps *ret);

/* Find the interpreter of a process. Returns TRK_STACK_READ with *ret (the caller frees), or the
 * reason for a failure. r reads the memory of this pid. */
enum trk_stack_why trk__interpreter_open(const struct trk_env *env, pid_t pid, struct trk_remote *r,
					 struct trk_cpython **ret);

#endif
