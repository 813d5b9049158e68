/* The reader of /etc/passwd and /etc/group. Any text gives an answer, and a group with another
 * member is never the user's private group. A line "--" separates the two files. */
#include "base/trust.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *passwd = fuzz_text(data, size), *group = strstr(passwd, "--\n");
	char *with_another = malloc(size + 64);

	FUZZ_CHECK(with_another);
	if (group) {
		*group = '\0';
		group += 3;
		(void) trk__group_is_private(passwd, group, 1000, 1000);
		strcpy(with_another, group);
		strcat(with_another, "\nann:x:1000:ann,another\n");
		FUZZ_CHECK(!trk__group_is_private(passwd, with_another, 1000, 1000));
	}
	free(with_another);
	free(passwd);
	return 0;
}
