#include "probe/gpu/assigned.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

enum { NVIDIA_MAJOR = 195 };

/* One entry of a list, without leading and trailing blanks. */
struct entry {
	const char *at;
	size_t len;
};

/* The next entry, or false at the end of the list. */
static bool next_entry(const char **at, struct entry *ret)
{
	const char *from = *at, *to;

	if (!from || !*from)
		return false;
	to = from + strcspn(from, ",");
	*at = *to ? to + 1 : to;
	while (from < to && *from == ' ')
		from++;
	while (to > from && to[-1] == ' ')
		to--;
	*ret = (struct entry){from, (size_t) (to - from)};
	return true;
}

static bool is_number(struct entry e, uint64_t *ret)
{
	char text[16];

	if (e.len == 0 || e.len >= sizeof(text))
		return false;
	memcpy(text, e.at, e.len);
	text[e.len] = '\0';
	return trk__parse_u64(text, ret) == 0;
}

static bool is_uuid(struct entry e)
{
	return e.len > 4 && (!strncasecmp(e.at, "GPU-", 4) || !strncasecmp(e.at, "MIG-", 4));
}

/* The only device or instance whose UUID begins with the text; -1: none, or several. */
static int find_uuid(struct entry e, const struct trk_gpu_device *device, size_t count)
{
	int found = -1;

	for (size_t i = 0; i < count; i++) {
		if (strncasecmp(device[i].uuid, e.at, e.len) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = (int) i;
	}
	return found;
}

/* The n-th GPU, not counting instances; -1: there are fewer. */
static int find_number(uint64_t n, const struct trk_gpu_device *device, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (device[i].parent < 0 && n-- == 0)
			return (int) i;
	return -1;
}

/* Mark a device as given; for an instance, its GPU too. */
static void give(int index, const struct trk_gpu_device *device, enum trk_gpu_given *given)
{
	given[index] = TRK_GPU_GIVEN;
	if (device[index].parent >= 0)
		given[device[index].parent] = TRK_GPU_GIVEN;
}

static void fill(enum trk_gpu_given *given, size_t count, enum trk_gpu_given with)
{
	for (size_t i = 0; i < count; i++)
		given[i] = with;
}

/* True if CUDA numbers the GPUs as the driver does. */
static bool is_in_order(const char *order, const struct trk_gpu_device *device, size_t count)
{
	const char *name = NULL;

	for (size_t i = 0; i < count; i++) {
		if (device[i].mig || strcmp(device[i].vendor, "nvidia") != 0)
			return false;
		if (name && strcmp(name, device[i].name) != 0 &&
		    (!order || strcmp(order, "PCI_BUS_ID") != 0))
			return false;
		name = device[i].name;
	}
	return true;
}

void trk__gpu_given_by_cuda(const char *text, const char *order,
			    const struct trk_gpu_device *device, size_t count,
			    enum trk_gpu_given *given)
{
	struct entry e;
	uint64_t number;
	int at;

	fill(given, count, text ? TRK_GPU_NOT_GIVEN : TRK_GPU_NO_SAY);
	while (next_entry(&text, &e)) {
		if (is_uuid(e)) {
			at = find_uuid(e, device, count);
		} else if (!is_number(e, &number)) {
			at = -1;
		} else if (!is_in_order(order, device, count)) {
			fill(given, count, TRK_GPU_NO_SAY);
			return;
		} else {
			at = find_number(number, device, count);
		}
		if (at < 0)
			return;
		give(at, device, given);
	}
}

static bool says_nothing(const char *text)
{
	return !text || !*text || !strcmp(text, "void");
}

void trk__gpu_given_by_nvidia(const char *text, const struct trk_gpu_device *device, size_t count,
			      enum trk_gpu_given *given)
{
	size_t numbers = 0, gpus = 0;
	struct entry e;
	uint64_t number;

	fill(given, count, TRK_GPU_NO_SAY);
	if (says_nothing(text))
		return;
	if (!strcmp(text, "all") || !strcmp(text, "none")) {
		fill(given, count, *text == 'a' ? TRK_GPU_GIVEN : TRK_GPU_NOT_GIVEN);
		return;
	}
	for (size_t i = 0; i < count; i++)
		gpus += device[i].parent < 0;
	fill(given, count, TRK_GPU_NOT_GIVEN);
	while (next_entry(&text, &e)) {
		int at = is_uuid(e) ? find_uuid(e, device, count) : -1;

		numbers += is_number(e, &number);
		if (at >= 0) {
			give(at, device, given);
		} else if (!is_uuid(e) && !is_number(e, &number)) {
			fill(given, count, TRK_GPU_NO_SAY); /* 0:1, or a CDI name */
			return;
		}
	}
	if (numbers)
		fill(given, count, numbers == gpus ? TRK_GPU_GIVEN : TRK_GPU_NO_SAY);
}

/* "c 195:0 rwm": a number, or * for all. */
static bool is_match(const char **at, uint64_t wanted)
{
	uint64_t number;

	if (**at == '*') {
		++*at;
		return true;
	}
	return trk__scan_u64(at, &number) && number == wanted;
}

enum trk_gpu_given trk__gpu_given_by_cgroup(const char *text, int node)
{
	enum trk_gpu_given given = TRK_GPU_NOT_GIVEN;

	if (node < 0 || !*text)
		return TRK_GPU_NO_SAY;
	for (; *text; text = trk__skip_line(text)) {
		const char *at = text + 2;

		if (text[0] == 'a') /* all devices: no restriction */
			return TRK_GPU_NO_SAY;
		if (text[0] != 'c' || text[1] != ' ')
			continue;
		/* "m" only allows making a node, which container engines allow for all devices. */
		if (is_match(&at, NVIDIA_MAJOR) && *at++ == ':' && is_match(&at, (uint64_t) node) &&
		    memchr(at, 'r', strcspn(at, "\n")))
			given = TRK_GPU_GIVEN;
	}
	return given;
}
