/* Use by program in a recording. Any bytes are rejected, or counted within the bounds of the
 * tables; and any text of the kernel about a process gives a terminated name. */
#include "fuzz.h"
#include "model/program_name.h"
#include "recording/program_record.h"

static void name(const char *text, size_t size)
{
	static const char *const comms[] = {"python3", "bash", "java",
					    "R",       "node", "a_very_long_nam"};
	char ret[TRK_PROGRAM_NAME_SIZE];
	bool is_worker;

	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
		trk__program_name(comms[i], text, size, ret, &is_worker);
		FUZZ_CHECK(memchr(ret, '\0', sizeof(ret)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_program_log log = {.count = 0};
	char *text = fuzz_text(data, size);

	for (int i = 0; i < 2; i++) /* as two records in a row */
		(void) trk__parse_programs(text, size, &log);
	FUZZ_CHECK(log.count <= TRK_PROGRAMS_MAX && log.spans <= TRK_SPANS_MAX);
	for (size_t i = 0; i < log.spans; i++) {
		FUZZ_CHECK(log.span[i].program < TRK_PROGRAMS_MAX);
		FUZZ_CHECK(memchr(log.span[i].command, '\0', sizeof(log.span[i].command)));
	}
	trk__program_log_release(&log);
	name(text, size);
	free(text);
	return 0;
}
