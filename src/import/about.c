/* What a snapshot of the Python package holds apart from its samples. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "import/private.h"
#include "model/place.h"

static void copy(char *into, size_t size, const char *text)
{
	if (text && *text)
		(void) snprintf(into, size, "%s", text);
}

/* As `run` stores a command line by default, whatever the package stored. */
static void copy_command(char *into, size_t size, const char *text)
{
	struct trk_mask mask = {.strict = false};

	if (text)
		(void) trk__mask_argument(&mask, text, into, size);
}

/* ---- the run ---- */

/* A shell's exit code has eight bits; a status above is a failure all the same. */
static int code_of(double code)
{
	return isnan(code) ? -1 : code >= 0 && code <= 255 ? (int) code : 255;
}

static enum trk_quality quality_of(const char *name)
{
	for (int q = TRK_QUALITY_EXACT; name && q <= TRK_QUALITY_ESTIMATED; q++)
		if (!strcmp(name, trk__quality_name((enum trk_quality) q)))
			return (enum trk_quality) q;
	return TRK_QUALITY_UNKNOWN;
}

static void take_totals(struct trk_importing *i, const struct trk_json_doc *d)
{
	const struct trk_json_value *totals = trk__json_get(d, trk__json_root(d), "totals");

	for (int k = 0; k < TRK_TOTALS; k++) {
		const struct trk_json_value *t = trk__json_get(d, totals, trk__total_keys[k]);
		enum trk_quality quality = quality_of(trk__json_get_text(d, t, "quality"));
		double value = trk__json_get_double(d, t, "value");

		if (!(value >= 0 && value < 9e15) || quality == TRK_QUALITY_UNKNOWN)
			continue;
		trk__quantity_set(&i->outcome.total[k], value, quality,
				  trk__json_get_text(d, t, "source"),
				  trk__json_get_text(d, t, "reason"));
		i->is_stated[k] = true;
	}
}

static void take_processes(struct trk_importing *i, const struct trk_json_doc *d)
{
	const struct trk_json_value *list = trk__json_get(d, trk__json_root(d), "top_processes");
	struct trk_outcome *o = &i->outcome;

	for (const struct trk_json_value *v = trk__json_first(d, list); v;
	     v = trk__json_next(d, v)) {
		double cpu_s = trk__json_get_double(d, v, "cpu_s");
		double peak_mib = trk__json_get_double(d, v, "peak_memory_mib");
		double read = trk__json_get_double(d, v, "disk_read_bytes");
		double written = trk__json_get_double(d, v, "disk_write_bytes");
		struct trk_process_info *p = &o->top[o->top_count];
		int64_t pid;

		if (o->top_count == TRK_TOP_MAX)
			return;
		if (!trk__json_as_i64(trk__json_get(d, v, "pid"), &pid) || pid <= 0 ||
		    pid > INT32_MAX)
			continue;
		*p = (struct trk_process_info){.pid = (pid_t) pid};
		p->cpu_ns = cpu_s >= 0 && cpu_s < 9e9 ? (uint64_t) (cpu_s * 1e9) : 0;
		p->peak_bytes =
			peak_mib >= 0 && peak_mib < 1e9 ? (uint64_t) (peak_mib * 1048576) : 0;
		p->read_bytes = read >= 0 && read < 9e15 ? (uint64_t) read : 0;
		p->write_bytes = written >= 0 && written < 9e15 ? (uint64_t) written : 0;
		copy(p->name, sizeof(p->name), trk__json_get_text(d, v, "name"));
		copy_command(p->command, sizeof(p->command), trk__json_get_text(d, v, "command"));
		o->top_count++;
	}
}

void trk__about_run(struct trk_importing *i, const struct trk_json_doc *d)
{
	const struct trk_json_value *root = trk__json_root(d);
	const struct trk_json_value *metadata = trk__json_get(d, root, "metadata");
	const char *status = trk__json_get_text(d, metadata, "run_status");
	const char *scope = trk__json_get_text(d, metadata, "scope");
	double code = trk__json_get_double(d, metadata, "exit_code");

	if (!i->import->job || !*i->import->job)
		copy(i->run.job, sizeof(i->run.job), trk__json_get_text(d, metadata, "job"));
	if (scope) {
		copy(i->run.scope, sizeof(i->run.scope), scope);
		i->run.has_scope = true;
	}
	i->outcome.code = code_of(code);
	if (status && !strcmp(status, "failed") && i->outcome.code <= 0)
		i->outcome.end = TRK_END_FAILED;
	take_totals(i, d);
	take_processes(i, d);
}

