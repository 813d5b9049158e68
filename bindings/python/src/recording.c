/* Recording: a snapshot of a recording file. */
#include "core.h"

#include <math.h>
#include <stdlib.h>

#include "resource_tracker.h"

struct recording {
	PyObject_HEAD struct trk_recording *r;
};

static const struct trk_recording *of(PyObject *self)
{
	struct recording *o = (struct recording *) self;

	if (!o->r)
		PyErr_SetString(PyExc_ValueError, "the recording was not read");
	return o->r;
}

static int open_(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"path", NULL};
	struct recording *o = (struct recording *) self;
	struct trk_recording *r = NULL;
	PyObject *path = NULL;
	int error;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", names, PyUnicode_FSConverter, &path))
		return -1;
	Py_BEGIN_ALLOW_THREADS error = trk_recording_open(PyBytes_AsString(path), &r);
	Py_END_ALLOW_THREADS Py_DECREF(path);
	if (error < 0) {
		(void) core_raise(error, "");
		return -1;
	}
	trk_recording_free(o->r);
	o->r = r;
	return 0;
}

static void dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc) PyType_GetSlot(type, Py_tp_free);

	trk_recording_free(((struct recording *) self)->r);
	release(self);
	Py_DECREF(type);
}

static PyObject *column(PyObject *self, PyObject *args)
{
	const struct trk_recording *r = of(self);
	Py_ssize_t index, rows;
	double unit = 1;
	int decimals = -1;
	PyObject *list;

	if (!r || !PyArg_ParseTuple(args, "n|di", &index, &unit, &decimals))
		return NULL;
	rows = (Py_ssize_t) trk_recording_rows(r);
	list = PyList_New(rows);
	for (Py_ssize_t i = 0; list && i < rows; i++) {
		double value = trk_recording_value(r, (size_t) i, (size_t) index) * unit;
		PyObject *item;

		if (decimals > 0 && !isnan(value)) {
			double power = pow(10, decimals);

			value = round(value * power) / power;
		}
		item = decimals == 0 && !isnan(value) ? PyLong_FromDouble(round(value))
						      : core_number(value);
		if (!item || PyList_SetItem(list, i, item) < 0)
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *stats(PyObject *self, PyObject *args)
{
	const struct trk_recording *r = of(self);
	struct trk_column_summary s;
	Py_ssize_t index;

	if (!r || !PyArg_ParseTuple(args, "n", &index))
		return NULL;
	if (trk_recording_stats(r, (size_t) index, &s) < 0) {
		PyErr_SetString(PyExc_IndexError, "no such column");
		return NULL;
	}
	return Py_BuildValue("{sNsNsNsNsNsNsN}", "mean", core_number(s.mean), "max",
			     core_number(s.max), "min", core_number(s.min), "p50",
			     core_number(s.p50), "p95", core_number(s.p95), "p99",
			     core_number(s.p99), "sum", core_number(s.sum));
}

typedef int figure_fn(const struct trk_recording *r, const char *key, struct trk_figure *ret);

static PyObject *figure(const struct trk_recording *r, PyObject *key, figure_fn *total_of)
{
	static const char *const quality[] = {"unknown", "exact", "at_least", "at_most",
					      "estimated"};
	PyObject *text = r ? PyUnicode_AsUTF8String(key) : NULL;
	struct trk_figure f = {.reason = ""};
	int error;

	if (!text)
		return NULL;
	error = total_of(r, PyBytes_AsString(text), &f);
	Py_DECREF(text);
	if (error < 0) {
		PyErr_SetObject(PyExc_KeyError, key);
		return NULL;
	}
	return Py_BuildValue("{sNsssssz}", "value", core_number(f.value), "quality",
			     quality[f.quality], "source", f.source, "reason",
			     *f.reason ? f.reason : NULL);
}

static PyObject *total(PyObject *self, PyObject *key)
{
	return figure(of(self), key, trk_recording_total);
}

static PyObject *limit(PyObject *self, PyObject *key)
{
	return figure(of(self), key, trk_recording_limit);
}

static PyObject *marks(PyObject *self, PyObject *unused)
{
	const struct trk_recording *r = of(self);
	PyObject *list = r ? PyList_New(0) : NULL;
	const char *name;
	double at;

	(void) unused;
	for (size_t i = 0; list && trk_recording_mark(r, i, &name, &at) == 0; i++) {
		PyObject *item = Py_BuildValue("(Nd)", PyUnicode_DecodeFSDefault(name), at);

		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

/* (timestamp, elapsed_s, interval_s, program, cpu_s, memory_mib, processes), row by row. */
static PyObject *programs(PyObject *self, PyObject *unused)
{
	struct trk_recording *r = ((struct recording *) self)->r;
	size_t n = of(self) ? trk_recording_programs(r, NULL, 0) : 0;
	struct trk_program_use *list = malloc((n + 1) * sizeof(*list));
	PyObject *all = list && of(self) ? PyList_New((Py_ssize_t) n) : NULL;

	(void) unused;
	if (all)
		(void) trk_recording_programs(r, list, n);
	for (size_t i = 0; all && i < n; i++) {
		const struct trk_program_use *u = &list[i];
		PyObject *item = Py_BuildValue("(dddNNNK)", u->timestamp, u->elapsed_s,
					       u->interval_s, PyUnicode_DecodeFSDefault(u->program),
					       core_number(u->cpu_s), core_number(u->memory_mib),
					       (unsigned long long) u->processes);

		if (!item || PyList_SetItem(all, (Py_ssize_t) i, item) < 0)
			Py_CLEAR(all);
	}
	free(list);
	return all || PyErr_Occurred() ? all : PyErr_NoMemory();
}

/* (program, pid, start_s, end_s, ended, cpu_s, peak_rss_mib, command). */
static PyObject *processes(PyObject *self, PyObject *unused)
{
	struct trk_recording *r = ((struct recording *) self)->r;
	size_t n = of(self) ? trk_recording_processes(r, NULL, 0) : 0;
	struct trk_recorded_process *list = malloc((n + 1) * sizeof(*list));
	PyObject *all = list && of(self) ? PyList_New((Py_ssize_t) n) : NULL;

	(void) unused;
	if (all)
		(void) trk_recording_processes(r, list, n);
	for (size_t i = 0; all && i < n; i++) {
		const struct trk_recorded_process *p = &list[i];
		PyObject *item = Py_BuildValue(
			"(NldNNddN)", PyUnicode_DecodeFSDefault(p->program), p->pid, p->start_s,
			core_number(p->end_s), PyBool_FromLong(p->ended), p->cpu_s, p->peak_rss_mib,
			*p->command ? PyUnicode_DecodeFSDefault(p->command) : Py_BuildValue(""));

		if (!item || PyList_SetItem(all, (Py_ssize_t) i, item) < 0)
			Py_CLEAR(all);
	}
	free(list);
	return all || PyErr_Occurred() ? all : PyErr_NoMemory();
}

static PyObject *summary(PyObject *self, PyObject *unused)
{
	const struct trk_recording *r = of(self);
	char *json = r ? trk_recording_summary(r) : NULL;
	PyObject *text;

	(void) unused;
	if (!json)
		return r ? PyErr_NoMemory() : NULL;
	text = PyUnicode_FromString(json);
	free(json);
	return text;
}

static PyObject *lines(PyObject *self, PyObject *args)
{
	const struct trk_recording *r = of(self);
	double from = NAN, to = NAN;
	const char *by = "line";
	PyObject *text;
	char *json;

	if (!r || !PyArg_ParseTuple(args, "|sdd", &by, &from, &to))
		return NULL;
	json = trk_recording_lines(r, by, from, to);
	if (!json)
		Py_RETURN_NONE;
	text = PyUnicode_FromString(json);
	free(json);
	return text;
}

static PyObject *rows(PyObject *self, void *unused)
{
	const struct trk_recording *r = of(self);

	(void) unused;
	return r ? PyLong_FromSize_t(trk_recording_rows(r)) : NULL;
}

static PyObject *samples(PyObject *self, void *unused)
{
	const struct trk_recording *r = of(self);

	(void) unused;
	return r ? PyLong_FromUnsignedLongLong(trk_recording_samples(r)) : NULL;
}

static PyObject *damaged(PyObject *self, void *unused)
{
	const struct trk_recording *r = of(self);

	(void) unused;
	return r ? PyLong_FromUnsignedLongLong(trk_recording_damaged(r)) : NULL;
}

static PyMethodDef methods[] = {
	{"column", column, METH_VARARGS,
	 "column(index, unit=1, decimals=-1): values times unit, rounded; None is unknown."},
	{"stats", stats, METH_VARARGS, "stats(index): statistics over time."},
	{"total", total, METH_O, "total(key): a figure of the run with its quality."},
	{"limit", limit, METH_O, "limit(key): a limit of the run."},
	{"marks", marks, METH_NOARGS, "[(name, seconds since the start)]."},
	{"programs", programs, METH_NOARGS, "What each program used in each row."},
	{"processes", processes, METH_NOARGS, "The processes, with start and end."},
	{"summary", summary, METH_NOARGS, "The summary as JSON text."},
	{"lines", lines, METH_VARARGS,
	 "lines(by='line', from_s=nan, to_s=nan): lines of the program as JSON text; None: no "
	 "stacks "
	 "were sampled."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
	{"rows", rows, NULL, "Number of stored rows.", NULL},
	{"samples", samples, NULL, "Number of samples in these rows.", NULL},
	{"damaged", damaged, NULL, "Number of skipped records.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "Recording(path): the current state of a recording."},
	{Py_tp_init, open_},
	{Py_tp_new, PyType_GenericNew},
	{Py_tp_dealloc, dealloc},
	{Py_tp_methods, methods},
	{Py_tp_getset, getters},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "resource_tracker._core.Recording",
	.basicsize = sizeof(struct recording),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};

PyObject *core_recording_type(void)
{
	return PyType_FromSpec(&spec);
}
