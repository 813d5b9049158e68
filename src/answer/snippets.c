/* The lines to paste into a job's description. */
#include <math.h>
#include <string.h>

#include "answer/snippets.h"
#include "base/maths.h"

struct trk_snippet_request {
	unsigned long cores, mib, gpus, seconds; /* 0 GPUs or seconds: none requested */
};

static unsigned long up(double value, double least)
{
	/* An impossible figure still gives a valid number. */
	return (unsigned long) trk__whole(trk__ceil(value), (int64_t) trk__ceil(least),
					  1000000000000000);
}

static void put_time(struct trk_buf *b, const char *before, unsigned long seconds)
{
	if (seconds)
		trk__buf_printf(b, "%s%lu:%02lu:%02lu\n", before, seconds / 3600, seconds / 60 % 60,
				seconds % 60);
}

static void slurm(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b, "#SBATCH --cpus-per-task=%lu\n#SBATCH --mem=%luM\n", r->cores, r->mib);
	if (r->gpus)
		trk__buf_printf(b, "#SBATCH --gpus=%lu\n", r->gpus);
	put_time(b, "#SBATCH --time=", r->seconds);
}

static void kubernetes(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b,
			"resources:\n  requests:\n    cpu: \"%lu\"\n    memory: %luMi\n  limits:\n"
			"    memory: %luMi\n",
			r->cores, r->mib, r->mib);
	if (r->gpus)
		trk__buf_printf(b, "    nvidia.com/gpu: %lu\n", r->gpus);
}

static void docker(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b, "--cpus=%lu --memory=%lum", r->cores, r->mib);
	if (r->gpus)
		trk__buf_printf(b, " --gpus=%lu", r->gpus);
	trk__buf_putc(b, '\n');
}

static void batch(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b,
			"{\"resourceRequirements\": [{\"type\": \"VCPU\", \"value\": \"%lu\"}, "
			"{\"type\": \"MEMORY\", \"value\": \"%lu\"}",
			r->cores, r->mib);
	if (r->gpus)
		trk__buf_printf(b, ", {\"type\": \"GPU\", \"value\": \"%lu\"}", r->gpus);
	trk__buf_puts(b, "]}\n");
}

static void metaflow(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b, "@resources(cpu=%lu, memory=%lu", r->cores, r->mib);
	if (r->gpus)
		trk__buf_printf(b, ", gpu=%lu", r->gpus);
	trk__buf_puts(b, ")\n");
}

/* Lines for the configuration, where these settings need the scope `process`. */
static void nextflow(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b, "process {\n    cpus = %lu\n    memory = '%lu MB'\n", r->cores, r->mib);
	if (r->gpus)
		trk__buf_printf(b, "    accelerator = [request: %lu]\n", r->gpus);
	if (r->seconds)
		trk__buf_printf(b, "    time = '%lu s'\n", r->seconds);
	trk__buf_puts(b, "}\n");
}

static void snakemake(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b, "threads: %lu\nresources:\n    mem_mib=%lu,\n", r->cores, r->mib);
	if (r->seconds)
		trk__buf_printf(b, "    runtime=%lu,\n", (r->seconds + 59) / 60);
	if (r->gpus)
		trk__buf_printf(b, "    gpu=%lu,\n", r->gpus);
}

static void htcondor(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b, "request_cpus = %lu\nrequest_memory = %luM\n", r->cores, r->mib);
	if (r->gpus)
		trk__buf_printf(b, "request_gpus = %lu\n", r->gpus);
}

/* PBS Professional and OpenPBS. */
static void pbs(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b, "#PBS -l select=1:ncpus=%lu:mem=%lumb", r->cores, r->mib);
	if (r->gpus)
		trk__buf_printf(b, ":ngpus=%lu", r->gpus);
	trk__buf_putc(b, '\n');
	put_time(b, "#PBS -l walltime=", r->seconds);
}

/* Memory with its unit, as a bare number depends on LSF_UNIT_FOR_LIMITS. */
static void lsf(struct trk_buf *b, const struct trk_snippet_request *r)
{
	trk__buf_printf(b,
			"#BSUB -n %lu\n#BSUB -R \"span[hosts=1] rusage[mem=%luMB]\"\n"
			"#BSUB -M %luMB\n",
			r->cores, r->mib, r->mib);
	if (r->gpus)
		trk__buf_printf(b, "#BSUB -gpu \"num=%lu\"\n", r->gpus);
	if (r->seconds)
		trk__buf_printf(b, "#BSUB -W %lu:%02lu\n", r->seconds / 3600, r->seconds / 60 % 60);
}

/* h_vmem is per slot. Each site defines the names of parallel environments and of GPUs. */
static void sge(struct trk_buf *b, const struct trk_snippet_request *r)
{
	unsigned long each = (r->mib + r->cores - 1) / r->cores;

	if (r->cores > 1)
		trk__buf_printf(b, "#$ -pe smp %lu\n", r->cores);
	trk__buf_printf(b, "#$ -l h_vmem=%luM\n", each);
	if (r->gpus)
		trk__buf_printf(b, "#$ -l gpu=%lu\n", r->gpus);
	put_time(b, "#$ -l h_rt=", r->seconds);
}

/* What the request does not cover, as a comment if the format has comments. */
static void add_note(struct trk_buf *b, const struct trk_advice *a, const char *comment)
{
	size_t start = b->len;

	if (!comment)
		return;
	trk__buf_puts(b, comment);
	if (trk__advice_memory_note(b, a))
		trk__buf_putc(b, '\n');
	else if (!b->error)
		b->data[b->len = start] = '\0';
}

/* clang-format off */
const struct trk_snippet_kind trk__snippet_kinds[TRK_SNIPPET_KINDS] = {
#define X(print, name, title, comment, ...) {name, title, comment, {__VA_ARGS__}, print},
	TRK_SNIPPET_LIST(X)
#undef X
};
/* clang-format on */

bool trk__advice_snippet(struct trk_buf *b, const struct trk_advice *a, const char *kind)
{
	struct trk_snippet_request r = {
		.cores = up(a->cores, 1),
		.mib = up(a->memory_mib, 1),
		.gpus = up(a->gpus, 0),
	};
	double limit_s = trk__advice_time_limit_s(a);

	if (limit_s > 0)
		r.seconds = up(limit_s, 60);
	for (size_t i = 0; i < TRK_SNIPPET_KINDS; i++)
		if (!strcmp(trk__snippet_kinds[i].name, kind)) {
			add_note(b, a, trk__snippet_kinds[i].comment);
			trk__snippet_kinds[i].print(b, &r);
			return true;
		}
	return false;
}
