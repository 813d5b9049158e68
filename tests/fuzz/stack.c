/* The stack reader, with any bytes as the memory of a supposed CPython process, in which every
 * pointer leads to some byte, and which may change between two reads. The reader terminates within
 * its budget, stays in bounds, and returns names and lines that can be shown. */
#include "fuzz.h"

#include <errno.h>
#include <sys/uio.h>

#include "probe/stack/cpython.h"

enum { ROUNDS = 3, READS_MAX = 4000, CHANGES_MAX = 7, CHANGE_BYTES = 6, CHANGES = 0x80 };

/* The image, over and over. A word of it differs from one repetition to the next, and from one read
 * to the next. */
struct image {
	const uint8_t *data;
	size_t size;
	const uint8_t *change; /* place (2 bytes), two factors, a repetition, flags */
	size_t changes;
	unsigned int reads;
};

/* Change one word wherever it was copied as a whole. */
static void apply_change(const struct image *m, const uint8_t *change, uint64_t addr,
			 unsigned char *out, size_t len)
{
	size_t place = (size_t) (change[0] | change[1] << 8) % m->size;
	uint64_t unit = change[5] & 1 ? m->size : 1;

	for (size_t at = (place + m->size - addr % m->size) % m->size; at + 8 <= len;
	     at += m->size) {
		uint64_t turn = (addr + at) / m->size, value;

		memcpy(&value, out + at, 8);
		value += unit * ((uint64_t) (int8_t) change[2] * turn +
				 (uint64_t) (int8_t) change[3] * m->reads);
		if (change[4] && turn % 256 == change[4])
			value = UINT64_MAX;
		memcpy(out + at, &value, 8);
	}
}

/* Some reads of an image without changes fail, as pages come and go. */
static int read_image(void *data, uint64_t addr, void *to, size_t len)
{
	struct image *m = data;
	unsigned char *out = to;

	m->reads++;
	if (m->changes ? m->reads > READS_MAX : m->reads % 61 == 60)
		return -EFAULT;
	for (size_t done = 0, part; done < len; done += part) {
		size_t from = (size_t) ((addr + done) % m->size);

		part = m->size - from < len - done ? m->size - from : len - done;
		memcpy(out + done, m->data + from, part);
	}
	for (size_t i = 0; i < m->changes; i++)
		apply_change(m, m->change + i * CHANGE_BYTES, addr, out, len);
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
	struct trk_cpython *c = trk__cpython_new(runtime, 1, r);
	unsigned int torn;

	for (int i = 0; c && i < ROUNDS; i++) {
		if (i == 1)
			trk__cpython_fetch(c, r);
		(void) trk__cpython_walk(c, r, check_stack, NULL, &torn);
		FUZZ_CHECK(r->steps < TRK_REMOTE_LOOK_STEPS * 2);
		FUZZ_CHECK(r->bytes < TRK_REMOTE_LOOK_BYTES * 2);
		FUZZ_CHECK(r->kept_bytes <= TRK_CPYTHON_BYTES);
	}
	trk__cpython_free(c);
	FUZZ_CHECK(r->kept_bytes == 0);
}

/* The budget of time depends on the machine: the others are to suffice. */
static uint64_t no_time(void)
{
	return 0;
}

/* Byte 0: the version whose offsets are used, or another value: the image is an ELF file that is
 * looked through. With CHANGES, the number of changes and these follow. The rest is the image, its
 * addresses from 1 MiB on. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image = {.data = data + 1, .size = size - 1};
	struct trk_cpython_runtime runtime = {.addr = 1 << 20};
	const struct trk_cpython_layout *layout;
	struct trk_remote *r;

	if (size < 16)
		return 0;
	r = malloc(sizeof(*r));
	FUZZ_CHECK(r);
	if (data[0] & CHANGES) {
		image.changes = data[1] % (CHANGES_MAX + 1);
		image.change = data + 2;
		if (size < 2 + image.changes * CHANGE_BYTES + 16)
			image.changes = 0;
		image.data = image.change + image.changes * CHANGE_BYTES;
		image.size = size - (size_t) (image.data - data);
	}
	trk__remote_init(r, read_image, &image);
	r->read_ranges = read_ranges;
	r->cpu_ns = r->monotonic_ns = no_time;
	trk__remote_begin(r);
	layout = trk__cpython_layout(0x300 | (data[0] & ~CHANGES));
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
