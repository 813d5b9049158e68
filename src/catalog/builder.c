#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/image.h"

void trk__catalog_builder_init(struct trk_catalog_builder *b)
{
	*b = (struct trk_catalog_builder){.hash = NULL};
	trk__buf_init(&b->vendors, TRK_CATALOG_VENDORS_MAX * sizeof(struct trk_catalog_vendor));
	trk__buf_init(&b->regions, TRK_CATALOG_REGIONS_MAX * sizeof(struct trk_catalog_region));
	trk__buf_init(&b->sources, TRK_CATALOG_SOURCES_MAX * sizeof(struct trk_catalog_source));
	trk__buf_init(&b->servers, TRK_CATALOG_SERVERS_MAX * sizeof(struct trk_catalog_server));
	trk__buf_init(&b->blocks, TRK_CATALOG_BLOCKS_MAX * sizeof(struct trk_catalog_block));
	trk__buf_init(&b->prices, TRK_CATALOG_PRICES_MAX * sizeof(struct trk_catalog_price));
	trk__buf_init(&b->texts, TRK_CATALOG_TEXTS_MAX);
	trk__buf_putc(&b->texts, '\0');
}

void trk__catalog_builder_release(struct trk_catalog_builder *b)
{
	trk__buf_release(&b->vendors);
	trk__buf_release(&b->regions);
	trk__buf_release(&b->sources);
	trk__buf_release(&b->servers);
	trk__buf_release(&b->blocks);
	trk__buf_release(&b->prices);
	trk__buf_release(&b->texts);
	free(b->hash);
	free(b->seen);
	free(b->priced);
	b->hash = NULL;
	b->seen = NULL;
	b->priced = NULL;
}

/* Current number of records of a table. */
static size_t count_records(const struct trk_buf *table, size_t record)
{
	return table->len / record;
}

uint32_t trk__catalog_builder_text(struct trk_catalog_builder *b, const char *text, size_t len)
{
	uint32_t at = (uint32_t) b->texts.len;

	if (!len)
		return 0;
	trk__buf_add(&b->texts, text, len);
	trk__buf_putc(&b->texts, '\0');
	return b->texts.error ? 0 : at;
}

/* FNV-1a. */
static size_t hash_of(uint8_t vendor, const char *name, size_t len)
{
	uint64_t h = (1469598103934665603u ^ vendor) * 1099511628211u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char) name[i]) * 1099511628211u;
	return (size_t) (h ^ h >> 32);
}

static void hash_put(struct trk_catalog_builder *b, uint32_t server)
{
	const struct trk_catalog_server *s = (const void *) b->servers.data;
	const char *name = b->texts.data + s[server].name;
	size_t at = hash_of(s[server].vendor, name, strlen(name)) & (b->hash_size - 1);

	while (b->hash[at])
		at = (at + 1) & (b->hash_size - 1);
	b->hash[at] = server + 1;
}

