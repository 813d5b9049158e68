/* NVIDIA GPUs through NVML, the vendor's management library, which is loaded on first use: the
 * library, its devices, and figures that rarely change. nvml_device.c reads a device.
 *
 * Every function but the first four may be missing, and every call may fail: the value is then
 * unknown, with the reason. A device that is lost, or whose driver is reloaded, is opened again;
 * one that the kernel has suspended is not woken. */
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
#include "base/os.h"
#include "probe/gpu/gpu.h"
#include "probe/gpu/nvml_private.h"

/* Pause before a failed device is opened again; it doubles from the first to the last. */
#define RETRY_FIRST_NS (2 * TRK_NS_PER_S)
#define RETRY_LAST_NS  (300 * TRK_NS_PER_S)
#define SLOW_NS        (5 * TRK_NS_PER_S) /* between two readings of memory errors */

enum { EVENTS_MAX = 64 };

/* ---- figures that rarely change ----
 *
 * Memory errors: fields that one call reads, at the start and then every 5 s between two polls, one
 * device after the other; a poll copies the last values. */

static const struct {
	unsigned int id;
	enum trk_gpu_metric metric;
} fields[NVML_ERRORS] = {
	{NVML_FI_DEV_ECC_SBE_VOL_TOTAL, TRK_GPU_ECC_CORRECTED_METRIC},
	{NVML_FI_DEV_ECC_DBE_VOL_TOTAL, TRK_GPU_ECC_UNCORRECTED_METRIC},
};

static struct trk_gpu_value field_value(const struct nvml_field *f, int result)
{
	result = result ? result : f->result;
	if (result != NVML_SUCCESS)
		return trk__gpu_unknown(trk__nvml_why(result));
	if (f->value_type == NVML_VALUE_TYPE_DOUBLE)
		return trk__gpu_known(f->value.d);
	if (f->value_type == NVML_VALUE_TYPE_UNSIGNED_INT)
		return trk__gpu_known(f->value.ui);
	if (f->value_type == NVML_VALUE_TYPE_UNSIGNED_LONG)
		return trk__gpu_known((double) f->value.ul);
	return trk__gpu_known((double) f->value.ull);
}

static void read_fields(struct nvml *n, struct kept *k)
{
	struct nvml_field f[NVML_ERRORS] = {{.id = 0}};
	int r;

	for (int i = 0; i < NVML_ERRORS; i++)
		f[i].id = fields[i].id;
	r = CALL(n, fields, k->handle, NVML_ERRORS, f);
	for (int i = 0; i < NVML_ERRORS; i++)
		k->errors[i] = field_value(&f[i], r);
	k->errors_ns = n->env.monotonic_ns();
}

static void set_errors(const struct kept *k, struct trk_gpu_value *m)
{
	for (int i = 0; i < NVML_ERRORS; i++)
		m[fields[i].metric] = k->errors[i];
	m[TRK_GPU_XID_METRIC] = m[TRK_GPU_XID_LAST_METRIC] = trk__gpu_unknown(TRK_GPU_UNSUPPORTED);
	if (!k->reports_xid)
		return;
	m[TRK_GPU_XID_METRIC] = trk__gpu_known(k->xids);
	m[TRK_GPU_XID_LAST_METRIC] = trk__gpu_known(k->xid_last);
}

/* ---- Xid errors: events that the driver keeps until they are fetched ---- */

static void watch_errors(struct nvml *n, struct kept *k)
{
	if (!n->f.next_event || !n->f.events_free)
		return;
	if (!n->events && CALL(n, events_new, &n->events) != NVML_SUCCESS)
		n->events = NULL;
	k->reports_xid = n->events &&
			 CALL(n, events_of, k->handle, NVML_EVENT_XID, n->events) == NVML_SUCCESS;
}

