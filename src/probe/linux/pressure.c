#include "probe/linux/pressure.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/parse.h"

/* The total= of one line, which is in µs. */
static bool scan_total(const char *line, uint64_t *ret_ns)
{
	const char *end = line + strcspn(line, "\n");
	const char *at = strstr(line, "total=");
	uint64_t us;

	if (!at || at > end)
		return false;
	at += strlen("total=");
	if (!trk__scan_u64(&at, &us) || us > UINT64_MAX / 1000)
		return false;
	*ret_ns = us * 1000;
	return true;
}

int trk__pressure_parse(const char *text, struct trk_pressure *ret)
{
	struct trk_pressure p = {0};
	bool has_some = false;

	for (; *text; text = trk__skip_line(text)) {
		if (!strncmp(text, "some ", 5))
			has_some = scan_total(text, &p.some_ns);
		else if (!strncmp(text, "full ", 5) && !scan_total(text, &p.full_ns))
			return -EBADMSG;
	}
	if (!has_some)
		return -EBADMSG;
	*ret = p;
	return 0;
}