/* Make room for `more` servers in the hash table, which stays at most half full. */
static int hash_grow(struct trk_catalog_builder *b, size_t servers, size_t more)
{
	size_t size = b->hash_size ? b->hash_size : 1024;
	uint32_t *bigger, *seen;

	while (size < 2 * (servers + more))
		size *= 2;
	if (size == b->hash_size)
		return 0;
	seen = realloc(b->seen, size / 2 * sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	memset(seen + b->hash_size / 2, 0, (size - b->hash_size) / 2 * sizeof(*seen));
	b->seen = seen;
	bigger = calloc(size, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	free(b->hash);
	b->hash = bigger;
	b->hash_size = size;
	for (size_t i = 0; i < servers; i++)
		hash_put(b, (uint32_t) i);
	return 0;
}

int trk__catalog_builder_server(struct trk_catalog_builder *b, uint8_t vendor, const char *name,
				size_t len, bool add)
{
	size_t n = count_records(&b->servers, sizeof(struct trk_catalog_server));
	const struct trk_catalog_server *s = (const void *) b->servers.data;
	struct trk_catalog_server fresh = {.vendor = vendor, .gpu_permille = 1000};

	if (b->hash_size) {
		size_t at = hash_of(vendor, name, len) & (b->hash_size - 1);

		for (; b->hash[at]; at = (at + 1) & (b->hash_size - 1)) {
			const struct trk_catalog_server *one = &s[b->hash[at] - 1];
			const char *its = b->texts.data + one->name;

			if (one->vendor == vendor && !strncmp(its, name, len) && !its[len])
				return (int) b->hash[at] - 1;
		}
	}
	if (!add)
		return -ENOENT;
	if (hash_grow(b, n, 1) < 0)
		return -ENOMEM;
	fresh.name = trk__catalog_builder_text(b, name, len);
	trk__buf_add(&b->servers, &fresh, sizeof(fresh));
	if (b->servers.error || b->texts.error)
		return -EFBIG;
	hash_put(b, (uint32_t) n);
	return (int) n;
}

void trk__catalog_builder_supersede(struct trk_catalog_builder *b, uint16_t region, uint16_t server,
				    size_t before_block)
{
	struct trk_catalog_block *blocks = (void *) b->blocks.data;
	struct trk_catalog_price *prices = (void *) b->prices.data;

	for (size_t i = 0; i < before_block; i++) {
		if (blocks[i].region != region)
			continue;
		for (size_t j = 0; j < blocks[i].count; j++)
			if (prices[blocks[i].first + j].server == server)
				prices[blocks[i].first + j].price = 0;
	}
}

int trk__catalog_builder_find_prices(struct trk_catalog_builder *b, uint16_t region)
{
	size_t n = count_records(&b->blocks, sizeof(struct trk_catalog_block));
	const struct trk_catalog_block *blocks = (const void *) b->blocks.data;
	const struct trk_catalog_price *prices = (const void *) b->prices.data;

	free(b->priced);
	b->priced = calloc(b->hash_size / 2 + 1, sizeof(*b->priced));
	if (!b->priced)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = blocks[i].first;
		     blocks[i].region == region && at < blocks[i].first + blocks[i].count; at++)
			if (prices[at].price)
				b->priced[prices[at].server] = at + 1;
	return 0;
}

static void copy_table(struct trk_buf *to, const struct trk_catalog *from,
		       const struct trk_catalog_table *table, size_t record)
{
	trk__buf_add(to, (const char *) from->image + table->offset, table->count * record);
}

static void copy_prices(struct trk_buf *to, const struct trk_catalog *from)
{
	size_t n;
	struct trk_catalog_prices p = trk__catalog_prices(from, &n);

	for (size_t i = 0; i < n; i++) {
		struct trk_catalog_price one = {p.price[i], p.server[i], p.saving[i], p.klass[i]};

		trk__buf_add(to, &one, sizeof(one));
	}
}

int trk__catalog_builder_copy(struct trk_catalog_builder *b, const struct trk_catalog *base)
{
	const struct trk_catalog_image *i = base->image;

	b->date = i->date;
	trk__buf_clear(&b->texts);
	copy_table(&b->vendors, base, &i->vendors, sizeof(struct trk_catalog_vendor));
	copy_table(&b->regions, base, &i->regions, sizeof(struct trk_catalog_region));
	copy_table(&b->sources, base, &i->sources, sizeof(struct trk_catalog_source));
	copy_table(&b->servers, base, &i->servers, sizeof(struct trk_catalog_server));
	copy_table(&b->blocks, base, &i->blocks, sizeof(struct trk_catalog_block));
	copy_prices(&b->prices, base);
	copy_table(&b->texts, base, &i->texts, 1);
	if (b->servers.error || b->prices.error || b->texts.error || b->blocks.error)
		return -ENOMEM;
	return hash_grow(b, i->servers.count, 4096);
}

static size_t place(struct trk_catalog_table *table, const struct trk_buf *from, size_t record,
		    size_t at)
{
	at = (at + 7) & ~(size_t) 7;
	table->offset = (uint32_t) at;
	table->count = (uint32_t) (from->len / record);
	return at + from->len;
}

/* The records as the arrays of struct trk_catalog_prices. */
static void write_prices(char *image, const struct trk_catalog_table *table,
			 const struct trk_catalog_price *from)
{
	size_t n = table->count;
	uint32_t *price = (void *) (image + table->offset);
	uint16_t *server = (void *) (price + n);
	uint8_t *saving = (void *) (server + n);

	for (size_t i = 0; i < n; i++) {
		price[i] = from[i].price;
		server[i] = from[i].server;
		saving[i] = from[i].saving;
		saving[n + i] = from[i].klass;
	}
}

int trk__catalog_builder_finish(struct trk_catalog_builder *b, struct trk_catalog *ret)
{
	struct trk_catalog_image head = {.magic = TRK_CATALOG_MAGIC, .date = b->date};
	const struct {
		struct trk_catalog_table *table;
		const struct trk_buf *from;
		size_t record;
	} tables[] = {
		{&head.vendors, &b->vendors, sizeof(struct trk_catalog_vendor)},
		{&head.regions, &b->regions, sizeof(struct trk_catalog_region)},
		{&head.sources, &b->sources, sizeof(struct trk_catalog_source)},
		{&head.servers, &b->servers, sizeof(struct trk_catalog_server)},
		{&head.blocks, &b->blocks, sizeof(struct trk_catalog_block)},
		{&head.prices, &b->prices, sizeof(struct trk_catalog_price)},
		{&head.texts, &b->texts, 1},
	};
	size_t size = sizeof(head);
	char *image;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (tables[i].from->error)
			return tables[i].from->error;
		size = place(tables[i].table, tables[i].from, tables[i].record, size);
	}
	head.size = (uint32_t) size;
	image = calloc(1, size);
	if (!image)
		return -ENOMEM;
	memcpy(image, &head, sizeof(head));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].from->len && tables[i].from != &b->prices)
			memcpy(image + tables[i].table->offset, tables[i].from->data,
			       tables[i].from->len);
	write_prices(image, &head.prices, (const void *) b->prices.data);
	*ret = (struct trk_catalog){.image = (const void *) image, .owned = image};
	return 0;
}
