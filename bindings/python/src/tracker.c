/* The type Tracker: a running or stopped tracker of the C library. */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "resource_tracker.h"

struct tracker {
	PyObject_HEAD struct trk_tracker *t; /* NULL once closed */
	int waits;                           /* number of threads in alert() */
	pid_t owner;                         /* a forked child does not have these threads */
};

static struct trk_tracker *open_of(PyObject *self)
{
	struct tracker *o = (struct tracker *) self;

	if (!o->t)
		PyErr_SetString(PyExc_RuntimeError, "the tracker has been closed");
	return o->t;
}

/* The strings of a list of bytes as a NULL-terminated array. The list owns the strings. */
static char **words_of(PyObject *list)
{
	Py_ssize_t n = PyList_Size(list);
	char **words = n < 0 ? NULL : PyMem_Calloc((size_t) n + 1, sizeof(*words));

	for (Py_ssize_t i = 0; words && i < n; i++) {
		PyObject *item = PyList_GetItem(list, i); /* borrowed bytes */
		char *text = item ? PyBytes_AsString(item) : NULL;

		if (!text) {
			PyMem_Free(words);
			return NULL;
		}
		words[i] = text;
	}
	if (!words && !PyErr_Occurred())
		PyErr_NoMemory();
	return words;
}

/* All arguments are given by name; see resource_tracker/_engine.py for what they mean. */
static int parse(PyObject *args, PyObject *kwargs, struct trk_tracker_options *o, PyObject **argv,
		 PyObject **more)
{
	static char *names[] = {"pid",     "interval",  "argv", "children", "processes",
				"system",  "in_thread", "dir",  "job",      "program",
				"options", "lines_hz",  NULL};
	int children = 1, processes = 1, system = 1, in_thread = 0, pid = 0;

	*argv = *more = NULL;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$idOppppzzzOd", names, &pid,
					 &o->interval_s, argv, &children, &processes, &system,
					 &in_thread, &o->dir, &o->job, &o->program, more,
					 &o->lines_hz))
		return -1;
	o->pid = pid;
	o->no_children = !children;
	o->no_process = !processes;
	o->no_system = !system;
	o->in_thread = in_thread;
	return 0;
}

static int start(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct trk_tracker_options options = TRK_TRACKER_OPTIONS_INIT;
	struct tracker *o = (struct tracker *) self;
	struct trk_tracker *t = NULL;
	char **words = NULL, **more_words = NULL, why[512] = "";
	PyObject *argv, *more;
	int r;

	if (parse(args, kwargs, &options, &argv, &more) < 0)
		return -1;
	if (o->t) {
		PyErr_SetString(PyExc_RuntimeError, "the tracker has been started already");
		return -1;
	}
	if (argv && argv != Py_None) {
		words = words_of(argv);
		if (!words)
			return -1;
		options.argv = words;
	}
	if (more && more != Py_None) {
		more_words = words_of(more);
		if (!more_words) {
			PyMem_Free(words);
			return -1;
		}
		options.options = more_words;
	}
	Py_BEGIN_ALLOW_THREADS r = trk_tracker_start(&options, &t, why, sizeof(why));
	Py_END_ALLOW_THREADS PyMem_Free(words);
	PyMem_Free(more_words);
	if (r < 0) {
		(void) core_raise(r, why);
		return -1;
	}
	o->t = t;
	o->owner = getpid();
	return *why ? PyErr_WarnEx(PyExc_RuntimeWarning, why, 1) : 0;
}

/* Stop the tracker, and wait until the calls of alert() in other threads have returned. */
static void stop_waits(const struct tracker *o, struct trk_tracker *t)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	Py_BEGIN_ALLOW_THREADS(void) trk_tracker_stop(t);
	Py_END_ALLOW_THREADS while (o->waits)
	{
		Py_BEGIN_ALLOW_THREADS(void) nanosleep(&nap, NULL);
		Py_END_ALLOW_THREADS
	}
}

static void let_go(PyObject *self)
{
	struct tracker *o = (struct tracker *) self;
	struct trk_tracker *t = o->t;

	o->t = NULL;
	if (t && o->waits && o->owner == getpid())
		stop_waits(o, t);
	Py_BEGIN_ALLOW_THREADS trk_tracker_free(t);
	Py_END_ALLOW_THREADS
}

static void dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc) PyType_GetSlot(type, Py_tp_free);

	trk_tracker_free(((struct tracker *) self)->t);
	release(self);
	Py_DECREF(type);
}

static PyObject *close_(PyObject *self, PyObject *unused)
{
	(void) unused;
	let_go(self);
	Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *args)
{
	struct trk_tracker *t = open_of(self);
	int r, exit_code = -1;

	if (!t || !PyArg_ParseTuple(args, "|i", &exit_code))
		return NULL;
	Py_BEGIN_ALLOW_THREADS r =
		exit_code < 0 ? trk_tracker_stop(t) : trk_tracker_stop_as(t, exit_code);
	Py_END_ALLOW_THREADS if (r < 0) return core_raise(r, "the sampler did not end in time");
	Py_RETURN_NONE;
}

