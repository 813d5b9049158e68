#include "cli/catalog_files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "catalog/feed.h"
#include "catalog/text.h"
#include "cli/cli.h"

static const char *cache_path(const char *name, char *text, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		(void) snprintf(text, size, "%s/resource-tracker/%s", cache, name);
	else if (home && *home == '/')
		(void) snprintf(text, size, "%s/.cache/resource-tracker/%s", home, name);
	else
		text[0] = '\0';
	return text;
}

const char *cli_catalog_prices_path(char *text, size_t size)
{
	return cache_path("prices.tsv", text, size);
}

const char *cli_catalog_update_path(char *text, size_t size)
{
	return cache_path("update.tsv", text, size);
}

const char *cli_catalog_feed_path(const char *id, char *text, size_t size)
{
	char name[64];

	(void) snprintf(name, sizeof(name), "update-%s.tsv", id);
	return cache_path(name, text, size);
}

/* $RESOURCE_TRACKER_DATA/sparecores.tsv, else ../share/resource-tracker beside the program. */
static void find_scores(char *text, size_t size)
{
	const char *folder = getenv("RESOURCE_TRACKER_DATA");
	char exe[2048];
	ssize_t len;
	char *slash;

	if (folder && *folder) {
		(void) snprintf(text, size, "%s/sparecores.tsv", folder);
		return;
	}
	text[0] = '\0';
	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (len <= 0)
		return;
	exe[len] = '\0';
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	(void) snprintf(text, size, "%s/../share/resource-tracker/sparecores.tsv", exe);
}

/* Make the folders on the way to `path`. */
static void make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void) mkdir(path, 0700);
		*at = '/';
	}
}

int cli_catalog_replace(char *path, const struct trk_buf *b)
{
	char temporary[4200];
	int fd, r;

	make_folders(path);
	(void) snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long) getpid());
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		r = -errno;
		cli_complain("catalog: %s: cannot write: %s", temporary, trk__strerror(r));
		return EXIT_ERROR;
	}
	r = trk__write_all(fd, b->data, b->len);
	if (r == 0 && fsync(fd) != 0)
		r = -errno;
	trk__close(fd);
	if (r == 0 && rename(temporary, path) != 0)
		r = -errno;
	if (r == 0)
		return 0;
	(void) unlink(temporary);
	cli_complain("catalog: %s: cannot write: %s", path, trk__strerror(r));
	return EXIT_ERROR;
}

/* Lay the file over the catalogue. A file that nobody named may be missing. */
static int lay_over(struct trk_catalog *c, char *path, const char *named, bool quiet)
{
	struct trk_error error = {.code = 0};
	int r;

	if (named && !strcmp(named, "none"))
		path[0] = '\0';
	if (path[0] && !named && access(path, R_OK) != 0)
		path[0] = '\0';
	if (!path[0])
		return 0;
	r = trk__catalog_text_overlay(c, path, &error);
	if (r == 0)
		return 0;
	if (!quiet)
		cli_complain("%s", error.message);
	return r == -ENOENT ? EXIT_NODATA : EXIT_ERROR;
}

/* What `catalog update --from` keeps. */
static int lay_over_feeds(const struct cli_catalog_choice *choice, struct cli_catalog *k)
{
	char path[4096];
	int r = 0;

	k->feeds = 0;
	for (size_t i = 0; i < trk__feed_count && r == 0; i++) {
		if (choice->update || choice->catalog)
			break;
		(void) cli_catalog_feed_path(trk__feeds[i].id, path, sizeof(path));
		r = lay_over(&k->c, path, NULL, choice->quiet);
		if (path[0])
			k->feeds |= 1u << i;
	}
	return r;
}

int cli_catalog_load(const struct cli_catalog_choice *choice, struct cli_catalog *ret)
{
	struct trk_error error = {.code = 0};
	int r = 0;

	trk__catalog_embedded(&ret->c);
	if (choice->catalog)
		r = trk__catalog_text_read(NULL, AT_FDCWD, choice->catalog, &ret->c, &error);
	if (r < 0) {
		cli_complain("%s", error.message);
		return r == -ENOENT ? EXIT_NODATA : EXIT_ERROR;
	}
	if (choice->scores)
		(void) snprintf(ret->scores_path, sizeof(ret->scores_path), "%s", choice->scores);
	else if (choice->catalog)
		ret->scores_path[0] = '\0'; /* a catalogue of one's own stands alone */
	else
		find_scores(ret->scores_path, sizeof(ret->scores_path));
	if (choice->update)
		(void) snprintf(ret->update_path, sizeof(ret->update_path), "%s", choice->update);
	else if (choice->catalog)
		ret->update_path[0] = '\0';
	else
		(void) cli_catalog_update_path(ret->update_path, sizeof(ret->update_path));
	if (choice->prices)
		(void) snprintf(ret->prices_path, sizeof(ret->prices_path), "%s", choice->prices);
	else if (choice->catalog)
		ret->prices_path[0] = '\0';
	else
		(void) cli_catalog_prices_path(ret->prices_path, sizeof(ret->prices_path));
	r = lay_over(&ret->c, ret->scores_path, choice->scores, choice->quiet);
	if (r == 0)
		r = lay_over(&ret->c, ret->update_path, choice->update, choice->quiet);
	if (r == 0)
		r = lay_over_feeds(choice, ret);
	if (r == 0)
		r = lay_over(&ret->c, ret->prices_path, choice->prices, choice->quiet);
	if (r != 0)
		trk__catalog_release(&ret->c);
	return r;
}

static void change_json(struct trk_buf *b, const struct cli_catalog_change *x)
{
	const struct {
		const char *key;
		size_t value;
	} counts[] = {
		{"prices", x->prices},
		{"savings", x->savings},
		{"new_types", x->new_types},
		{"left_out", x->left_out},
	};
	struct trk_json j;

	trk__json_init(&j, b, 2);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.catalog-change/1");
	trk__json_key_text(&j, "from", x->from);
	trk__json_key_text(&j, "file", x->path);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		trk__json_key(&j, counts[i].key);
		trk__json_u64(&j, counts[i].value);
	}
	trk__json_key_double(&j, "eur_usd", x->eur_usd);
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

static void change_text(struct trk_buf *b, const struct cli_catalog_change *x)
{
	trk__buf_printf(b, "%zu %s now stand in %s", x->savings ? x->savings : x->prices,
			x->savings ? "savings" : "prices", x->path);
	if (x->new_types)
		trk__buf_printf(b, "; %zu new types", x->new_types);
	if (x->left_out)
		trk__buf_printf(b, "; %zu rows left out", x->left_out);
	if (!isnan(x->eur_usd))
		trk__buf_printf(b, "; a euro at %.4f USD", x->eur_usd);
	trk__buf_putc(b, '\n');
}

int cli_catalog_tell(const struct cli_catalog_change *x, bool json)
{
	struct trk_buf b;
	int r;

	trk__buf_init(&b, 1 << 16);
	(json ? change_json : change_text)(&b, x);
	r = cli_write(json ? STDOUT_FILENO : STDERR_FILENO, &b, json ? "stdout" : "stderr");
	trk__buf_release(&b);
	return r;
}
