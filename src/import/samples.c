/* The sample formats of the Python package and of its sibling: CSV, JSON Lines, snapshots. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "import/delimited.h"
#include "import/series.h"
#include "model/capacity.h"

/* Names of memory that only the columns of 0.5 have. */
static const char *const names_05[] = {"memory_mib", "memory_used_mib", "process_memory_mib",
				       "system_memory_used_mib"};

/* ---- CSV ---- */

struct table {
	int column[TRK_DELIMITED_CELLS_MAX];
	double factor[TRK_DELIMITED_CELLS_MAX];
};

/* Map the names of the header to columns; false: none is known. */
static bool map_columns(const struct trk_delimited *d, struct table *t)
{
	bool process = trk__delimited_column(d, "processes") < 0;
	bool any = false, is_04 = true;

	for (size_t i = 0; i < sizeof(names_05) / sizeof(names_05[0]); i++)
		is_04 &= trk__delimited_column(d, names_05[i]) < 0;
	for (size_t i = 0; i < d->columns; i++) {
		t->column[i] = trk__series_column(d->head[i], process, is_04, &t->factor[i]);
		any |= t->column[i] >= 0;
	}
	return any && trk__delimited_column(d, "timestamp") >= 0;
}

static int add_table_row(struct trk_series *s, const struct trk_delimited *d, const struct table *t)
{
	struct trk_sample row = {.known = 0};

	for (size_t i = 0; i < d->columns; i++)
		if (t->column[i] >= 0)
			trk__series_set(&row, t->column[i], trk__delimited_number(d, (int) i),
					t->factor[i]);
	if (row.known == 0) {
		s->i->result->skipped++;
		return 0;
	}
	return trk__series_add(s, &row, trk__delimited_value(d, "timestamp"));
}

int trk__imp_table(struct trk_importing *i, char *text, size_t len)
{
	struct trk_delimited d;
	struct trk_series s;
	struct table t;
	int r = trk__delimited_init(&d, text, ',');
	bool described = false;

	if (r < 0 || !map_columns(&d, &t))
		return trk__error_set(i->reterr, -EBADMSG, i->import->file,
				      "%s:1: no timestamp, or no column that is known",
				      i->import->file);
	while ((r = trk__delimited_next(&d)) > 0) {
		if (!described) {
			double pid = trk__delimited_value(
				&d, trk__delimited_column(&d, "pid") < 0 ? "process_pid" : "pid");

			trk__imp_clear(i, NULL);
			if (pid > 0 && pid < INT32_MAX)
				i->run.pid = (int32_t) pid;
			trk__series_init(&s, i, trk__delimited_value(&d, "interval_s"));
			s.has_rates = trk__delimited_column(&d, "interval_s") >= 0;
			described = true;
		}
		trk__imp_progress(i, d.at);
		r = add_table_row(&s, &d, &t);
		if (r < 0)
			return trk__imp_failed(i, r);
	}
	if (described && trk__series_end(&s) < 0)
		return i->reterr->code;
	if (r < 0)
		return trk__error_set(i->reterr, r, i->import->file,
				      "%s:%lu: a quote that is not closed", i->import->file,
				      d.line + 1);
	return 0;
}

/* ---- JSON Lines: of the sibling, and of `export` ---- */

