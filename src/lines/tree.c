#include "lines/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/os.h"

enum { LEAST_NODES = 4 };

struct tree {
	const struct trk_lines *l;
	uint64_t *us;     /* of each node, callees included */
	uint32_t *kept;   /* of each node: number in the list + 1; 0: left out */
	uint32_t *ranked; /* nodes with CPU time, the largest first */
	uint32_t *named;  /* of each function: number + 1 */
	uint64_t *in_bin; /* of each node, in one bin */
	uint64_t *bin_us; /* [kept][bins] */
	size_t ranks, bins;
	size_t each; /* windows of a bin */
};

/* ---- sums ---- */

static void sum_up(struct tree *t)
{
	const struct trk_lines *l = t->l;

	for (size_t i = 0; i < l->totals; i++)
		t->us[l->total[i].node] += l->total[i].amounts.cpu_us;
	for (size_t i = l->nodes; i-- > 1;)
		t->us[l->node[i].parent] += t->us[i];
}

/* Frames of the import system, five to ten calls for each module, are left out. */
static bool is_import(const struct trk_lines *l, size_t node)
{
	return !strncmp(l->function[l->node[node].function].file, "<frozen importlib", 17);
}

/* The largest first; at equal values a caller, which has a smaller number, before its callees. */
static int compare_nodes(const void *a, const void *b, void *data)
{
	const uint64_t *us = data;
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return us[x] != us[y] ? (us[x] < us[y]) - (us[x] > us[y]) : (x > y) - (x < y);
}

static void rank(struct tree *t)
{
	for (uint32_t i = 1; i < t->l->nodes; i++)
		if (t->us[i] > 0 && !is_import(t->l, i))
			t->ranked[t->ranks++] = i;
	if (t->ranks)
		trk__os_sort(t->ranked, t->ranks, sizeof(*t->ranked), compare_nodes, t->us);
}

/* Number the largest `nodes`, callers first. */
static void keep(struct tree *t, size_t nodes)
{
	uint32_t n = 0;

	memset(t->kept, 0, t->l->nodes * sizeof(*t->kept));
	for (size_t i = 0; i < nodes && i < t->ranks; i++)
		t->kept[t->ranked[i]] = 1;
	for (size_t i = 1; i < t->l->nodes; i++)
		if (t->kept[i])
			t->kept[i] = ++n;
}

/* The use of each kept node in one bin, callees included. */
static void sum_bin(struct tree *t, size_t bin)
{
	const struct trk_lines *l = t->l;
	size_t end = (bin + 1) * t->each < l->windows ? (bin + 1) * t->each : l->windows;

	memset(t->in_bin, 0, l->nodes * sizeof(*t->in_bin));
	for (size_t w = bin * t->each; w < end; w++)
		for (size_t k = 0; k < l->window[w].count; k++) {
			const struct trk_lines_count *c = &l->kept[l->window[w].first + k];

			t->in_bin[c->node] += c->amounts.cpu_us;
		}
	for (size_t i = l->nodes; i-- > 1;) {
		t->in_bin[l->node[i].parent] += t->in_bin[i];
		if (t->kept[i])
			t->bin_us[(t->kept[i] - 1) * TRK_LINES_TREE_BINS + bin] = t->in_bin[i];
	}
}

/* ---- JSON ---- */

/* "pandas/…/frame.py" of a library, the last part of any other path. */
static void put_file(struct trk_json *j, const struct trk_lines_function *f)
{
	const char *slash = strrchr(f->file, '/'), *base = slash ? slash + 1 : f->file;
	const char *package = strstr(f->file, "-packages/");
	size_t len = package ? strcspn(package + 10, "/") : 0;
	TRK_BUF_LOCAL(b, 8192);

	if (!package || package[10 + len] == '\0') {
		trk__json_text(j, base);
		return;
	}
	trk__buf_add(&b, package + 10, len);
	trk__buf_puts(&b, package + 10 + len + 1 == base ? "/" : "/\u2026/");
	trk__buf_puts(&b, base);
	trk__json_text_n(j, b.data ? b.data : "", b.len);
}

static void put_functions(struct trk_json *j, struct tree *t)
{
	const struct trk_lines *l = t->l;
	uint32_t n = 0;

	memset(t->named, 0, l->functions * sizeof(*t->named));
	trk__json_key_open(j, "functions", '[');
	for (size_t i = 1; i < l->nodes; i++) {
		uint32_t at = l->node[i].function;

		if (!t->kept[i] || t->named[at])
			continue;
		t->named[at] = ++n;
		trk__json_open(j, '[');
		trk__json_text(j, l->function[at].name);
		put_file(j, &l->function[at]);
		trk__json_u64(j, !l->function[at].is_library);
		trk__json_close(j, ']');
	}
	trk__json_close(j, ']');
}

