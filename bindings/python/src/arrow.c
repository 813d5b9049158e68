/* Exports columns as an Arrow C stream, which pandas, polars, duckdb, pyarrow and others read
 * (https://arrow.apache.org/docs/format/CStreamInterface.html). The stream has one batch. It owns
 * copies of all data, so a consumer uses it without the interpreter and its lock. */
#include "core.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the structures of the specification ---- */

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

enum { ARROW_FLAG_NULLABLE = 2 };

/* ---- our columns ---- */

struct column {
	char *name;
	char format[2]; /* "g" double, "l" int64, "b" Boolean, "u" UTF-8 */
	int64_t nulls;
	uint8_t *valid;   /* one bit per row */
	void *data;       /* doubles, integers, bits, or text */
	int32_t *offsets; /* text only */
};

struct table {
	int64_t rows;
	size_t columns;
	struct column *column;
	int given; /* whether the batch, which owns the columns' buffers, was handed out */
};

static void column_release(struct column *c)
{
	free(c->name);
	free(c->valid);
	free(c->data);
	free(c->offsets);
	memset(c, 0, sizeof(*c));
}

static void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->column && i < t->columns; i++)
		column_release(&t->column[i]);
	free(t->column);
	free(t);
}

/* ---- from Python ---- */

static int take_number(struct column *c, Py_ssize_t row, PyObject *item)
{
	uint8_t *bits = c->data;

	if (c->format[0] == 'l')
		((int64_t *) c->data)[row] = PyLong_AsLongLong(item);
	else if (c->format[0] == 'b')
		bits[row / 8] = (uint8_t) (bits[row / 8] | (unsigned) (PyObject_IsTrue(item) == 1)
								   << (row % 8));
	else
		((double *) c->data)[row] = PyFloat_AsDouble(item);
	return PyErr_Occurred() ? -1 : 0;
}

static int take_text(struct column *c, Py_ssize_t row, PyObject *item)
{
	PyObject *bytes = PyUnicode_AsUTF8String(item);
	int32_t at = c->offsets[row];
	Py_ssize_t len;
	char *text, *bigger;

	if (!bytes)
		return -1;
	if (PyBytes_AsStringAndSize(bytes, &text, &len) < 0 || len > INT32_MAX - at) {
		Py_DECREF(bytes);
		return -1;
	}
	bigger = realloc(c->data, (size_t) at + (size_t) len + 1);
	if (bigger) {
		memcpy(bigger + at, text, (size_t) len);
		c->data = bigger;
		c->offsets[row + 1] = at + (int32_t) len;
	} else {
		PyErr_NoMemory();
	}
	Py_DECREF(bytes);
	return bigger ? 0 : -1;
}

static int take_values(struct column *c, PyObject *values)
{
	Py_ssize_t rows = PyList_Size(values);

	for (Py_ssize_t i = 0; i < rows; i++) {
		PyObject *item = PyList_GetItem(values, i); /* borrowed */

		if (c->offsets)
			c->offsets[i + 1] = c->offsets[i];
		if (!item)
			return -1;
		if (item == Py_None) {
			c->nulls++;
			continue;
		}
		c->valid[i / 8] = (uint8_t) (c->valid[i / 8] | 1u << (i % 8));
		if ((c->offsets ? take_text(c, i, item) : take_number(c, i, item)) < 0)
			return -1;
	}
	return 0;
}

static int column_init(struct column *c, PyObject *triple, int64_t *rows)
{
	const char *name, *kind;
	PyObject *values;
	size_t n;

	if (!PyArg_ParseTuple(triple, "ssO!", &name, &kind, &PyList_Type, &values))
		return -1;
	if (*rows >= 0 && *rows != PyList_Size(values)) {
		PyErr_SetString(PyExc_ValueError, "columns of different lengths");
		return -1;
	}
	*rows = PyList_Size(values);
	n = (size_t) *rows;
	c->format[0] = kind[0];
	c->name = strdup(name);
	c->valid = calloc(n / 8 + 1, 1);
	c->data = calloc(n + 1, sizeof(double));
	if (kind[0] == 'u')
		c->offsets = calloc(n + 1, sizeof(*c->offsets));
	if (!c->name || !c->valid || !c->data || (kind[0] == 'u' && !c->offsets)) {
		PyErr_NoMemory();
		return -1;
	}
	return take_values(c, values);
}

static struct table *table_new(PyObject *columns)
{
	Py_ssize_t n = PyList_Size(columns);
	struct table *t = n < 0 ? NULL : calloc(1, sizeof(*t));
	int64_t rows = -1;

	if (!t)
		return NULL;
	t->column = calloc((size_t) n + 1, sizeof(*t->column));
	for (Py_ssize_t i = 0; t->column && i < n; i++) {
		PyObject *triple = PyList_GetItem(columns, i);

		t->columns = (size_t) i + 1;
		if (!triple || column_init(&t->column[i], triple, &rows) < 0) {
			table_free(t);
			return NULL;
		}
	}
	t->rows = rows < 0 ? 0 : rows;
	return t;
}

