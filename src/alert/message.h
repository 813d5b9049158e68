/* An alert as it is sent to a sink, and its JSON text. */
#ifndef TRK_ALERT_MESSAGE_H
#define TRK_ALERT_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum { TRK_ALERT_FIELD_SIZE = 256, TRK_ALERT_SENTENCE_SIZE = 512, TRK_ALERT_LIST_SIZE = 8192 };

struct trk_alert_message {
	char rule[TRK_ALERT_FIELD_SIZE];
	char severity[TRK_ALERT_FIELD_SIZE]; /* "info", "warning", "critical" */
	bool firing;
	char text[TRK_ALERT_SENTENCE_SIZE], fix[TRK_ALERT_SENTENCE_SIZE];
	char job[TRK_ALERT_FIELD_SIZE], run[TRK_ALERT_FIELD_SIZE], host[TRK_ALERT_FIELD_SIZE];
	/* Further lines, each ended by a newline, for several alerts in one message and for a
	 * digest. "# " begins a heading, "$ " a line to paste. */
	char list[TRK_ALERT_LIST_SIZE];
	double value, limit; /* NaN: none */
	uint64_t wall_ns;    /* when it fired or was resolved */
};

/* Read the JSON object of RT_JSON (alert/hook.h). Unknown keys are ignored; rule, state and text
 * are required. Control characters become blanks. Returns 0 or -EBADMSG with *reterr. */
int trk__alert_message_read(const char *json, size_t len, struct trk_alert_message *ret,
			    struct trk_error *reterr);
void trk__alert_message_write(const struct trk_alert_message *m, struct trk_buf *b);
/* Copy a text as one line: control and invisible characters become blanks, and what does not fit is
 * cut off between characters. text NULL: "". */
void trk__alert_text(char *ret, size_t size, const char *text);
/* Add a line to the list. Its text is made one line as above, and is a heading or a line to paste
 * only if `format` begins so. False where it is full: the line is then left out. */
bool trk__alert_message_add(struct trk_alert_message *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "[critical] oom-risk: train: memory at …": one line. */
void trk__alert_message_line(const struct trk_alert_message *m, struct trk_buf *b);

#endif
