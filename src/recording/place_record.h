/* The place of a run in a recording: pairs of a key and a value, in a record per part.
 *
 * The machine is written at the start, the cloud when the metadata service has answered, the cost
 * at the end. A reader skips unknown keys; a later record adds to an earlier one. */
#ifndef TRK_RECORDING_PLACE_RECORD_H
#define TRK_RECORDING_PLACE_RECORD_H

#include "base/buf.h"
#include "model/place.h"

/* Append the payload of one part; nothing if the part is not known. */
void trk__place_format(struct trk_buf *b, const struct trk_place *p, enum trk_place_part part);
/* Add the fields of a payload to *p. 0 or -EBADMSG. */
int trk__place_parse(const void *data, size_t len, struct trk_place *p);

#endif
