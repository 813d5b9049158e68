/* The masking of an argument of a command line. The output fits into the buffer, a smaller buffer
 * only truncates it, and a password after any text is masked. */
#include "base/mask.h"

#include "fuzz.h"

#define BEHIND " --password=hunter2"

static size_t masked(const char *text, char *ret, size_t size)
{
	struct trk_mask mask = {.value_follows = false};
	size_t len = trk__mask_argument(&mask, text, ret, size);

	FUZZ_CHECK(len < size && strlen(ret) == len);
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = 16 * (size + sizeof(BEHIND)) + 16;
	char *text = fuzz_text(data, size), *large = malloc(room), small[24];
	char *longer = malloc(strlen(text) + sizeof(BEHIND));

	if (!large || !longer)
		abort();
	(void) masked(text, large, room);
	FUZZ_CHECK(!strncmp(small, large, masked(text, small, sizeof(small))));
	memcpy(longer, text, strlen(text));
	memcpy(longer + strlen(text), BEHIND, sizeof(BEHIND));
	(void) masked(longer, large, room);
	FUZZ_CHECK(strstr(text, "hunter2") || !strstr(large, "hunter2"));
	free(longer);
	free(large);
	free(text);
	return 0;
}
