/* The type Counters, which reads the current counters of a process tree or of the machine. */
#include "core.h"

#include <math.h>
#include <stdbool.h>

#include "resource_tracker.h"

struct counters {
	PyObject_HEAD struct trk_counters *c;
};

static int make(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"pid", "children", NULL};
	struct counters *o = (struct counters *) self;
	struct trk_counters *c = NULL;
	int pid = 0, children = 1, r;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|ip", names, &pid, &children))
		return -1;
	r = PyTuple_Size(args) || (kwargs && PyDict_Size(kwargs))
		    ? trk_counters_of_process(pid, !children, &c)
		    : trk_counters_of_machine(&c);
	if (r < 0) {
		(void) core_raise(r, "");
		return -1;
	}
	trk_counters_free(o->c);
	o->c = c;
	return 0;
}

static void dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc) PyType_GetSlot(type, Py_tp_free);

	trk_counters_free(((struct counters *) self)->c);
	release(self);
	Py_DECREF(type);
}

static struct trk_counters *of(PyObject *self)
{
	struct counters *o = (struct counters *) self;

	if (!o->c)
		PyErr_SetString(PyExc_ValueError, "not initialised");
	return o->c;
}

static PyObject *process(PyObject *self, PyObject *unused)
{
	struct trk_counters *c = of(self);
	struct trk_process_counters p;
	int r;

	(void) unused;
	if (!c)
		return NULL;
	Py_BEGIN_ALLOW_THREADS r = trk_counters_process(c, &p);
	Py_END_ALLOW_THREADS if (r < 0) return core_raise(r, "");
	return Py_BuildValue("(dddNNii)", p.user_s, p.system_s, p.memory_mib,
			     core_number(p.read_bytes), core_number(p.write_bytes), p.processes,
			     p.gone);
}

/* An int, or None if the value is not known. */
static PyObject *whole(double value)
{
	if (isnan(value))
		Py_RETURN_NONE;
	return PyLong_FromDouble(value);
}

static PyObject *disks(struct trk_counters *c)
{
	PyObject *dict = PyDict_New();
	const char *name;
	double in, out;

	for (size_t i = 0; dict && trk_counters_disk(c, i, &name, &in, &out) == 0; i++) {
		PyObject *item =
			Py_BuildValue("{sNsN}", "read_bytes", whole(in), "write_bytes", whole(out));

		if (!item || PyDict_SetItemString(dict, name, item) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(item);
	}
	return dict;
}

static PyObject *mounts(struct trk_counters *c)
{
	PyObject *dict = PyDict_New();
	double total, used, available;
	const char *point;

	for (size_t i = 0; dict && trk_counters_mount(c, i, &point, &total, &used, &available) == 0;
	     i++) {
		PyObject *key = PyUnicode_DecodeFSDefault(point);
		PyObject *item = Py_BuildValue("{sNsNsN}", "total", whole(total), "used",
					       whole(used), "free", whole(available));

		if (!key || !item || PyDict_SetItem(dict, key, item) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(key);
		Py_XDECREF(item);
	}
	return dict;
}

static PyObject *memory(double mib, bool in_kib)
{
	return in_kib ? whole(mib * 1024) : core_number(mib);
}

static PyObject *machine(PyObject *self, PyObject *in_kib)
{
	struct trk_counters *c = of(self);
	struct trk_machine_counters m;
	bool k = PyObject_IsTrue(in_kib) == 1;
	int r;

	if (!c)
		return NULL;
	/* The names below are views, so only one thread may read at a time. The interpreter's lock
	 * ensures that. */
	r = trk_counters_machine(c, &m);
	if (r < 0)
		return core_raise(r, "");
	return Py_BuildValue("(NNNNNNNNNNNNN)", whole(m.processes), core_number(m.user_s),
			     core_number(m.system_s), memory(m.memory_free_mib, k),
			     memory(m.memory_used_mib, k), memory(m.memory_buffers_mib, k),
			     memory(m.memory_cached_mib, k), memory(m.memory_active_mib, k),
			     memory(m.memory_inactive_mib, k), disks(c), mounts(c),
			     whole(m.net_recv_bytes), whole(m.net_sent_bytes));
}

static PyMethodDef methods[] = {
	{"process", process, METH_NOARGS,
	 "(user_s, system_s, memory_mib, read_bytes, write_bytes, processes, gone)"},
	{"machine", machine, METH_O,
	 "machine(in_kib): what get_system_stats() shows from processes to net_sent_bytes"},
	{NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "Counters(pid, children=True) of a process; Counters() of the machine."},
	{Py_tp_init, make},
	{Py_tp_new, PyType_GenericNew},
	{Py_tp_dealloc, dealloc},
	{Py_tp_methods, methods},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "resource_tracker._core.Counters",
	.basicsize = sizeof(struct counters),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};

PyObject *core_counters_type(void)
{
	return PyType_FromSpec(&spec);
}
