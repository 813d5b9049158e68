/* Functions of the module for the verbs recommend, compare, servers, report and import. Each fills
 * a struct of options from a dict with the names of its members. */
#include "core.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "resource_tracker.h"

enum { WHY_SIZE = 512 };

enum kind { TEXT, NUMBER, FLAG, COUNT };

struct member {
	const char *name;
	enum kind kind;
	size_t offset;
};

/* clang-format off */
static const struct member need_members[] = {
#define NEED(kind, name) {#name, kind, offsetof(struct trk_server_needs, name)}
	NEED(NUMBER, vcpus), NEED(NUMBER, memory_mib), NEED(NUMBER, gpus), NEED(NUMBER, vram_mib),
	NEED(NUMBER, storage_gb),
	NEED(FLAG, gpu_shares), NEED(FLAG, spot), NEED(FLAG, previous_generation),
	NEED(TEXT, arch), NEED(TEXT, allocation), NEED(TEXT, vendors), NEED(TEXT, regions),
	NEED(TEXT, countries), NEED(TEXT, exclude), NEED(TEXT, order_by),
	{NULL, TEXT, 0},
};

static const struct member recommend_members[] = {
#define ADVICE(kind, name) {#name, kind, offsetof(struct trk_recommend_options, name)}
	ADVICE(TEXT, history), ADVICE(TEXT, earlier), ADVICE(TEXT, method), ADVICE(TEXT, risk),
	ADVICE(NUMBER, input_bytes), ADVICE(TEXT, instance), ADVICE(COUNT, limit),
	ADVICE(FLAG, no_servers), ADVICE(FLAG, short_runs), ADVICE(FLAG, failed),
	ADVICE(TEXT, history_url), ADVICE(FLAG, of_user),
	{NULL, TEXT, 0},
};

static const struct member compare_members[] = {
#define COMPARE(kind, name) {#name, kind, offsetof(struct trk_compare_options, name)}
	COMPARE(TEXT, with), COMPARE(TEXT, fail_on), COMPARE(TEXT, history),
	COMPARE(TEXT, history_url), COMPARE(FLAG, of_user),
	{NULL, TEXT, 0},
};

static const struct member report_members[] = {
#define REPORT(kind, name) {#name, kind, offsetof(struct trk_report_options, name)}
	REPORT(TEXT, history), REPORT(TEXT, earlier), REPORT(TEXT, integration),
	REPORT(FLAG, failed), REPORT(TEXT, history_url), REPORT(FLAG, of_user),
	{NULL, TEXT, 0},
};
/* clang-format on */

/* ---- options ---- */

/* The UTF-8 text of a str, owned by the list `keep`. Returns NULL and sets an exception on
 * failure. */
static const char *text_of(PyObject *value, PyObject *keep)
{
	PyObject *bytes = PyUnicode_EncodeFSDefault(value);
	int r = bytes ? PyList_Append(keep, bytes) : -1;
	char *text = NULL;

	Py_XDECREF(bytes);
	return r == 0 && PyBytes_AsStringAndSize(bytes, &text, NULL) == 0 ? text : NULL;
}

/* Returns 0, or -1 and sets an exception. */
static int set_member(char *at, enum kind kind, PyObject *value, PyObject *keep)
{
	if (value == Py_None)
		return 0;
	if (kind == TEXT)
		*(const char **) (void *) at = text_of(value, keep);
	else if (kind == NUMBER)
		*(double *) (void *) at = PyFloat_AsDouble(value);
	else if (kind == FLAG)
		*(int *) (void *) at = PyObject_IsTrue(value);
	else
		*(size_t *) (void *) at = PyLong_AsSize_t(value);
	return PyErr_Occurred() ? -1 : 0;
}

/* Set the members of `options` that the dict names. None leaves the default. Returns 0, or -1 and
 * sets an exception. */
static int fill(void *options, const struct member *members, PyObject *given, PyObject *keep)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	while (PyDict_Next(given, &at, &key, &value)) {
		const struct member *m = members;
		const char *name = text_of(key, keep);

		if (!name)
			return -1;
		while (m->name && strcmp(m->name, name) != 0)
			m++;
		if (!m->name) {
			(void) PyErr_Format(PyExc_TypeError, "unknown option %R", key);
			return -1;
		}
		if (set_member((char *) options + m->offset, m->kind, value, keep) < 0)
			return -1;
	}
	return 0;
}

/* ---- answers ---- */

/* Raises ValueError for an invalid option. */
static PyObject *refuse(int code, const char *why)
{
	if (code == -EINVAL) {
		PyErr_SetString(PyExc_ValueError, *why ? why : trk_strerror(code));
		return NULL;
	}
	return core_raise(code, why);
}

/* Returns the tuple (JSON, remark) and frees the JSON text. */
static PyObject *answer(char *text, const char *remark)
{
	PyObject *result;

	if (!text)
		return PyErr_NoMemory();
	result = Py_BuildValue("(ss)", text, remark);
	free(text);
	return result;
}

static PyObject *ask_recommend(const char *recording, const struct trk_recommend_options *o)
{
	struct trk_recommendation *found = NULL;
	char why[WHY_SIZE] = "", *text = NULL;
	int r;

	Py_BEGIN_ALLOW_THREADS;
	r = trk_recommend(recording, o, &found, why, sizeof(why));
	if (r == 0)
		text = trk_recommendation_json(found);
	trk_recommendation_free(found);
	Py_END_ALLOW_THREADS;
	return r < 0 ? refuse(r, why) : answer(text, why);
}

