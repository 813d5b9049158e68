/* Accelerators: one table of functions per source, found at run time, polled by a thread of its
 * own.
 *
 * A source is opened only where a sign of it exists (a device file, a DRM driver), so that a
 * machine without a GPU pays three system calls and no thread. A call into a driver may hang or
 * take a second: the thread waits for them, the sampler never longer than the given time.
 *
 * Nothing here is ever 0 for "not known": a value that is not known is NaN with a reason. */
#ifndef TRK_PROBE_GPU_GPU_H
#define TRK_PROBE_GPU_GPU_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/env.h"
#include "model/gpu.h"

enum {
	TRK_GPU_PROCESSES_MAX = 2048,
	TRK_GPU_TEXT_SIZE = 120,
};

/* One process on one device, or on one instance of it. */
struct trk_gpu_process {
	size_t device;
	pid_t pid;
	unsigned int part;       /* instance of the device */
	bool is_listed;          /* it holds a context now */
	double bytes;            /* NaN: not known */
	double share;            /* NaN: not known */
	double encoder, decoder; /* NaN: not known */
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

/* The job's environment, from the caller; texts are borrowed until the process ends, NULL
 * where not set. */
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
	/* Used only where this one cannot be loaded (its open returned -ELIBACC); NULL: always. */
	const struct trk_gpu_ops *instead_of;
	/* Is there a sign of it? A few system calls at most. */
	bool (*is_likely)(const struct trk_env *env);
	/* 0 with *ret, or a negative error with the reason in `why`. env is borrowed until
	 * close. */
	int (*open)(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		    char why[TRK_GPU_TEXT_SIZE]);
	/* Append devices and processes. */
	void (*poll)(void *state, struct trk_gpu_scan *scan);
	/* What takes long: called when the poll's result has been handed out; may be NULL. */
	void (*rest)(void *state);
	/* The current error in a few words; empty: none. May be NULL. */
	void (*say)(void *state, char text[TRK_GPU_TEXT_SIZE]);
	void (*close)(void *state);
};

extern const struct trk_gpu_ops trk__gpu_nvml, trk__gpu_drm, trk__gpu_nvidia_smi;

/* Threads that still are in a driver, or wait for a program. Where there are any, a program ends by
 * _exit(2): the driver's own clean-up might wait for them. */
int trk__gpu_threads(void);
void trk__gpu_count_thread(int by); /* 1: one begins, -1: it has ended */

/* True if the kernel has suspended this PCI device (runtime power management). Reading it does not
 * wake the device; any other question would. sys_fd: /sys; bus: "0000:01:00.0", or the form of NVML
 * with eight digits in front. */
bool trk__gpu_is_asleep(int sys_fd, const char *bus);
/* True if the kernel may suspend it: power/control is "auto". */
bool trk__gpu_may_sleep(int sys_fd, const char *bus);
/* True if the NVIDIA driver has GPUs and all of them are suspended. */
bool trk__gpu_nvidia_is_asleep(int sys_fd);
/* The figures of a suspended GPU: its engines do nothing, the rest is unknown. */
void trk__gpu_set_asleep(struct trk_gpu_device *d);

/* True in a pid namespace other than the machine's: the driver's pids are not valid in it. */
bool trk__gpu_pids_are_foreign(const struct trk_env *env);

/* Append a device with every value unknown, or NULL when the table is full. */
struct trk_gpu_device *trk__gpu_add_device(struct trk_gpu_scan *scan, const char *vendor);
/* Is the memory of this instance that of one before it, of the same GPU instance? */
bool trk__gpu_shares_memory(const struct trk_gpu_scan *scan, size_t device);
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
	bool known, foreign; /* whether this process is in a pid namespace */
	uint64_t looked_ns;
	bool unreadable;              /* the open files of some could not be read */
	size_t holders[TRK_GPUS_MAX]; /* tracked processes that have the device open */
	struct trk_gpu_say say[TRK_GPUS_MAX];
};

/* Fill TREE_SHARE and TREE_MEMORY of every device.
 *
 * By pid where the driver's pids are those of this namespace. In a pid namespace the driver may
 * list pids of the machine's or none at all. Then a device counts for the tree as a whole, and
 * by_device says so, if no other process can use it: tracked processes have it open, and the driver
 * lists one process at most or as many as these; or, where it cannot be seen what they have open,
 * the device is assigned to them and one process at most is listed. What is assigned to others, or
 * open in none of them, is not theirs; an instance that is assigned by name is theirs. Else their
 * part is not known. */
void trk__gpu_attribute(struct trk_gpu_attributor *a, struct trk_gpu_scan *scan);

#endif
