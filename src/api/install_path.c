#include "api/install_path.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool trk__install_path(const char *const *places, size_t n, const char *name, int mode, char *path,
		       size_t size)
{
	static const char here[] = "";
	const char *slash;
	Dl_info info;

	if (!dladdr(here, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	for (size_t i = 0; slash && i < n; i++) {
		int len = snprintf(path, size, "%.*s/%s%s", (int) (slash - info.dli_fname),
				   info.dli_fname, places[i], name);

		if (len > 0 && (size_t) len < size && access(path, mode) == 0)
			return true;
	}
	return false;
}

/* Relative to the library: LIB/../share, also from an architecture's library folder. */
const char *trk__installed_scores(char path[4096])
{
	static const char *const places[] = {"../share/resource-tracker/",
					     "../../share/resource-tracker/", ""};

	return trk__install_path(places, 3, "sparecores.tsv", R_OK, path, 4096) ? path : NULL;
}

const char *trk__unless_none(const char *file)
{
	return file && strcmp(file, "none") != 0 ? file : NULL;
}

/* The scores in $RESOURCE_TRACKER_DATA, as for the command, else the installed ones. */
static const char *scores_of_user(char path[4096])
{
	const char *folder = getenv("RESOURCE_TRACKER_DATA");

	if (!folder || !*folder)
		return trk__installed_scores(path);
	(void) snprintf(path, 4096, "%s/sparecores.tsv", folder);
	return path;
}

struct trk_price_layers trk__usual_layers(const char *cache, struct trk_layer_paths *room)
{
	return (struct trk_price_layers){
		.scores = scores_of_user(room->scores),
		.scores_optional = true,
		.cache = cache ? trk__unless_none(cache)
			       : trk__prices_usual_cache(getenv, room->cache),
	};
}
