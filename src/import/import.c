#include "import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/private.h"

static const struct {
	const char *name;
	const char *tool; /* the source of its figures */
	int (*read)(struct trk_importing *i, char *text, size_t len);
} formats[TRK_IMPORT_FORMATS] = {
	[TRK_IMPORT_SNAPSHOT] = {"snapshot", "resource-tracker snapshot", trk__imp_snapshot},
	[TRK_IMPORT_TABLE] = {"csv", "resource-tracker CSV", trk__imp_table},
	[TRK_IMPORT_JSON_LINES] = {"jsonl", "resource-tracker JSON Lines", trk__imp_json_lines},
	[TRK_IMPORT_GNU_TIME] = {"gnu-time", "GNU time", trk__imp_gnu_time},
	[TRK_IMPORT_SNAKEMAKE] = {"snakemake", "Snakemake benchmark", trk__imp_snakemake},
	[TRK_IMPORT_NEXTFLOW] = {"nextflow", "Nextflow trace", trk__imp_nextflow},
	[TRK_IMPORT_SACCT] = {"sacct", "sacct", trk__imp_sacct},
	[TRK_IMPORT_AUTOMETRIC] = {"autometric", "autometric", trk__imp_autometric},
};

/* What a file of a format contains. The first line of this table that applies decides. */
static const struct sign {
	enum trk_import_format format;
	char first;          /* character, after blanks; 0: any */
	const char *line[3]; /* words of the first line; NULL: fewer */
	const char *text[2]; /* words anywhere */
} signs[] = {
	{TRK_IMPORT_SNAPSHOT, '{', {NULL}, {"\"process_metrics\""}},
	{TRK_IMPORT_JSON_LINES, '{', {"\"timestamp_secs\""}, {NULL}},
	{TRK_IMPORT_JSON_LINES, '{', {"\"timestamp\":"}, {NULL}},
	{TRK_IMPORT_AUTOMETRIC, 0, {NULL}, {"__AUTOMETRIC__|"}},
	{TRK_IMPORT_GNU_TIME, 0, {NULL}, {"Command being timed:"}},
	{TRK_IMPORT_SNAKEMAKE, 0, {"max_rss", "max_pss"}, {NULL}},
	{TRK_IMPORT_NEXTFLOW, 0, {"\t", "realtime", "peak_rss"}, {NULL}},
	{TRK_IMPORT_SACCT, 0, {"JobID", "|"}, {NULL}},
	{TRK_IMPORT_TABLE, 0, {"timestamp", ","}, {NULL}},
	{TRK_IMPORT_JSON_LINES, 0, {NULL}, {"\n{\"", "\"timestamp_secs\""}},
};

const char *trk__import_name(enum trk_import_format format)
{
	return formats[format].name;
}

int trk__import_find(const char *name)
{
	for (int i = 0; i < TRK_IMPORT_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return i;
	return -2;
}

static bool has_all(const char *text, size_t len, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n && words[i]; i++)
		if (!memmem(text, len, words[i], strlen(words[i])))
			return false;
	return true;
}

enum trk_import_format trk__import_detect(const char *text, size_t len)
{
	size_t blank = strspn(text, "\xef\xbb\xbf \t\r\n");
	const char *start = text + (blank < len ? blank : len);
	size_t left = len - (size_t) (start - text), line = strcspn(start, "\n");

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if ((!signs[i].first || *start == signs[i].first) &&
		    has_all(start, line, signs[i].line, 3) &&
		    has_all(start, left, signs[i].text, 2))
			return signs[i].format;
	return TRK_IMPORT_UNKNOWN;
}

int trk__import_text(const struct trk_import *import, char *text, size_t len,
		     enum trk_import_format format, struct trk_import_result *ret,
		     struct trk_error *reterr)
{
	struct trk_importing *i = calloc(1, sizeof(*i));
	int r;

	if (!i)
		return trk__error_set(reterr, -ENOMEM, NULL, "out of memory");
	*ret = (struct trk_import_result){.format = format};
	if (format == TRK_IMPORT_UNKNOWN)
		ret->format =
			strlen(text) == len ? trk__import_detect(text, len) : TRK_IMPORT_UNKNOWN;
	i->import = import;
	i->result = ret;
	i->reterr = reterr;
	i->text = text;
	i->len = len;
	if (ret->format == TRK_IMPORT_UNKNOWN) {
		r = trk__error_set(reterr, -TRK_ERR_FORMAT, import->file,
				   "%s: not a file that can be imported", import->file);
	} else {
		i->tool = formats[ret->format].tool;
		r = formats[ret->format].read(i, text, len);
		if (r == 0 && ret->runs + ret->known == 0)
			r = trk__error_set(reterr, -TRK_ERR_NODATA, import->file,
					   "%s: no run in it (read as %s)", import->file,
					   formats[ret->format].name);
	}
	if (i->writer)
		trk__imp_drop(i);
	free(i);
	return r;
}
