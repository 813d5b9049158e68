/* NVIDIA through its Management Library, loaded when it is needed.
 *
 * Every function but the first four may be missing, and every call may fail: then the value is not
 * known, with the reason. Utilisation is not given in MIG mode. The driver keeps samples of processes
 * that have long ended: only those of the last moments count. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/dynamic.h"
#include "base/error.h"
#include "base/file.h"
#include "probe/gpu/gpu.h"
#include "probe/gpu/nvml_private.h"

enum trk_gpu_why trk__nvml_why(int result)
{
	switch (result) {
	case NVML_ERROR_NOT_SUPPORTED:
	case NVML_ERROR_NO_DATA:
	case NVML_ERROR_INVALID_ARGUMENT:
		return TRK_GPU_UNSUPPORTED;
	case NVML_ERROR_NO_PERMISSION:
		return TRK_GPU_DENIED;
	case NVML_ERROR_GPU_IS_LOST:
	case NVML_ERROR_RESET_REQUIRED:
	case NVML_ERROR_NOT_FOUND:
		return TRK_GPU_LOST;
	case NVML_ERROR_FUNCTION_NOT_FOUND:
		return TRK_GPU_OLD_LIBRARY;
	case NVML_ERROR_TIMEOUT:
		return TRK_GPU_NO_ANSWER;
	default:
		return TRK_GPU_FAILED;
	}
}

static struct trk_gpu_value scaled(int result, double value)
{
	return result == NVML_SUCCESS ? trk__gpu_known(value)
				      : trk__gpu_unknown(trk__nvml_why(result));
}

/* ---- life ---- */

static bool nvml_is_likely(const struct trk_env *env)
{
	static const char *const signs[] = {
		"driver/nvidia/version",
		"../dev/nvidiactl", /* a sandbox may have the device without the module's files */
		"../dev/dxg",       /* a GPU of the Windows host under WSL */
	};
	struct stat st;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (fstatat(env->proc_fd, signs[i], &st, 0) == 0)
			return true;
	return false;
}

static void load_functions(struct nvml *n)
{
	const struct {
		const char *name[2];
		void *to; /* a pointer to a function */
	} wanted[] = {
#define X(name, parameters, best, other) {{best, other}, &n->f.name},
		NVML_FUNCTION_LIST(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		for (int k = 0; k < 2 && wanted[i].name[k]; k++) {
			void *symbol = dlsym(n->library, wanted[i].name[k]);

			if (!symbol)
				continue;
			memcpy(wanted[i].to, &symbol, sizeof(symbol));
			break;
		}
}

static void nvml_close(void *state)
{
	struct nvml *n = state;

	for (unsigned int i = 0; i < n->count; i++) {
		trk__nvml_free_samples(n, &n->kept[i].watch);
		for (int k = 0; k < MIG_INSTANCES_MAX; k++)
			trk__nvml_free_samples(n, &n->kept[i].instance[k]);
	}
	if (n->f.shutdown && n->count)
		(void) n->f.shutdown();
	if (n->library)
		(void) dlclose(n->library);
	free(n->list);
	free(n->samples);
	free(n);
}

static int refuse(struct nvml *n, char why[TRK_GPU_TEXT_SIZE], const char *text, int code)
{
	if (code)
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "NVML: %s (code %d)", text, code);
	else
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "NVML: %s", text);
	nvml_close(n);
	return -TRK_E_UNSUPPORTED;
}

static const char *init_text(int result)
{
	switch (result) {
	case NVML_ERROR_DRIVER_NOT_LOADED:
		return "the driver is not loaded";
	case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
		return "library and driver are of different versions";
	case NVML_ERROR_NO_PERMISSION:
		return "not permitted";
	default:
		return "cannot be initialised";
	}
}

