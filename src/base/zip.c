#include "base/zip.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/dynamic.h"
#include "base/os.h"

/* The format: the directory follows the files, and its end record follows the directory. A file is
 * a header, whose length is not in the directory, and its data. Numbers are little-endian. */
enum {
	END_SIZE = 22,
	END_COMMENT_MAX = 65535,
	ENTRY_SIZE = 46,
	HEADER_SIZE = 30,
	STORED = 0,
	DEFLATED = 8,
	IS_ENCRYPTED = 1,
	RAW_WINDOW = -15, /* deflate without a header of zlib's */
	STEP_BYTES = 1 << 18,
	DONE = 1, /* Z_STREAM_END */
};

/* zlib's stream, whose layout is its interface. */
struct stream {
	const unsigned char *next_in;
	unsigned int avail_in;
	unsigned long total_in;
	unsigned char *next_out;
	unsigned int avail_out;
	unsigned long total_out;
	const char *msg;
	void *state;
	void *(*zalloc)(void *, unsigned int, unsigned int);
	void (*zfree)(void *, void *);
	void *opaque;
	int data_type;
	unsigned long adler, reserved;
};

struct library {
	void *handle;
	int (*init)(struct stream *, int window, const char *version, int size);
	int (*inflate)(struct stream *, int flush);
	int (*end)(struct stream *);
	unsigned long (*crc32)(unsigned long crc, const unsigned char *data, unsigned int len);
	const char *(*version)(void);
};

struct entry {
	unsigned int flags, method, crc;
	size_t packed, size, header; /* bytes; where the file's header stands */
};

static unsigned int u16(const unsigned char *at)
{
	return at[0] | (unsigned int) at[1] << 8;
}

static unsigned int u32(const unsigned char *at)
{
	return u16(at) | u16(at + 2) << 16;
}

static int load(struct library *l)
{
	const struct trk_symbol wanted[] = {
		{"inflateInit2_", &l->init}, {"inflate", &l->inflate},     {"inflateEnd", &l->end},
		{"crc32", &l->crc32},        {"zlibVersion", &l->version},
	};

	l->handle = trk__library_load("libz.so.1", wanted, sizeof(wanted) / sizeof(wanted[0]));
	return l->handle ? 0 : -TRK_E_UNSUPPORTED;
}

/* Where the end of the directory stands; NULL: nowhere. */
static const unsigned char *find_end(const unsigned char *zip, size_t len)
{
	size_t back = END_SIZE;

	for (; back <= len && back <= END_SIZE + END_COMMENT_MAX; back++)
		if (!memcmp(zip + len - back, "PK\5\6", 4))
			return zip + len - back;
	return NULL;
}

/* 0, -ENOENT or -EBADMSG. */
static int find(const unsigned char *zip, size_t len, const char *name, struct entry *ret)
{
	const unsigned char *end = find_end(zip, len);
	size_t at, count, wanted = strlen(name);

	if (!end)
		return -EBADMSG;
	count = u16(end + 10);
	at = u32(end + 16);
	for (size_t i = 0; i < count; i++) {
		const unsigned char *e;
		size_t size;

		if (at > len || len - at < ENTRY_SIZE || memcmp(zip + at, "PK\1\2", 4) != 0)
			return -EBADMSG;
		e = zip + at;
		size = ENTRY_SIZE + (size_t) u16(e + 28) + u16(e + 30) + u16(e + 32);
		if (len - at < size)
			return -EBADMSG;
		if (u16(e + 28) == wanted && !memcmp(e + ENTRY_SIZE, name, wanted)) {
			*ret = (struct entry){u16(e + 8),  u16(e + 10), u32(e + 16),
					      u32(e + 20), u32(e + 24), u32(e + 42)};
			return 0;
		}
		at += size;
	}
	return -ENOENT;
}

/* Where the packed data stands; NULL: not in the archive. */
static const unsigned char *data_of(const unsigned char *zip, size_t len, const struct entry *e)
{
	const unsigned char *h;
	size_t before;

	if (e->header > len || len - e->header < HEADER_SIZE ||
	    memcmp(zip + e->header, "PK\3\4", 4) != 0)
		return NULL;
	h = zip + e->header;
	before = HEADER_SIZE + (size_t) u16(h + 26) + u16(h + 28);
	if (len - e->header < before || len - e->header - before < e->packed)
		return NULL;
	return h + before;
}

static int unpack(const struct library *l, const struct entry *e, const unsigned char *data,
		  struct trk_buf *ret)
{
	struct stream s = {.next_in = data, .avail_in = (unsigned int) e->packed};
	int r = l->init(&s, RAW_WINDOW, l->version(), (int) sizeof(s)) == 0 ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	while (r == 0) {
		int z;

		r = trk__buf_reserve(ret, STEP_BYTES);
		if (r < 0)
			break;
		s.next_out = (unsigned char *) ret->data + ret->len;
		s.avail_out = STEP_BYTES;
		z = l->inflate(&s, 0);
		ret->len += STEP_BYTES - s.avail_out;
		ret->data[ret->len] = '\0';
		if (z == DONE)
			break;
		/* No progress: it is cut. */
		if (z != 0 || s.avail_out == STEP_BYTES)
			r = -EBADMSG;
	}
	(void) l->end(&s);
	return r;
}

int trk__zip_read(const char *zip, size_t len, const char *name, struct trk_buf *ret,
		  struct trk_error *reterr)
{
	const unsigned char *bytes = (const unsigned char *) zip, *data = NULL;
	size_t before = ret->len;
	struct library l;
	struct entry e;
	int r = find(bytes, len, name, &e);

	if (r == -ENOENT)
		return trk__error_set(reterr, r, "", "the archive has no file %s", name);
	if (r == 0)
		data = data_of(bytes, len, &e);
	if (!data || e.flags & IS_ENCRYPTED || (e.method != STORED && e.method != DEFLATED))
		return trk__error_set(reterr, -EBADMSG, "", "the answer is no zip archive to read");
	if (e.size >= ret->max - before)
		return trk__error_set(reterr, -EFBIG, "", "the archive's %s is too long", name);
	r = load(&l);
	if (r < 0)
		return trk__error_set(reterr, r, "", "zlib (libz.so.1) cannot be loaded. %s",
				      trk__os_library_advice("Try: apt install zlib1g"));
	trk__buf_puts(ret, ""); /* that there is memory, for a file of nothing */
	if (e.method == STORED)
		trk__buf_add(ret, data, e.packed);
	else
		r = unpack(&l, &e, data, ret);
	if (r == 0)
		r = ret->error;
	if (r == 0 &&
	    (ret->len - before != e.size ||
	     l.crc32(0, (unsigned char *) ret->data + before, (unsigned int) e.size) != e.crc))
		r = -EBADMSG;
	(void) dlclose(l.handle);
	return r == 0 ? 0 : trk__error_set(reterr, r, "", "the archive's %s is damaged", name);
}
