/* Shared by the files of the extension module resource_tracker._core. */
#ifndef TRK_PYTHON_CORE_H
#define TRK_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

/* The headers of Python 3.12 and later return None without a new reference, as None is immortal
 * there. The module also runs on older versions, which would abort with "deallocating None". */
#undef Py_RETURN_NONE
#define Py_RETURN_NONE                                                                             \
	do {                                                                                       \
		Py_INCREF(Py_None);                                                                \
		return Py_None;                                                                    \
	} while (0)

/* Set the exception for an error code of the library: OSError or a subclass for an errno,
 * ValueError for an option out of range, RuntimeError otherwise. `why` may be "". Returns NULL. */
PyObject *core_raise(int code, const char *why);

/* A float, or None for NaN (not known). */
PyObject *core_number(double value);

/* Add a value to the module. Takes it, on failure too. 0, or -1 with an exception. */
int core_add(PyObject *module, const char *name, PyObject *value);

/* Add Tracker, Counters and mark() on Linux; elsewhere nothing. 0, or -1 with an exception. */
int core_add_tracking(PyObject *module);

/* Create the types, once per module. On failure they return NULL and set an exception. */
PyObject *core_tracker_type(void);
PyObject *core_recording_type(void);
PyObject *core_counters_type(void);

/* See answers.c. */
PyObject *core_recommend(PyObject *module, PyObject *args);
PyObject *core_compare(PyObject *module, PyObject *args);
PyObject *core_servers(PyObject *module, PyObject *args);
PyObject *core_report(PyObject *module, PyObject *args);
PyObject *core_import_file(PyObject *module, PyObject *args);

/* arrow_stream(columns): see arrow.c. */
PyObject *core_arrow_stream(PyObject *module, PyObject *columns);

#endif
