#include "track/request.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/parse.h"
#include "model/capacity.h"

const char *const trk__request_keys[TRK_REQUESTS] = {
	[TRK_REQUEST_CPU] = "cpu",
	[TRK_REQUEST_MEMORY_MIB] = "memory_mib",
	[TRK_REQUEST_GPU] = "gpu",
	[TRK_REQUEST_TIME_S] = "time_s",
};

/* A positive decimal number, "2" or "0.5"; else NaN. */
static double number_of(const char *text)
{
	const char *at = text;
	uint64_t millionths;

	if (!text || *text < '0' || *text > '9' || !trk__scan_fixed(&at, 6, &millionths) ||
	    *at != '\0')
		return NAN;
	return (double) millionths / 1e6;
}

static double bytes_as_mib(const char *text)
{
	uint64_t bytes;

	return text && trk__parse_size(text, &bytes) == 0 ? (double) bytes / TRK_MIB : NAN;
}

static double seconds_of(const char *text)
{
	uint64_t ns;

	return trk__parse_duration(text, &ns) == 0 ? (double) ns / 1e9 : NAN;
}

/* ---- stated ---- */

static int parse_one(const char *text, struct trk_quantity request[TRK_REQUESTS])
{
	/* The first name of each is the documented one; `catalog search` has the others too. */
	static const struct {
		const char *key;
		enum trk_request request;
		double (*value)(const char *text);
	} keys[] = {
		{"cpu=", TRK_REQUEST_CPU, number_of},
		{"mem=", TRK_REQUEST_MEMORY_MIB, bytes_as_mib},
		{"gpu=", TRK_REQUEST_GPU, number_of},
		{"time=", TRK_REQUEST_TIME_S, seconds_of},
		{"cpus=", TRK_REQUEST_CPU, number_of},
		{"vcpus=", TRK_REQUEST_CPU, number_of},
		{"memory=", TRK_REQUEST_MEMORY_MIB, bytes_as_mib},
		{"gpus=", TRK_REQUEST_GPU, number_of},
		{"run=", TRK_REQUEST_TIME_S, seconds_of},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t len = strlen(keys[i].key);
		double value;

		if (strncmp(text, keys[i].key, len) != 0)
			continue;
		value = keys[i].value(text + len);
		if (isnan(value) || (value <= 0 && keys[i].request != TRK_REQUEST_GPU))
			return -EINVAL;
		trk__quantity_set(&request[keys[i].request], value, TRK_QUALITY_EXACT, "--request",
				  NULL);
		return 0;
	}
	return -EINVAL;
}

int trk__request_parse(const char *text, struct trk_quantity request[TRK_REQUESTS])
{
	struct trk_quantity parsed[TRK_REQUESTS];

	memcpy(parsed, request, sizeof(parsed));
	if (!*text)
		return -EINVAL;
	while (*text) {
		size_t len = strcspn(text, ",");
		char one[64];

		(void) snprintf(one, sizeof(one), "%.*s", (int) len, text);
		if (len >= sizeof(one) || parse_one(one, parsed) < 0)
			return -EINVAL;
		text += len;
		text += *text == ',';
	}
	memcpy(request, parsed, sizeof(parsed));
	return 0;
}

/* ---- detected ---- */

struct detection {
	const char *(*get)(const char *name);
	struct trk_quantity *request;
};

static void offer(const struct detection *d, enum trk_request which, double value,
		  const char *source)
{
	struct trk_quantity *q = &d->request[which];

	if (isnan(q->value) && !isnan(value) && value > 0)
		trk__quantity_set(q, value, TRK_QUALITY_EXACT, source, NULL);
}

static void take(const struct detection *d, enum trk_request which, const char *name,
		 double (*value)(const char *text))
{
	offer(d, which, value(d->get(name)), name);
}

/* "4" or, for several nodes, "4(x2),3": the first number is that of this node. */
static double first_number(const char *text)
{
	const char *at = text;
	uint64_t value;

	return text && trk__scan_u64(&at, &value) && (*at == '\0' || strchr("(,", *at))
		       ? (double) value
		       : NAN;
}

static void detect_slurm(const struct detection *d)
{
	double cpus = number_of(d->get("SLURM_CPUS_ON_NODE"));
	double start = number_of(d->get("SLURM_JOB_START_TIME")),
	       end = number_of(d->get("SLURM_JOB_END_TIME"));

	take(d, TRK_REQUEST_CPU, "SLURM_CPUS_PER_TASK", number_of);
	take(d, TRK_REQUEST_CPU, "SLURM_CPUS_ON_NODE", number_of);
	take(d, TRK_REQUEST_CPU, "SLURM_JOB_CPUS_PER_NODE", first_number);
	take(d, TRK_REQUEST_MEMORY_MIB, "SLURM_MEM_PER_NODE", number_of);
	offer(d, TRK_REQUEST_MEMORY_MIB,
	      number_of(d->get("SLURM_MEM_PER_CPU")) *
		      (isnan(cpus) ? d->request[TRK_REQUEST_CPU].value : cpus),
	      "SLURM_MEM_PER_CPU");
	take(d, TRK_REQUEST_GPU, "SLURM_GPUS_ON_NODE", number_of);
	offer(d, TRK_REQUEST_TIME_S, end - start, "SLURM_JOB_END_TIME");
}

void trk__request_detect(const char *(*get)(const char *name),
			 struct trk_quantity request[TRK_REQUESTS])
{
	const struct detection d = {get, request};

	if (get("SLURM_JOB_ID"))
		detect_slurm(&d);
	if (get("KUBERNETES_SERVICE_HOST")) {
		take(&d, TRK_REQUEST_CPU, "CPU_REQUEST", number_of);
		take(&d, TRK_REQUEST_CPU, "CPU_LIMIT", number_of);
		take(&d, TRK_REQUEST_MEMORY_MIB, "MEMORY_REQUEST", bytes_as_mib);
		take(&d, TRK_REQUEST_MEMORY_MIB, "MEMORY_LIMIT", bytes_as_mib);
	}
	if (get("PBS_JOBID"))
		take(&d, TRK_REQUEST_CPU, "NCPUS", number_of);
	if (get("LSB_JOBID"))
		take(&d, TRK_REQUEST_CPU, "LSB_DJOB_NUMPROC", number_of);
	if (get("JOB_ID"))
		take(&d, TRK_REQUEST_CPU, "NSLOTS", number_of);
}

static void take_limit(struct trk_quantity *request, const struct trk_quantity *limit)
{
	/* The machine's own size is not a request. */
	if (!isnan(request->value) || isnan(limit->value) || trk__capacity_is_machine(limit))
		return;
	trk__quantity_set(request, limit->value, TRK_QUALITY_ESTIMATED, limit->source,
			  "no request is known: the limit is used");
}

void trk__request_from_limits(struct trk_run *run)
{
	take_limit(&run->request[TRK_REQUEST_CPU], &run->limit[TRK_LIMIT_CPU]);
	take_limit(&run->request[TRK_REQUEST_MEMORY_MIB], &run->limit[TRK_LIMIT_MEMORY_MIB]);
}