static const struct {
	const char *object, *key;
	int column;
} line_keys[] = {
	{"cpu", "utilization_pct", TRK_SYSTEM_CPU_USAGE},
	{"cpu", "utime_secs", TRK_SYSTEM_UTIME},
	{"cpu", "stime_secs", TRK_SYSTEM_STIME},
	{"cpu", "steal_time_secs", TRK_SYSTEM_STEAL},
	{"cpu", "process_count", TRK_SYSTEM_PROCESSES},
	{"cpu", "cgroup_utilization_pct", TRK_CGROUP_CPU_USAGE},
	{"cpu", "process_cores_used", TRK_PROCESS_CPU_USAGE},
	{"cpu", "process_child_count", TRK_PROCESS_CHILDREN},
	{"cpu", "process_utime_secs", TRK_PROCESS_UTIME},
	{"cpu", "process_stime_secs", TRK_PROCESS_STIME},
	{"cpu", "process_pss_mib", TRK_PROCESS_MEMORY},
	{"cpu", "process_rss_mib", TRK_PROCESS_RSS},
	{"cpu", "process_disk_read_bytes", TRK_PROCESS_DISK_READ},
	{"cpu", "process_disk_write_bytes", TRK_PROCESS_DISK_WRITE},
	{"memory", "free_mib", TRK_SYSTEM_MEMORY_FREE},
	{"memory", "used_mib", TRK_SYSTEM_MEMORY_USED},
	{"memory", "buffers_mib", TRK_SYSTEM_MEMORY_BUFFERS},
	{"memory", "cached_mib", TRK_SYSTEM_MEMORY_CACHED},
	{"memory", "active_mib", TRK_SYSTEM_MEMORY_ACTIVE},
	{"memory", "inactive_mib", TRK_SYSTEM_MEMORY_INACTIVE},
	{"memory", "swap_used_mib", TRK_SYSTEM_SWAP_USED},
};

/* Sum of a figure over all elements; NaN if none has it. */
static double sum_of(const struct trk_json_doc *d, const struct trk_json_value *array,
		     const char *key)
{
	const struct trk_json_value *v;
	double sum = NAN;

	for (v = trk__json_first(d, array); v; v = trk__json_next(d, v))
		trk__series_sum(&sum, trk__json_get_double(d, v, key));
	return sum;
}

static double sum_of_mounts(const struct trk_json_doc *d, const struct trk_json_value *disks,
			    const char *key)
{
	const struct trk_json_value *v;
	double sum = NAN;

	for (v = trk__json_first(d, disks); v; v = trk__json_next(d, v))
		trk__series_sum(&sum, sum_of(d, trk__json_get(d, v, "mounts"), key));
	return sum;
}

static void fill_from_line(const struct trk_json_doc *d, struct trk_sample *row, double interval_s)
{
	const struct trk_json_value *root = trk__json_root(d);
	const struct trk_json_value *net = trk__json_get(d, root, "network");
	const struct trk_json_value *disk = trk__json_get(d, root, "disk");

	for (size_t k = 0; k < sizeof(line_keys) / sizeof(line_keys[0]); k++)
		trk__imp_set(row, line_keys[k].column,
			     trk__json_get_double(d, trk__json_get(d, root, line_keys[k].object),
						  line_keys[k].key));
	trk__imp_set(row, TRK_SYSTEM_NET_RECV, sum_of(d, net, "rx_bytes_per_sec") * interval_s);
	trk__imp_set(row, TRK_SYSTEM_NET_SENT, sum_of(d, net, "tx_bytes_per_sec") * interval_s);
	trk__imp_set(row, TRK_SYSTEM_DISK_READ, sum_of(d, disk, "read_bytes_per_sec") * interval_s);
	trk__imp_set(row, TRK_SYSTEM_DISK_WRITE,
		     sum_of(d, disk, "write_bytes_per_sec") * interval_s);
	trk__imp_set(row, TRK_SYSTEM_SPACE_TOTAL, sum_of_mounts(d, disk, "total_bytes") / 1e9);
	trk__imp_set(row, TRK_SYSTEM_SPACE_USED, sum_of_mounts(d, disk, "used_bytes") / 1e9);
	trk__imp_set(row, TRK_SYSTEM_SPACE_FREE, sum_of_mounts(d, disk, "available_bytes") / 1e9);
}

static bool has_key(const struct trk_json_doc *d, const char *key)
{
	return trk__json_get(d, trk__json_root(d), key) != NULL;
}

/* The names of the members of an object. */
struct naming {
	bool process, is_04; /* see trk__series_column */
};

