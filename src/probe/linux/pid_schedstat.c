#include "probe/linux/pid_schedstat.h"

#include <errno.h>

#include "base/hot.h"
#include "base/parse.h"

TRK_HOT int trk__pid_schedstat_parse(const char *text, struct trk_pid_schedstat *ret)
{
	struct trk_pid_schedstat s;

	if (!trk__scan_u64(&text, &s.run_ns) || !trk__scan_u64(&text, &s.wait_ns) ||
	    !trk__scan_u64(&text, &s.slices))
		return -EBADMSG;
	*ret = s;
	return 0;
}
