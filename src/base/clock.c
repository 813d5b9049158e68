#include "base/clock.h"

#include <time.h>

uint64_t trk__clock_read_ns(clockid_t id)
{
	struct timespec ts = {0, 0};

	(void) clock_gettime(id, &ts);
	return (uint64_t) ts.tv_sec * TRK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

uint64_t trk__clock_wall_ns(void)
{
	return trk__clock_read_ns(CLOCK_REALTIME);
}

uint64_t trk__clock_thread_cpu_ns(void)
{
	return trk__clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t trk__clock_process_cpu_ns(void)
{
	return trk__clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void trk__clock_iso8601(uint64_t wall_ns, char text[32])
{
	time_t seconds = (time_t) (wall_ns / TRK_NS_PER_S);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		text[0] = '\0';
}

uint64_t trk__timeval_ns(const struct timeval *t)
{
	return (uint64_t) t->tv_sec * TRK_NS_PER_S + (uint64_t) t->tv_usec * 1000;
}
