/* Snakemake's benchmark files. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/parse.h"
#include "import/delimited.h"
#include "import/private.h"

/* The larger known value: PSS counts shared pages once, RSS is readable without privileges. */
static double peak_of(const struct trk_delimited *d, const char **ret_is)
{
	double pss = trk__delimited_value(d, "max_pss"), rss = trk__delimited_value(d, "max_rss");

	*ret_is = pss > 0 ? "sampled sum of PSS" : "sampled sum of RSS";
	return pss > 0 ? pss : rss;
}

/* "12.1", or "{'a.fq': 12.1, 'b.fq': 3.0}": the sum in bytes; 0 if unknown. */
static uint64_t input_of(const char *text)
{
	double sum = 0, value;

	if (trk__parse_decimal(text, &value) == 0)
		sum = value;
	for (const char *at = strrchr(text, '}') ? text : ""; (at = strstr(at, ": ")); at++) {
		char number[32];
		size_t len = strspn(at + 2, "0123456789.");

		(void) snprintf(number, sizeof(number), "%.*s", len < 31 ? (int) len : 31, at + 2);
		if (trk__parse_decimal(number, &value) == 0)
			sum += value;
	}
	return sum > 0 && sum < 1e9 ? (uint64_t) (sum * TRK_MIB) : 0;
}

int trk__imp_snakemake(struct trk_importing *i, char *text, size_t len)
{
	struct trk_delimited d;
	int r = trk__delimited_init(&d, text, '\t');

	if (r < 0 || trk__delimited_column(&d, "s") < 0)
		return trk__error_set(i->reterr, -EBADMSG, i->import->file,
				      "%s:1: no column s (seconds)", i->import->file);
	while ((r = trk__delimited_next(&d)) > 0) {
		struct trk_imp_totals t = TRK_IMP_TOTALS_UNKNOWN;
		const char *rule = trk__delimited_cell(&d, "rule_name");

		t.duration_s = trk__delimited_value(&d, "s");
		t.peak_mib = peak_of(&d, &t.peak_is);
		t.cpu_s = trk__delimited_value(&d, "cpu_time");
		if (isnan(t.cpu_s)) /* older versions have only the mean, in percent */
			t.cpu_s = trk__delimited_value(&d, "mean_load") / 100 * t.duration_s;
		t.read_bytes = trk__delimited_value(&d, "io_in") * TRK_MIB;
		t.write_bytes = trk__delimited_value(&d, "io_out") * TRK_MIB;
		t.request_cpu = trk__delimited_value(&d, "threads");
		if (!(t.duration_s > 0)) {
			i->result->skipped++;
			continue;
		}
		trk__imp_clear(i, rule);
		trk__imp_ends_with_file(i, t.duration_s);
		i->run.input_bytes = input_of(trk__delimited_cell(&d, "input_size_mb"));
		trk__imp_key(i, &t.duration_s, sizeof(t.duration_s));
		trk__imp_key(i, &t.cpu_s, sizeof(t.cpu_s));
		trk__imp_key(i, &t.peak_mib, sizeof(t.peak_mib));
		r = trk__imp_totals(i, &t);
		if (r < 0)
			return r;
	}
	return r < 0 ? trk__error_set(i->reterr, r, i->import->file, "%s:%lu: too many cells",
				      i->import->file, d.line + 1)
		     : 0;
}
