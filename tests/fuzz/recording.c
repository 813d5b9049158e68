/* A whole recording. Any bytes are rejected or read, and the result can be shown. The fuzzer
 * repairs the check sums first, so that the code behind them is reached. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "fuzz.h"
#include "lines/write.h"
#include "mend.h"
#include "recording/reader.h"
#include "report/summary.h"
#include "service/page.h"

/* Every table and format of the lines of a program. */
static void show_lines(struct trk_buf *b, const struct trk_lines *l)
{
	const struct trk_lines_table_style style = {
		.top = 50, .utf8 = true, .run = "r-1", .job = ""};

	for (int by = 0; by < TRK_LINES_BYS; by++) {
		struct trk_profile_options o = {.by = (enum trk_lines_by) by,
						.order = (enum trk_lines_order)(by % 3),
						.all_frames = by % 2,
						.from_us = by % 2 ? 1 : 0,
						.to_us = INT64_MAX};
		struct trk_profile p;

		FUZZ_CHECK(trk__profile_make(l, &o, &p) == 0);
		trk__lines_text(b, l, &p, &o, &style);
		trk__lines_json(b, l, &p, &o, &style);
		trk__profile_release(&p);
		trk__lines_folded(b, l, &o);
		trk__lines_speedscope(b, l, &o, "x");
		trk__buf_clear(b);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = {"html", "md"};
	static const struct trk_service alone;
	const struct trk_summary_style style = {.utf8 = true, .color = true};
	struct trk_record *record = malloc(sizeof(*record));
	uint8_t *mended = (uint8_t *) fuzz_text(data, size);
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char path[64];
	struct trk_page_request request = {.dirfd = AT_FDCWD, .path = path};
	struct trk_buf b;

	FUZZ_CHECK(record && fd >= 0);
	fuzz_mend(mended, size);
	FUZZ_CHECK(trk__write_all(fd, mended, size) == 0);
	(void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trk__record_read(AT_FDCWD, path, record, NULL, NULL, NULL) == 0) {
		trk__buf_init(&b, 1 << 22);
		trk__summary_text(&b, record, &style);
		trk__summary_json(&b, record, NULL, NULL);
		trk__stats_text(&b, record->stats, &(struct trk_terminal_style){.width = 40});
		trk__buf_clear(&b);
		if (record->lines)
			show_lines(&b, record->lines);
		trk__buf_release(&b);
		trk__record_release(record);
		for (size_t i = 0; i < 2; i++) {
			if (!fuzz_turn(size, i, 2))
				continue;
			trk__buf_init(&b, 1 << 24);
			request.format = formats[i];
			FUZZ_CHECK(trk__page_make(&alone, NULL, &request, &b, NULL, NULL) == 0);
			trk__buf_release(&b);
		}
	}
	(void) close(fd);
	free(mended);
	free(record);
	return 0;
}
