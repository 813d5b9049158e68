#include "fleet/alike.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* ---- runs that did the same work ---- */

/* The trait by which runs are compared: the tag whose key begins at `key`, or the arguments if that
 * is NULL. */
struct trait {
	const char *key;
	size_t key_len;
};

/* Text in a run: the value of a trait. */
struct slice {
	const char *text; /* NULL: the run has no such tag, or its arguments are not known */
	size_t len;
};

static size_t line_length(const char *tags)
{
	return strcspn(tags, "\n");
}

static const char *next_line(const char *tags)
{
	size_t len = line_length(tags);

	return tags[len] ? tags + len + 1 : tags + len;
}

static struct trait trait_of(const char *tag)
{
	size_t len = line_length(tag), key_len = strcspn(tag, "=\n");

	return (struct trait){tag, key_len < len ? key_len : len};
}

static struct slice value_of(const struct trk_past_run *run, const struct trait *trait)
{
	if (!trait->key)
		return (struct slice){run->command[0] ? run->command : NULL, strlen(run->command)};
	for (const char *tag = run->tags; *tag; tag = next_line(tag)) {
		struct trait has = trait_of(tag);

		if (has.key_len == trait->key_len && !memcmp(has.key, trait->key, has.key_len))
			return (struct slice){tag, line_length(tag)};
	}
	return (struct slice){NULL, 0};
}

static bool is_same(struct slice a, struct slice b)
{
	return a.text && b.text && a.len == b.len && !memcmp(a.text, b.text, a.len);
}

/* Whether a run shows how much memory its work needs. */
static bool is_success(const struct trk_past_run *run)
{
	return run->memory.bytes > 0 && run->end == TRK_PAST_SUCCEEDED;
}

/* Whether `value` is among the values seen; else add it. An unknown value differs from all
 * others. */
static bool is_repeated(struct slice *seen, size_t *count, struct slice value)
{
	for (size_t i = 0; i < *count; i++)
		if (is_same(value, seen[i]))
			return true;
	if (value.text)
		seen[(*count)++] = value;
	return false;
}

static bool recurs(const struct trk_past_run *runs, size_t count, const struct trait *trait)
{
	struct slice *seen = calloc(count + 1, sizeof(*seen));
	size_t successes = 0, repeats = 0, different = 0;

	for (size_t i = 0; seen && i < count; i++) {
		struct slice value = value_of(&runs[i], trait);

		/* A run without the tag differs; unknown arguments are skipped. */
		if (!is_success(&runs[i]) || (!trait->key && !value.text))
			continue;
		successes++;
		repeats += is_repeated(seen, &different, value);
	}
	free(seen);
	/* The first success cannot repeat another one. */
	return successes > 1 && 2 * repeats >= successes - 1;
}

/* Tags for the place of a run, which do not distinguish kinds of work. */
static bool says_where(const struct trait *trait)
{
	static const char *const keys[] = {"machine", "node",        "host",     "hostname",
					   "server",  "server_type", "instance", "instance_type"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i]) == trait->key_len &&
		    !memcmp(keys[i], trait->key, trait->key_len))
			return true;
	return false;
}

/* Unmark the runs whose trait differs from the value. */
static void keep_same(const struct trk_past_run *runs, size_t count, const struct trait *trait,
		      struct slice wanted, bool *kept)
{
	for (size_t i = 0; i < count; i++)
		kept[i] = kept[i] && is_same(value_of(&runs[i], trait), wanted);
}

/* Whether a part of the runs is marked, with a success in it. */
static bool is_part(const struct trk_past_run *runs, size_t count, const bool *kept,
		    size_t *ret_count)
{
	bool success = false;

	*ret_count = 0;
	for (size_t i = 0; i < count; i++) {
		*ret_count += kept[i];
		success = success || (kept[i] && is_success(&runs[i]));
	}
	return success && *ret_count < count;
}

static void add_name(char names[TRK_HISTORY_TAGS_SIZE], const char *tag)
{
	size_t used = strlen(names);

	(void) snprintf(names + used, TRK_HISTORY_TAGS_SIZE - used, "%s%.*s", used ? ", " : "",
			(int) line_length(tag), tag);
}