/* The number of the nearest caller in the list; -1: none. */
static int64_t caller_of(const struct tree *t, size_t node)
{
	uint32_t at = t->l->node[node].parent;

	while (at != TRK_LINES_ROOT && !t->kept[at])
		at = t->l->node[at].parent;
	return (int64_t) t->kept[at] - 1;
}

static void put_nodes(struct trk_json *j, const struct tree *t)
{
	const struct trk_lines *l = t->l;

	trk__json_key_open(j, "nodes", '[');
	for (size_t i = 1; i < l->nodes; i++) {
		if (!t->kept[i])
			continue;
		trk__json_open(j, '[');
		trk__json_i64(j, caller_of(t, i));
		trk__json_u64(j, t->named[l->node[i].function] - 1);
		trk__json_i64(j, l->node[i].line);
		trk__json_u64(j, (t->us[i] + 500) / 1000);
		trk__json_open(j, '[');
		for (size_t k = 0; k < t->bins; k++) {
			uint64_t us = t->bin_us[(t->kept[i] - 1) * TRK_LINES_TREE_BINS + k];

			if (us < 500)
				continue;
			trk__json_u64(j, k);
			trk__json_u64(j, (us + 500) / 1000);
		}
		trk__json_close(j, ']');
		trk__json_close(j, ']');
	}
	trk__json_close(j, ']');
}

static void put_bins(struct trk_json *j, const struct tree *t)
{
	const struct trk_lines *l = t->l;

	trk__json_key_open(j, "bins", '[');
	if (t->bins)
		trk__json_fixed(j, l->window[0].from_us / 1000, 3);
	for (size_t k = 0; k < t->bins; k++) {
		size_t last = (k + 1) * t->each - 1;

		trk__json_fixed(
			j, l->window[last < l->windows ? last : l->windows - 1].to_us / 1000, 3);
	}
	trk__json_close(j, ']');
}

static void put_tree(struct trk_buf *b, struct tree *t)
{
	struct trk_json j;

	trk__json_init(&j, b, 0);
	trk__json_open(&j, '{');
	trk__json_key_u64(&j, "ms", (t->us[TRK_LINES_ROOT] + 500) / 1000);
	put_bins(&j, t);
	put_functions(&j, t);
	put_nodes(&j, t);
	trk__json_close(&j, '}');
}

/* Escape text that would end a script element. */
static void put_safe(struct trk_buf *b, const struct trk_buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] == '<')
			trk__buf_puts(b, "\\u003c");
		else
			trk__buf_putc(b, text->data[i]);
}

static bool write_tree(struct trk_buf *b, struct tree *t, size_t max_bytes)
{
	bool fits = false;

	for (size_t n = TRK_LINES_TREE_NODES; n >= LEAST_NODES && !fits; n = n * 3 / 4) {
		TRK_BUF_LOCAL(text, max_bytes);
		TRK_BUF_LOCAL(safe, max_bytes);

		keep(t, n);
		for (size_t k = 0; k < t->bins; k++)
			sum_bin(t, k);
		put_tree(&text, t);
		if (!text.error)
			put_safe(&safe, &text);
		fits = !text.error && !safe.error;
		if (fits)
			trk__buf_add(b, safe.data, safe.len);
	}
	return fits && !b->error;
}

bool trk__lines_tree_json(struct trk_buf *b, const struct trk_lines *l, size_t max_bytes)
{
	struct tree t = {.l = l};
	bool made = false;

	t.us = calloc(l->nodes, sizeof(*t.us));
	t.in_bin = calloc(l->nodes, sizeof(*t.in_bin));
	t.kept = calloc(l->nodes, sizeof(*t.kept));
	t.ranked = calloc(l->nodes, sizeof(*t.ranked));
	t.named = calloc(l->functions, sizeof(*t.named));
	t.bin_us = calloc((size_t) TRK_LINES_TREE_NODES * TRK_LINES_TREE_BINS, sizeof(*t.bin_us));
	if (t.us && t.in_bin && t.kept && t.ranked && t.named && t.bin_us) {
		t.each = (l->windows + TRK_LINES_TREE_BINS - 1) / TRK_LINES_TREE_BINS;
		t.bins = t.each ? (l->windows + t.each - 1) / t.each : 0;
		sum_up(&t);
		rank(&t);
		made = t.ranks > 0 && write_tree(b, &t, max_bytes);
	}
	free(t.us);
	free(t.in_bin);
	free(t.kept);
	free(t.ranked);
	free(t.named);
	free(t.bin_us);
	return made;
}
