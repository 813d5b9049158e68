#include "probe/linux/pid_schedstat.h"

#include <errno.h>

#include "base/parse.h"

int trk__pid_schedstat_parse(const char *text, size_t len, struct trk_pid_schedstat *ret)
{
	uint64_t number[3];

	if (!trk__take_numbers(text, len, number, 3))
		return -EBADMSG;
	*ret = (struct trk_pid_schedstat){
		.run_ns = number[0], .wait_ns = number[1], .slices = number[2]};
	return 0;
}