static void know_device(struct nvml *n, unsigned int index)
{
	struct kept *k = &n->kept[index];
	struct nvml_pci_info pci = {.bus = 0};
	struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
	unsigned int minor;

	k->node = -1;
	k->pcie_rx = k->pcie_tx = trk__gpu_unknown(TRK_GPU_FIRST_LOOK);
	if (n->f.handle(index, &k->handle) != NVML_SUCCESS) {
		k->handle = NULL;
		return;
	}
	if (CALL(n, name, k->handle, k->name, sizeof(k->name)) != NVML_SUCCESS)
		k->name[0] = '\0';
	if (CALL(n, uuid, k->handle, k->uuid, sizeof(k->uuid)) != NVML_SUCCESS)
		k->uuid[0] = '\0';
	if (CALL(n, pci_info, k->handle, &pci) == NVML_SUCCESS)
		(void) snprintf(k->bus, sizeof(k->bus), "%.31s", pci.bus_id);
	if (CALL(n, minor, k->handle, &minor) == NVML_SUCCESS && minor < 1024)
		k->node = (int) minor;
	if (n->f.gpm_get && CALL(n, gpm_support, k->handle, &support) == NVML_SUCCESS &&
	    support.is_supported)
		trk__nvml_make_samples(n, &k->watch);
}

static int cannot_load(struct nvml *n, char why[TRK_GPU_TEXT_SIZE], const char *text)
{
	(void) refuse(n, why, text, 0);
	return -ELIBACC;
}

