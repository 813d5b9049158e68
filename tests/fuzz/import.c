/* Imports of files in every format. Each resulting run can be read again and has no impossible
 * figures. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "import/import.h"
#include "recording/reader.h"

#include "fuzz.h"

static int runs_fd = -1;
/* In memory: thousands of small files are made, each is written out before it is removed. */
static char folder[] = "/dev/shm/trk-fuzz-XXXXXX";

static void remove_folder(void)
{
	(void) rmdir(folder);
}

/* Read each recording and remove it; returns how many there were. */
static size_t take_runs(void)
{
	int fd = trk__open_dir_at(runs_fd, ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t n = 0;

	FUZZ_CHECK(dir);
	while ((entry = readdir(dir))) {
		struct trk_record *record;

		if (entry->d_name[0] == '.')
			continue;
		record = malloc(sizeof(*record));
		FUZZ_CHECK(record);
		FUZZ_CHECK(trk__record_read(runs_fd, entry->d_name, record, NULL, NULL, NULL) == 0);
		FUZZ_CHECK(record->damaged == 0 && record->run.job[0] != '\0');
		trk__record_release(record);
		free(record);
		FUZZ_CHECK(unlinkat(runs_fd, entry->d_name, 0) == 0);
		n++;
	}
	(void) closedir(dir);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_import import = {.file = "file.txt", .time_ns = 1772359201000000000};
	struct trk_import_result result;

	if (runs_fd < 0) {
		if (!mkdtemp(folder)) {
			(void) strcpy(folder, "/tmp/trk-fuzz-XXXXXX");
			FUZZ_CHECK(mkdtemp(folder));
		}
		(void) atexit(remove_folder);
		runs_fd = trk__open_dir_at(AT_FDCWD, folder);
	}
	import.runs_fd = runs_fd;
	/* TRK_IMPORT_UNKNOWN finds the format of the seed. */
	for (int format = TRK_IMPORT_UNKNOWN; format < TRK_IMPORT_FORMATS; format++) {
		struct trk_error error = {.code = 0};
		char *text;
		int r;

		if (format != TRK_IMPORT_UNKNOWN &&
		    !fuzz_turn(size, (size_t) format, TRK_IMPORT_FORMATS))
			continue;
		text = fuzz_text(data, size);
		r = trk__import_text(&import, text, size, (enum trk_import_format) format, &result,
				     &error);

		FUZZ_CHECK(r == 0 || error.message[0] != '\0');
		FUZZ_CHECK(!strchr(error.message, '\n'));
		FUZZ_CHECK(take_runs() == result.runs);
		free(text);
	}
	return 0;
}