static bool is_04(const struct trk_json_doc *d, const struct trk_json_value *object)
{
	for (size_t k = 0; k < sizeof(names_05) / sizeof(names_05[0]); k++)
		if (trk__json_get(d, object, names_05[k]))
			return false;
	return true;
}

static void take_pid(struct trk_importing *i, const struct trk_json_value *v)
{
	int64_t pid;

	if (i->run.pid == 0 && trk__json_as_i64(v, &pid) && pid > 0 && pid <= INT32_MAX)
		i->run.pid = (int32_t) pid;
}

static void fill_from_columns(const struct naming *names, const struct trk_json_doc *d,
			      const struct trk_json_value *object, struct trk_sample *row)
{
	const struct trk_json_value *v;

	for (v = trk__json_first(d, object); v; v = trk__json_next(d, v)) {
		double factor;
		int column =
			v->key ? trk__series_column(v->key, names->process, names->is_04, &factor)
			       : -1;

		if (column >= 0)
			trk__series_set(row, column, trk__json_as_double(v), factor);
	}
}

/* The kind of lines in a file, detected from the first line. */
struct lines {
	bool are_described;
	bool of_columns; /* each line is an object of columns, as `export` writes them */
	struct naming names;
};

static void describe_lines(struct lines *l, struct trk_importing *i, const struct trk_json_doc *d)
{
	static const char *const pids[] = {"tracked_pid", "process_pid", "pid"};
	const struct trk_json_value *root = trk__json_root(d);

	l->are_described = true;
	l->of_columns = !has_key(d, "timestamp_secs") && has_key(d, "timestamp");
	l->names = (struct naming){!has_key(d, "processes"), is_04(d, root)};
	trk__imp_clear(i, trk__json_get_text(d, root, "job_name"));
	for (size_t k = 0; k < sizeof(pids) / sizeof(pids[0]); k++)
		take_pid(i, trk__json_get(d, root, pids[k]));
}

static double interval_of_line(const struct lines *l, const struct trk_json_doc *d)
{
	return l->of_columns
		       ? trk__json_get_double(d, trk__json_root(d), "interval_s")
		       : trk__json_get_double(d, trk__json_root(d), "actual_interval_ms") / 1000;
}

/* Lines have the time in whole seconds and the interval in ms: summing the intervals is more
 * precise. */
static double time_of_line(const struct trk_json_doc *d, struct trk_series *s, double interval_s)
{
	double stamp = trk__json_get_double(d, trk__json_root(d), "timestamp_secs");
	double fine = s->last_s + interval_s;

	return s->last_s > 0 && fabs(fine - stamp) < 2 ? fine : stamp;
}

static int add_line(struct trk_series *s, struct lines *l, const struct trk_json_doc *d)
{
	struct trk_sample row = {.known = 0};
	double interval_s = interval_of_line(l, d);

	if (l->of_columns) {
		fill_from_columns(&l->names, d, trk__json_root(d), &row);
		if (row.known == 0) {
			s->i->result->skipped++;
			return 0;
		}
		return trk__series_add(s, &row,
				       trk__json_get_double(d, trk__json_root(d), "timestamp"));
	}
	fill_from_line(d, &row, isnan(interval_s) ? 1 : interval_s);
	return trk__series_add(s, &row, time_of_line(d, s, interval_s));
}

int trk__imp_json_lines(struct trk_importing *i, char *text, size_t len)
{
	struct lines l = {.are_described = false};
	struct trk_series s;
	int r = 0;

	for (char *line = text, *next; *line && r == 0; line = next) {
		size_t size = strcspn(line, "\n");
		struct trk_json_doc d;

		next = line + size + (line[size] == '\n');
		if (*line != '{') /* a log may contain other text */
			continue;
		if (trk__json_read(line, size, NULL, "", &d, NULL) < 0) {
			i->result->skipped++;
			continue;
		}
		if (!l.are_described) {
			describe_lines(&l, i, &d);
			trk__series_init(&s, i, interval_of_line(&l, &d));
			s.has_rates = l.of_columns;
		}
		trk__imp_progress(i, line);
		r = add_line(&s, &l, &d);
		trk__json_doc_release(&d);
	}
	if (r < 0)
		return trk__imp_failed(i, r);
	return l.are_described ? trk__series_end(&s) : 0;
}

