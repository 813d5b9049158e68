#include "service/selftest.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_read.h"

double trk__known_work_figure(const char *line, size_t len, enum trk_total total)
{
	TRK_JSON_DOC_CLEANUP struct trk_json_doc doc = {.values = NULL};
	struct trk_error error;

	if (trk__json_read(line, len, NULL, "", &doc, &error) < 0)
		return NAN;
	return trk__json_get_double(&doc, trk__json_root(&doc), trk__total_keys[total]);
}

const struct trk_known_work *trk__known_work_find(const char *name)
{
	for (const struct trk_known_work *w = trk__known_works; w->name; w++)
		if (!strcmp(name, w->name))
			return w;
	return NULL;
}

enum { FILE_MIB = 48 };

void trk__work_burn_ms(unsigned int ms)
{
	double end = trk__work_cpu_s() + ms * 1e-3;

	while (trk__work_cpu_s() < end)
		for (int i = 0; i < 20000; i++)
			__asm__ volatile(""); /* is not optimised away */
}

double trk__work_one_process(const char *folder)
{
	trk__work_burn_ms(1500);
	return trk__work_cpu_s();
}

double trk__work_written_file(const char *folder)
{
	static char block[1 << 20];
	char path[4200];
	double total = 0;
	int fd;

	memset(block, 7, sizeof(block));
	(void) snprintf(path, sizeof(path), "%s/written", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	for (int i = 0; fd >= 0 && i < FILE_MIB; i++) {
		ssize_t n = write(fd, block, sizeof(block));

		total += n > 0 ? (double) n : 0;
	}
	if (fd < 0 || fsync(fd) < 0 || close(fd) < 0)
		total = NAN;
	return total;
}
