/* The live view of a growing recording, with any keys. The first byte is the number of keys. The
 * keys follow, then the recording: the first half exists at the start, the rest after the keys. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_read.h"
#include "fuzz.h"
#include "mend.h"
#include "top/keys.h"
#include "top/session.h"

enum { KEYS_MAX = 63, COLUMNS = 80, ROWS = 24, OUT_MAX = 1 << 22 };

static void press(struct trk_session *s, const char *keys, size_t len)
{
	uint64_t now_ns = 1000000000;

	while (len > 0 && !s->quit) {
		int key = TRK_KEY_NONE;
		size_t n = trk__key_parse(keys, len, true, &key);

		FUZZ_CHECK(n > 0 && n <= len);
		trk__session_key(s, key, now_ns);
		now_ns += 300000000;
		keys += n;
		len -= n;
	}
}

static void look(struct trk_session *s)
{
	struct trk_json_doc doc;
	struct trk_frame f;
	struct trk_buf b;

	FUZZ_CHECK(trk__frame_init(&f, COLUMNS, ROWS, true) == 0);
	trk__session_draw(s, &f);
	trk__frame_release(&f);
	trk__buf_init(&b, OUT_MAX);
	trk__session_json(s, &b);
	FUZZ_CHECK(b.error == 0 && trk__json_read(b.data, b.len, NULL, "", &doc, NULL) == 0);
	trk__json_doc_release(&doc);
	trk__buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct trk_session_options o = {.dir = "", .runs_fd = -1, .proc_fd = -1, .at_s = NAN};
	size_t keys = size ? data[0] & KEYS_MAX : 0, half;
	uint8_t *text = (uint8_t *) fuzz_text(data, size);
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct trk_session s;
	char path[64];

	keys = keys < size ? keys : 0;
	FUZZ_CHECK(fd >= 0);
	if (size > 0) {
		fuzz_mend(text + 1 + keys, size - 1 - keys);
		half = (size - 1 - keys) / 2;
		FUZZ_CHECK(trk__write_all(fd, text + 1 + keys, half) == 0);
		(void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (trk__session_init(&s, &o, path, AT_FDCWD, NULL) == 0) {
			(void) trk__session_update(&s, 1000000000);
			look(&s);
			press(&s, (const char *) text + 1, keys);
			FUZZ_CHECK(trk__write_all(fd, text + 1 + keys + half,
						  size - 1 - keys - half) == 0);
			(void) trk__session_update(&s, 60000000000);
			look(&s);
			trk__session_release(&s);
		}
	}
	(void) close(fd);
	free(text);
	return 0;
}