/* ---- snapshots ---- */

/* A table in JSON: a list of rows, or an object of columns. */
struct frame {
	const struct trk_json_value *row;               /* of a list */
	const struct trk_json_value *cell[TRK_COLUMNS]; /* of columns: the next cell of each */
	double factor[TRK_COLUMNS];
	const struct trk_json_value *time_cell;
	struct naming names;
};

static void frame_init(struct frame *f, const struct trk_json_doc *d,
		       const struct trk_json_value *of, bool process)
{
	const struct trk_json_value *first = trk__json_first(d, of), *v;
	bool of_columns = of && of->type == TRK_JSON_OBJECT;

	*f = (struct frame){.names = {process, is_04(d, of_columns ? of : first)}};
	if (!of_columns) {
		f->row = first;
		return;
	}
	for (v = first; v; v = trk__json_next(d, v)) {
		double factor;
		int column = trk__series_column(v->key, process, f->names.is_04, &factor);

		if (column >= 0) {
			f->cell[column] = trk__json_first(d, v);
			f->factor[column] = factor;
		} else if (!strcmp(v->key, "timestamp")) {
			f->time_cell = trk__json_first(d, v);
		}
	}
}

/* The original writes 0 without a GPU. */
static void drop_gpu(struct trk_sample *row)
{
	static const int columns[] = {
		TRK_SYSTEM_GPU_USAGE,  TRK_SYSTEM_GPU_VRAM,  TRK_SYSTEM_GPU_UTILIZED,
		TRK_PROCESS_GPU_USAGE, TRK_PROCESS_GPU_VRAM, TRK_PROCESS_GPU_UTILIZED,
	};

	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
		row->known &= ~((trk_column_bits) 1 << columns[k]);
		row->value[columns[k]] = 0;
	}
}

/* Read the next row into `row`; returns its time, or NaN at the end. */
static double frame_next(struct frame *f, const struct trk_json_doc *d, struct trk_sample *row)
{
	double time_s = NAN;

	if (f->row) {
		fill_from_columns(&f->names, d, f->row, row);
		time_s = trk__json_get_double(d, f->row, "timestamp");
		f->row = trk__json_next(d, f->row);
		return isnan(time_s) && f->row ? -1 : time_s;
	}
	if (!f->time_cell)
		return NAN;
	time_s = trk__json_as_double(f->time_cell);
	f->time_cell = trk__json_next(d, f->time_cell);
	for (int i = 0; i < TRK_COLUMNS; i++) {
		if (!f->cell[i])
			continue;
		trk__series_set(row, i, trk__json_as_double(f->cell[i]), f->factor[i]);
		f->cell[i] = trk__json_next(d, f->cell[i]);
	}
	return isnan(time_s) ? -1 : time_s;
}

/* Join rows of both tables whose times nearly agree; other rows stay separate. */
static int join_frames(struct trk_series *s, const struct trk_json_doc *d, struct frame *process,
		       struct frame *system, double near_s)
{
	struct trk_sample p = {.known = 0}, q = {.known = 0};
	double p_s = frame_next(process, d, &p), q_s = frame_next(system, d, &q);
	int r = 0;

