/* Accelerators: one table of functions per source, found at run time, polled by a thread of its own.
 *
 * A source is asked for only where a sign of it exists (a device file, a DRM driver), so that a machine
 * without a GPU pays three system calls and no thread. A call into a driver may hang or take a second:
 * the thread takes that, the sampler never waits for longer than it says.
 *
 * Nothing here is ever 0 for "not known": a value that is not known is NaN and says why. */
#ifndef TRK_PROBE_GPU_GPU_H
#define TRK_PROBE_GPU_GPU_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"

enum {
	TRK_GPUS_MAX = 32,
	TRK_GPU_PROCESSES_MAX = 2048,
	TRK_GPU_TEXT_SIZE = 120,
};

/* Why a value is not known. */
#define TRK_GPU_WHY_LIST(X)                                                                        \
	X(KNOWN, "")                                                                               \
	X(NOT_ASKED, "this source does not give it")                                               \
	X(UNSUPPORTED, "not supported by this device or driver")                                   \
	X(DENIED, "not permitted")                                                                 \
	X(LOST, "the device has gone")                                                             \
	X(MIG, "the driver gives no utilisation of a GPU in MIG mode")                             \
	X(OLD_LIBRARY, "the driver's library lacks the function")                                  \
	X(FIRST_LOOK, "needs two readings")                                                        \
	X(FOREIGN_PIDS, "the driver's pids are those of another namespace")                        \
	X(NO_ANSWER, "the driver does not answer")                                                 \
	X(FAILED, "the driver reports an error")

enum trk_gpu_why {
#define X(id, text) TRK_GPU_##id,
	TRK_GPU_WHY_LIST(X)
#undef X
};

const char *trk__gpu_why_text(enum trk_gpu_why why);

struct trk_gpu_value {
	double value; /* NaN unless known */
	enum trk_gpu_why why;
};

static inline struct trk_gpu_value trk__gpu_known(double value)
{
	return (struct trk_gpu_value){value, TRK_GPU_KNOWN};
}

static inline struct trk_gpu_value trk__gpu_unknown(enum trk_gpu_why why)
{
	return (struct trk_gpu_value){NAN, why};
}

/* What is asked of a device. Shares are 0 to 1. */
#define TRK_GPU_METRIC_LIST(X)                                                                     \
	X(UTILIZATION, "utilization", "share") /* of the time a kernel ran */                      \
	X(MEMORY_USED, "memory_used", "bytes")                                                     \
	X(MEMORY_TOTAL, "memory_total", "bytes")                                                   \
	X(SM_ACTIVITY, "sm_activity", "share")         /* of the multiprocessors */                \
	X(MEMORY_ACTIVITY, "memory_activity", "share") /* of the memory's bandwidth or time */     \
	X(ENCODER, "encoder", "share")                                                             \
	X(DECODER, "decoder", "share")                                                             \
	X(TEMPERATURE, "temperature", "degC")                                                      \
	X(POWER, "power", "W")                                                                     \
	X(ENERGY, "energy", "J") /* a counter: since some moment */                                \
	X(CLOCK, "clock", "Hz")                                                                    \
	X(MEMORY_CLOCK, "memory_clock", "Hz")                                                      \
	X(THROTTLE, "throttle_reasons", "mask") /* bits as the driver gives them */                \
	X(PCIE_RX, "pcie_rx", "bytes/s")                                                           \
	X(PCIE_TX, "pcie_tx", "bytes/s")                                                           \
	X(NVLINK_RX, "nvlink_rx", "bytes/s")                                                       \
	X(NVLINK_TX, "nvlink_tx", "bytes/s")                                                       \
	X(TREE_SHARE, "process_share", "share") /* used by the tracked processes */                \
	X(TREE_MEMORY, "process_memory", "bytes")

enum trk_gpu_metric {
#define X(id, key, unit) TRK_GPU_##id##_METRIC,
	TRK_GPU_METRIC_LIST(X)
#undef X
		TRK_GPU_METRICS
};

extern const char *const trk__gpu_metric_keys[TRK_GPU_METRICS];
extern const char *const trk__gpu_metric_units[TRK_GPU_METRICS];

/* What shows that a device is the tree's alone. */
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
	bool by_device; /* the tree's part is that of the whole device: see the attribution */
	enum trk_gpu_basis basis; /* and by what it is taken for the tree's */
	size_t processes;         /* that the driver lists */
	struct trk_gpu_value metric[TRK_GPU_METRICS];
};

/* One process on one device, or on one instance of it. */
struct trk_gpu_process {
	size_t device;
	pid_t pid;
	unsigned int part;  /* instance of the device */
	bool is_listed;     /* it holds a context now */
	double bytes;       /* NaN: not known */
	double share;       /* NaN: not known */
	uint64_t sample_us; /* of `share`; 0: no sample */
};