static int nvml_open(const struct trk_env *env, const struct trk_gpu_hints *hints, void **ret,
		     char why[TRK_GPU_TEXT_SIZE])
{
	struct nvml *n = calloc(1, sizeof(*n));
	unsigned int count = 0;
	int r;

	(void) env;
	(void) hints;
	if (!n)
		return -ENOMEM;
	n->library = dlopen(NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (n->library)
		load_functions(n);
	trk__library_forget(); /* of the functions, too: some are optional */
	if (!n->library)
		return cannot_load(n, why, NVML_LIBRARY " cannot be loaded");
	if (!n->f.init || !n->f.count || !n->f.handle)
		return cannot_load(n, why, NVML_LIBRARY " is not what it should be");
	r = n->f.init();
	if (r != NVML_SUCCESS)
		return refuse(n, why, init_text(r), r);
	r = n->f.count(&count);
	if (r != NVML_SUCCESS || count == 0) {
		(void) CALL(n, shutdown);
		return refuse(n, why, r ? "cannot count the devices" : "no device", r);
	}
	n->count = count < TRK_GPUS_MAX ? count : TRK_GPUS_MAX;
	if (trk__nvml_make_lists(n) < 0) {
		nvml_close(n);
		return -ENOMEM;
	}
	if (CALL(n, driver_version, n->driver, sizeof(n->driver)) != NVML_SUCCESS)
		n->driver[0] = '\0';
	for (unsigned int i = 0; i < n->count; i++)
		know_device(n, i);
	*ret = n;
	return 0;
}

/* ---- a device ---- */

static void set_memory(struct nvml *n, nvml_device handle, struct trk_gpu_value *m)
{
	struct nvml_memory_v2 v2 = {.version = NVML_MEMORY_V2};
	struct nvml_memory v1;
	int r = CALL(n, memory_v2, handle, &v2);

	if (r != NVML_SUCCESS) { /* older drivers know the first form only */
		r = CALL(n, memory, handle, &v1);
		v2.total = r == NVML_SUCCESS ? v1.total : 0;
		v2.used = r == NVML_SUCCESS ? v1.used : 0;
	}
	m[TRK_GPU_MEMORY_USED_METRIC] = scaled(r, (double) v2.used);
	m[TRK_GPU_MEMORY_TOTAL_METRIC] = scaled(r, (double) v2.total);
}

static void set_utilization(struct nvml *n, nvml_device handle, bool mig, struct trk_gpu_value *m)
{
	struct nvml_utilization u = {0, 0};
	unsigned int share = 0, period;
	int r;

	if (mig) {
		m[TRK_GPU_UTILIZATION_METRIC] = m[TRK_GPU_MEMORY_ACTIVITY_METRIC] =
			m[TRK_GPU_ENCODER_METRIC] = m[TRK_GPU_DECODER_METRIC] =
				trk__gpu_unknown(TRK_GPU_MIG);
		return;
	}
	r = CALL(n, utilization, handle, &u);
	m[TRK_GPU_UTILIZATION_METRIC] = scaled(r, u.gpu / 100.0);
	m[TRK_GPU_MEMORY_ACTIVITY_METRIC] = scaled(r, u.memory / 100.0);
	r = CALL(n, encoder, handle, &share, &period);
	m[TRK_GPU_ENCODER_METRIC] = scaled(r, share / 100.0);
	r = CALL(n, decoder, handle, &share, &period);
	m[TRK_GPU_DECODER_METRIC] = scaled(r, share / 100.0);
}

static void set_board(struct nvml *n, nvml_device handle, struct trk_gpu_value *m)
{
	unsigned long long wide = 0;
	unsigned int value = 0;
	int r = CALL(n, temperature, handle, NVML_TEMPERATURE_GPU, &value);

	m[TRK_GPU_TEMPERATURE_METRIC] = scaled(r, value);
	r = CALL(n, power, handle, &value);
	m[TRK_GPU_POWER_METRIC] = scaled(r, value / 1e3);
	r = CALL(n, energy, handle, &wide);
	m[TRK_GPU_ENERGY_METRIC] = scaled(r, (double) wide / 1e3);
	r = CALL(n, clock, handle, NVML_CLOCK_SM, &value);
	m[TRK_GPU_CLOCK_METRIC] = scaled(r, value * 1e6);
	r = CALL(n, clock, handle, NVML_CLOCK_MEM, &value);
	m[TRK_GPU_MEMORY_CLOCK_METRIC] = scaled(r, value * 1e6);
	r = CALL(n, throttle, handle, &wide);
	m[TRK_GPU_THROTTLE_METRIC] = scaled(r, (double) wide);
}

static void set_links(struct nvml *n, struct kept *k, uint64_t now_ns, struct trk_gpu_value *m)
{
	struct nvml_field field[2] = {
		{.id = NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, .scope = UINT32_MAX},
		{.id = NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, .scope = UINT32_MAX},
	};
	int r = CALL(n, fields, k->handle, 2, field);
	double seconds = (double) (now_ns - k->link_ns) / 1e9, rx, tx;

	r = r ? r : field[0].result ? field[0].result : field[1].result;
	m[TRK_GPU_NVLINK_RX_METRIC] = m[TRK_GPU_NVLINK_TX_METRIC] =
		trk__gpu_unknown(r ? trk__nvml_why(r) : TRK_GPU_FIRST_LOOK);
	if (r != NVML_SUCCESS)
		return;
	rx = (double) field[0].value.ull;
	tx = (double) field[1].value.ull;
	if (k->links_known && seconds > 0 && rx >= k->link_rx_kib && tx >= k->link_tx_kib) {
		m[TRK_GPU_NVLINK_RX_METRIC] =
			trk__gpu_known((rx - k->link_rx_kib) * 1024 / seconds);
		m[TRK_GPU_NVLINK_TX_METRIC] =
			trk__gpu_known((tx - k->link_tx_kib) * 1024 / seconds);
	}
	k->links_known = true;
	k->link_ns = now_ns;
	k->link_rx_kib = rx;
	k->link_tx_kib = tx;
}

/* ---- MIG ---- */

static bool is_mig(struct nvml *n, nvml_device handle)
{
	unsigned int now = 0, pending;

	return CALL(n, mig_mode, handle, &now, &pending) == NVML_SUCCESS && now == 1;
}

/* An instance of a GPU has a memory of its own, and no utilisation. */
static void add_instances(struct nvml *n, struct trk_gpu_scan *scan, size_t parent, struct kept *k)
{
	unsigned int most = 0;
	double used = 0, total = 0;
	size_t found = 0;
	struct trk_gpu_value *above;

	if (CALL(n, mig_count, k->handle, &most) != NVML_SUCCESS)
		return;
	for (unsigned int i = 0; i < most && i < MIG_INSTANCES_MAX; i++) {
		struct trk_gpu_device *d;
		nvml_device instance;

		if (CALL(n, mig_handle, k->handle, i, &instance) != NVML_SUCCESS)
			continue; /* places may be empty */
		d = trk__gpu_add_device(scan, "nvidia");
		if (!d)
			return;
		d->parent = (int) parent;
		d->mig = true;
		(void) snprintf(d->driver, sizeof(d->driver), "%s", n->driver);
		(void) CALL(n, name, instance, d->name, sizeof(d->name));
		(void) CALL(n, uuid, instance, d->uuid, sizeof(d->uuid));
		set_memory(n, instance, d->metric);
		set_utilization(n, instance, true, d->metric);
		trk__nvml_instance_activity(n, k->handle, instance, &k->instance[i], d);
		used += d->metric[TRK_GPU_MEMORY_USED_METRIC].value;
		total += d->metric[TRK_GPU_MEMORY_TOTAL_METRIC].value;
		found++;
	}
	/* In a container that has an instance alone, the GPU itself may be closed to us. */
	above = scan->device[parent].metric;
	if (found && isnan(above[TRK_GPU_MEMORY_USED_METRIC].value) && !isnan(used)) {
		above[TRK_GPU_MEMORY_USED_METRIC] = trk__gpu_known(used);
		above[TRK_GPU_MEMORY_TOTAL_METRIC] = trk__gpu_known(total);
	}
}

/* ---- a poll ---- */

static void poll_device(struct nvml *n, struct trk_gpu_scan *scan, struct kept *k)
{
	struct trk_gpu_device *d = trk__gpu_add_device(scan, "nvidia");
	size_t index = scan->devices - 1;

	if (!d)
		return;
	memcpy(d->name, k->name, sizeof(d->name));
	memcpy(d->uuid, k->uuid, sizeof(d->uuid));
	memcpy(d->bus, k->bus, sizeof(d->bus));
	memcpy(d->driver, n->driver, sizeof(d->driver));
	d->node = k->node;
	if (!k->handle) {
		for (int i = 0; i < TRK_GPU_METRICS; i++)
			d->metric[i] = trk__gpu_unknown(TRK_GPU_DENIED);
		return;
	}
	d->mig = is_mig(n, k->handle);
	set_memory(n, k->handle, d->metric);
	set_utilization(n, k->handle, d->mig, d->metric);
	set_board(n, k->handle, d->metric);
	trk__nvml_activity(n, k, d->mig, d->metric);
	set_links(n, k, scan->now_ns, d->metric);
	trk__nvml_processes(n, scan, index, k->handle);
	if (d->mig)
		add_instances(n, scan, index, k);
}

static void nvml_poll(void *state, struct trk_gpu_scan *scan)
{
	struct nvml *n = state;

	for (unsigned int i = 0; i < n->count; i++)
		poll_device(n, scan, &n->kept[i]);
}

/* The library watches the bus for 20 ms a call: one device a poll, in turn, and none where the
 * performance monitor tells. */
static void nvml_rest(void *state)
{
	struct nvml *n = state;
	struct kept *k = &n->kept[n->next_pcie++ % n->count];
	unsigned int kib = 0;
	int r;

	if (!k->handle || (k->watch.sample[0] && !k->monitor_lacks_bus))
		return;
	r = CALL(n, pcie, k->handle, NVML_PCIE_UTIL_RX_BYTES, &kib);
	k->pcie_rx = scaled(r, kib * 1024.0);
	if (r != NVML_SUCCESS) {
		k->pcie_tx = k->pcie_rx;
		return;
	}
	r = CALL(n, pcie, k->handle, NVML_PCIE_UTIL_TX_BYTES, &kib);
	k->pcie_tx = scaled(r, kib * 1024.0);
}

const struct trk_gpu_ops trk__gpu_nvml = {
	.name = "NVML",
	.is_likely = nvml_is_likely,
	.open = nvml_open,
	.poll = nvml_poll,
	.rest = nvml_rest,
	.close = nvml_close,
};
