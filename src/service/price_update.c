#include "service/price_update.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sha256.h"
#include "base/file.h"
#include "catalog/keeper.h"
#include "catalog/text.h"
#include "service/keeper_client.h"

enum { DOCUMENT_MAX = 64 << 20, HASH_FILE_MAX = 4096, UPDATE_S = 120, FROM_MAX = 2048 };

/* An update of the prices in the cache. */
struct update {
	const struct trk_service *s;
	const struct trk_price_request *request;
	struct trk_prices base; /* without the cache */
	struct trk_price_change change;
	struct trk_error error;
};

/* ---- regions that a person names ---- */

/* "aws/us-east-1", the first of a list. Index of the region, or -EINVAL. */
static int named_region(struct update *u, const char *text, size_t len)
{
	const struct trk_catalog *c = &u->base.c;
	char vendor[64], region[96];
	const char *slash = memchr(text, '/', len);
	int at, found;

	if (!slash)
		return trk__error_set(&u->error, -EINVAL, "",
				      "--region %.*s: not of the form VENDOR/REGION, such as "
				      "aws/us-east-1",
				      (int) len, text);
	(void) snprintf(vendor, sizeof(vendor), "%.*s", (int) (slash - text), text);
	(void) snprintf(region, sizeof(region), "%.*s", (int) (len - (size_t) (slash - text) - 1),
			slash + 1);
	at = trk__catalog_find_vendor(c, vendor);
	found = at < 0 ? -1 : trk__catalog_find_region(c, at, region);
	if (found >= 0)
		return found;
	return trk__error_set(&u->error, -EINVAL, "",
			      "unknown %s %s. Try: resource-tracker catalog info",
			      at < 0 ? "vendor" : "region", at < 0 ? vendor : region);
}

/* ---- the Keeper ---- */

static int ask_region(struct update *u, struct trk_keeper_client *k, int region)
{
	const struct trk_catalog *c = &u->base.c;
	char query[96];
	int r;

	(void) snprintf(query, sizeof(query), "&limit=-1&vendor=%s",
			trk__keeper_vendor(trk__catalog_vendor_id(
				c, trk__catalog_regions(c, NULL)[region].vendor)));
	r = trk__keeper_client_ask(k, c, region, query);
	u->error = k->error;
	return r;
}

/* Ask for the prices of each region that the request names. */
static int ask_regions(struct update *u, struct trk_keeper_client *k)
{
	const char *list = u->request->regions;
	int r = 0;

	while (r == 0 && list && *list) {
		size_t len = strcspn(list, ",");
		int region = named_region(u, list, len);

		r = region < 0 ? region : ask_region(u, k, region);
		list += len + (list[len] == ',');
	}
	return r;
}

/* Compare the new prices with those of the last update; unreadable ones are replaced without a
 * comparison. */
static int judge(struct update *u, const struct trk_catalog *now)
{
	struct trk_prices *before = calloc(1, sizeof(*before));
	int r;

	if (!before)
		return -ENOMEM;
	if (trk__prices_load(&u->s->layers, before, NULL) == 0) {
		r = trk__catalog_judge(&before->c, now, &u->error);
		trk__prices_release(before);
	} else {
		r = trk__catalog_judge(&u->base.c, now, &u->error);
	}
	free(before);
	return r;
}

static int keep_answer(struct update *u, const struct trk_buf *text)
{
	struct trk_catalog now;
	int r = trk__catalog_text_load(&u->base.c, "the answer", text->data, text->len, &now,
				       &u->error);

	if (r < 0)
		return r;
	if (!u->request->force)
		r = judge(u, &now);
	trk__catalog_release(&now);
	return r ? r
		 : trk__prices_keep(u->s->layers.cache, "update", text, u->change.path, &u->error);
}

static int update_from_keeper(struct update *u)
{
	struct trk_keeper_client *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	trk__keeper_client_init(k, u->s, u->request->url, UPDATE_S);
	k->patient = true;
	r = trk__keeper_client_ask(k, &u->base.c, -1, "&limit=-1");
	if (r < 0)
		u->error = k->error;
	r = r ? r : ask_regions(u, k);
	r = r ? r
	      : trk__keeper_convert(&u->base.c, k->answer, k->n, k->date, &k->text, &k->tally,
				    &u->error);
	r = r ? r : keep_answer(u, &k->text);
	u->change.prices = k->tally.prices;
	u->change.new_types = k->tally.new_types;
	u->change.left_out = k->tally.dropped;
	trk__keeper_client_release(k);
	free(k);
	return r;
}

/* ---- a built file ---- */

/* Read a path or a URL. */
static int read_all(struct update *u, const char *from, size_t max, struct trk_buf *out)
{
	char *text = NULL;
	ssize_t len;

	if (strstr(from, "://"))
		return trk__patient_fetch(u->s, from, UPDATE_S, out, &u->error);
	len = trk__read_all_at(AT_FDCWD, from, max, &text);
	if (len < 0)
		return trk__error_set(&u->error, (int) len, from, "%.150s: cannot read: %s", from,
				      trk__strerror((int) len));
	trk__buf_add(out, text, (size_t) len);
	free(text);
	return out->error;
}

static bool is_hash(const char *text)
{
	return strspn(text, "0123456789abcdefABCDEF") == TRK_SHA256_SIZE - 1;
}

