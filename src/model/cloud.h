/* Which cloud a machine belongs to: vendor, region, zone, instance type, spot or on demand. */
#ifndef TRK_MODEL_CLOUD_H
#define TRK_MODEL_CLOUD_H

#include <stdbool.h>
#include <stddef.h>

enum { TRK_CLOUD_VENDOR = 16, TRK_CLOUD_TEXT = 64, TRK_CLOUD_REASON = 320 };

/* Texts are empty where nothing is known. */
struct trk_cloud {
	char vendor[TRK_CLOUD_VENDOR]; /* "aws", "gcp", …, as in the list of vendors */
	char region[TRK_CLOUD_TEXT], zone[TRK_CLOUD_TEXT];
	char instance_type[TRK_CLOUD_TEXT];
	char allocation[16];           /* "ondemand" or "spot" */
	char source[TRK_CLOUD_TEXT];   /* "metadata service", "firmware", "stated", … */
	char reason[TRK_CLOUD_REASON]; /* why something is not known */
	/* Evidence for an inferred instance type, found by the machine's hardware. */
	char inferred[TRK_CLOUD_REASON];
	double discovery_time; /* seconds that the requests took; NaN where none was sent */
};

void trk__cloud_clear(struct trk_cloud *c);
/* Parse "VENDOR/REGION/TYPE", where region and type may be empty or missing. 0 or -EINVAL. */
int trk__cloud_state(const char *text, struct trk_cloud *ret);

/* Copy a name that consists of letters, digits and ._:/-, without the blanks around it, from
 * text[0..len). False, and `to` untouched, for anything else (such as an HTML page) and for a text
 * that does not fit. */
bool trk__cloud_word_n(const char *text, size_t len, char *to, size_t size);
bool trk__cloud_word(const char *text, char *to, size_t size); /* NULL: returns false */

#endif
