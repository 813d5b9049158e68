#include "alert/hook.h"

#include <errno.h>
#include <string.h>

#include "alert/deliver.h"
#include "alert/end_rules.h"

/* Find a rule by its name of `len` bytes; false: there is none. */
static bool find_rule(const char *name, size_t len, int *ret)
{
	int end = trk__alert_end_find(name, len);

	*ret = trk__alert_rule_find(name, len);
	if (end >= 0)
		*ret = TRK_ALERT_RULES + end;
	return *ret >= 0 || (len == 3 && !strncmp(name, "all", 3));
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int add(struct trk_alert_hooks *h, const struct trk_alert_hook *hook)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->list[i].rule == hook->rule && is_same(h->list[i].sink, hook->sink) &&
		    is_same(h->list[i].command, hook->command))
			return 0;
	if (h->count == TRK_ALERT_HOOKS_MAX)
		return -ENOSPC;
	h->list[h->count++] = *hook;
	return 0;
}

int trk__alert_hooks_add(struct trk_alert_hooks *h, const char *text)
{
	const char *equals = strchr(text, '=');
	struct trk_alert_hook hook = {.rule = -1};

	if (!equals || !equals[1] || !find_rule(text, (size_t) (equals - text), &hook.rule))
		return -EINVAL;
	hook.command = equals + 1;
	return add(h, &hook);
}

int trk__alert_hooks_add_sink(struct trk_alert_hooks *h, const char *text)
{
	const char *equals = strchr(text, '='), *colon = strchr(text, ':');
	struct trk_alert_hook hook = {.rule = -1, .sink = text};

	if (equals && (!colon || equals < colon)) {
		if (!find_rule(text, (size_t) (equals - text), &hook.rule))
			return -EINVAL;
		hook.sink = equals + 1;
		colon = strchr(hook.sink, ':');
	}
	if (!colon || !colon[1] || !trk__alert_sink_find(hook.sink, (size_t) (colon - hook.sink)))
		return -EINVAL;
	return add(h, &hook);
}

const char *trk__alert_hook_rule(int rule)
{
	return rule < 0                 ? "all"
	       : rule < TRK_ALERT_RULES ? trk__alert_rules[rule].name
					: trk__alert_end_rules[rule - TRK_ALERT_RULES].name;
}

bool trk__alert_hooks_want_end(const struct trk_alert_hooks *h)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->list[i].sink || h->list[i].rule < 0 || h->list[i].rule >= TRK_ALERT_RULES)
			return true;
	return false;
}

bool trk__alert_hook_is_alertmanager(const struct trk_alert_hook *hook)
{
	return hook->sink && !strncmp(hook->sink, "alertmanager:", 13);
}
