/* Nextflow's trace: one row a task. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/parse.h"
#include "import/delimited.h"
#include "import/private.h"
#include "import/values.h"

/* "ALIGN:BWA (sample 7)" without its tag: the tasks of a process are the runs of one job. */
static void process_of(const char *name, char *job, size_t size)
{
	size_t len = strlen(name);
	const char *tag = len && name[len - 1] == ')' ? strstr(name, " (") : NULL;

	(void) snprintf(job, size, "%.*s", (int) (tag ? (size_t) (tag - name) : len), name);
}

static int nextflow_row(struct trk_importing *i, const struct trk_delimited *d)
{
	struct trk_imp_totals t = TRK_IMP_TOTALS_UNKNOWN;
	const char *status = trk__delimited_cell(d, "status");
	const char *hash = trk__delimited_cell(d, "hash"),
		   *task = trk__delimited_cell(d, "task_id");
	double percent, start_s = trk__value_date(trk__delimited_cell(d, "start"));
	double code = trk__delimited_value(d, "exit");
	char job[TRK_RUN_TEXT_SIZE], number[32];

	t.duration_s = trk__value_words(trk__delimited_cell(d, "realtime"));
	t.peak_mib = trk__delimited_bytes(d, "peak_rss") / TRK_MIB;
	t.peak_is = "sum of the peaks of its processes, sampled";
	t.read_bytes = trk__delimited_bytes(d, "read_bytes");
	t.write_bytes = trk__delimited_bytes(d, "write_bytes");
	t.request_mib = trk__delimited_bytes(d, "memory") / TRK_MIB;
	t.request_cpu = trk__delimited_value(d, "cpus");
	(void) snprintf(number, sizeof(number), "%s", trk__delimited_cell(d, "%cpu"));
	number[strcspn(number, "%")] = '\0';
	if (trk__parse_decimal(number, &percent) == 0)
		t.cpu_s = percent / 100 * t.duration_s;
	if (!(t.duration_s >= 0) || !strcmp(status, "CACHED")) { /* ran in an earlier workflow */
		i->result->skipped++;
		return 0;
	}
	t.code = code >= 0 && code < 256 ? (int) code : !strcmp(status, "COMPLETED") ? 0 : -1;
	if (t.code == -1 && strcmp(status, "COMPLETED") != 0)
		t.end = TRK_END_STOPPED;
	if (isnan(start_s))
		start_s = trk__value_date(trk__delimited_cell(d, "submit"));
	process_of(trk__delimited_cell(d, trk__delimited_column(d, "process") < 0 ? "name"
										  : "process"),
		   job, sizeof(job));
	trk__imp_clear(i, job);
	i->run.start_ns = isnan(start_s) ? i->import->time_ns : trk__imp_ns(start_s);
	trk__imp_key(i, hash, strlen(hash));
	trk__imp_key(i, task, strlen(task));
	trk__imp_key(i, &t.duration_s, sizeof(t.duration_s));
	trk__imp_key(i, &t.peak_mib, sizeof(t.peak_mib));
	return trk__imp_totals(i, &t);
}

int trk__imp_nextflow(struct trk_importing *i, char *text, size_t len)
{
	struct trk_delimited d;
	int r = trk__delimited_init(&d, text, '\t');

	if (r < 0)
		return trk__imp_bad_table(i, 1);
	while ((r = trk__delimited_next(&d)) > 0) {
		r = nextflow_row(i, &d);
		if (r < 0)
			return r;
	}
	return r < 0 ? trk__imp_bad_table(i, d.line + 1) : 0;
}