/* What one poll of all sources fills. */
struct trk_gpu_scan {
	size_t devices, processes;
	struct trk_gpu_device device[TRK_GPUS_MAX];
	struct trk_gpu_process process[TRK_GPU_PROCESSES_MAX];
	const pid_t *pid; /* the tracked processes, sorted; borrowed */
	size_t pids;
	uint64_t now_ns; /* monotonic */
	uint64_t wall_us;
};

/* What the caller knows of the job's environment; texts are borrowed for as long as the process lives,
 * NULL where there is none. */
struct trk_gpu_hints {
	const char *path; /* folders to look for nvidia-smi in, ':' between; NULL: start none */
	const char *library_path; /* LD_LIBRARY_PATH of it */
	/* CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER and NVIDIA_VISIBLE_DEVICES of the job. */
	const char *cuda_visible, *cuda_order, *nvidia_visible;
	uint64_t patience_ns, period_ns; /* with it; 0: 15 s, and 5 s from start to start */
};

/* A source. Functions are called from one thread. */
struct trk_gpu_ops {
	const char *name;
	/* Wanted only where this one cannot be loaded (its open said -ELIBACC); NULL: always. */
	const struct trk_gpu_ops *instead_of;
	/* Is there a sign of it? A few system calls at most. */
	bool (*is_likely)(const struct trk_env *env);
	/* 0 with *ret, or a negative error with the reason in `why`. env is borrowed until close. */
	int (*open)(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		    char why[TRK_GPU_TEXT_SIZE]);
	/* Append devices and processes. */
	void (*poll)(void *state, struct trk_gpu_scan *scan);
	/* What takes long: called when the poll's result has been handed out; may be NULL. */
	void (*rest)(void *state);
	/* What is wrong, in a few words, empty while nothing is; may be NULL. */
	void (*say)(void *state, char text[TRK_GPU_TEXT_SIZE]);
	void (*close)(void *state);
};

extern const struct trk_gpu_ops trk__gpu_nvml, trk__gpu_drm, trk__gpu_nvidia_smi;

/* Threads that still are in a driver, or wait for a program. Where there are any, a program ends by
 * _exit(2): the driver's own clean-up might wait for them. */
int trk__gpu_threads(void);
void trk__gpu_count_thread(int by); /* 1: one begins, -1: it has ended */

/* Append a device with every value unknown, or NULL when the table is full. */
struct trk_gpu_device *trk__gpu_add_device(struct trk_gpu_scan *scan, const char *vendor);
/* The process on that device and part, appended if need be; NULL when the table is full. */
struct trk_gpu_process *trk__gpu_add_process(struct trk_gpu_scan *scan, size_t device, pid_t pid,
					     unsigned int part);

/* ---- what the tracked processes use (attribute.c) ---- */

/* Is a device assigned to them, and by what? (assigned.h) */
struct trk_gpu_say {
	bool given, denied, by_name; /* by_name: this very device, not just all */
	enum trk_gpu_basis basis;
};

struct trk_gpu_attributor {
	struct trk_env env; /* borrowed */
	struct trk_gpu_hints hints;
	bool known, foreign; /* are we in a pid namespace of our own? */
	uint64_t looked_ns;
	bool unreadable;              /* some could not be asked what they have open */
	size_t holders[TRK_GPUS_MAX]; /* tracked processes that have the device open */
	struct trk_gpu_say say[TRK_GPUS_MAX];
};

/* Fill TREE_SHARE and TREE_MEMORY of every device.
 *
 * By pid where the driver's pids are ours. In a pid namespace of our own the driver may list pids of
 * the machine's or none at all. Then a device counts for the tree as a whole, and by_device says so, if
 * nobody else can be on it: tracked processes have it open, and the driver lists one process at most or
 * as many as these; or, where it cannot be seen what they have open, the device is assigned to them and
 * one process at most is listed. What is assigned to others, or open in none of them, is not theirs; an
 * instance that is assigned by name is theirs. Else their part is not known. */
void trk__gpu_attribute(struct trk_gpu_attributor *a, struct trk_gpu_scan *scan);

/* ---- sums over the devices ---- */

struct trk_gpu_sums {
	struct trk_gpu_value usage, vram, utilized; /* GPUs, bytes, GPUs */
	struct trk_gpu_value tree_usage, tree_vram, tree_utilized;
	struct trk_gpu_value power, energy, temperature, sm_activity; /* W, J, max of degC, GPUs */
	size_t gpus;
};

/* A sum with an unknown part is unknown; but a figure that a device does not have at all, such as the
 * memory of a GPU in the processor, is left out where another has it. Instances of a GPU are not counted beside it. */
void trk__gpu_sum(const struct trk_gpu_device *device, size_t count, struct trk_gpu_sums *ret);

#endif
