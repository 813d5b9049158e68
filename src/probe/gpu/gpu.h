/* Accelerators: one table of functions per source, found at run time, polled by a worker (poller.h).
 *
 * A source is opened only where a sign of it exists (a device file, a DRM driver), so that a
 * machine without a GPU costs three system calls and no worker. A call into a driver may hang, take
 * a second or crash: only the worker does; the sampler waits at most the given time.
 *
 * An unknown value is NaN with a reason, never 0. */
#ifndef TRK_PROBE_GPU_GPU_H
#define TRK_PROBE_GPU_GPU_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"
#include "model/gpu.h"
#include "probe/gpu/sources.def"

enum {
	TRK_GPU_PROCESSES_MAX = 2048,
	TRK_GPU_TEXT_SIZE = 120,
	TRK_GPU_OPENERS_MAX = 64,
};

/* One process on one device, or on one instance of it. */
struct trk_gpu_process {
	size_t device;
	pid_t pid;
	unsigned int part;       /* instance of the device */
	bool is_listed;          /* it has a context now */
	double bytes;            /* NaN: unknown */
	double share;            /* NaN: unknown */
	double encoder, decoder; /* NaN: unknown */
};

/* The result of one poll of all sources. */
struct trk_gpu_scan {
	size_t devices, processes;
	struct trk_gpu_device device[TRK_GPUS_MAX];
	struct trk_gpu_process process[TRK_GPU_PROCESSES_MAX];
	const pid_t *pid; /* the tracked processes, sorted; borrowed */
	size_t pids;
	uint64_t now_ns; /* monotonic */
	uint64_t wall_us;
	bool is_full; /* read everything, whatever it costs */
};

/* The job's environment, from the caller. Texts are borrowed until exit; NULL: not set. */
struct trk_gpu_hints {
	/* Directories to search for nvidia-smi, separated by ':'; NULL: do not start it. */
	const char *path;
	const char *library_path; /* its LD_LIBRARY_PATH */
	/* CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER and NVIDIA_VISIBLE_DEVICES of the job. */
	const char *cuda_visible, *cuda_order, *nvidia_visible;
	uint64_t patience_ns, period_ns; /* of nvidia-smi; 0: a timeout of 15 s, every 5 s */
};

/* A source. Functions are called from one thread. */
struct trk_gpu_ops {
	const char *name;
	/* Use this source only if that one cannot be loaded (its open returned -ELIBACC). */
	const struct trk_gpu_ops *instead_of;
	/* True if there is a sign of it. A few system calls at most. */
	bool (*is_likely)(const struct trk_env *env);
	/* 0 with *ret, or a negative errno with a reason in `why`. Borrows env until close. */
	int (*open)(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		    char why[TRK_GPU_TEXT_SIZE]);
	/* Append devices and processes. */
	void (*poll)(void *state, struct trk_gpu_scan *scan);
	/* Slow work: called after the poll's result was published. May be NULL. */
	void (*rest)(void *state);
	/* The current error in a few words; empty: none. May be NULL. */
	void (*say)(void *state, char text[TRK_GPU_TEXT_SIZE]);
	void (*close)(void *state);
};

#define X(name) extern const struct trk_gpu_ops trk__gpu_##name;
TRK_GPU_SOURCE_LIST(X)
#undef X

/* True if the kernel has suspended this PCI device (runtime power management). Reading it does not
 * wake the device; any other query would. sys_fd: /sys; bus: "0000:01:00.0", or with eight leading
 * digits, as in NVML. */
bool trk__gpu_is_asleep(int sys_fd, const char *bus);
/* True if the kernel may suspend it: power/control is "auto". */
bool trk__gpu_may_sleep(int sys_fd, const char *bus);
/* True if the NVIDIA driver has GPUs and all of them are suspended. */
bool trk__gpu_nvidia_is_asleep(int sys_fd);
/* Set the figures of a suspended GPU: its engines are idle, everything else is unknown. */
void trk__gpu_set_asleep(struct trk_gpu_device *d);

/* Put pids in the order of scan->pid, and look one up there. */
void trk__gpu_sort_pids(pid_t *pid, size_t count);
bool trk__gpu_is_tracked(const struct trk_gpu_scan *scan, pid_t pid);

/* A device of which nothing is known yet. */
void trk__gpu_init_device(struct trk_gpu_device *d, const char *vendor);
void trk__gpu_set_unknown(struct trk_gpu_device *d, enum trk_gpu_why why);
/* The reason why the share of the tree, and its use of encoder and decoder, are unknown: the driver
 * does not divide them among processes. */
void trk__gpu_set_tree_unknown(struct trk_gpu_device *d, enum trk_gpu_why why);
/* Append a device with every value unknown. NULL when the table is full. */
struct trk_gpu_device *trk__gpu_add_device(struct trk_gpu_scan *scan, const char *vendor);
/* True if an earlier device in the scan, of the same GPU instance, has the same memory. */
bool trk__gpu_shares_memory(const struct trk_gpu_scan *scan, size_t device);
/* The entry of a process on a device and part, appended if missing; NULL when the table is full. */
struct trk_gpu_process *trk__gpu_add_process(struct trk_gpu_scan *scan, size_t device, pid_t pid,
					     unsigned int part);

/* ---- use by the tracked processes (attribute.c) ---- */

/* Whether a device is assigned to the tracked processes, and by what (assigned.h). */
struct trk_gpu_say {
	bool given, denied, by_name; /* by_name: this device is named, not just "all" */
	enum trk_gpu_basis basis;
};

struct trk_gpu_attributor {
	struct trk_env env; /* borrowed */
	struct trk_gpu_hints hints;
	bool known, foreign; /* foreign: the driver's pids are not valid in this namespace */
	uint64_t looked_ns;
	bool unreadable; /* the open files of some process could not be read */
	struct {
		pid_t pid;
		int node;
		uint64_t until_ns;
	} opener[TRK_GPU_OPENERS_MAX]; /* processes that were seen with a device open */
	size_t next_opener;
	size_t holders[TRK_GPUS_MAX]; /* tracked processes that have the device open */
	struct trk_gpu_say say[TRK_GPUS_MAX];
};

/* Fill TREE_SHARE and TREE_MEMORY of every device.
 *
 * They are attributed by pid where the driver's pids are those of this namespace. In a pid
 * namespace the driver may list the machine's pids or none at all: a pid counts there only if that
 * process has the device open. If none does, a device counts for the
 * whole tree, and by_device is set, if no other process can use it: either tracked processes have
 * it open and the driver lists at most one process, or as many as these; or their open files cannot
 * be read, the device is assigned to them, and at most one process is listed. A device that is
 * assigned to others, or open in no tracked process, is not the tree's; an instance that is
 * assigned by name is. Otherwise the tree's part is unknown. */
void trk__gpu_attribute(struct trk_gpu_attributor *a, struct trk_gpu_scan *scan);

#endif
