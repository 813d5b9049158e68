/* What the program can do, as a library: the verbs of the command and the C API call the same
 * services.
 *
 * A service returns 0 or a negative error with a sentence in *reterr; -EINVAL where a word of the
 * caller is wrong. It neither prints nor reads the environment: the caller passes where the
 * recordings, the history and the prices of this user lie, and what to do with remarks. */
#ifndef TRK_SERVICE_SERVICE_H
#define TRK_SERVICE_SERVICE_H

#include <stdint.h>

#include "service/prices.h"

/* All borrowed; zero-initialised: no recordings, no history, list prices, remarks are dropped. */
struct trk_service {
	const char *dir;         /* state directory: recordings, history.sqlite; NULL or "": none */
	const char *history_url; /* PostgreSQL of a team in place of history.sqlite; NULL: none */
	struct trk_price_layers layers;
	const char *feeds_url; /* tests: a server in place of every https host; NULL: none */
	/* One line about something that fails nothing; NULL: dropped. */
	void (*note)(void *data, const char *text);
	/* A download: url NULL at its end; `total` 0: not known. NULL: not shown. */
	void (*progress)(void *data, const char *url, uint64_t done, uint64_t total);
	void *data; /* of both */
};

void trk__service_note(const struct trk_service *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* In a child that was forked while a job runs: leave the standard streams and the control socket (-1:
 * none). Where memory runs out, the kernel ends the child before the job. */
void trk__service_child(int control_fd);

#endif
