/* The tree of stacks with its CPU time, small enough for a page: JSON for the icicle chart. */
#ifndef TRK_LINES_TREE_H
#define TRK_LINES_TREE_H

#include "base/buf.h"
#include "model/lines.h"

enum { TRK_LINES_TREE_NODES = 400, TRK_LINES_TREE_BINS = 24 };

/* Append one JSON object without a line end, at most max_bytes long, safe inside a script element:
 *
 *   {"ms": CPU time of all, "bins": [from_s, to_s, to_s, ...],
 *    "functions": [[name, file, 1 of the user's code], ...],
 *    "nodes": [[parent, function, line, ms, [bin, ms, bin, ms, ...]], ...]}
 *
 * The ms of a node include its callees; top-level nodes have the parent -1; parents precede their
 * children. Nodes too small to be drawn are not listed, but included in the ms of their callers.
 * Bins are parts of the run; empty without windows. False: no CPU time, no memory, or no room. */
bool trk__lines_tree_json(struct trk_buf *b, const struct trk_lines *l, size_t max_bytes);

#endif
