/* A run of the history: made from a recording, and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/parse.h"
#include "history/private.h"
#include "recording/reader.h"

/* ---- fields ---- */

const struct trk_history_field trk__history_fields[] = {
#define X(kind, column, member, key)                                                               \
	{#column, key, TRK_HISTORY_##kind, offsetof(struct trk_past_run, member)},
	TRK_HISTORY_FIELDS(X)
#undef X
};

/* A copy in the row, cut to the size of a text. A row has room for each of its texts. */
static const char *keep(struct trk_history_row *row, const char *text, size_t len)
{
	size_t room = sizeof(row->text) - row->used;
	char *to = row->text + row->used;

	len = len < TRK_HISTORY_TEXT_SIZE ? len : TRK_HISTORY_TEXT_SIZE - 1;
	len = len < room ? len : room - 1;
	memcpy(to, text, len);
	to[len] = '\0';
	row->used += room > len + 1 ? len + 1 : len;
	return to;
}

static const char *keep_text(struct trk_history_row *row, const char *text)
{
	return *text ? keep(row, text, strnlen(text, TRK_HISTORY_TEXT_SIZE)) : "";
}

/* One line for each resource, in order: "VALUE KIND SOURCE". */
static const char *capacity_text(struct trk_history_row *row)
{
	char text[TRK_HISTORY_TEXT_SIZE];
	size_t used = 0;

	for (int i = 0; i < TRK_RESOURCES && used < sizeof(text); i++) {
		const struct trk_capacity *c = &row->run.capacity[i];

		used += (size_t) snprintf(text + used, sizeof(text) - used, "%.9g %s %s\n",
					  c->value, trk__capacity_name(c->kind), c->source);
	}
	return keep_text(row, text);
}

/* Up to one of the characters of `end`; *text: what follows. */
static const char *take_word(struct trk_history_row *row, const char **text, const char *end)
{
	size_t len = strcspn(*text, end);
	const char *word = len ? keep(row, *text, len) : "";

	*text += len + ((*text)[len] == ' ');
	return word;
}

static void take_capacity(struct trk_history_row *row, const char *text)
{
	for (int i = 0; i < TRK_RESOURCES; i++) {
		struct trk_capacity *c = &row->run.capacity[i];

		if (trk__parse_decimal(take_word(row, &text, " \n"), &c->value) < 0)
			c->value = NAN;
		c->kind = trk__capacity_find(take_word(row, &text, " \n"));
		c->source = take_word(row, &text, "\n");
		text += *text == '\n';
	}
}

struct trk_history_value trk__history_get(struct trk_history_row *row,
					  const struct trk_history_field *field)
{
	const void *at = (const char *) &row->run + field->offset;
	struct trk_history_value v = {.type = TRK_VALUE_WHOLE};

	switch (field->kind) {
	case TRK_HISTORY_REAL:
	case TRK_HISTORY_MIB:
		v.real = *(const double *) at / (field->kind == TRK_HISTORY_MIB ? TRK_MIB : 1);
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
		v.text = field->kind == TRK_HISTORY_ID         ? at
			 : field->kind == TRK_HISTORY_CAPACITY ? capacity_text(row)
							       : *(const char *const *) at;
		v.type = field->kind == TRK_HISTORY_SCOPE && !row->run.has_scope ? TRK_VALUE_NULL
										 : TRK_VALUE_TEXT;
	}
	return v;
}

void trk__history_set(struct trk_history_row *row, const struct trk_history_field *field,
		      const struct trk_history_value *value)
{
	bool is_null = value->type == TRK_VALUE_NULL;
	const char *text = is_null || !value->text ? "" : value->text;
	void *at = (char *) &row->run + field->offset;

	switch (field->kind) {
	case TRK_HISTORY_ID:
		(void) snprintf(at, TRK_RUN_ID_SIZE, "%s", text);
		break;
	case TRK_HISTORY_CAPACITY:
		take_capacity(row, text);
		break;
	case TRK_HISTORY_REAL:
	case TRK_HISTORY_MIB:
		*(double *) at =
			is_null ? (double) NAN
				: value->real * (field->kind == TRK_HISTORY_MIB ? TRK_MIB : 1);
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
		*(const char **) at = keep_text(row, text);
		if (field->kind == TRK_HISTORY_SCOPE)
			row->run.has_scope = !is_null;
	}
}

void trk__history_row_clear(struct trk_history_row *row)
{
	static const struct trk_history_value null = {.type = TRK_VALUE_NULL};
	static const struct trk_past_peak unknown = {.at_most_bytes = NAN};

	row->used = 0;
	row->run = (struct trk_past_run){.memory = unknown,
					 .swap = unknown,
					 .vram = unknown,
					 .huge_bytes = NAN,
					 .needed_bytes = NAN};
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++)
		trk__history_set(row, &trk__history_fields[i], &null);
}

