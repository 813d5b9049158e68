/* What the module has on Linux alone, where the C library tracks. */
#include "core.h"

#include "resource_tracker.h"

static PyObject *mark(PyObject *module, PyObject *arguments)
{
	const char *guard, *name;
	int r;

	(void) module;
	if (!PyArg_ParseTuple(arguments, "ss", &guard, &name))
		return NULL;
	r = trk_mark(guard, name);
	if (r < 0)
		return core_raise(r, "");
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
	{"mark", mark, METH_VARARGS, "mark(guard, name): name the current moment of a run."},
	{NULL, NULL, 0, NULL},
};

int core_add_tracking(PyObject *module)
{
	if (core_add(module, "Tracker", core_tracker_type()) < 0 ||
	    core_add(module, "Counters", core_counters_type()) < 0)
		return -1;
	return PyModule_AddFunctions(module, functions);
}
