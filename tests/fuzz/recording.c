/* A whole recording: any bytes are refused or read, and what was read can be shown. The check sum is
 * mended first, so that what lies behind it is reached. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "fuzz.h"
#include "record/reader.h"
#include "report/report.h"
#include "report/summary.h"

/* Give every frame the check sum that it should have. */
static void mend(uint8_t *data, size_t size)
{
	size_t at = TRK_SIGNATURE_SIZE;

	while (size >= TRK_FRAME_SIZE && at <= size - TRK_FRAME_SIZE) {
		size_t len = 0;
		uint32_t crc;

		for (int i = 0; i < 4; i++)
			len |= (size_t) data[at + 6 + (size_t) i] << (8 * i);
		if (memcmp(data + at, "\xb5rtk", 4) != 0 || len > size - at - TRK_FRAME_SIZE) {
			at++;
			continue;
		}
		crc = trk__crc32c(0, data + at + 4, 6);
		crc = trk__crc32c(crc, data + at + TRK_FRAME_SIZE, len);
		for (int i = 0; i < 4; i++)
			data[at + 10 + (size_t) i] = (uint8_t) (crc >> (8 * i));
		at += TRK_FRAME_SIZE + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = {"html", "md", "json"};
	static const struct trk_report_source alone;
	const struct trk_summary_style style = {.utf8 = true, .color = true};
	struct trk_record *record = malloc(sizeof(*record));
	uint8_t *mended = (uint8_t *) fuzz_text(data, size);
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char path[64];
	struct trk_buf b;

	FUZZ_CHECK(record && fd >= 0);
	mend(mended, size);
	FUZZ_CHECK(trk__write_all(fd, mended, size) == 0);
	(void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trk__record_read(-1, path, record, NULL, NULL, NULL) == 0) {
		trk__buf_init(&b, 1 << 22);
		trk__summary_text(&b, record, &style);
		trk__summary_json(&b, record, NULL);
		trk__stats_text(&b, record);
		trk__buf_release(&b);
		trk__record_release(record);
		for (int i = 0; i < 3; i++) {
			trk__buf_init(&b, 1 << 24);
			FUZZ_CHECK(trk__report_of_file(-1, path, &alone, &b, formats[i], NULL) ==
				   0);
			trk__buf_release(&b);
		}
	}
	(void) close(fd);
	free(mended);
	free(record);
	return 0;
}