void trk__history_insert_sql(struct trk_buf *b, const char *into, char mark)
{
	trk__buf_printf(b, "%s (" TRK_HISTORY_COLUMNS ") VALUES (", into);
	for (int i = 1; i <= TRK_HISTORY_FIELD_COUNT; i++)
		trk__buf_printf(b, "%s%c%d", i == 1 ? "" : ", ", mark, i);
	trk__buf_putc(b, ')');
}

/* ---- from a recording ---- */

static const char *join_command(struct trk_history_row *row, const struct trk_run *run)
{
	size_t len = run->command_len < TRK_HISTORY_TEXT_SIZE ? run->command_len
							      : TRK_HISTORY_TEXT_SIZE - 1;
	char text[TRK_HISTORY_TEXT_SIZE];

	for (size_t i = 0; i < len; i++)
		text[i] = run->command[i] || i + 1 == len ? run->command[i] : ' ';
	return keep(row, text, len);
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

/* As a row of the database has them: with nine digits. */
static void keep_capacity(struct trk_history_row *row, const struct trk_record *record)
{
	for (int i = 0; i < TRK_RESOURCES; i++)
		row->run.capacity[i] = trk__capacity(record, (enum trk_resource) i);
	take_capacity(row, capacity_text(row));
}

static struct trk_past_peak peak_of(double mib)
{
	return (struct trk_past_peak){.bytes = mib * TRK_MIB, .at_most_bytes = NAN};
}

static bool is_of_part(const char *reason)
{
	return !strcmp(reason, TRK_PEAK_OF_PROCESS) || !strcmp(reason, TRK_PEAK_OF_TASK);
}

void trk__history_run_from(const struct trk_record *record, const char *file,
			   struct trk_history_row *ret)
{
	const struct trk_outcome *o = &record->outcome;
	const struct trk_run *run = &record->run;
	struct trk_column_stats cpu = trk__stats_get(record->stats, TRK_PROCESS_CPU_USAGE);
	struct trk_column_stats memory = trk__stats_get(record->stats, TRK_PROCESS_MEMORY);
	struct trk_column_stats gpu = trk__stats_get(record->stats, TRK_PROCESS_GPU_USAGE);
	bool no_usage = trk__gpu_log_is_partial(&record->gpus, TRK_GPU_TREE_SHARE_METRIC);
	bool no_vram = trk__gpu_log_is_partial(&record->gpus, TRK_GPU_TREE_MEMORY_METRIC);
	char tags[TRK_HISTORY_TAGS_SIZE];

	ret->used = 0;
	trk__history_tags(run->tags, run->tags_len, tags);
	ret->run = (struct trk_past_run){
		.job = keep_text(ret, run->job),
		.scope = keep_text(ret, run->scope),
		.has_scope = run->has_scope,
		.kind = keep_text(ret, run->unlisted ? TRK_KIND_UNLISTED : run->kind),
		.command = join_command(ret, run),
		.tags = keep_text(ret, tags),
		.file = keep_text(ret, file),
		.end_name = keep_text(ret, trk__end_name(o->end)),
		.code = o->code,
		.signal = o->signal,
		.start_s = (double) run->start_ns / 1e9,
		.duration_s = (double) o->duration_ns / 1e9,
		.cpu_s = o->total[TRK_TOTAL_CPU_S].value,
		.cpu_mean = cpu.mean,
		.cpu_max = cpu.max,
		.memory = peak_of(o->total[TRK_TOTAL_PEAK_MEMORY_MIB].value),
		.swap = peak_of(trk__outcome_swap_mib(o)),
		.huge_bytes = o->total[TRK_TOTAL_PEAK_HUGE_PAGES_MIB].value * TRK_MIB,
		.needed_bytes = o->total[TRK_TOTAL_PEAK_NEEDED_MIB].value * TRK_MIB,
		.vram = peak_of(no_vram ? (double) NAN
					: trk__stats_get(record->stats, TRK_PROCESS_GPU_VRAM).max),
		.memory_mean_bytes = memory.mean * TRK_MIB,
		.disk_read_bytes = o->total[TRK_TOTAL_DISK_READ_BYTES].value,
		.disk_write_bytes = o->total[TRK_TOTAL_DISK_WRITE_BYTES].value,
		.gpu_mean = no_usage ? (double) NAN : gpu.mean,
		.gpu_max = no_usage ? (double) NAN : gpu.max,
		.limit_cpu = run->limit[TRK_LIMIT_CPU].value,
		.limit_memory_bytes = run->limit[TRK_LIMIT_MEMORY_MIB].value * TRK_MIB,
		.request_cpu = run->request[TRK_REQUEST_CPU].value,
		.request_memory_bytes = run->request[TRK_REQUEST_MEMORY_MIB].value * TRK_MIB,
		.input_bytes = run->input_bytes ? (double) run->input_bytes : (double) NAN,
		.cost_usd = record->place.cost.usd,
		.samples = record->samples,
		.ended = record->ended,
	};
	(void) snprintf(ret->run.id, sizeof(ret->run.id), "%s", run->id);
	ret->run.memory.quality = o->total[TRK_TOTAL_PEAK_MEMORY_MIB].quality;
	ret->run.memory.is_of_part = is_of_part(o->total[TRK_TOTAL_PEAK_MEMORY_MIB].reason);
	ret->run.memory.at_most_bytes = o->total[TRK_TOTAL_PEAK_MEMORY_AT_MOST_MIB].value * TRK_MIB;
	ret->run.swap.quality = o->total[TRK_TOTAL_PEAK_SWAP_MIB].quality;
	ret->run.end = trk__past_run_end(&ret->run);
	keep_capacity(ret, record);
}

bool trk__history_read(int runs_fd, const char *file, struct trk_record *record,
		       struct trk_history_row *ret)
{
	if (trk__record_read(runs_fd, file, record, NULL, NULL, NULL) < 0)
		return false;
	trk__history_run_from(record, file, ret);
	/* A run whose tracker died no longer changes. */
	ret->run.ended = !record->writing;
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
static void capacity_json(struct trk_json *j, const struct trk_past_run *run)
{
	static const char *const keys[TRK_RESOURCES] = {"cpu", "memory_mib", "gpu", "time_s"};

	trk__json_key_open(j, "capacity", '{');
	for (int i = 0; i < TRK_RESOURCES; i++)
		trk__capacity_json(j, keys[i], &run->capacity[i]);
	trk__json_close(j, '}');
}

static void write_field(struct trk_json *j, struct trk_history_row *row,
			const struct trk_history_field *f)
{
	struct trk_history_value v;

	if (f->kind == TRK_HISTORY_TAGS) {
		tags_json(j, row->run.tags);
		return;
	}
	if (f->kind == TRK_HISTORY_CAPACITY) {
		capacity_json(j, &row->run);
		return;
	}
	v = trk__history_get(row, f);
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

void trk__history_run_json(struct trk_json *j, const struct trk_past_run *run)
{
	struct trk_history_row row = {.run = *run};

	trk__json_open(j, '{');
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++)
		if (trk__history_fields[i].key)
			write_field(j, &row, &trk__history_fields[i]);
	trk__json_close(j, '}');
}

static void take_run(const struct trk_json_doc *d, const struct trk_json_value *v,
		     struct trk_past_run *ret)
{
	double code = trk__json_get_double(d, v, "code");
	struct trk_history_row row;

	trk__history_row_clear(&row);
	for (int i = 0; i < TRK_HISTORY_FIELD_COUNT; i++) {
		const struct trk_history_field *f = &trk__history_fields[i];
		struct trk_history_value real = {.type = TRK_VALUE_REAL};

		if (f->kind != TRK_HISTORY_REAL && f->kind != TRK_HISTORY_MIB)
			continue;
		real.real = trk__json_get_double(d, v, f->name);
		if (!(real.real >= 0) || isinf(real.real)) /* figures of a run are never negative */
			continue;
		trk__history_set(&row, f, &real);
	}
	*ret = row.run;
	ret->code = code > 0 && code <= 255 ? (int) code : 0;
	ret->end_name = trk__end_name(TRK_END_EXITED);
	ret->kind = "attach";
	ret->ended = true;
	ret->end = trk__past_run_end(ret);
}

size_t trk__history_runs_from_json(const char *text, size_t len, struct trk_past_run *ret,
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
