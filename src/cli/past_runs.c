#include "cli/past_runs.h"

#include <stdio.h>
#include <stdlib.h>

struct trk_history *cli_history_open(const char *dir, int *ret_status)
{
	struct trk_error error = {.code = 0};
	struct trk_history *h;
	char text[4096];

	h = trk__history_open(cli_state_dir(dir, text, sizeof(text)), &error);
	if (!h) {
		cli_complain("%s", error.message);
		*ret_status = error.code == -TRK_E_NODATA ? EXIT_NODATA : EXIT_ERROR;
		return NULL;
	}
	if (*trk__history_note(h))
		cli_complain("%s", trk__history_note(h));
	return h;
}

static int keep(void *data, const struct trk_past *run)
{
	struct cli_past *p = data;

	if (p->count == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 32;
		struct trk_past *bigger = realloc(p->run, cap * sizeof(*bigger));

		if (!bigger)
			return 1;
		p->run = bigger;
		p->cap = cap;
	}
	p->run[p->count++] = *run;
	return 0;
}

static int take_id(void *data, const struct trk_past *run)
{
	(void) snprintf(data, TRK_RUN_ID_SIZE, "%s", run->id);
	return 1;
}

const char *cli_newest_of(struct trk_history *h, const char *reference, char id[TRK_RUN_ID_SIZE])
{
	id[0] = '\0';
	if (h)
		(void) trk__history_list(h, reference, 1, take_id, id, NULL);
	return id[0] ? id : reference;
}

int cli_past_load(struct trk_history *h, const char *job, size_t max, struct cli_past *ret)
{
	struct trk_error error = {.code = 0};
	struct cli_past p = {.count = 0};

	if (trk__history_list(h, job, max, keep, &p, &error) < 0) {
		cli_complain("%s", error.message);
		cli_past_release(&p);
		return EXIT_ERROR;
	}
	*ret = p;
	return 0;
}

void cli_past_release(struct cli_past *p)
{
	free(p->run);
	*p = (struct cli_past){.count = 0};
}