void trk__alike_find(const struct trk_past_run *runs, size_t count, const char *tags,
		     bool *ret_kept, struct trk_alike *ret)
{
	const char *wanted = tags ? tags : count > 0 ? runs[count - 1].tags : "";
	const struct trait arguments = {NULL, 0};
	size_t n;

	*ret = (struct trk_alike){.by = TRK_ALIKE_TAGS};
	memset(ret_kept, true, count * sizeof(*ret_kept));
	for (const char *tag = wanted; *tag; tag = next_line(tag)) {
		struct trait trait = trait_of(tag);

		if (!tags && (says_where(&trait) || !recurs(runs, count, &trait)))
			continue;
		keep_same(runs, count, &trait, (struct slice){tag, line_length(tag)}, ret_kept);
		add_name(ret->tags, tag);
	}
	if (is_part(runs, count, ret_kept, &ret->count))
		return;
	ret->by = tags && ret->count < count ? TRK_ALIKE_NONE : TRK_ALIKE_ARGUMENTS;
	if (ret->by == TRK_ALIKE_ARGUMENTS && !tags && recurs(runs, count, &arguments)) {
		memset(ret_kept, true, count * sizeof(*ret_kept));
		keep_same(runs, count, &arguments, value_of(&runs[count - 1], &arguments),
			  ret_kept);
		if (is_part(runs, count, ret_kept, &n)) {
			ret->count = n;
			ret->tags[0] = '\0';
			return;
		}
	}
	memset(ret_kept, true, count * sizeof(*ret_kept));
	ret->count = count;
	if (ret->by != TRK_ALIKE_NONE) {
		ret->by = TRK_ALIKE_ALL;
		ret->tags[0] = '\0';
	}
}

ssize_t trk__alike_take(const struct trk_past_run *past, size_t count, const char *tags,
			struct trk_alike *ret, struct trk_past_run **ret_runs)
{
	struct trk_past_run *runs = calloc(count + 1, sizeof(*runs));
	bool *kept = calloc(count + 1, sizeof(*kept));
	ssize_t n = -ENOMEM;

	if (runs && kept) {
		trk__alike_find(past, count, tags, kept, ret);
		n = 0;
		for (size_t i = 0; i < count; i++)
			if (kept[i])
				runs[n++] = past[i];
		*ret_runs = runs;
		runs = NULL;
	}
	free(runs);
	free(kept);
	return n;
}

const char *trk__alike_name(enum trk_alike_by by)
{
	return by == TRK_ALIKE_TAGS ? "tags" : by == TRK_ALIKE_ARGUMENTS ? "arguments" : NULL;
}

/* ---- the memory that they needed ---- */

static void say_alike(const struct trk_alike *alike, size_t runs, struct trk_memory_advice *m)
{
	if (alike->by == TRK_ALIKE_TAGS)
		trk__memory_say(m, "only runs with %.100s count: %zu of %zu", alike->tags,
				alike->count, runs);
	else if (alike->by == TRK_ALIKE_ARGUMENTS)
		trk__memory_say(m, "only runs with the same arguments count: %zu of %zu",
				alike->count, runs);
	else if (alike->by == TRK_ALIKE_NONE)
		trk__memory_say(m, "no run with %.100s has succeeded yet: all runs count",
				alike->tags);
}

/* What no size of a process contains. */
static void say_outside(const struct trk_past_run *runs, size_t count, struct trk_memory_advice *m)
{
	double swap = 0, huge = 0;

	for (size_t i = 0; i < count; i++) {
		if (runs[i].swap.bytes > swap)
			swap = runs[i].swap.bytes;
		if (runs[i].huge_bytes > huge)
			huge = runs[i].huge_bytes;
	}
	if (swap >= TRK_MIB)
		trk__memory_say(m, "what was swapped out counts as memory: up to %.0f MiB",
				swap / TRK_MIB);
	if (huge >= TRK_MIB)
		trk__memory_say(m,
				"huge pages count as memory: up to %.0f MiB; the machine must have "
				"them reserved (vm.nr_hugepages)",
				huge / TRK_MIB);
}

int trk__advice_memory(const struct trk_past_run *past, size_t count, const char *tags,
		       const struct trk_memory_options *options, struct trk_alike *ret_alike,
		       struct trk_memory_advice *ret)
{
	struct trk_past_run *runs = NULL;
	ssize_t n = trk__alike_take(past, count, tags, ret_alike, &runs);
	struct trk_memory_options o = *options;
	int r;

	o.is_new_work = n >= 0 && ret_alike->by == TRK_ALIKE_NONE;
	r = n < 0 ? (int) n : trk__memory_advise(runs, (size_t) n, &o, ret);

	if (r == 0) {
		say_alike(ret_alike, count, ret);
		say_outside(runs, (size_t) n, ret);
	}
	free(runs);
	return r;
}
