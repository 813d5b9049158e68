/* The readers of access control lists: the first byte selects the kind. Each entry lies within the
 * list, and reading comes to an end. */
#include <errno.h>

#include "base/acl.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *list = fuzz_text(data, size);
	struct trk_acl acl;
	struct trk_acl_entry e = {.access = 0};
	size_t entries = 0;
	int r = size == 0     ? -EBADMSG
		: data[0] & 1 ? trk__acl_nfs4(&acl, list + 1, size - 1)
			      : trk__acl_posix(&acl, list + 1, size - 1);

	while (r == 0 && (r = trk__acl_next(&acl, &e)) > 0) {
		FUZZ_CHECK(e.access <= 7 && e.who <= TRK_ACL_ALL);
		FUZZ_CHECK(++entries <= size / 8);
		r = 0;
	}
	free(list);
	return 0;
}
