/* A run of the history: made from a recording, and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "base/parse.h"
#include "history/private.h"
#include "recording/reader.h"

/* ---- fields ---- */

const struct trk_history_field trk__history_fields[] = {
#define X(kind, field, key)                                                                        \
	{#field, key, TRK_HISTORY_##kind, offsetof(struct trk_history_run, field),                 \
	 sizeof(((struct trk_history_run *) NULL)->field)},
	TRK_HISTORY_FIELDS(X)
#undef X
};

struct trk_history_value trk__history_get(const struct trk_history_run *run,
					  const struct trk_history_field *field)
{
	const void *at = (const char *) run + field->offset;
	struct trk_history_value v = {.type = TRK_VALUE_WHOLE};

	switch (field->kind) {
	case TRK_HISTORY_REAL:
		v.real = *(const double *) at;
		v.type = isnan(v.real) ? TRK_VALUE_NULL : TRK_VALUE_REAL;
		break;
	case TRK_HISTORY_CODE:
	case TRK_HISTORY_SIGNAL:
		v.whole = *(const int *) at;
		break;
	case TRK_HISTORY_COUNT:
		v.whole = (int64_t) * (const uint64_t *) at;
		break;
	case TRK_HISTORY_FLAG:
		v.whole = *(const bool *) at;
		break;
	default:
		v.text = at;
		v.type = field->kind == TRK_HISTORY_SCOPE && !run->has_scope ? TRK_VALUE_NULL
									     : TRK_VALUE_TEXT;
	}
	return v;
}

/* Faster than snprintf(), which would take most of the time for many thousands of rows. */
static void copy(char *to, size_t size, const char *text)
{
	size_t len = strnlen(text, size - 1);

	memcpy(to, text, len);
	to[len] = '\0';
}

void trk__history_set(struct trk_history_run *run, const struct trk_history_field *field,
		      const struct trk_history_value *value)
{
	bool is_null = value->type == TRK_VALUE_NULL;
	void *at = (char *) run + field->offset;

	switch (field->kind) {
	case TRK_HISTORY_REAL:
		*(double *) at = is_null ? (double) NAN : value->real;
		break;
	case TRK_HISTORY_CODE:
	case TRK_HISTORY_SIGNAL:
		*(int *) at = (int) value->whole;
		break;
	case TRK_HISTORY_COUNT:
		*(uint64_t *) at = (uint64_t) value->whole;
		break;
	case TRK_HISTORY_FLAG:
		*(bool *) at = value->whole != 0;
		break;
	default:
		copy(at, field->size, is_null || !value->text ? "" : value->text);
		if (field->kind == TRK_HISTORY_SCOPE)
			run->has_scope = !is_null;
	}
}

void trk__history_insert_sql(struct trk_buf *b, const char *into, char mark)
{
	trk__buf_printf(b, "%s (" TRK_HISTORY_COLUMNS ") VALUES (", into);
	for (int i = 1; i <= TRK_HISTORY_FIELD_COUNT; i++)
		trk__buf_printf(b, "%s%c%d", i == 1 ? "" : ", ", mark, i);
	trk__buf_putc(b, ')');
}

/* ---- from a recording ---- */

