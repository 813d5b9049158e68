/* What every look at a process tree calls stands together in the program: after a second in which others ran its
 * code is in no cache, and each page that it is spread over costs a walk of the page tables as well. */
#ifndef TRK_BASE_HOT_H
#define TRK_BASE_HOT_H

#define TRK_HOT __attribute__((hot, section("trk_hot")))

/* The linker names the ends of a section. */
extern const char trk__hot_start[] __asm__("__start_trk_hot") __attribute__((visibility("hidden")));
extern const char trk__hot_end[] __asm__("__stop_trk_hot") __attribute__((visibility("hidden")));

/* Ask for all of it at once, by cache lines of 64 bytes: run as it is, it would come line by line, each waited
 * for. */
static inline void trk__fetch_hot(void)
{
	for (const char *at = trk__hot_start; at < trk__hot_end; at += 64)
		__builtin_prefetch(at);
}

#endif
