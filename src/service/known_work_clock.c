#include <sys/resource.h>

#include "service/known_work_parts.h"

double trk__work_cpu_s(void)
{
	struct rusage u;

	(void) getrusage(RUSAGE_SELF, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}
