#include "probe/linux/pid_statm.h"

#include <errno.h>

#include "base/parse.h"

int trk__pid_statm_parse(const char *text, size_t len, struct trk_pid_statm *ret)
{
	uint64_t number[3];

	if (!trk__take_numbers(text, len, number, 3))
		return -EBADMSG;
	*ret = (struct trk_pid_statm){
		.size_pages = number[0], .resident_pages = number[1], .shared_pages = number[2]};
	return 0;
}
