/* The sections of a report: their common input, and one function each. */
#ifndef TRK_REPORT_SECTION_SECTION_H
#define TRK_REPORT_SECTION_SECTION_H

#include "base/bytes.h"
#include "catalog/needs.h"
#include "model/capacity.h"
#include "answer/time_breakdown.h"
#include "report/report.h"
#include "report/section/sections.def"
#include "answer/cost.h"

/* Values computed from the input, for all sections. */
struct trk_report_work {
	const struct trk_report_input *in;
	struct trk_advice advice; /* from this run and the earlier ones; a run that did not end well
				   * can only raise it */
	bool has_advice, ended_well;
	struct trk_capacity cpu_had, memory_had;
	double cpu_peak, memory_peak;
	struct trk_column_stats cpu, memory;
	struct trk_run_servers *servers; /* owned; NULL: not searched */
	bool has_servers;                /* and some were found */
	struct trk_cost paid;            /* for this run */
	bool has_paid;
	struct trk_time_breakdown course;
	bool has_course;
	int here; /* index of the present server, or -1 */
};

/* Whether the recording names the cloud that the run was in. */
bool trk__report_knows_cloud(const struct trk_report_work *w);
/* Search for servers; requires the advice. */
void trk__report_find_servers(struct trk_report_work *w);

/* How the run ended, and the verdict on its size: the head of the document. */
void trk__section_head(struct trk_doc *d, const struct trk_report_work *w);

typedef void trk_section_fn(struct trk_doc *d, struct trk_doc_section *s,
			    const struct trk_report_work *w);
/* trk__section_NAME in NAME.c */
/* clang-format off */
#define X(name, key, title) trk_section_fn trk__section_##name;
TRK_SECTION_LIST(X)
#undef X
/* clang-format on */
#endif
