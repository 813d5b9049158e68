/* Reads the trace files. */
#include "replay.h"

#include <time.h>

const char *const family_names[FAMILIES] = {"cws", "kseg", "tovar", "wfc"};
static const char *const files[FAMILIES] = {"cws_peaks.csv.gz", "kseg_peaks.csv.gz",
					    "tovar_peaks.csv.gz", "wfcommons_peaks.csv.gz"};

double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

void each_line(const char *folder, const char *file, line_fn *take, void *data)
{
	char command[4096], *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *in;

	if (strchr(folder, '\''))
		exit(2);
	(void) snprintf(command, sizeof(command), "gzip -dcf -- '%s/%s'", folder, file);
	in = popen(command, "r");
	if (!in || getline(&line, &size, in) < 0) {
		(void) fprintf(stderr, "replay: cannot read %s/%s\n", folder, file);
		exit(1);
	}
	while ((len = getline(&line, &size, in)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		take(data, line);
	}
	free(line);
	pclose(in);
}

size_t fields_of(char *line, char **field, size_t max)
{
	size_t n = 0;

	for (char *at = line; at && n < max;) {
		field[n++] = strsep(&at, ",");
	}
	return n;
}

static double number(const char *text)
{
	return *text ? strtod(text, NULL) : NAN;
}

struct reading {
	struct family *family;
	size_t executions_max, runs_max;
	char dataset[64];
	char execution[128][64];
	size_t executions;
	size_t last;
};

/* Whether a run belongs to the first executions of its data set. */
static bool execution_taken(struct reading *r, const char *dataset, const char *run)
{
	if (r->executions_max == 0)
		return true;
	if (strcmp(r->dataset, dataset) != 0) {
		(void) snprintf(r->dataset, sizeof(r->dataset), "%s", dataset);
		r->executions = 0;
	}
	for (size_t i = 0; i < r->executions; i++)
		if (strcmp(r->execution[i], run) == 0)
			return true;
	if (r->executions == r->executions_max)
		return false;
	(void) snprintf(r->execution[r->executions++], sizeof(r->execution[0]), "%s", run);
	return true;
}

static struct step *step_of(struct reading *r, const char *dataset, const char *task)
{
	struct family *f = r->family;
	struct step *s;

	if (f->count > 0) {
		s = &f->step[r->last];
		if (strcmp(s->dataset, dataset) == 0 && strcmp(s->task, task) == 0)
			return s;
	}
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->step[i].dataset, dataset) == 0 &&
		    strcmp(f->step[i].task, task) == 0) {
			r->last = i;
			return &f->step[i];
		}
	if (f->count == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		f->step = realloc(f->step, f->cap * sizeof(*f->step));
	}
	r->last = f->count;
	s = &f->step[f->count++];
	memset(s, 0, sizeof(*s));
	(void) snprintf(s->dataset, sizeof(s->dataset), "%s", dataset);
	(void) snprintf(s->task, sizeof(s->task), "%s", task);
	return s;
}

static void take_run(void *data, char *line)
{
	struct reading *r = data;
	char *field[16];
	struct step *s;
	struct past *p;

	if (fields_of(line, field, 16) < 10 || !execution_taken(r, field[0], field[2]))
		return;
	s = step_of(r, field[0], field[1]);
	if (s->count == r->runs_max)
		return;
	if (s->count == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 32;
		s->past = realloc(s->past, s->cap * sizeof(*s->past));
	}
	p = &s->past[s->count++];
	*p = (struct past){.y = number(field[3]),
			   .t = number(field[4]),
			   .x = number(field[5]),
			   .user = number(field[6]),
			   .instance = -1};
	(void) snprintf(p->run, sizeof(p->run), "%s", field[2]);
}

void family_read(const char *folder, int which, size_t executions_max, size_t runs_max,
		 struct family *ret)
{
	struct reading *r = calloc(1, sizeof(*r));

	*ret = (struct family){.name = family_names[which]};
	r->family = ret;
	r->executions_max = which == CWS ? executions_max : 0;
	r->runs_max = runs_max;
	each_line(folder, files[which], take_run, r);
	free(r);
}
