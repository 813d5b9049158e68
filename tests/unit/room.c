/* The main() of a program of test files (room.h).
 *
 * usage: unit_ROOM [NAME…], where NAME stands for test_NAME.c. Without a name it runs all groups. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ROOM_ITSELF
#include "room.h"

static struct room_group *groups;

void room_add(struct room_group *group)
{
	group->next = groups;
	groups = group;
}

static bool is_named(const struct room_group *group, const char *name)
{
	const char *slash = strrchr(group->file, '/');
	char file[256];

	(void) snprintf(file, sizeof(file), "test_%s.c", name);
	return strcmp(slash ? slash + 1 : group->file, file) == 0;
}

/* Run the group `name`, or all of them. Returns the number of failed cases; 1 if there is no such group. */
static int run(const char *name)
{
	int failed = 0;
	bool found = false;

	for (struct room_group *group = groups; group; group = group->next) {
		if (name && !is_named(group, name))
			continue;
		found = true;
		failed += group->run();
	}
	if (!found)
		(void) fprintf(stderr, "room: no test_%s.c\n", name ? name : "*");
	return found ? failed : 1;
}

int main(int argc, char **argv)
{
	int failed = argc > 1 ? 0 : run(NULL);

	for (int i = 1; i < argc; i++)
		failed += run(argv[i]);
	return failed < 100 ? failed : 100;
}
