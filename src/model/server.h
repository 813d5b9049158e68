/* What a machine is: processor, memory, disks, virtualisation, container, limits, GPUs. */
#ifndef TRK_MODEL_SERVER_H
#define TRK_MODEL_SERVER_H

enum { TRK_SERVER_TEXT = 128, TRK_SERVER_LIMIT_TEXT = 192 };
enum { TRK_CPU_MODEL_SIZE = 96, TRK_CPU_VENDOR_SIZE = 32 };
enum { TRK_DMI_TEXT = 80 };

/* Texts are empty and numbers NaN where nothing is known. */
struct trk_server {
	char os[32], kernel[96], arch[32];
	char cpu_model[TRK_CPU_MODEL_SIZE], cpu_vendor[TRK_CPU_VENDOR_SIZE];
	double vcpus; /* of the kernel, not only those this process may use */
	double cores, sockets, threads_per_core, numa_nodes;
	double memory_mib;       /* MemTotal */
	double disks, disk_gb;   /* physical devices, not partitions; 10^9 bytes */
	char virtualization[32]; /* "none", "kvm", "xen", "amazon", "vmware", …; "vm": unknown */
	char virtualization_from[TRK_SERVER_TEXT];
	char container[32]; /* "none", "docker", "kubernetes", … */
	char container_from[TRK_SERVER_TEXT];
	char maker[TRK_DMI_TEXT], product[TRK_DMI_TEXT]; /* from the firmware */
	/* Limits of this process; NaN: no limit below the machine. */
	double cpu_limit, memory_limit_mib;
	char cpu_limit_from[TRK_SERVER_LIMIT_TEXT], memory_limit_from[TRK_SERVER_LIMIT_TEXT];
	/* GPUs: only read_gpus() sets them. */
	double gpu_count, gpu_memory_mib; /* of all */
	char gpu_names[256];              /* one a line */
	char gpu_reason[TRK_SERVER_TEXT]; /* why nothing is known */
};

#endif
