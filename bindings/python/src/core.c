/* The extension module resource_tracker._core. It only wraps the C library in Python objects; the
 * public interface of the package is written in Python. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "resource_tracker.h"

static PyObject *columns(PyObject *module, PyObject *unused)
{
	size_t n = trk_columns();
	PyObject *list = PyList_New((Py_ssize_t) n);

	(void) module;
	(void) unused;
	for (size_t i = 0; list && i < n; i++) {
		PyObject *row = Py_BuildValue("(sss)", trk_column_name(i), trk_column_unit(i),
					      trk_column_description(i));

		if (!row || PyList_SetItem(list, (Py_ssize_t) i, row) < 0)
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *alerts(PyObject *module, PyObject *arguments)
{
	PyObject *dir, *text;
	char *json, why[512] = "";
	int r;

	(void) module;
	if (!PyArg_ParseTuple(arguments, "O&", PyUnicode_FSConverter, &dir))
		return NULL;
	r = trk_alerts(PyBytes_AsString(dir), &json, why, sizeof(why));
	Py_DECREF(dir);
	if (r < 0) {
		PyErr_SetString(PyExc_RuntimeError, why);
		return NULL;
	}
	text = PyUnicode_DecodeUTF8(json, (Py_ssize_t) strlen(json), "replace");
	free(json);
	return text;
}

static PyObject *version(PyObject *module, PyObject *unused)
{
	(void) module;
	(void) unused;
	return PyUnicode_FromString(trk_version());
}

static PyMethodDef functions[] = {
	{"columns", columns, METH_NOARGS, "All columns: [(name, unit, description)]."},
	{"alerts", alerts, METH_VARARGS, "alerts(dir): alerts of a state directory, as JSON."},
	{"recommend", core_recommend, METH_VARARGS,
	 "recommend(recording, options, needs): (JSON, remark) of trk_recommend()."},
	{"compare", core_compare, METH_VARARGS,
	 "compare(recording, options): (JSON, remark) of trk_compare()."},
	{"servers", core_servers, METH_VARARGS,
	 "servers(needs, limit): (JSON, remark) of trk_servers_find()."},
	{"report", core_report, METH_VARARGS,
	 "report(recording, file, options): write the report with trk_report_write_with()."},
	{"import_file", core_import_file, METH_VARARGS,
	 "import_file(file, format, dir): call trk_import(); the number of runs."},
	{"version", version, METH_NOARGS, "Version of the C library."},
	{"arrow_stream", core_arrow_stream, METH_O,
	 "arrow_stream([(name, kind, values)]): a capsule of the Arrow C stream interface."},
	{NULL, NULL, 0, NULL},
};

int core_add(PyObject *module, const char *name, PyObject *value)
{
	int r = value ? PyModule_AddObject(module, name, value) : -1;

	if (r < 0)
		Py_XDECREF(value);
	return r;
}

static int fill(PyObject *module)
{
	if (core_add(module, "Recording", core_recording_type()) < 0)
		return -1;
	return core_add_tracking(module);
}

static PyModuleDef_Slot slots[] = {
	{Py_mod_exec, fill},
	{0, NULL},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "resource_tracker._core",
	.m_doc = "The C library of resource-tracker.",
	.m_methods = functions,
	.m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void)
{
	return PyModuleDef_Init(&definition);
}