static void join_command(const struct trk_run *run, char *text, size_t size)
{
	size_t len = run->command_len < size - 1 ? run->command_len : size - 1;

	memcpy(text, run->command, len);
	text[len] = '\0';
	for (size_t i = 0; i + 1 < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
}

/* The tag after `last` (NULL: the first) in the order of their bytes; NULL after the last one. */
static const char *next_tag(const char *tags, size_t len, const char *last)
{
	const char *next = NULL;

	for (size_t at = 0; at < len; at += strlen(tags + at) + 1)
		if (tags[at] && (!last || strcmp(tags + at, last) > 0) &&
		    (!next || strcmp(tags + at, next) < 0))
			next = tags + at;
	return next;
}

void trk__history_tags(const char *tags, size_t len, char ret[TRK_HISTORY_TAGS_SIZE])
{
	const char *tag = NULL;
	size_t used = 0;

	ret[0] = '\0';
	while ((tag = next_tag(tags, len, tag)) != NULL) {
		size_t size = strlen(tag);

		if (size + 2 > TRK_HISTORY_TAGS_SIZE - used)
			continue;
		memcpy(ret + used, tag, size);
		/* A newline in a tag would split it into two. */
		for (size_t i = used; i < used + size; i++)
			ret[i] = ret[i] == '\n' ? ' ' : ret[i];
		used += size;
		ret[used++] = '\n';
		ret[used] = '\0';
	}
}

/* One line for each resource, in order: "VALUE KIND SOURCE". */
static void write_capacity(const struct trk_record *record, char ret[TRK_HISTORY_CAPACITY_SIZE])
{
	size_t used = 0;

	for (int i = 0; i < TRK_RESOURCES && used < TRK_HISTORY_CAPACITY_SIZE; i++) {
		struct trk_capacity c = trk__capacity(record, (enum trk_resource) i);

		used += (size_t) snprintf(ret + used, TRK_HISTORY_CAPACITY_SIZE - used,
					  "%.9g %s %s\n", c.value, trk__capacity_name(c.kind),
					  c.source);
	}
}

/* Copy up to one of the characters of `end`, and return the text after it. */
static const char *take_word(const char *text, const char *end, char *ret, size_t size)
{
	size_t len = strcspn(text, end), kept = len < size - 1 ? len : size - 1;

	memcpy(ret, text, kept);
	ret[kept] = '\0';
	return text + len + (text[len] == ' ');
}

void trk__history_run_capacity(const struct trk_history_run *run, enum trk_resource resource,
			       struct trk_history_capacity *ret)
{
	const char *line = run->capacity;
	char number[32];

	*ret = (struct trk_history_capacity){.value = NAN};
	for (int i = 0; i < (int) resource && *line; i++) {
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	line = take_word(line, " \n", number, sizeof(number));
	line = take_word(line, " \n", ret->kind, sizeof(ret->kind));
	(void) take_word(line, "\n", ret->source, sizeof(ret->source));
	if (trk__parse_decimal(number, &ret->value) < 0)
		ret->value = NAN;
}

void trk__history_run_from(const struct trk_record *record, const char *file,
			   struct trk_history_run *ret)
{
	const struct trk_outcome *o = &record->outcome;
	const struct trk_run *run = &record->run;
	struct trk_column_stats cpu = trk__stats_get(record->stats, TRK_PROCESS_CPU_USAGE);
	struct trk_column_stats memory = trk__stats_get(record->stats, TRK_PROCESS_MEMORY);
	struct trk_column_stats gpu = trk__stats_get(record->stats, TRK_PROCESS_GPU_USAGE);
	bool no_usage = trk__gpu_log_is_partial(&record->gpus, TRK_GPU_TREE_SHARE_METRIC);
	bool no_vram = trk__gpu_log_is_partial(&record->gpus, TRK_GPU_TREE_MEMORY_METRIC);

	*ret = (struct trk_history_run){
		.code = o->code,
		.signal = o->signal,
		.start_s = (double) run->start_ns / 1e9,
		.duration_s = (double) o->duration_ns / 1e9,
		.cpu_s = o->total[TRK_TOTAL_CPU_S].value,
		.cpu_mean = cpu.mean,
		.cpu_max = cpu.max,
		.peak_memory_mib = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value,
		.memory_mean_mib = memory.mean,
		.peak_swap_mib = trk__outcome_swap_mib(o),
		.disk_read_bytes = o->total[TRK_TOTAL_DISK_READ_BYTES].value,
		.disk_write_bytes = o->total[TRK_TOTAL_DISK_WRITE_BYTES].value,
		.gpu_mean = no_usage ? (double) NAN : gpu.mean,
		.gpu_max = no_usage ? (double) NAN : gpu.max,
		.vram_max_mib = no_vram ? (double) NAN
					: trk__stats_get(record->stats, TRK_PROCESS_GPU_VRAM).max,
		.limit_cpu = run->limit[TRK_LIMIT_CPU].value,
		.limit_memory_mib = run->limit[TRK_LIMIT_MEMORY_MIB].value,
		.request_cpu = run->request[TRK_REQUEST_CPU].value,
		.request_memory_mib = run->request[TRK_REQUEST_MEMORY_MIB].value,
		.input_bytes = run->input_bytes ? (double) run->input_bytes : (double) NAN,
		.cost_usd = record->place.cost.usd,
		.samples = record->samples,
		.ended = record->ended,
	};
	(void) snprintf(ret->id, sizeof(ret->id), "%s", run->id);
	(void) snprintf(ret->job, sizeof(ret->job), "%s", run->job);
	(void) snprintf(ret->scope, sizeof(ret->scope), "%s", run->scope);
	ret->has_scope = run->has_scope;
	(void) snprintf(ret->kind, sizeof(ret->kind), "%s",
			run->unlisted ? TRK_KIND_UNLISTED : run->kind);
	(void) snprintf(ret->file, sizeof(ret->file), "%s", file);
	(void) snprintf(ret->verdict, sizeof(ret->verdict), "%s", trk__end_name(o->end));
	trk__history_tags(run->tags, run->tags_len, ret->tags);
	write_capacity(record, ret->capacity);
	join_command(run, ret->command, sizeof(ret->command));
}

bool trk__history_read(int runs_fd, const char *file, struct trk_record *record,
		       struct trk_history_run *ret)
{
	if (trk__record_read(runs_fd, file, record, NULL, NULL, NULL) < 0)
		return false;
	trk__history_run_from(record, file, ret);
	/* A run whose tracker died no longer changes. */
	ret->ended = !record->writing;
	trk__record_release(record);
	return true;
}

/* ---- JSON ---- */

/* Lines of key=value as an object. */
static void tags_json(struct trk_json *j, const char *tags)
{
	trk__json_key_open(j, "tags", '{');
	for (size_t len; (len = strcspn(tags, "\n")) > 0; tags += len + (tags[len] != '\0')) {
		size_t key_len = strcspn(tags, "=\n");
		char key[TRK_HISTORY_TAGS_SIZE];

		(void) snprintf(key, sizeof(key), "%.*s", (int) key_len, tags);
		trk__json_key(j, key);
		if (key_len < len)
			trk__json_text_n(j, tags + key_len + 1, len - key_len - 1);
		else
			trk__json_null(j);
	}
	trk__json_close(j, '}');
}

/* The capacities that the summary compares the use with. */
static void capacity_json(struct trk_json *j, const struct trk_history_run *run)
{
	static const char *const keys[TRK_RESOURCES] = {"cpu", "memory_mib", "gpu", "time_s"};

	trk__json_key_open(j, "capacity", '{');
	for (int i = 0; i < TRK_RESOURCES; i++) {
		struct trk_history_capacity c;

		trk__history_run_capacity(run, (enum trk_resource) i, &c);
		trk__json_key_open(j, keys[i], '{');
		trk__json_key_double(j, "value", c.value);
		trk__json_key_text(j, "kind", c.kind[0] ? c.kind : "unknown");
		trk__json_key_or_null(j, "source", c.source);
		trk__json_close(j, '}');
	}
	trk__json_close(j, '}');
}

static void write_field(struct trk_json *j, const struct trk_history_run *run,
			const struct trk_history_field *f)
{
	struct trk_history_value v = trk__history_get(run, f);

	if (f->kind == TRK_HISTORY_TAGS) {
		tags_json(j, run->tags);
		return;
	}
	if (f->kind == TRK_HISTORY_CAPACITY) {
		capacity_json(j, run);
		return;
	}
	trk__json_key(j, f->key);
	if (f->kind == TRK_HISTORY_FLAG)
		trk__json_bool(j, v.whole != 0);
	else if (v.type == TRK_VALUE_NULL ||
		 (v.type == TRK_VALUE_TEXT && f->kind == TRK_HISTORY_SCOPE && !*v.text) ||
		 (f->kind == TRK_HISTORY_CODE && v.whole < 0) ||
		 (f->kind == TRK_HISTORY_SIGNAL && v.whole == 0))
		trk__json_null(j);
	else if (v.type == TRK_VALUE_TEXT)
		trk__json_text(j, v.text);
	else if (v.type == TRK_VALUE_REAL)
		trk__json_double(j, v.real);
	else
		trk__json_i64(j, v.whole);
}

const char *trk__history_run_end_words(const struct trk_history_run *run,
				       char text[TRK_END_WORDS_SIZE])
{
	int end = trk__end_find(run->verdict);

	if (end >= 0)
		return trk__end_words((enum trk_end) end, run->code, run->signal, text);
	(void) snprintf(text, TRK_END_WORDS_SIZE, "%s", run->verdict);
	for (char *c = text; *c; c++)
		if (*c == '_')
			*c = ' ';
	return text;
}

void trk__history_run_json(struct trk_json *j, const struct trk_history_run *run)
{
	trk__json_open(j, '{');
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++)
		if (trk__history_fields[i].key)
			write_field(j, run, &trk__history_fields[i]);
	trk__json_close(j, '}');
}

static void take_run(const struct trk_json_doc *d, const struct trk_json_value *v,
		     struct trk_history_run *ret)
{
	double code = trk__json_get_double(d, v, "code");

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		const struct trk_history_field *f = &trk__history_fields[i];
		struct trk_history_value real = {.type = TRK_VALUE_REAL};

		if (f->kind != TRK_HISTORY_REAL)
			continue;
		real.real = trk__json_get_double(d, v, f->name);
		if (!(real.real >= 0) || isinf(real.real)) /* figures of a run are never negative */
			real.type = TRK_VALUE_NULL;
		trk__history_set(ret, f, &real);
	}
	ret->code = code > 0 && code <= 255 ? (int) code : 0;
	(void) snprintf(ret->verdict, sizeof(ret->verdict), "%s", trk__end_name(TRK_END_EXITED));
	(void) snprintf(ret->kind, sizeof(ret->kind), "attach");
	ret->ended = true;
}

size_t trk__history_runs_from_json(const char *text, size_t len, struct trk_history_run *ret,
				   size_t max)
{
	const struct trk_json_limits limits = {.nan_is_null = true};
	TRK_JSON_DOC_CLEANUP struct trk_json_doc d = {.count = 0};
	const struct trk_json_value *root, *v;
	size_t n = 0;

	if (trk__json_read(text, len, &limits, "", &d, NULL) < 0)
		return 0;
	root = trk__json_root(&d);
	if (root->type != TRK_JSON_ARRAY)
		return 0;
	for (v = trk__json_first(&d, root); v && n < max; v = trk__json_next(&d, v))
		if (v->type == TRK_JSON_OBJECT)
			take_run(&d, v, &ret[n++]);
	return n;
}
