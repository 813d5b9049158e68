/* The stack reader, with any bytes as the memory of a supposed CPython process, in which every
 * pointer leads to some byte. The reader terminates, stays in bounds, and returns names and lines
 * that can be shown. */
#include "fuzz.h"

#include <errno.h>
#include <sys/uio.h>

#include "probe/stack/cpython.h"

enum { ROUNDS = 3, READS_MAX = 200000 };

struct image {
	const uint8_t *data;
	size_t size;
	unsigned int reads;
};

/* Each address is a place in the input, over and over. Some reads fail, as pages come and go. */
static int read_image(void *data, uint64_t addr, void *to, size_t len)
{
	struct image *m = data;
	unsigned char *out = to;

	if (++m->reads % 61 == 60 || m->reads > READS_MAX)
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		out[i] = m->data[(addr + i) % m->size];
	return 0;
}

/* The same, several ranges in one call. */
static size_t read_ranges(void *data, const struct iovec *to, const struct iovec *from,
			  size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (read_image(data, (uint64_t) (uintptr_t) from[i].iov_base, to[i].iov_base,
			       from[i].iov_len) < 0)
			return i;
	return count;
}

static void check_stack(void *data, struct trk_stack *stack)
{
	(void) data;
	FUZZ_CHECK(stack->depth > 0 && stack->depth <= TRK_STACK_FRAMES);
	FUZZ_CHECK(stack->tid >= 0);
	for (unsigned int i = 0; i < stack->depth; i++) {
		FUZZ_CHECK(stack->frame[i].line >= 0);
		FUZZ_CHECK(strlen(stack->frame[i].code->file) < TRK_CPYTHON_TEXT);
		FUZZ_CHECK(strlen(stack->frame[i].code->name) < TRK_CPYTHON_TEXT);
	}
}

static void walk(struct trk_remote *r, const struct trk_cpython_runtime *runtime)
{
	struct trk_cpython *c = trk__cpython_new(runtime, 1);
	unsigned int torn;

	for (int i = 0; c && i < ROUNDS; i++) {
		if (i == 1)
			trk__cpython_fetch(c, r);
		(void) trk__cpython_walk(c, r, check_stack, NULL, &torn);
		trk__cpython_trim(c);
	}
	trk__cpython_free(c);
}

/* Byte 0: the version whose offsets are used, or 255: the image is an ELF file that is looked
 * through. The rest is the image, its addresses from 1 MiB on. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image = {data + 1, size - 1, 0};
	struct trk_cpython_runtime runtime = {.addr = 1 << 20};
	const struct trk_cpython_layout *layout;
	struct trk_remote *r;

	if (size < 16)
		return 0;
	r = malloc(sizeof(*r));
	FUZZ_CHECK(r);
	trk__remote_init(r, read_image, &image);
	r->read_ranges = read_ranges;
	layout = trk__cpython_layout(0x300 | data[0]);
	if (layout && layout->version < 0x30d) {
		runtime.layout = *layout;
		runtime.code_type = 1 << 20 | 256;
		if (trk__cpython_check(r, &runtime) == TRK_STACK_READ)
			walk(r, &runtime);
		runtime.code_type = 1 << 20 | 256;
		walk(r, &runtime);
	} else if (trk__cpython_find(r, 1 << 20, &runtime) == TRK_STACK_READ) {
		(void) trk__cpython_check(r, &runtime);
		walk(r, &runtime);
	}
	free(r);
	return 0;
}