	while (r == 0 && (!isnan(p_s) || !isnan(q_s))) {
		bool take_p = !isnan(p_s) && (isnan(q_s) || p_s <= q_s + near_s);
		bool take_q = !isnan(q_s) && (isnan(p_s) || q_s <= p_s + near_s);
		struct trk_sample row = take_p ? p : q;
		double time_s = take_p ? p_s : q_s;

		if (take_p && take_q)
			for (int i = 0; i < TRK_COLUMNS; i++)
				if (trk__sample_knows(&q, i))
					trk__sample_set(&row, i, q.value[i]);
		if (s->i->no_gpu)
			drop_gpu(&row);
		r = trk__series_add(s, &row, time_s);
		if (take_p) {
			p = (struct trk_sample){.known = 0};
			p_s = frame_next(process, d, &p);
		}
		if (take_q) {
			q = (struct trk_sample){.known = 0};
			q_s = frame_next(system, d, &q);
		}
	}
	return r;
}

static void describe_snapshot(struct trk_importing *i, const struct trk_json_doc *d)
{
	const struct trk_json_value *root = trk__json_root(d);
	const struct trk_json_value *metadata = trk__json_get(d, root, "metadata");
	const struct trk_json_value *server = trk__json_get(d, root, "server_info");
	double mib = trk__json_get_double(d, server, "memory_mib");

	trk__imp_clear(i, NULL);
	take_pid(i, trk__json_get(d, metadata, "pid"));
	if (isnan(mib))
		mib = trk__json_get_double(d, server, "memory_mb");
	i->no_gpu = trk__json_get_double(d, server, "gpu_count") == 0;
	/* The size of the machine, which is not a request, has separate names. */
	trk__quantity_set(&i->run.limit[TRK_LIMIT_CPU], trk__json_get_double(d, server, "vcpus"),
			  TRK_QUALITY_AT_MOST, TRK_SOURCE_ALL_CPUS, "server_info of the snapshot");
	trk__quantity_set(&i->run.limit[TRK_LIMIT_MEMORY_MIB], mib, TRK_QUALITY_AT_MOST,
			  TRK_SOURCE_ALL_MEMORY, "server_info of the snapshot");
	trk__about_run(i, d);
}

/* The earlier of the first times of both tables. */
static double first_time(const struct trk_json_doc *d)
{
	static const char *const tables[] = {"process_metrics", "system_metrics"};
	double first_s = NAN;

	for (size_t k = 0; k < 2; k++) {
		const struct trk_json_value *rows = trk__json_get(d, trk__json_root(d), tables[k]);
		double time_s = trk__json_get_double(d, trk__json_first(d, rows), "timestamp");

		if (!(first_s <= time_s))
			first_s = isnan(time_s) ? first_s : time_s;
	}
	return first_s;
}

int trk__imp_snapshot(struct trk_importing *i, char *text, size_t len)
{
	const struct trk_json_limits limits = {.max_bytes = TRK_IMPORT_MAX_BYTES,
					       .nan_is_null = true};
	TRK_JSON_DOC_CLEANUP struct trk_json_doc d = {.count = 0};
	const struct trk_json_value *root;
	struct frame process, system;
	struct trk_series s;
	double interval_s, first_interval_s;
	struct trk_error error = {.code = 0};
	int r = trk__json_read(text, len, &limits, i->import->file, &d, &error);

	if (r < 0)
		return trk__error_set(i->reterr, r, i->import->file, "%s: %s", i->import->file,
				      trk__error_text(&error, r));
	root = trk__json_root(&d);
	describe_snapshot(i, &d);
	interval_s = trk__json_get_double(&d, trk__json_get(&d, root, "metadata"), "interval");
	first_interval_s = trk__about_first_interval(&d, first_time(&d));
	frame_init(&process, &d, trk__json_get(&d, root, "process_metrics"), true);
	frame_init(&system, &d, trk__json_get(&d, root, "system_metrics"), false);
	trk__series_init(&s, i, first_interval_s);
	r = join_frames(&s, &d, &process, &system, interval_s > 0 ? interval_s / 2 : 0.5);
	if (r == 0 && s.begun)
		r = trk__about_place(i, &d);
	return r < 0 ? trk__imp_failed(i, r) : trk__series_end(&s);
}
