#include "api/sources.h"

#include <stdio.h>

#include "base/os.h"
#include "recording/store.h"

static void keep_note(void *data, const char *text)
{
	struct trk_sources *p = data;

	if (!p->note[0])
		(void) snprintf(p->note, sizeof(p->note), "%s", text);
}

/* Take the database named in the user's environment, and the usual directory. */
static void add_places_of_user(struct trk_sources *p, const struct trk_sources_named *named)
{
	struct trk_service *s = &p->service;
	const char *url = trk__os_variable("RESOURCE_TRACKER_HISTORY");
	struct trk_error error = {.code = 0};

	if (!s->history_url && url && *url)
		s->history_url = url;
	if (named->history)
		return;
	if (trk__usual_state_dir(trk__os_variable, p->dir, &error) < 0) {
		keep_note(p, error.message);
		p->dir[0] = '\0';
	}
	s->dir = p->dir;
}

struct trk_price_layers trk__named_layers(const struct trk_named_prices *named,
					  struct trk_layer_paths *room)
{
	return trk__price_layers(named, trk__os_variable, trk__installed_scores(room->installed),
				 &room->usual);
}

int trk__sources_open(struct trk_sources *ret, const struct trk_sources_named *named,
		      bool with_history, struct trk_error *reterr)
{
	struct trk_service *s = &ret->service;

	*ret = (struct trk_sources){.note = ""};
	s->dir = named->history;
	s->history_url = named->history_url;
	s->layers = trk__named_layers(&named->prices, &ret->layers);
	s->note = keep_note;
	s->data = ret;
	if (named->of_user)
		add_places_of_user(ret, named);
	if (!with_history || !(named->history || s->history_url || trk__store_exists(ret->dir)))
		return 0;
	return trk__runs_history(s, 0, &ret->history, reterr);
}

void trk__sources_release(struct trk_sources *p)
{
	trk__history_free(p->history);
	p->history = NULL;
}
