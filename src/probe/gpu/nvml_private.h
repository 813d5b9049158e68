/* Shared by the files of the NVML source. */
#ifndef TRK_PROBE_GPU_NVML_PRIVATE_H
#define TRK_PROBE_GPU_NVML_PRIVATE_H

#include "probe/gpu/gpu.h"
#include "probe/gpu/nvml.h"

struct functions {
#define X(name, parameters, best, other) int(*name) parameters;
	NVML_FUNCTION_LIST(X)
#undef X
};

enum { MIG_INSTANCES_MAX = 16, TRK_NVML_ACTIVITIES = 4, NVML_ERRORS = 2 };

/* Samples of the GPU performance monitor. */
struct watch {
	nvml_gpm_sample sample[2]; /* now and before; NULL: no GPM */
	bool has_sample;
	uint64_t taken_ns;                                  /* of sample[0] */
	struct trk_gpu_value activity[TRK_NVML_ACTIVITIES]; /* between the last two samples */
	enum trk_gpu_why refused;                           /* of an instance: permanent */
	char uuid[96];                                      /* of the instance */
};

/* CPU time that a costly function of the driver has taken, since its first call. */
struct cost {
	uint64_t first_ns; /* 0: not called yet */
	uint64_t spent_ns;
};

/* The energy counter of a device, which some drivers take milliseconds to read. */
struct energy {
	struct cost cost;
	struct trk_gpu_value read; /* at read_ns, in joules */
	uint64_t read_ns;
	double told; /* largest value since it was last reset */
};

/* The state of a device between two polls. */
struct kept {
	nvml_device handle;          /* NULL: failed, or not opened yet */
	int refused;                 /* error of opening, or of a device that has gone */
	uint64_t retry_ns, pause_ns; /* when to open it again, and the pause before that */
	unsigned int retries;        /* consecutive failures */
	char name[96], uuid[96], bus[32];
	int node;
	bool may_sleep;                     /* the kernel suspends it when it is idle */
	struct nvml_process_sample *sample; /* owned; the newest of each process */
	unsigned int samples;
	uint64_t sampled_us;  /* time of the newest sample; 0: none yet */
	bool counted_samples; /* the library has returned their number */
	struct cost samples_cost;
	struct energy energy;
	struct watch watch, instance[MIG_INSTANCES_MAX];
	struct trk_gpu_value errors[NVML_ERRORS]; /* of memory: corrected, uncorrected */
	uint64_t errors_ns;                       /* when they were read */
	bool reports_xid;
	unsigned int xids, xid_last; /* errors since the first poll, code of the newest */
	bool monitor_lacks_bus;      /* GPM works, but does not report PCIe */
	struct trk_gpu_value pcie_rx, pcie_tx;
	bool links_known;
	uint64_t link_ns;
	double link_rx_kib, link_tx_kib;
};

struct nvml {
	struct trk_env env; /* borrowed */
	void *library;
	bool initialised;
	nvml_events events; /* NULL: none */
	struct functions f;
	char driver[48];
	unsigned int count;
	struct kept kept[TRK_GPUS_MAX];
	struct nvml_process *list;           /* owned */
	struct nvml_process_sample *samples; /* owned */
	struct nvml_process_info *infos;     /* owned; as many as samples */
	unsigned int list_cap, samples_cap;
	unsigned int next_rest;
};

/* CALL(n, power, handle, &mw) calls a function that the library may lack. */
#define CALL(n, function, ...)                                                                     \
	((n)->f.function ? (n)->f.function(__VA_ARGS__) : NVML_ERROR_FUNCTION_NOT_FOUND)

/* nvml_board.c */
enum trk_gpu_why trk__nvml_why(int result);
/* True for the errors of a device or driver that has gone and may come back. */
bool trk__nvml_is_gone(int result);
/* The value, or the reason why it is unknown where the call failed. */
struct trk_gpu_value trk__nvml_scaled(int result, double value);
/* The figure of a function, which the library may lack; `which`: of several. */
struct trk_gpu_value trk__nvml_figure(int (*get)(nvml_device, unsigned int *), nvml_device handle,
				      double divisor);
struct trk_gpu_value trk__nvml_figure_of(int (*get)(nvml_device, unsigned int, unsigned int *),
					 nvml_device handle, unsigned int which, double scale);
/* Whether one more call is within the share of a core that all devices together may take. */
bool trk__nvml_is_affordable(const struct nvml *n, const struct cost *c,
			     const struct trk_gpu_scan *scan);
/* Adds what the calling thread has used since. */
void trk__nvml_add_cost(struct cost *c, uint64_t began_cpu_ns, uint64_t now_ns);
void trk__nvml_board(struct nvml *n, struct kept *k, const struct trk_gpu_scan *scan,
		     struct trk_gpu_value *m);

/* nvml_device.c */
/* Fill in the figures and processes of a device and append its MIG instances. Returns NVML_SUCCESS,
 * or an error for which trk__nvml_is_gone is true. */
int trk__nvml_device(struct nvml *n, struct trk_gpu_scan *scan, size_t device, struct kept *k);
/* Read the traffic of the PCIe bus (20 ms) where the performance monitor does not report it. */
void trk__nvml_bus(struct nvml *n, struct kept *k);
/* Allocate the buffers for lists of processes. 0 or -ENOMEM. */
int trk__nvml_make_lists(struct nvml *n);
void trk__nvml_free_lists(struct nvml *n);
/* Allocate both samples of a watch, or none. */
void trk__nvml_make_samples(struct nvml *n, struct watch *w);
void trk__nvml_free_samples(struct nvml *n, struct watch *w);

#endif
