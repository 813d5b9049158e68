#include "probe/linux/pid_statm.h"

#include <errno.h>

#include "base/hot.h"
#include "base/parse.h"

TRK_HOT int trk__pid_statm_parse(const char *text, struct trk_pid_statm *ret)
{
	struct trk_pid_statm m;

	if (!trk__scan_u64(&text, &m.size_pages) || !trk__scan_u64(&text, &m.resident_pages) ||
	    !trk__scan_u64(&text, &m.shared_pages))
		return -EBADMSG;
	*ret = m;
	return 0;
}