/* The hash that the request gives, else the first word of FROM.sha256, which sha256sum(1) writes. */
static int wanted_hash(struct update *u, char ret[TRK_SHA256_SIZE])
{
	const char *given = u->request->sha256, *from = u->request->from;
	TRK_BUF_LOCAL(listed, HASH_FILE_MAX);
	char path[FROM_MAX + 8];
	int r;

	if (given && (!is_hash(given) || given[TRK_SHA256_SIZE - 1]))
		return trk__error_set(&u->error, -EINVAL, "",
				      "--sha256 %.80s: not 64 hexadecimal digits", given);
	if (!given) {
		(void) snprintf(path, sizeof(path), "%s.sha256", from);
		r = read_all(u, path, HASH_FILE_MAX, &listed);
		if (r < 0)
			return trk__error_set(&u->error, r, path,
					      "the hash of the file is not known: %.120s cannot be "
					      "read. Try: --sha256 HASH",
					      path);
		trk__buf_putc(&listed, '\0');
		if (listed.error || !is_hash(listed.data))
			return trk__error_set(&u->error, -EBADMSG, path,
					      "%.150s does not begin with a SHA-256 hash", path);
		given = listed.data;
	}
	(void) snprintf(ret, TRK_SHA256_SIZE, "%s", given);
	return 0;
}

static int check_hash(struct update *u, const struct trk_buf *text,
		      const char wanted[TRK_SHA256_SIZE])
{
	char found[TRK_SHA256_SIZE];

	if (trk__sha256(text->data, text->len, found) < 0)
		return trk__error_set(&u->error, -TRK_ERR_UNSUPPORTED, "",
				      "libcrypto, which checks the file, cannot be loaded. Try: "
				      "apt install libssl3");
	if (strcasecmp(found, wanted) != 0)
		return trk__error_set(&u->error, -EBADMSG, "",
				      "%.120s is another file, or damaged: its SHA-256 is %s",
				      u->request->from, found);
	return 0;
}

/* Count what the file adds to the catalogue. */
static void count_new(struct update *u, const struct trk_catalog *now)
{
	size_t blocks, known_blocks, types, known_types;
	const struct trk_catalog_block *b = trk__catalog_blocks(now, &blocks);

	(void) trk__catalog_blocks(&u->base.c, &known_blocks);
	(void) trk__catalog_servers(now, &types);
	(void) trk__catalog_servers(&u->base.c, &known_types);
	for (size_t i = known_blocks; i < blocks; i++)
		u->change.prices += b[i].count;
	u->change.new_types = types - known_types;
}

static int update_from_file(struct update *u)
{
	const char *from = u->request->from;
	char wanted[TRK_SHA256_SIZE];
	TRK_BUF_LOCAL(text, DOCUMENT_MAX);
	struct trk_catalog now;
	int r = wanted_hash(u, wanted);

	r = r ? r : read_all(u, from, DOCUMENT_MAX, &text);
	r = r ? r : check_hash(u, &text, wanted);
	r = r ? r : trk__catalog_text_load(&u->base.c, from, text.data, text.len, &now, &u->error);
	if (r < 0)
		return r;
	count_new(u, &now);
	trk__catalog_release(&now);
	return trk__prices_keep(u->s->layers.cache, "prices", &text, u->change.path, &u->error);
}

/* ---- all ---- */

/* The lists that --from named in earlier versions are read by tools/catalog_build. */
static bool is_list(const char *from)
{
	static const char *const lists[] = {"azure", "aws",      "aws-spot", "gcp",      "vultr",
					    "ovh",   "scaleway", "skypilot", "karpenter"};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (!strcmp(from, lists[i]))
			return true;
	return false;
}

/* Whether the request is one for a file. */
static int check_file_request(struct update *u)
{
	const struct trk_price_request *q = u->request;

	if (is_list(q->from))
		return trk__error_set(&u->error, -EINVAL, "",
				      "--from %s has gone. Use: python3 tools/catalog_build prices "
				      "FILE --from %s, then resource-tracker catalog update --from "
				      "FILE",
				      q->from, q->from);
	if (q->url || q->regions || q->force)
		return trk__error_set(&u->error, -EINVAL, "", "--%s is for the Keeper, not a file",
				      q->url       ? "url"
				      : q->regions ? "region"
						   : "force");
	if (strlen(q->from) >= FROM_MAX)
		return trk__error_set(&u->error, -EINVAL, "", "--from: too long");
	return 0;
}

static int update(struct update *u)
{
	const char *from = u->request->from;
	bool is_file = from && strcmp(from, "keeper") != 0;
	struct trk_price_layers bare = u->s->layers;
	int r = is_file ? check_file_request(u) : 0;

	if (!is_file && u->request->sha256)
		r = trk__error_set(&u->error, -EINVAL, "",
				   "--sha256 is for a file. Try: --from FILE");
	bare.cache = bare.prices = NULL;
	r = r ? r : trk__prices_load(&bare, &u->base, &u->error);
	if (r < 0)
		return r;
	r = is_file ? update_from_file(u) : update_from_keeper(u);
	trk__prices_release(&u->base);
	return r;
}

int trk__price_update(const struct trk_service *s, const struct trk_price_request *request,
		      struct trk_price_change *ret, struct trk_error *reterr)
{
	struct update *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return trk__error_set(reterr, -ENOMEM, "", "%s", trk__strerror(-ENOMEM));
	u->s = s;
	u->request = request;
	r = update(u);
	if (r == 0)
		*ret = u->change;
	else if (u->error.message[0])
		*reterr = u->error;
	else
		(void) trk__error_set(reterr, r, "", "%s", trk__strerror(r));
	free(u);
	return r;
}
