#include "service/prices.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/os.h"
#include "base/trust.h"
#include "catalog/text.h"
#include "answer/infer.h"

/* ---- layers ---- */

/* Add an open file as a layer; `kept` holds its path, and is emptied on failure. */
static int add_layer_fd(struct trk_prices *p, int fd, char *kept, struct trk_error *reterr)
{
	struct trk_catalog more = {.image = NULL};
	int r = trk__catalog_text_read_fd(&p->c, fd, kept, &more, reterr);

	if (r < 0) {
		kept[0] = '\0';
		return r;
	}
	trk__catalog_release(&p->c);
	p->c = more;
	return 0;
}

/* Add a file of the caller. optional: it may be missing. */
static int add_layer(struct trk_prices *p, const char *path, bool optional,
		     char kept[TRK_PRICES_PATH_SIZE], struct trk_error *reterr)
{
	TRK_FD_CLEANUP int fd = path ? trk__open_regular_at(AT_FDCWD, path) : -1;

	if (fd < 0)
		return !path || optional
			       ? 0
			       : trk__error_set(reterr, fd, path, "%s: cannot read: %s",
						trk__catalog_file_tail(path), trk__strerror(fd));
	(void) snprintf(kept, TRK_PRICES_PATH_SIZE, "%s", path);
	return add_layer_fd(p, fd, kept, reterr);
}

/* The path of a file of the cache: prices of the Keeper ("update"), or a built file ("prices"). 0
 * or -ENAMETOOLONG. */
static int prices_file(const char *cache, const char *name, char path[TRK_PRICES_PATH_SIZE])
{
	int n = snprintf(path, TRK_PRICES_PATH_SIZE, "%s/%s.tsv", cache, name);

	return n > 0 && n < TRK_PRICES_PATH_SIZE ? 0 : -ENAMETOOLONG;
}

/* Add a file of the cache. */
static int add_cached_layer(struct trk_prices *p, const char *cache, const char *name,
			    char kept[TRK_PRICES_PATH_SIZE], struct trk_error *reterr)
{
	struct trk_error untrusted = {.code = 0};
	TRK_FD_CLEANUP int fd = -1;

	kept[0] = '\0';
	if (!cache || prices_file(cache, name, kept) < 0)
		return 0;
	fd = trk__trust_open_file(kept, &untrusted);
	if (fd >= 0)
		return add_layer_fd(p, fd, kept, reterr);
	if (fd == -TRK_ERR_UNTRUSTED && !p->ignored.code)
		(void) trk__error_set(&p->ignored, fd, kept, "%s: prices in %s are ignored",
				      untrusted.message, kept);
	kept[0] = '\0';
	return 0;
}

int trk__prices_load(const struct trk_price_layers *layers, struct trk_prices *ret,
		     struct trk_error *reterr)
{
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	trk__catalog_embedded(&ret->c);
	if (layers->catalog)
		r = trk__catalog_text_read(NULL, AT_FDCWD, layers->catalog, &ret->c, reterr);
	if (r == 0)
		r = add_layer(ret, layers->scores, layers->scores_optional, ret->scores, reterr);
	if (r == 0 && !layers->no_fetched)
		r = add_cached_layer(ret, layers->cache, "update", ret->fetched, reterr);
	if (r == 0 && !layers->no_built)
		r = add_cached_layer(ret, layers->cache, "prices", ret->built, reterr);
	if (r == 0)
		r = add_layer(ret, layers->prices, false, ret->built, reterr);
	if (r < 0)
		trk__prices_release(ret);
	return r;
}

void trk__prices_release(struct trk_prices *p)
{
	if (p->c.image)
		trk__catalog_release(&p->c);
	p->c.image = NULL;
}

/* ---- the cache ---- */

/* $XDG_CACHE_HOME/resource-tracker, else ~/.cache/resource-tracker. NULL: neither variable is
 * set. */
static const char *usual_cache(char *(*get)(const char *name), char text[TRK_PRICES_PATH_SIZE])
{
	const char *cache = get("XDG_CACHE_HOME"), *home = get("HOME");
	bool is_named = cache && trk__os_is_absolute(cache);
	int n;

	if (!is_named && !(home && trk__os_is_absolute(home)))
		return NULL;
	n = is_named ? snprintf(text, TRK_PRICES_PATH_SIZE, "%s/resource-tracker", cache)
		     : snprintf(text, TRK_PRICES_PATH_SIZE, "%s/.cache/resource-tracker", home);
	return n > 0 && n < TRK_PRICES_PATH_SIZE ? text : NULL;
}

