#include "replay.h"

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *folder = argc > 2 ? argv[2] : NULL;
	bool all = strcmp(what, "all") == 0, met = true;

	if (!folder && strcmp(what, "speed") != 0) {
		(void) fprintf(stderr, "replay WHAT TRACES, see bench/replay/replay.h\n");
		return 2;
	}
	ours_reset();
	if (all || strcmp(what, "memory") == 0)
		bench_memory(folder, false);
	if (all || strcmp(what, "young") == 0)
		bench_memory(folder, true);
	if (strcmp(what, "groups") == 0)
		bench_groups(folder);
	if (all || strcmp(what, "feedback") == 0)
		met = bench_feedback(folder);
	if (all || strcmp(what, "time") == 0)
		met = bench_time(folder) && met;
	if (all || strcmp(what, "chance") == 0)
		bench_chance(folder);
	if (all || strcmp(what, "choice") == 0)
		bench_choice(folder);
	if (all || strcmp(what, "leave") == 0)
		bench_leave(folder);
	if (all || strcmp(what, "law") == 0)
		bench_law(folder);
	if (all || strcmp(what, "failure") == 0)
		bench_failure(folder);
	if (all || strcmp(what, "shift") == 0)
		bench_shift(folder);
	if (all || strcmp(what, "split") == 0)
		bench_split(folder);
	if (all || strcmp(what, "odd") == 0)
		bench_odd(folder);
	if (all || strcmp(what, "slower") == 0)
		met = bench_slower(folder) && met;
	if (all || strcmp(what, "speed") == 0)
		bench_speed();
	return met ? 0 : 1;
}
