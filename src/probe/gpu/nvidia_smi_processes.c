/* Who is on the GPUs, by nvidia-smi; and the instances that they may be on. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "probe/gpu/nvidia_smi.h"
#include "probe/gpu/nvidia_smi_text.h"

#define MIB 1048576.0

/* ---- processes that compute ---- */

struct app_heads {
	size_t count, uuid, pid, memory, name; /* count: there is no such column */
};

static bool is_app_head(struct span line, struct app_heads *ret)
{
	struct span field[FIELDS_MAX];
	size_t n = trk__smi_split(line, field);
	struct app_heads h = {n, n, n, n, n};

	for (size_t i = 0; i < n; i++) {
		struct span bare = trk__smi_bare(field[i]);

		if (trk__smi_is(bare, "gpu_uuid"))
			h.uuid = i;
		else if (trk__smi_is(bare, "pid"))
			h.pid = i;
		else if (trk__smi_is(bare, "used_gpu_memory") || trk__smi_is(bare, "used_memory"))
			h.memory = i;
		else if (trk__smi_is(bare, "process_name") || trk__smi_is(bare, "name"))
			h.name = i;
	}
	if (h.uuid == n || h.pid == n)
		return false;
	*ret = h;
	return true;
}

static bool take_app(struct span line, const struct app_heads *h, struct trk_smi_process *ret)
{
	struct trk_smi_process p = {.index = -1, .bytes = NAN, .share = NAN};
	struct span field[FIELDS_MAX];
	size_t n = trk__smi_split(line, field);
	uint64_t pid;

	if (n == 0 || !trk__smi_join(field, &n, h->count, h->name) ||
	    !trk__smi_integer(field[h->pid], INT32_MAX, &pid) || pid == 0 ||
	    field[h->uuid].len == 0)
		return false;
	trk__smi_copy(field[h->uuid], p.uuid, sizeof(p.uuid));
	p.pid = (pid_t) pid;
	if (h->memory < n)
		p.bytes = trk__smi_value(field[h->memory], MEBIBYTES).value;
	*ret = p;
	return true;
}

int trk__smi_apps_parse(const char *text, struct trk_smi_process *process, size_t max,
			size_t *ret_count)
{
	struct app_heads heads = {.count = 0};
	bool in_table = false, none = false;
	size_t n = 0;

	for (; *text && n < max; text = trk__skip_line(text)) {
		struct span line = trk__smi_line(text);

		none |= trk__smi_holds(line, "No running processes found");
		if (!in_table)
			in_table = is_app_head(line, &heads);
		else if (take_app(line, &heads, &process[n]))
			n++;
	}
	if (!in_table && !none)
		return -EBADMSG;
	*ret_count = n;
	return 0;
}

/* ---- pmon ---- */

static size_t words(struct span line, struct span *word)
{
	size_t n = 0;

	for (size_t i = 0; i < line.len && n < FIELDS_MAX;) {
		size_t start;

		while (i < line.len && (line.at[i] == ' ' || line.at[i] == '\t' ||
					line.at[i] == '\r' || line.at[i] == '#'))
			i++;
		start = i;
		while (i < line.len && line.at[i] != ' ' && line.at[i] != '\t' &&
		       line.at[i] != '\r')
			i++;
		if (i > start)
			word[n++] = (struct span){line.at + start, i - start};
	}
	return n;
}

struct pmon_heads {
	size_t gpu, pid, sm, memory; /* FIELDS_MAX: there is no such column */
};

static bool is_pmon_head(struct span line, struct pmon_heads *ret)
{
	struct pmon_heads h = {FIELDS_MAX, FIELDS_MAX, FIELDS_MAX, FIELDS_MAX};
	struct span word[FIELDS_MAX];
	size_t n = words(line, word);

	for (size_t i = 0; i < n; i++) {
		if (trk__smi_is(word[i], "gpu"))
			h.gpu = i;
		else if (trk__smi_is(word[i], "pid"))
			h.pid = i;
		else if (trk__smi_is(word[i], "sm"))
			h.sm = i;
		else if (trk__smi_is(word[i], "fb"))
			h.memory = i;
	}
	if (h.gpu == FIELDS_MAX || h.pid == FIELDS_MAX)
		return false;
	*ret = h;
	return true;
}

