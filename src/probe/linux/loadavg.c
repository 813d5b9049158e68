#include "probe/linux/loadavg.h"

#include <errno.h>

#include "base/parse.h"

int trk__loadavg_parse(const char *text, struct trk_loadavg *ret)
{
	struct trk_loadavg l;

	if (!trk__scan_fixed(&text, 2, &l.load_1m) || !trk__scan_fixed(&text, 2, &l.load_5m) ||
	    !trk__scan_fixed(&text, 2, &l.load_15m) || !trk__scan_u64(&text, &l.running) ||
	    *text++ != '/' || !trk__scan_u64(&text, &l.threads) ||
	    !trk__scan_u64(&text, &l.last_pid) || l.last_pid > INT32_MAX)
		return -EBADMSG;
	*ret = l;
	return 0;
}
