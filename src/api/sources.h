/* Sources in addition to the recording: the history of runs and the prices, as named by a caller's
 * options. */
#ifndef TRK_API_SOURCES_H
#define TRK_API_SOURCES_H

#include "api/install_path.h"
#include "service/runs.h"
#include "service/service.h"

/* Fields of the options; NULL and 0: not set. */
struct trk_sources_named {
	const char *history, *history_url;
	struct trk_named_prices prices;
	int of_user;
};

/* Room for the paths of layers. */
struct trk_layer_paths {
	struct trk_price_paths usual;
	char installed[TRK_PRICES_PATH_SIZE];
};
/* The prices alone. */
struct trk_price_layers trk__named_layers(const struct trk_named_prices *named,
					  struct trk_layer_paths *room);

struct trk_sources {
	struct trk_service service;  /* points into this struct */
	struct trk_history *history; /* NULL: none is named, or this user has none */
	struct trk_layer_paths layers;
	char dir[TRK_PLACE_PATH_SIZE];
	char note[256]; /* the first remark of the service; "": none */
};

/* Fill *ret, which must not be copied. with_history: open the history as well. 0, or an error of
 * trk__runs_history() with a sentence. The caller releases *ret in each case. */
int trk__sources_open(struct trk_sources *ret, const struct trk_sources_named *named,
		      bool with_history, struct trk_error *reterr);
void trk__sources_release(struct trk_sources *p);

#endif
