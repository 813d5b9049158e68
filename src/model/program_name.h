/* The program name of a process: the base name of its executable, or what its interpreter runs.
 *
 * Python, Perl, Ruby, R, Node.js, Java and the shells are named after the script, module (-m),
 * class or archive on their command line; `ld` and `collect2` are one program. */
#ifndef TRK_MODEL_PROGRAM_NAME_H
#define TRK_MODEL_PROGRAM_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "model/programs.h"

/* True if the kernel's name of a process is that of an interpreter: its command line is needed. */
bool trk__program_is_interpreter(const char *comm);

/* `comm` is the kernel's name (at most 15 bytes); args[0..len) the command line, each argument
 * ended by a NUL, or len 0. *ret_worker: a worker process started by a library of the interpreter
 * (multiprocessing, joblib); its name is that of the interpreter. */
void trk__program_name(const char *comm, const char *args, size_t len,
		       char ret[TRK_PROGRAM_NAME_SIZE], bool *ret_worker);

#endif
