/* The parsers of control group files. The first byte selects the parser of the rest. */
#include <math.h>

#include "fuzz.h"
#include "probe/linux/cgroup_files.h"

static void fuzz_member(const char *text, const char *controller)
{
	struct trk_cgroup_member before, m;

	memset(&before, 0x5a, sizeof(before));
	memcpy(&m, &before, sizeof(m));
	if (trk__cgroup_member_parse(text, controller, &m) < 0)
		FUZZ_CHECK(memcmp(&m, &before, sizeof(m)) == 0);
	else
		FUZZ_CHECK(m.path[0] == '/' && strlen(m.path) < sizeof(m.path));
}

static void fuzz_mount(const char *text, const char *controller)
{
	struct trk_mount before, m;

	memset(&before, 0x5a, sizeof(before));
	memcpy(&m, &before, sizeof(m));
	if (trk__cgroup_mount_parse(text, controller, "/a/b", &m) < 0)
		FUZZ_CHECK(memcmp(&m, &before, sizeof(m)) == 0);
	else
		FUZZ_CHECK(m.point[0] == '/' && m.root[0] == '/');
}

/* The text up to the first line end is the path, the rest the root of a mount. */
static void fuzz_path_below(char *text)
{
	char *root = strchr(text, '\n');
	const char *below;

	if (!root)
		return;
	*root++ = '\0';
	below = trk__cgroup_path_below(text, root);
	if (!below)
		return;
	FUZZ_CHECK(below >= text && below < root);
	FUZZ_CHECK(*below == '\0' || *below == '/');
	/* Never a way out of the mount. */
	FUZZ_CHECK(!strstr(below, "/../"));
	FUZZ_CHECK(strlen(below) < 3 || strcmp(below + strlen(below) - 3, "/..") != 0);
}

static void fuzz_numbers(char *text)
{
	uint64_t value = 7;
	unsigned int count = 7;
	double cores = 7;

	if (trk__cgroup_limit_parse(text, &value) < 0)
		FUZZ_CHECK(value == 7);
	value = 7;
	if (trk__cgroup_number_parse(text, &value) < 0)
		FUZZ_CHECK(value == 7);
	if (trk__cgroup_cpu_list_parse(text, &count) < 0)
		FUZZ_CHECK(count == 7);
	else
		FUZZ_CHECK(count <= 1 << 20);
	if (trk__cgroup_cpu_max_parse(text, &cores) < 0)
		FUZZ_CHECK(cores == 7);
	else
		FUZZ_CHECK(isnan(cores) || (cores >= 0 && isfinite(cores)));
	cores = 7;
	if (trk__cgroup_cfs_parse(text, text, &cores) < 0)
		FUZZ_CHECK(cores == 7);
	else
		FUZZ_CHECK(isnan(cores) || (cores >= 0 && isfinite(cores)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t value = 7;
	char *text;

	if (size == 0)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	switch (data[0]) {
	case 'm':
		fuzz_member(text, "memory");
		break;
	case 'u':
		fuzz_member(text, NULL);
		break;
	case 'M':
		fuzz_mount(text, "memory");
		break;
	case 'U':
		fuzz_mount(text, NULL);
		break;
	case 'p':
		fuzz_path_below(text);
		break;
	case 'k':
		if (trk__cgroup_keyed_parse(text, "oom_kill", &value) < 0)
			FUZZ_CHECK(value == 7);
		break;
	default:
		fuzz_numbers(text);
	}
	free(text);
	return 0;
}
