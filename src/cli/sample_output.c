#include "cli/sample_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output.h"
#include "sink/sibling.h"
#include "sink/table.h"

enum { ROW_MAX = 4 * 1024 * 1024 }; /* a line with a thousand disks */

static enum sample_format format_of(const char *name)
{
	if (name && !strcmp(name, "json"))
		return SAMPLE_JSON;
	return name && !strcmp(name, "jsonl") ? SAMPLE_JSONL : SAMPLE_CSV;
}

int sample_output_open(struct sample_output *out, const struct track_settings *s,
		       const struct trk_env *env)
{
	*out = (struct sample_output){.fd = -1, .where = s->output, .format = format_of(s->format)};
	trk__buf_init(&out->buf, ROW_MAX);
	if (s->output) {
		out->fd = trk__output_open(s->output);
		if (out->fd < 0) {
			cli_complain("%s: cannot open for writing: %s", s->output,
				     trk__strerror(out->fd));
			return -1;
		}
	} else if (s->format) {
		out->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		out->where = "stderr";
	}
	if (out->fd < 0 || out->format != SAMPLE_JSON || s->no_system)
		return 0;
	out->has_detail = true;
	if (trk__detail_init(&out->detail, env) < 0) {
		cli_complain("out of memory");
		return -1;
	}
	return 0;
}

void sample_output_release(struct sample_output *out)
{
	if (out->has_detail)
		trk__detail_release(&out->detail);
	trk__close(out->fd);
	trk__buf_release(&out->buf);
	out->fd = -1;
	out->has_detail = false;
}

static void write_text(struct sample_output *out, const struct trk_run *run,
		       const struct trk_sample *row)
{
	bool first = !out->begun;

	out->begun = true;
	switch (out->format) {
	case SAMPLE_JSON:
		if (out->has_detail)
			trk__detail_update(&out->detail);
		trk__sibling_json_row(&out->buf, run, row, &out->detail, first);
		break;
	case SAMPLE_JSONL:
		trk__table_json_row(&out->buf, TRK_SET_FULL, row);
		break;
	case SAMPLE_CSV:
		if (first)
			trk__table_csv_head(&out->buf, TRK_SET_05);
		if (trk__table_has_row(TRK_SET_05, row))
			trk__sibling_csv_row(&out->buf, row);
		break;
	}
}

void sample_output_row(struct sample_output *out, const struct trk_run *run,
		       const struct trk_sample *row, const struct trk_gpu_reading *gpus)
{
	int r;

	if (out->fd < 0 || out->failed)
		return;
	trk__buf_clear(&out->buf);
	out->detail.gpus = gpus;
	write_text(out, run, row);
	r = out->buf.error;
	if (r == 0)
		r = trk__write_all(out->fd, out->buf.data, out->buf.len);
	if (r < 0) {
		out->failed = true;
		cli_complain("%s: cannot write samples: %s", out->where, trk__strerror(r));
	}
}