double trk__about_first_interval(const struct trk_json_doc *d, double first_s)
{
	const struct trk_json_value *metadata = trk__json_get(d, trk__json_root(d), "metadata");
	double interval_s = trk__json_get_double(d, metadata, "interval");
	double since_s = first_s - trk__json_get_double(d, metadata, "start_time");

	return since_s > 0 && since_s < 2 * interval_s ? since_s : interval_s;
}

/* ---- the place ---- */

/* A text, or the texts of a list, one per line. */
static void take_text(const struct trk_json_doc *d, const struct trk_json_value *v, char *into,
		      size_t size)
{
	size_t len = 0;

	if (!v || v->type != TRK_JSON_ARRAY) {
		copy(into, size, trk__json_as_text(v));
		return;
	}
	for (v = trk__json_first(d, v); v && len < size; v = trk__json_next(d, v))
		if (trk__json_as_text(v))
			len += (size_t) snprintf(into + len, size - len, "%s%s", len ? "\n" : "",
						 trk__json_as_text(v));
}

static void take_fields(const struct trk_json_doc *d, const struct trk_json_value *from,
			enum trk_place_part part, struct trk_place *p)
{
	for (size_t k = 0; k < trk__place_field_count; k++) {
		const struct trk_place_field *f = &trk__place_fields[k];
		const struct trk_json_value *v = trk__json_get(d, from, f->key);
		char *field = (char *) p + f->offset;
		double number;

		if (f->part != part || !v)
			continue;
		number = f->is_number ? trk__json_as_double(v) : (double) NAN;
		if (!f->is_number)
			take_text(d, v, field, f->size);
		else if (number >= 0 && number < 1e15)
			memcpy(field, &number, sizeof(number));
	}
}

/* Translate the package's texts for unknown values and for vendors. */
static void translate(struct trk_cloud *c)
{
	char *const text[] = {c->vendor, c->region, c->instance_type};

	for (size_t k = 0; k < sizeof(text) / sizeof(text[0]); k++)
		if (!strcmp(text[k], "unknown"))
			text[k][0] = '\0';
	if (!strcmp(c->vendor, "hcloud"))
		copy(c->vendor, sizeof(c->vendor), "hetzner");
}

static void take_server(const struct trk_json_doc *d, const struct trk_json_value *server,
			struct trk_place *p)
{
	double mib = trk__json_get_double(d, server, "memory_mb");

	if (mib >= 0 && mib < 1e15)
		p->server.memory_mib = mib;
	take_fields(d, server, TRK_PLACE_SERVER, p);
	take_fields(d, trk__json_get(d, server, "details"), TRK_PLACE_SERVER, p);
	p->has_server = true;
}

static int add_phases(struct trk_importing *i, const struct trk_json_doc *d)
{
	const struct trk_json_value *list = trk__json_get(d, trk__json_root(d), "phases");
	int r = 0;

	for (const struct trk_json_value *v = trk__json_first(d, list); v && r == 0;
	     v = trk__json_next(d, v)) {
		const char *name = trk__json_get_text(d, v, "name");
		double start_s = (double) i->run.start_ns / 1e9;
		char end[TRK_MARK_NAME_SIZE];

		if (!name || !*name)
			continue;
		r = trk__imp_mark(i, trk__json_get_double(d, v, "start") - start_s, name);
		(void) snprintf(end, sizeof(end), "end of %s", name);
		if (r == 0)
			r = trk__imp_mark(i, trk__json_get_double(d, v, "end") - start_s, end);
	}
	return r;
}

int trk__about_place(struct trk_importing *i, const struct trk_json_doc *d)
{
	const struct trk_json_value *root = trk__json_root(d);
	const struct trk_json_value *server = trk__json_get(d, root, "server_info");
	const struct trk_json_value *cloud = trk__json_get(d, root, "cloud_info");
	struct trk_place place;
	int r = 0;

	if (!i->writer)
		return 0;
	trk__place_init(&place);
	if (server && server->type == TRK_JSON_OBJECT) {
		take_server(d, server, &place);
		r = trk__writer_place(i->writer, &place, TRK_PLACE_SERVER);
	}
	if (r == 0 && cloud && cloud->type == TRK_JSON_OBJECT) {
		take_fields(d, cloud, TRK_PLACE_CLOUD, &place);
		translate(&place.cloud);
		place.has_cloud = true;
		r = trk__writer_place(i->writer, &place, TRK_PLACE_CLOUD);
	}
	return r == 0 ? add_phases(i, d) : r;
}