/* ---- the schema ---- */

static void schema_release(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i]->release)
			s->children[i]->release(s->children[i]);
		free(s->children[i]);
	}
	free(s->children);
	free(s->private_data); /* one block with the name and the format */
	s->release = NULL;
}

/* Returns 0 or ENOMEM; the schema may be released either way. */
static int schema_init(struct ArrowSchema *s, const char *format, const char *name)
{
	size_t format_size = strlen(format) + 1;
	char *text = malloc(format_size + strlen(name) + 1);

	memset(s, 0, sizeof(*s));
	s->release = schema_release;
	if (!text)
		return ENOMEM;
	memcpy(text, format, format_size);
	memcpy(text + format_size, name, strlen(name) + 1);
	s->format = text;
	s->name = text + format_size;
	s->flags = ARROW_FLAG_NULLABLE;
	s->private_data = text;
	return 0;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	const struct table *t = stream->private_data;
	int r = schema_init(ret, "+s", "");

	if (r == 0) {
		ret->flags = 0;
		ret->children = calloc(t->columns + 1, sizeof(struct ArrowSchema *));
		r = ret->children ? 0 : ENOMEM;
	}
	for (size_t i = 0; r == 0 && i < t->columns; i++) {
		struct ArrowSchema *child = malloc(sizeof(*child));

		r = child ? schema_init(child, t->column[i].format, t->column[i].name) : ENOMEM;
		if (child)
			ret->children[ret->n_children++] = child;
	}
	if (r != 0)
		schema_release(ret);
	return r;
}

/* ---- the batch ---- */

struct buffers {
	const void *list[3];
	struct column column; /* owned */
};

static void column_array_release(struct ArrowArray *a)
{
	struct buffers *b = a->private_data;

	column_release(&b->column);
	free(b);
	a->release = NULL;
}

/* A consumer may keep a child and release its parent: each child owns its buffers. */
static void batch_release(struct ArrowArray *a)
{
	for (int64_t i = 0; i < a->n_children; i++) {
		if (a->children[i]->release)
			a->children[i]->release(a->children[i]);
		free(a->children[i]);
	}
	free(a->children);
	free(a->private_data);
	a->release = NULL;
}

/* Takes ownership of the column's buffers. */
static struct ArrowArray *column_array(struct column *c, int64_t rows)
{
	struct ArrowArray *a = calloc(1, sizeof(*a));
	struct buffers *b = calloc(1, sizeof(*b));

	if (!a || !b) {
		free(a);
		free(b);
		return NULL;
	}
	b->column = *c;
	c->name = NULL;
	c->valid = NULL;
	c->data = NULL;
	c->offsets = NULL;
	b->list[0] = b->column.valid;
	b->list[1] = b->column.offsets ? (void *) b->column.offsets : b->column.data;
	b->list[2] = b->column.data;
	a->length = rows;
	a->null_count = b->column.nulls;
	a->n_buffers = b->column.offsets ? 3 : 2;
	a->buffers = b->list;
	a->release = column_array_release;
	a->private_data = b;
	return a;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
	struct table *t = stream->private_data;
	const void **none;

	memset(ret, 0, sizeof(*ret));
	if (t->given)
		return 0; /* a released array marks the end of the stream */
	t->given = 1;
	none = calloc(1, sizeof(*none)); /* validity of the struct: no row is null */
	ret->children = calloc(t->columns + 1, sizeof(struct ArrowArray *));
	ret->release = batch_release;
	ret->private_data = (void *) none;
	ret->length = t->rows;
	ret->n_buffers = 1;
	ret->buffers = none;
	for (size_t i = 0; none && ret->children && i < t->columns; i++) {
		ret->children[i] = column_array(&t->column[i], t->rows);
		if (!ret->children[i])
			break;
		ret->n_children++;
	}
	if (none && ret->children && ret->n_children == (int64_t) t->columns)
		return 0;
	batch_release(ret);
	return ENOMEM;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void) stream;
	return "out of memory";
}

static void stream_release(struct ArrowArrayStream *stream)
{
	table_free(stream->private_data);
	stream->release = NULL;
}

static void capsule_free(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (!stream)
		return;
	if (stream->release)
		stream->release(stream);
	free(stream);
}

PyObject *core_arrow_stream(PyObject *module, PyObject *columns)
{
	struct ArrowArrayStream *stream;
	struct table *t;
	PyObject *capsule;

	(void) module;
	t = table_new(columns);
	stream = t ? malloc(sizeof(*stream)) : NULL;
	if (!stream) {
		table_free(t);
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	}
	*stream =
		(struct ArrowArrayStream){get_schema, get_next, get_last_error, stream_release, t};
	capsule = PyCapsule_New(stream, "arrow_array_stream", capsule_free);
	if (!capsule) {
		stream_release(stream);
		free(stream);
	}
	return capsule;
}
