#include "probe/linux/cpu_stat.h"

#include <errno.h>
#include <stdbool.h>

#include "base/parse.h"

uint64_t trk__cpu_times_busy(const struct trk_cpu_times *t)
{
	return t->user + t->nice + t->system + t->irq + t->softirq;
}

/* The numbers after "cpu" or "cpuN"; all kernels have user to idle. */
static bool parse_times(const char *at, struct trk_cpu_times *ret)
{
	uint64_t value[8] = {0};
	int n = 0;

	while (n < 8 && trk__scan_u64(&at, &value[n]))
		n++;
	if (n < 4)
		return false;
	*ret = (struct trk_cpu_times){value[0], value[1], value[2], value[3],
				      value[4], value[5], value[6], value[7]};
	return true;
}

/* True if the line is "NAME NUMBER" with this name. */
static bool scan_named(const char *line, const char *name, uint64_t *ret)
{
	const char *at = trk__skip_prefix(line, name);

	return at && trk__scan_u64(&at, ret);
}

int trk__cpu_stat_parse(const char *text, struct trk_cpu_stat *ret, struct trk_cpu_times *cores,
			size_t max_cores)
{
	struct trk_cpu_stat s = {0};
	bool has_all = false;

	for (; *text; text = trk__skip_line(text)) {
		const char *at = trk__skip_prefix(text, "cpu");

		if (at && *at == ' ') {
			if (!parse_times(at, &s.all))
				return -EBADMSG;
			has_all = true;
		} else if (at) {
			struct trk_cpu_times times;
			uint64_t number;

			if (!trk__scan_u64(&at, &number) || !parse_times(at, &times))
				return -EBADMSG;
			if (cores && s.cores < max_cores)
				cores[s.cores] = times;
			s.cores++;
		} else if (!scan_named(text, "processes ", &s.forks)) {
			(void) scan_named(text, "ctxt ", &s.context_switches);
		}
	}
	if (!has_all)
		return -EBADMSG;
	*ret = s;
	return 0;
}
