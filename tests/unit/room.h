/* Joins test files into one program, a room: one for each folder of src/. The build includes this header before the first
 * line of each file, so that its main() becomes a group that room.c runs by the name of the file. A file that is compiled
 * without it is a program of its own. */
#ifndef TRK_TESTS_ROOM_H
#define TRK_TESTS_ROOM_H

struct room_group {
	const char *file; /* path of the source file */
	int (*run)(void); /* its main() */
	struct room_group *next;
};

/* Borrows the group until the end of the program. */
void room_add(struct room_group *group);

#ifndef ROOM_ITSELF
static int room_main(void);
static const char *room_file(void);

__attribute__((constructor)) static void room_add_this_file(void)
{
	static struct room_group group = {0, room_main, 0};

	group.file = room_file();
	room_add(&group);
}

/* "int main(void)". The name of the file is known where it stands, not in this header (clang). */
#define main(...)                                                                                  \
	room_no_function(void);                                                                    \
	static const char *room_file(void)                                                         \
	{                                                                                          \
		return __FILE__;                                                                   \
	}                                                                                          \
	static int room_main(__VA_ARGS__)
#endif

#endif