static bool take_pmon(struct span line, const struct pmon_heads *h, struct trk_smi_process *ret)
{
	struct trk_smi_process p = {.bytes = NAN, .share = NAN};
	struct span word[FIELDS_MAX];
	size_t n = words(line, word);
	uint64_t gpu, pid, number;

	if (h->gpu >= n || h->pid >= n || !trk__smi_integer(word[h->gpu], 1023, &gpu) ||
	    !trk__smi_integer(word[h->pid], INT32_MAX, &pid) || pid == 0)
		return false;
	p.index = (int) gpu;
	p.pid = (pid_t) pid;
	if (h->sm < n && trk__smi_integer(word[h->sm], 1000, &number))
		p.share = number > 100 ? 1 : (double) number / 100;
	if (h->memory < n && trk__smi_integer(word[h->memory], UINT32_MAX, &number))
		p.bytes = (double) number * MIB;
	*ret = p;
	return true;
}

int trk__smi_pmon_parse(const char *text, struct trk_smi_process *process, size_t max,
			size_t *ret_count)
{
	struct pmon_heads heads;
	bool in_table = false;
	size_t n = 0;

	for (; *text && n < max; text = trk__skip_line(text)) {
		struct span line = trk__smi_line(text);

		if (line.len && line.at[0] == '#')
			in_table |= is_pmon_head(line, &heads);
		else if (in_table && take_pmon(line, &heads, &process[n]))
			n++;
	}
	if (!in_table)
		return -EBADMSG;
	*ret_count = n;
	return 0;
}

/* ---- instances ---- */

static bool take_uuid(struct span line, char *to, size_t size)
{
	static const char before[] = "(UUID: ";
	const char *end = line.at + line.len;

	for (const char *at = line.at; at + sizeof(before) - 1 < end; at++) {
		const char *close;

		if (memcmp(at, before, sizeof(before) - 1) != 0)
			continue;
		at += sizeof(before) - 1;
		close = memchr(at, ')', (size_t) (end - at));
		if (!close || close == at)
			return false;
		trk__smi_copy((struct span){at, (size_t) (close - at)}, to, size);
		return true;
	}
	return false;
}

/* "  MIG 1g.5gb     Device  0: (UUID: MIG-…)" */
static bool take_instance(struct span line, int gpu, struct trk_smi_instance *ret)
{
	struct trk_smi_instance instance = {.index = gpu};
	size_t len = 0;

	line = trk__smi_trimmed(line.at, line.at + line.len);
	if (line.len < 4 || memcmp(line.at, "MIG ", 4) != 0 ||
	    !take_uuid(line, instance.uuid, sizeof(instance.uuid)))
		return false;
	while (len + 6 <= line.len && memcmp(line.at + len, "Device", 6) != 0)
		len++;
	trk__smi_copy(trk__smi_trimmed(line.at, line.at + len), instance.name,
		      sizeof(instance.name));
	*ret = instance;
	return true;
}

int trk__smi_list_parse(const char *text, struct trk_smi_instance *instance, size_t max,
			size_t *ret_count)
{
	int gpu = -1;
	size_t n = 0;

	for (; *text && n < max; text = trk__skip_line(text)) {
		struct span line = trk__smi_line(text);
		uint64_t number;
		size_t colon;

		if (line.len > 4 && !memcmp(line.at, "GPU ", 4)) {
			colon = strcspn(line.at + 4, ":\n");
			if (trk__smi_integer((struct span){line.at + 4, colon}, 1023, &number))
				gpu = (int) number;
		} else if (gpu >= 0 && take_instance(line, gpu, &instance[n])) {
			n++;
		}
	}
	if (gpu < 0)
		return -EBADMSG;
	*ret_count = n;
	return 0;
}