static void take_errors(struct nvml *n)
{
	struct nvml_event event = {.data = 0};

	for (int i = 0; n->events && i < EVENTS_MAX; i++) {
		if (n->f.next_event(n->events, &event, 0) != NVML_SUCCESS)
			return;
		for (unsigned int k = 0; event.type == NVML_EVENT_XID && k < n->count; k++)
			if (n->kept[k].handle == event.device) {
				n->kept[k].xids++;
				n->kept[k].xid_last = (unsigned int) event.data;
			}
	}
}

static void forget_errors(struct nvml *n)
{
	if (n->events)
		(void) n->f.events_free(n->events);
	n->events = NULL;
	for (unsigned int i = 0; i < n->count; i++)
		n->kept[i].reports_xid = false;
}

/* ---- open and close ---- */

static bool nvml_is_likely(const struct trk_env *env)
{
	static const char *const signs[] = {
		"driver/nvidia/version",
		"../dev/nvidiactl", /* a sandbox may lack the module's files */
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
		void *to; /* pointer to a function pointer */
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

static void free_watches(struct nvml *n)
{
	for (unsigned int i = 0; i < n->count; i++) {
		trk__nvml_free_samples(n, &n->kept[i].watch);
		for (int k = 0; k < MIG_INSTANCES_MAX; k++)
			trk__nvml_free_samples(n, &n->kept[i].instance[k]);
	}
}

static void nvml_close(void *state)
{
	struct nvml *n = state;

	free_watches(n);
	forget_errors(n);
	if (n->initialised)
		(void) CALL(n, shutdown);
	if (n->library)
		(void) dlclose(n->library);
	trk__nvml_free_lists(n);
	free(n);
}

static int refuse(struct nvml *n, char why[TRK_GPU_TEXT_SIZE], const char *text, int code)
{
	if (code)
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "NVML: %s (code %d)", text, code);
	else
		(void) snprintf(why, TRK_GPU_TEXT_SIZE, "NVML: %s", text);
	nvml_close(n);
	return -TRK_ERR_UNSUPPORTED;
}

static const char *init_text(int result)
{
	switch (result) {
	case NVML_ERROR_DRIVER_NOT_LOADED:
		return "the driver is not loaded";
	case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
		return "library and driver have different versions";
	case NVML_ERROR_NO_PERMISSION:
		return "not permitted";
	default:
		return "cannot be initialised";
	}
}

/* A known device is found by its UUID, as indices change when a device has gone. */
static int get_handle(struct nvml *n, unsigned int index, nvml_device *ret)
{
	const struct kept *k = &n->kept[index];

	if (k->uuid[0] && n->f.handle_by_uuid)
		return n->f.handle_by_uuid(k->uuid, ret);
	return n->f.handle(index, ret);
}

static void get_identity(struct nvml *n, struct kept *k)
{
	struct nvml_pci_info pci = {.bus = 0};
	unsigned int minor;

	if (CALL(n, name, k->handle, k->name, sizeof(k->name)) != NVML_SUCCESS)
		k->name[0] = '\0';
	if (CALL(n, uuid, k->handle, k->uuid, sizeof(k->uuid)) != NVML_SUCCESS)
		k->uuid[0] = '\0';
	if (CALL(n, pci_info, k->handle, &pci) == NVML_SUCCESS)
		(void) snprintf(k->bus, sizeof(k->bus), "%.31s", pci.bus_id);
	k->may_sleep = trk__gpu_may_sleep(n->env.sys_fd, k->bus);
	if (CALL(n, minor, k->handle, &minor) == NVML_SUCCESS && minor < 1024)
		k->node = (int) minor;
}

static int open_device(struct nvml *n, unsigned int index)
{
	struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
	struct kept *k = &n->kept[index];
	int r = get_handle(n, index, &k->handle);

	if (r != NVML_SUCCESS) {
		k->handle = NULL;
		return r;
	}
	get_identity(n, k);
	trk__nvml_free_samples(n, &k->watch);
	if (n->f.gpm_get && CALL(n, gpm_support, k->handle, &support) == NVML_SUCCESS &&
	    support.is_supported)
		trk__nvml_make_samples(n, &k->watch);
	watch_errors(n, k);
	read_fields(n, k);
	return NVML_SUCCESS;
}

/* ---- devices that sleep, vanish or return ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The library lists the GPUs in the order of their bus addresses. If sysfs lists an equal number, a
 * suspended GPU is identified without its handle, which would wake it. */
static void find_places(struct nvml *n)
{
	char bus[TRK_GPUS_MAX][16];
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(n->env.sys_fd, "bus/pci/drivers/nvidia");
	struct dirent *entry;
	unsigned int count = 0;

	for (unsigned int i = 0; i < n->count; i++) {
		n->kept[i].node = -1;
		n->kept[i].pcie_rx = n->kept[i].pcie_tx = trk__gpu_unknown(TRK_GPU_FIRST_LOOK);
	}
	while ((entry = trk__next_entry(dir)))
		if (strchr(entry->d_name, ':') && strlen(entry->d_name) == 12) {
			if (count < TRK_GPUS_MAX)
				(void) snprintf(bus[count], sizeof(bus[0]), "%.12s", entry->d_name);
			count++;
		}
	if (count != n->count)
		return;
	qsort(bus, count, sizeof(bus[0]), by_text);
	for (unsigned int i = 0; i < count; i++) {
		(void) snprintf(n->kept[i].bus, sizeof(n->kept[i].bus), "0000%s", bus[i]);
		n->kept[i].may_sleep = trk__gpu_may_sleep(n->env.sys_fd, bus[i]);
	}
}

static void refuse_device(struct kept *k, int result, uint64_t now_ns)
{
	k->refused = result;
	k->retries++;
	k->pause_ns = k->pause_ns ? k->pause_ns * 2 : RETRY_FIRST_NS;
	if (k->pause_ns > RETRY_LAST_NS)
		k->pause_ns = RETRY_LAST_NS;
	k->retry_ns = now_ns + k->pause_ns;
}

/* After a reset or a new driver the library returns errors until it is initialised again. */
static void restart(struct nvml *n, uint64_t now_ns)
{
	int r;

	free_watches(n);
	forget_errors(n);
	if (n->initialised)
		(void) CALL(n, shutdown);
	r = n->f.init();
	n->initialised = r == NVML_SUCCESS;
	for (unsigned int i = 0; i < n->count; i++) {
		struct kept *k = &n->kept[i];

		k->handle = NULL;
		memset(k->instance, 0, sizeof(k->instance));
		if (!n->initialised)
			refuse_device(k, r, now_ns);
	}
	if (n->initialised && CALL(n, driver_version, n->driver, sizeof(n->driver)) != NVML_SUCCESS)
		n->driver[0] = '\0';
}

static bool is_due(const struct kept *k, uint64_t now_ns)
{
	return k->refused && now_ns >= k->retry_ns;
}

/* After the first failure only the device is opened again; after more, the library is restarted. */
static void restart_if_needed(struct nvml *n, uint64_t now_ns)
{
	for (unsigned int i = 0; i < n->count; i++)
		if (is_due(&n->kept[i], now_ns) && n->kept[i].retries > 1 &&
		    trk__nvml_is_gone(n->kept[i].refused)) {
			restart(n, now_ns);
			return;
		}
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

	if (!n)
		return -ENOMEM;
	n->env = *env;
	n->library = trk__os_library(NVML_LIBRARY);
	if (n->library)
		load_functions(n);
	trk__library_forget(); /* also errors of optional functions */
	if (!n->library)
		return cannot_load(n, why, NVML_LIBRARY " cannot be loaded");
	if (!n->f.init || !n->f.count || !n->f.handle)
		return cannot_load(n, why, NVML_LIBRARY " lacks the functions of NVML");
	r = n->f.init();
	if (r != NVML_SUCCESS)
		return refuse(n, why, init_text(r), r);
	n->initialised = true;
	r = n->f.count(&count);
	if (r != NVML_SUCCESS || count == 0)
		return refuse(n, why, r ? "cannot count the devices" : "no device", r);
	n->count = count < TRK_GPUS_MAX ? count : TRK_GPUS_MAX;
	if (trk__nvml_make_lists(n) < 0) {
		nvml_close(n);
		return -ENOMEM;
	}
	if (CALL(n, driver_version, n->driver, sizeof(n->driver)) != NVML_SUCCESS)
		n->driver[0] = '\0';
	find_places(n);
	*ret = n;
	return 0;
}

/* ---- a poll ---- */

/* Open the device if needed. NVML_SUCCESS if it has a handle. */
static int make_ready(struct nvml *n, unsigned int index, uint64_t now_ns)
{
	struct kept *k = &n->kept[index];
	int r;

	if (k->refused && !is_due(k, now_ns))
		return k->refused;
	if (k->handle && !k->refused)
		return NVML_SUCCESS;
	r = open_device(n, index);
	if (r != NVML_SUCCESS)
		refuse_device(k, r, now_ns);
	return r;
}

/* Costs nothing on servers that never suspend their GPUs. */
static bool is_asleep(const struct nvml *n, const struct kept *k)
{
	return k->may_sleep && trk__gpu_is_asleep(n->env.sys_fd, k->bus);
}

static void set_identity(const struct nvml *n, const struct kept *k, struct trk_gpu_device *d)
{
	memcpy(d->name, k->name, sizeof(d->name));
	memcpy(d->uuid, k->uuid, sizeof(d->uuid));
	memcpy(d->bus, k->bus, sizeof(d->bus));
	memcpy(d->driver, n->driver, sizeof(d->driver));
	d->node = k->node;
}

static void poll_device(struct nvml *n, struct trk_gpu_scan *scan, unsigned int index)
{
	struct kept *k = &n->kept[index];
	struct trk_gpu_device *d = trk__gpu_add_device(scan, "nvidia");
	size_t device = scan->devices - 1;
	bool asleep = is_asleep(n, k);
	int r = NVML_SUCCESS;

	if (!d)
		return;
	if (!asleep)
		r = make_ready(n, index, scan->now_ns);
	set_identity(n, k, d);
	if (asleep) {
		trk__gpu_set_asleep(d);
		return;
	}
	if (r == NVML_SUCCESS) {
		r = trk__nvml_device(n, scan, device, k);
		if (r != NVML_SUCCESS)
			refuse_device(k, r, scan->now_ns);
	}
	if (r != NVML_SUCCESS) {
		trk__gpu_set_unknown(d, trk__nvml_why(r));
		return;
	}
	k->refused = NVML_SUCCESS;
	k->pause_ns = k->retries = 0;
	set_errors(k, scan->device[device].metric);
}

static void nvml_poll(void *state, struct trk_gpu_scan *scan)
{
	struct nvml *n = state;

	restart_if_needed(n, scan->now_ns);
	take_errors(n); /* one call for all devices; errors often end the job */
	for (unsigned int i = 0; i < n->count; i++)
		poll_device(n, scan, i);
}

/* Read slow or rarely changing figures, of one device per poll in turn. */
static void nvml_rest(void *state)
{
	struct nvml *n = state;
	struct kept *k = &n->kept[n->next_rest++ % n->count];

	if (!k->handle || k->refused || is_asleep(n, k))
		return;
	trk__nvml_bus(n, k);
	if (n->env.monotonic_ns() >= k->errors_ns + SLOW_NS)
		read_fields(n, k);
}

const struct trk_gpu_ops trk__gpu_nvml = {
	.name = "NVML",
	.is_likely = nvml_is_likely,
	.open = nvml_open,
	.poll = nvml_poll,
	.rest = nvml_rest,
	.close = nvml_close,
};
