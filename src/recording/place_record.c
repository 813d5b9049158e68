#include "recording/format.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static bool has_part(const struct trk_place *p, enum trk_place_part part)
{
	return part == TRK_PLACE_SERVER  ? p->has_server
	       : part == TRK_PLACE_CLOUD ? p->has_cloud
					 : p->has_cost;
}

/* Eight bytes, the lowest first, whatever the machine's own order is. */
static void put_number(struct trk_buf *b, double value)
{
	unsigned char bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char) (bits >> (8 * i));
	trk__buf_bytes(b, bytes, sizeof(bytes));
}

static double get_number(const char *value)
{
	uint64_t bits = 0;
	double number;

	for (int i = 0; i < 8; i++)
		bits |= (uint64_t) (unsigned char) value[i] << (8 * i);
	memcpy(&number, &bits, sizeof(number));
	return number;
}

void trk__place_format(struct trk_buf *b, const struct trk_place *p, enum trk_place_part part)
{
	if (!has_part(p, part))
		return;
	trk__buf_varint(b, part);
	for (size_t i = 0; i < trk__place_field_count; i++) {
		const struct trk_place_field *f = &trk__place_fields[i];
		double value = trk__place_number(p, f);
		const char *text = trk__place_text(p, f);

		if (f->part != part || (f->is_number ? isnan(value) : !*text))
			continue;
		trk__buf_text(b, f->key);
		if (f->is_number)
			put_number(b, value);
		else
			trk__buf_text(b, text);
	}
}

static const struct trk_place_field *find_field(uint64_t part, const char *key, size_t len)
{
	for (size_t i = 0; i < trk__place_field_count; i++)
		if (trk__place_fields[i].part == part && strlen(trk__place_fields[i].key) == len &&
		    !memcmp(trk__place_fields[i].key, key, len))
			return &trk__place_fields[i];
	return NULL;
}

static void take_field(struct trk_place *p, const struct trk_place_field *f, const char *value,
		       size_t len)
{
	char *to = (char *) p + f->offset;
	double number;

	if (f->is_number && len == sizeof(number)) {
		number = get_number(value);
		memcpy(to, &number, sizeof(number));
	} else if (!f->is_number) {
		if (len >= f->size)
			len = f->size - 1u;
		memcpy(to, value, len);
		to[len] = '\0';
	}
}

int trk__place_parse(const void *data, size_t len, struct trk_place *p)
{
	struct trk_cursor c = {data, (const unsigned char *) data + len, 0};
	uint64_t part = trk__cursor_varint(&c);

	if (c.bad)
		return -EBADMSG;
	if (part >= TRK_PLACE_PARTS)
		return 0; /* of a newer version */
	while (c.at < c.end) {
		size_t key_len, value_len;
		const char *key = trk__cursor_bytes(&c, &key_len);
		const char *value = trk__cursor_bytes(&c, &value_len);
		const struct trk_place_field *f;

		if (c.bad)
			return -EBADMSG;
		f = find_field(part, key, key_len);
		if (f)
			take_field(p, f, value, value_len);
	}
	p->has_server |= part == TRK_PLACE_SERVER;
	p->has_cloud |= part == TRK_PLACE_CLOUD;
	p->has_cost |= part == TRK_PLACE_COST;
	return 0;
}
