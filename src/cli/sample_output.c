#include "cli/sample_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os.h"
#include "base/output.h"

enum { ROWS_MAX = 4 * 1024 * 1024 }; /* of all that wait; a line with a thousand disks fits */

bool sample_output_is_on_stderr(const struct track_settings *s)
{
	return s->format && !s->output && !s->quiet;
}

int sample_output_open(struct sample_output *out, const struct track_settings *s)
{
	const char *format = s->format ? s->format : "json";

	*out = (struct sample_output){
		.fd = -1,
		.where = s->output,
		.format = !strcmp(format, "csv")     ? SAMPLE_CSV
			  : !strcmp(format, "jsonl") ? SAMPLE_JSONL
						     : SAMPLE_JSON,
		.line = {.job = s->job, .steal_of_cores = s->steal_of_cores},
	};
	trk__buf_init(&out->buf, ROWS_MAX);
	trk__buf_init(&out->only, ROWS_MAX);
	if (s->output) {
		out->fd = trk__output_open(s->output);
		if (out->fd < 0) {
			cli_complain("%s: cannot open for writing: %s", s->output,
				     trk__strerror(out->fd));
			return -1;
		}
	} else if (sample_output_is_on_stderr(s)) {
		out->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		out->where = "stderr";
	}
	out->has_rates = s->track.no_system;
	return 0;
}

void sample_output_release(struct sample_output *out)
{
	trk__close(out->fd);
	trk__buf_release(&out->buf);
	trk__buf_release(&out->only);
	out->fd = -1;
}

/* The sibling's formats begin with the first interval; the amounts of the row before it are added
 * to it. */
static void add_json(struct sample_output *out, const struct trk_run *run,
		     const struct trk_sample *row, struct trk_sampler *sampler)
{
	struct trk_machine_now *now = trk__sampler_machine(sampler);
	struct trk_sample copy = *row;

	trk__machine_now_devices(now);
	out->line.is_first = !out->begun;
	if (out->has_rates && trk__table_begin(&out->lead, TRK_SET_05, &copy)) {
		out->begun = true;
		trk__sibling_json_row(&out->buf, run, &copy, now, trk__sampler_gpus(sampler),
				      &out->line);
		return;
	}
	if (!out->has_rates)
		trk__table_hold(&out->lead, &copy);
	out->has_rates = true;
	trk__buf_clear(&out->only);
	trk__sibling_json_row(&out->only, run, trk__table_only_row(&out->lead), now, NULL,
			      &out->line);
}

static void add_row(struct sample_output *out, const struct trk_run *run,
		    const struct trk_sample *row, struct trk_sampler *sampler)
{
	struct trk_sample copy = *row;

	switch (out->format) {
	case SAMPLE_JSON:
		add_json(out, run, row, sampler);
		break;
	case SAMPLE_JSONL:
		trk__table_row(&out->buf, TRK_SET_FULL, row, &trk__line_formats[TRK_LINE_JSONL]);
		break;
	case SAMPLE_CSV:
		if (!out->begun)
			trk__table_head(&out->buf, TRK_SET_05, &trk__line_formats[TRK_LINE_CSV]);
		out->begun = true;
		if (trk__table_begin(&out->lead, TRK_SET_05, &copy) &&
		    trk__table_has_row(TRK_SET_05, &copy))
			trk__sibling_csv_row(&out->buf, &copy);
		break;
	}
}

static ssize_t send_part(struct sample_output *out, size_t len, int ms)
{
	size_t at = out->sent;
	ssize_t r;

	out->sent += len; /* an abandoned write goes on with them */
	r = trk__os_write_in_time(out->fd, out->buf.data + at, len, ms);
	out->sent = at + (r > 0 ? (size_t) r : 0);
	return r;
}

static void fail(struct sample_output *out, const char *reason)
{
	out->failed = true;
	trk__buf_clear(&out->buf);
	out->sent = 0;
	cli_complain("%s: cannot write samples: %s", out->where, reason);
}

static void note_storage(struct sample_output *out, bool is_last)
{
	if (!trk__os_write_is_stuck(out->fd))
		return;
	if (is_last)
		fail(out, "the storage does not answer");
	else if (!out->has_waited)
		cli_complain("%s: the storage does not answer: rows wait in memory", out->where);
	out->has_waited = true;
}

/* Rows that the reader or the storage does not take at once wait for the next row: the job's limits
 * and signals must not wait for them. At the end the rest waits for a reader, and briefly for
 * storage. */
static void write_out(struct sample_output *out, bool is_last)
{
	size_t part;
	ssize_t r;

	if (out->buf.len == 0)
		return;
	do {
		part = out->buf.len - out->sent;
		part = part < PIPE_BUF ? part : PIPE_BUF;
		r = send_part(out, part, is_last ? -1 : 0);
	} while (r == (ssize_t) part && out->sent < out->buf.len);
	out->buf.len -= out->sent;
	memmove(out->buf.data, out->buf.data + out->sent, out->buf.len);
	out->sent = 0;
	if (r < 0)
		fail(out, trk__strerror((int) r));
	else
		note_storage(out, is_last);
}

void sample_output_row(struct sample_output *out, const struct trk_run *run,
		       const struct trk_sample *row, struct trk_sampler *sampler)
{
	size_t waiting = out->buf.len;

	if (out->fd < 0 || out->failed)
		return;
	add_row(out, run, row, sampler);
	if (out->buf.error) { /* the rows that wait are complete, and are written at the end */
		out->failed = true;
		cli_complain("%s: no further samples: %s", out->where,
			     out->buf.error == -EFBIG ? "the reader is too slow"
						      : trk__strerror(out->buf.error));
		out->buf.len = waiting;
		return;
	}
	write_out(out, false);
}

void sample_output_end(struct sample_output *out)
{
	const struct trk_sample *row = trk__table_only_row(&out->lead);

	if (out->fd < 0)
		return;
	if (row && !out->failed && out->format == SAMPLE_JSON)
		trk__buf_add(&out->buf, out->only.data, out->only.len);
	else if (row && !out->failed)
		trk__sibling_csv_row(&out->buf, row);
	write_out(out, true);
}