static const char *usual_scores(char *(*get)(const char *name), const char *installed,
				char text[TRK_PRICES_PATH_SIZE])
{
	const char *folder = get("RESOURCE_TRACKER_DATA");

	if (!folder || !*folder)
		return installed;
	(void) snprintf(text, TRK_PRICES_PATH_SIZE, "%s/sparecores.tsv", folder);
	return text;
}

static const char *unless_none(const char *file)
{
	return file && strcmp(file, "none") != 0 ? file : NULL;
}

struct trk_price_layers trk__price_layers(const struct trk_named_prices *named,
					  char *(*get)(const char *name), const char *installed,
					  struct trk_price_paths *room)
{
	struct trk_price_layers l = {
		.catalog = named->catalog,
		.scores = unless_none(named->scores),
		.scores_optional = !named->scores,
		.cache = named->cache ? unless_none(named->cache) : usual_cache(get, room->cache),
		.no_fetched = named->catalog && !named->cache,
		.no_built = (named->catalog || named->prices) && !named->cache,
		.prices = unless_none(named->prices),
	};

	if (!named->scores && !named->catalog) /* no usual scores for another catalogue */
		l.scores = usual_scores(get, installed, room->scores);
	return l;
}

/* The folder of `path`, made where it is missing; only the user may be able to write to it. */
static int open_folder(char *path, struct trk_error *reterr)
{
	char *slash = strrchr(path, '/');
	int r;

	*slash = '\0';
	r = trk__trust_open_dir(path, TRK_TRUST_MAKE, reterr);
	*slash = '/';
	return r;
}

int trk__prices_keep(const char *cache, const char *name, const struct trk_buf *text,
		     char path[TRK_PRICES_PATH_SIZE], struct trk_error *reterr)
{
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int dirfd = -1;
	int r;

	if (!cache)
		return trk__error_set(reterr, -ENOENT, "",
				      "no directory for a cache. Try: set HOME");
	r = prices_file(cache, name, path);
	r = dirfd = r ? r : open_folder(path, &error);
	if (dirfd >= 0)
		r = trk__replace_at(dirfd, strrchr(path, '/') + 1, 0600, text->data, text->len);
	if (r == 0)
		return 0;
	return trk__error_set(reterr, r == -ENOENT ? -EIO : r, path, "%s: cannot write: %.120s",
			      path, trk__error_text(&error, r));
}

/* ---- what a run costs ---- */

/* On the heap; NULL where they cannot be read. */
static struct trk_prices *load(const struct trk_price_layers *layers)
{
	struct trk_prices *prices = malloc(sizeof(*prices));

	if (prices && trk__prices_load(layers, prices, NULL) == 0)
		return prices;
	free(prices);
	return NULL;
}

void trk__prices_cost(const struct trk_price_layers *layers, struct trk_record *record,
		      const struct trk_advice *advice, const struct trk_busy *busy)
{
	struct trk_place *place = &record->place;
	struct trk_prices *prices;

	if (!place->has_cloud || !place->cloud.vendor[0])
		return;
	prices = load(layers);
	if (!prices) {
		place->has_cost = true;
		(void) snprintf(place->cost.reason, sizeof(place->cost.reason),
				"the catalogue cannot be read: resource-tracker catalog info");
		return;
	}
	(void) trk__infer_type(&prices->c, &place->server, &place->cloud);
	if (trk__cost_of_run(&prices->c, record, &place->cloud, advice, busy, &place->cost) == 0)
		place->has_cost = true;
	trk__prices_release(prices);
	free(prices);
}

void trk__prices_cost_at(const struct trk_price_layers *layers, struct trk_record *record,
			 const struct trk_cloud *stated, const struct trk_advice *advice,
			 const struct trk_busy *busy)
{
	record->place.cloud = *stated;
	record->place.has_cloud = true;
	record->place.has_cost = false;
	trk__prices_cost(layers, record, advice, busy);
}

void trk__prices_best(const struct trk_price_layers *layers, struct trk_record *record,
		      const struct trk_advice *advice, const struct trk_busy *busy)
{
	struct trk_cost *cost = &record->place.cost;
	struct trk_prices *prices = NULL;

	if (record->place.has_cost && !isnan(cost->usd))
		prices = load(layers);
	if (!prices)
		return;
	trk__cost_name_best(&prices->c, record, advice, busy, cost);
	trk__prices_release(prices);
	free(prices);
}
