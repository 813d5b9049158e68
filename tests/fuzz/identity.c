/* The head of a Nextflow task's script. The result is a name of one line that fits into the buffer,
 * or the buffer is not changed. */
#include "track/job_identity.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char job[TRK_RUN_TEXT_SIZE] = "as before", *text = fuzz_text(data, size);

	if (trk__identity_task(text, job)) {
		FUZZ_CHECK(memchr(job, '\0', sizeof(job)) && job[0] && !strchr(job, '\n'));
		FUZZ_CHECK(strstr(text, job) || strlen(job) == sizeof(job) - 1);
	} else {
		FUZZ_CHECK(!strcmp(job, "as before"));
	}
	free(text);
	return 0;
}
