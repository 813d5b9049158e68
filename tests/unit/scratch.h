/* Writes files to a temporary folder of a test. */
#ifndef TRK_TEST_SCRATCH_H
#define TRK_TEST_SCRATCH_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Write `text` to ROOT/PATH and make the directories on the way to it. */
static inline void put_below(const char *root, const char *path, const char *text)
{
	char full[512];
	FILE *file;

	(void) snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#endif