PyObject *core_recommend(PyObject *module, PyObject *args)
{
	struct trk_recommend_options o = TRK_RECOMMEND_OPTIONS_INIT;
	struct trk_server_needs needs = TRK_SERVER_NEEDS_INIT;
	PyObject *path, *given, *wanted, *keep, *result = NULL;

	(void) module;
	if (!PyArg_ParseTuple(args, "O&O!O!", PyUnicode_FSConverter, &path, &PyDict_Type, &given,
			      &PyDict_Type, &wanted))
		return NULL;
	keep = PyList_New(0);
	o.needs = &needs;
	if (keep && fill(&o, recommend_members, given, keep) == 0 &&
	    fill(&needs, need_members, wanted, keep) == 0)
		result = ask_recommend(PyBytes_AsString(path), &o);
	Py_XDECREF(keep);
	Py_DECREF(path);
	return result;
}

static PyObject *ask_compare(const char *recording, const struct trk_compare_options *o)
{
	char why[WHY_SIZE] = "", *text = NULL;
	int r;

	Py_BEGIN_ALLOW_THREADS;
	r = trk_compare(recording, o, &text, why, sizeof(why));
	Py_END_ALLOW_THREADS;
	return r < 0 ? refuse(r, why) : answer(text, why);
}

PyObject *core_compare(PyObject *module, PyObject *args)
{
	struct trk_compare_options o = TRK_COMPARE_OPTIONS_INIT;
	PyObject *path, *given, *keep, *result = NULL;

	(void) module;
	if (!PyArg_ParseTuple(args, "O&O!", PyUnicode_FSConverter, &path, &PyDict_Type, &given))
		return NULL;
	keep = PyList_New(0);
	if (keep && fill(&o, compare_members, given, keep) == 0)
		result = ask_compare(PyBytes_AsString(path), &o);
	Py_XDECREF(keep);
	Py_DECREF(path);
	return result;
}

static PyObject *ask_servers(const struct trk_server_needs *needs, size_t limit)
{
	struct trk_catalog_options o = TRK_CATALOG_OPTIONS_INIT;
	struct trk_catalog *catalog = NULL;
	struct trk_servers *found = NULL;
	char why[WHY_SIZE] = "", remark[WHY_SIZE] = "", *text = NULL;
	bool opened;
	int r;

	o.of_user = 1;
	Py_BEGIN_ALLOW_THREADS;
	r = trk_catalog_open(&o, &catalog, remark, sizeof(remark));
	opened = r == 0;
	if (opened)
		r = trk_servers_find(catalog, needs, &found, why, sizeof(why));
	if (r == 0)
		text = trk_servers_json(found, limit);
	trk_servers_free(found);
	trk_catalog_free(catalog);
	Py_END_ALLOW_THREADS;
	if (!opened)
		return refuse(r, remark);
	/* A name that the catalogue does not have is an invalid option, too. */
	return r < 0 ? refuse(r == -ENOENT ? -EINVAL : r, why) : answer(text, remark);
}

PyObject *core_servers(PyObject *module, PyObject *args)
{
	struct trk_server_needs needs = TRK_SERVER_NEEDS_INIT;
	PyObject *wanted, *keep, *result = NULL;
	Py_ssize_t limit;

	(void) module;
	if (!PyArg_ParseTuple(args, "O!n", &PyDict_Type, &wanted, &limit))
		return NULL;
	keep = PyList_New(0);
	if (keep && fill(&needs, need_members, wanted, keep) == 0)
		result = ask_servers(&needs, limit > 0 ? (size_t) limit : 0);
	Py_XDECREF(keep);
	return result;
}

static PyObject *ask_report(const char *recording, const char *path,
			    const struct trk_report_options *o)
{
	int r;

	Py_BEGIN_ALLOW_THREADS;
	r = trk_report_write_with(recording, path, o);
	Py_END_ALLOW_THREADS;
	if (r < 0)
		return refuse(r, "");
	Py_RETURN_NONE;
}

PyObject *core_report(PyObject *module, PyObject *args)
{
	struct trk_report_options o = TRK_REPORT_OPTIONS_INIT;
	PyObject *recording, *path, *given, *keep, *result = NULL;

	(void) module;
	if (!PyArg_ParseTuple(args, "O&O&O!", PyUnicode_FSConverter, &recording,
			      PyUnicode_FSConverter, &path, &PyDict_Type, &given))
		return NULL;
	keep = PyList_New(0);
	if (keep && fill(&o, report_members, given, keep) == 0)
		result = ask_report(PyBytes_AsString(recording), PyBytes_AsString(path), &o);
	Py_XDECREF(keep);
	Py_DECREF(recording);
	Py_DECREF(path);
	return result;
}

PyObject *core_import_file(PyObject *module, PyObject *args)
{
	PyObject *file, *dir;
	char why[WHY_SIZE] = "";
	const char *format;
	int r;

	(void) module;
	if (!PyArg_ParseTuple(args, "O&sO&", PyUnicode_FSConverter, &file, &format,
			      PyUnicode_FSConverter, &dir))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	r = trk_import(PyBytes_AsString(file), format, PyBytes_AsString(dir), why, sizeof(why));
	Py_END_ALLOW_THREADS;
	Py_DECREF(file);
	Py_DECREF(dir);
	return r < 0 ? refuse(r, why) : PyLong_FromLong(r);
}
