/* Facts about GPUs: a value with the reason why it is not known, the metrics, a device, sums over
 * devices.
 *
 * A value that is not known is NaN, never 0. */
#ifndef TRK_MODEL_GPU_H
#define TRK_MODEL_GPU_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRK_GPUS_MAX = 32 };

/* Why a value is not known. */
#define TRK_GPU_WHY_LIST(X)                                                                        \
	X(KNOWN, "")                                                                               \
	X(NOT_ASKED, "this source does not provide it")                                            \
	X(UNSUPPORTED, "not supported by this device or driver")                                   \
	X(DENIED, "not permitted")                                                                 \
	X(LOST, "the device is gone")                                                              \
	X(MIG, "the driver reports no utilisation of a GPU in MIG mode")                           \
	X(OLD_LIBRARY, "the driver's library lacks the function")                                  \
	X(FIRST_LOOK, "needs two readings")                                                        \
	X(FOREIGN_PIDS, "the driver reports pids of another namespace")                            \
	X(NO_ANSWER, "the driver does not answer")                                                 \
	X(FAILED, "the driver reports an error")                                                   \
	X(SHARED_MEMORY, "the GPU uses the memory of the machine")                                 \
	X(ASLEEP, "the GPU is suspended, and is not woken for a reading")                          \
	X(NO_DRIVER, "the driver is not loaded")                                                   \
	X(NOT_SPLIT, "the driver does not report how much each process computes")                  \
	X(CRASHED, "the driver's library crashed or ended its process")

enum trk_gpu_why {
#define X(id, text) TRK_GPU_##id,
	TRK_GPU_WHY_LIST(X)
#undef X
		TRK_GPU_WHYS
};

const char *trk__gpu_why_text(enum trk_gpu_why why);

struct trk_gpu_value {
	double value; /* NaN unless known */
	enum trk_gpu_why why;
	unsigned int unused; /* no byte is undefined when it is sent to another process */
};

static inline struct trk_gpu_value trk__gpu_known(double value)
{
	return (struct trk_gpu_value){value, TRK_GPU_KNOWN, 0};
}

static inline struct trk_gpu_value trk__gpu_unknown(enum trk_gpu_why why)
{
	return (struct trk_gpu_value){NAN, why, 0};
}

/* The figures of a device. Shares are 0 to 1. recording/gpu_record.c maps them to their places in a
 * recording. */
#define TRK_GPU_METRIC_LIST(X)                                                                     \
	X(UTILIZATION, "utilization", "share") /* share of time in which a kernel ran */           \
	X(MEMORY_USED, "memory_used", "bytes")                                                     \
	X(MEMORY_TOTAL, "memory_total", "bytes")                                                   \
	X(SM_ACTIVITY, "sm_activity", "share")         /* of the multiprocessors */                \
	X(MEMORY_ACTIVITY, "memory_activity", "share") /* of the memory's bandwidth or time */     \
	X(ENCODER, "encoder", "share")                                                             \
	X(DECODER, "decoder", "share")                                                             \
	X(TEMPERATURE, "temperature", "degC")                                                      \
	X(POWER, "power", "W")                                                                     \
	X(ENERGY, "energy", "J") /* a counter */                                                   \
	X(CLOCK, "clock", "Hz")                                                                    \
	X(MEMORY_CLOCK, "memory_clock", "Hz")                                                      \
	X(THROTTLE, "throttle_reasons", "mask") /* bits as the driver gives them */                \
	X(PCIE_RX, "pcie_rx", "bytes/s")                                                           \
	X(PCIE_TX, "pcie_tx", "bytes/s")                                                           \
	X(NVLINK_RX, "nvlink_rx", "bytes/s")                                                       \
	X(NVLINK_TX, "nvlink_tx", "bytes/s")                                                       \
	X(TREE_SHARE, "process_share", "share") /* used by the tracked processes */                \
	X(TREE_MEMORY, "process_memory", "bytes")                                                  \
	X(TREE_ENCODER, "process_encoder", "share")                                                \
	X(TREE_DECODER, "process_decoder", "share")                                                \
	X(ECC_CORRECTED, "ecc_corrected_errors", "count")     /* since the driver was loaded */    \
	X(ECC_UNCORRECTED, "ecc_uncorrected_errors", "count") /* the same */                       \
	X(XID, "xid_errors", "count")                         /* reported since the first look */  \
	X(XID_LAST, "xid_last", "number")                     /* the newest of them; 0: none */

enum trk_gpu_metric {
#define X(id, key, unit) TRK_GPU_##id##_METRIC,
	TRK_GPU_METRIC_LIST(X)
#undef X
		TRK_GPU_METRICS
};

extern const char *const trk__gpu_metric_keys[TRK_GPU_METRICS];
extern const char *const trk__gpu_metric_units[TRK_GPU_METRICS];

/* Evidence that only the tree uses a device. */
enum trk_gpu_basis {
	TRK_GPU_BY_OPEN,   /* it has it open */
	TRK_GPU_BY_CUDA,   /* CUDA_VISIBLE_DEVICES */
	TRK_GPU_BY_NVIDIA, /* NVIDIA_VISIBLE_DEVICES */
	TRK_GPU_BY_CGROUP, /* the device list of its control group */
	TRK_GPU_BASES
};

struct trk_gpu_device {
	char name[96], uuid[96], bus[32], driver[48];
	char vendor[8]; /* nvidia, amd, intel */
	int parent;     /* a MIG instance: the index of its GPU; -1: a GPU */
	int node;       /* N of /dev/nvidiaN; -1: not known */
	bool mig;       /* in MIG mode */
	/* Of an instance: compute instances of one GPU instance share its memory. UINT32_MAX: not
	 * known. */
	unsigned int gpu_instance;
	bool is_undivided;        /* the driver does not tell what each process uses */
	bool by_device;           /* the tree's values are those of the whole device */
	enum trk_gpu_basis basis; /* evidence for by_device */
	size_t processes;         /* that the driver lists */
	struct trk_gpu_value metric[TRK_GPU_METRICS];
	uint64_t known; /* of a device of a recording: the metrics with a value, as bits */
};

/* ---- sums over the devices ---- */

struct trk_gpu_sums {
	struct trk_gpu_value usage, vram, utilized; /* GPUs, bytes, GPUs */
	struct trk_gpu_value tree_usage, tree_vram, tree_utilized;
	struct trk_gpu_value power, energy, temperature, sm_activity; /* W, J, max of degC, GPUs */
	size_t gpus;
};

/* Add up each figure over the GPUs that have it. The sum is a lower bound where one GPU lacks the
 * figure. MIG instances are part of their GPU and are not added. */
void trk__gpu_sum(const struct trk_gpu_device *device, size_t count, struct trk_gpu_sums *ret);
/* True if this GPU lacks the figure. An integrated GPU without its own memory does not lack a
 * memory figure. */
bool trk__gpu_is_missing(const struct trk_gpu_device *d, enum trk_gpu_metric metric);

#endif
