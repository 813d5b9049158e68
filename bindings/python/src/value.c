/* Converts numbers and errors of the C library to Python objects, for all files of the module. */
#include "core.h"

#include <math.h>

#include "resource_tracker.h"

PyObject *core_raise(int code, const char *why)
{
	int positive = code < 0 ? -code : code;
	const char *text = why && *why ? why : trk_strerror(code);
	PyObject *arguments, *exception;

	if (positive == TRK_ERR_RANGE) {
		PyErr_SetString(PyExc_ValueError, text);
		return NULL;
	}
	if (positive >= TRK_ERR_FORMAT) {
		PyErr_SetString(PyExc_RuntimeError, text);
		return NULL;
	}
	/* Calling OSError selects its subclass for the errno. */
	arguments = Py_BuildValue("(is)", positive, text);
	exception = arguments ? PyObject_CallObject(PyExc_OSError, arguments) : NULL;
	if (exception)
		PyErr_SetObject((PyObject *) Py_TYPE(exception), exception);
	Py_XDECREF(exception);
	Py_XDECREF(arguments);
	return NULL;
}

PyObject *core_number(double value)
{
	if (isnan(value))
		Py_RETURN_NONE;
	return PyFloat_FromDouble(value);
}
