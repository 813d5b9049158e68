/* Systems without /proc: there is no file of a process whose reading could block. */
#include "probe/reader.h"

#include <errno.h>

#include "probe/input_size.h"

struct trk_reader *trk__reader_new(const struct trk_env *env, bool as_thread)
{
	return NULL;
}

void trk__reader_free(struct trk_reader *r)
{
}

ssize_t trk__reader_read(struct trk_reader *r, const struct trk_env *env, uint64_t key,
			 const char *path, char *text, size_t size, uint64_t *ret_ns)
{
	return -ENOENT;
}

uint64_t trk__reader_input_bytes(struct trk_reader *r, char *const argv[])
{
	uint64_t sum = 0;

	for (int i = 1; i <= TRK_INPUTS_MAX && argv[i]; i++) {
		const char *path = trk__input_path(argv[i]);

		sum += path ? trk__input_bytes(path) : 0;
	}
	return sum;
}