static PyObject *running(PyObject *self, PyObject *unused)
{
	struct trk_tracker *t = open_of(self);

	(void) unused;
	return t ? PyBool_FromLong(trk_tracker_running(t)) : NULL;
}

static PyObject *samples(PyObject *self, PyObject *unused)
{
	struct trk_tracker *t = open_of(self);

	(void) unused;
	return t ? PyLong_FromUnsignedLongLong(trk_tracker_samples(t)) : NULL;
}

/* Waits in short steps, so that Ctrl-C is handled. */
static PyObject *wait_(PyObject *self, PyObject *args)
{
	struct trk_tracker *t = open_of(self);
	unsigned long long n;
	double timeout_s, step_s;
	int r = 0;

	if (!t || !PyArg_ParseTuple(args, "Kd", &n, &timeout_s))
		return NULL;
	for (;;) {
		step_s = timeout_s < 0.2 ? timeout_s : 0.2;
		Py_BEGIN_ALLOW_THREADS r = trk_tracker_wait(t, n, step_s);
		Py_END_ALLOW_THREADS timeout_s -= step_s;
		if (PyErr_CheckSignals() < 0)
			return NULL;
		if (r != 0 || timeout_s <= 0 || !trk_tracker_running(t))
			break;
	}
	return PyBool_FromLong(r);
}

static PyObject *alert(PyObject *self, PyObject *args)
{
	struct tracker *o = (struct tracker *) self;
	struct trk_tracker *t = open_of(self);
	double timeout_s;
	PyObject *text;
	char *json;
	int r;

	if (!t || !PyArg_ParseTuple(args, "d", &timeout_s))
		return NULL;
	o->waits++;
	Py_BEGIN_ALLOW_THREADS r = trk_tracker_alert(t, timeout_s, &json);
	Py_END_ALLOW_THREADS o->waits--;
	if (r <= 0)
		Py_RETURN_NONE;
	text = PyUnicode_DecodeUTF8(json, (Py_ssize_t) strlen(json), "replace");
	free(json);
	return text;
}

static PyObject *mark(PyObject *self, PyObject *args)
{
	struct trk_tracker *t = open_of(self);
	const char *name;
	int r;

	if (!t || !PyArg_ParseTuple(args, "s", &name))
		return NULL;
	r = trk_tracker_mark(t, name);
	if (r < 0)
		return core_raise(r, "");
	Py_RETURN_NONE;
}

static PyObject *wait_command(PyObject *self, PyObject *unused)
{
	struct trk_tracker *t = open_of(self);
	int r, status = 0;

	(void) unused;
	if (!t)
		return NULL;
	Py_BEGIN_ALLOW_THREADS r = trk_tracker_wait_command(t, &status);
	Py_END_ALLOW_THREADS return r < 0 ? core_raise(r, "") : PyLong_FromLong(status);
}

static PyObject *recording(PyObject *self, void *unused)
{
	struct trk_tracker *t = open_of(self);

	(void) unused;
	return t ? PyUnicode_DecodeFSDefault(trk_tracker_recording(t)) : NULL;
}

static PyObject *error(PyObject *self, void *unused)
{
	struct trk_tracker *t = open_of(self);

	(void) unused;
	return t ? PyUnicode_DecodeFSDefault(trk_tracker_error(t)) : NULL;
}

static PyMethodDef methods[] = {
	{"close", close_, METH_NOARGS, "Stop, and remove the recording."},
	{"stop", stop, METH_VARARGS, "stop(exit_code=-1): stop after a last sample."},
	{"running", running, METH_NOARGS, "Whether the tracker is taking samples."},
	{"samples", samples, METH_NOARGS, "Number of samples so far."},
	{"wait", wait_, METH_VARARGS, "wait(n, timeout): wait for n samples; whether there are n."},
	{"wait_command", wait_command, METH_NOARGS, "Wait for the command; its wait status."},
	{"alert", alert, METH_VARARGS, "alert(timeout): wait for the next alert; JSON or None."},
	{"mark", mark, METH_VARARGS, "mark(name): name the current moment."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
	{"recording", recording, NULL, "Path of the recording.", NULL},
	{"error", error, NULL, "Why sampling ended early, or \"\".", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "A tracker of the C library."},
	{Py_tp_init, start},
	{Py_tp_new, PyType_GenericNew},
	{Py_tp_dealloc, dealloc},
	{Py_tp_methods, methods},
	{Py_tp_getset, getters},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "resource_tracker._core.Tracker",
	.basicsize = sizeof(struct tracker),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};

PyObject *core_tracker_type(void)
{
	return PyType_FromSpec(&spec);
}
