/* Reads the board of an NVIDIA GPU through NVML: power, energy, temperature, clocks and NVLink.
 * Knows what the results of calls mean, and what costly functions of the driver have taken. */
#include "base/clock.h"
#include "probe/gpu/nvml_private.h"

/* Of a core, for one kind of costly call on all devices; and what it may take ahead of that. */
#define COST_SHARE     0.0025
#define COST_CREDIT_NS (50 * TRK_NS_PER_MS)

/* ---- results of calls ---- */

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
	case NVML_ERROR_UNINITIALIZED:
	case NVML_ERROR_DRIVER_NOT_LOADED:
	case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
		return TRK_GPU_NO_DRIVER;
	default:
		return TRK_GPU_FAILED;
	}
}

bool trk__nvml_is_gone(int result)
{
	return result == NVML_ERROR_GPU_IS_LOST || result == NVML_ERROR_RESET_REQUIRED ||
	       result == NVML_ERROR_IRQ_ISSUE || trk__nvml_why(result) == TRK_GPU_NO_DRIVER;
}

struct trk_gpu_value trk__nvml_scaled(int result, double value)
{
	return result == NVML_SUCCESS ? trk__gpu_known(value)
				      : trk__gpu_unknown(trk__nvml_why(result));
}

struct trk_gpu_value trk__nvml_figure(int (*get)(nvml_device, unsigned int *), nvml_device handle,
				      double divisor)
{
	unsigned int value = 0;
	int r = get ? get(handle, &value) : NVML_ERROR_FUNCTION_NOT_FOUND;

	return trk__nvml_scaled(r, value / divisor);
}

struct trk_gpu_value trk__nvml_figure_of(int (*get)(nvml_device, unsigned int, unsigned int *),
					 nvml_device handle, unsigned int which, double scale)
{
	unsigned int value = 0;
	int r = get ? get(handle, which, &value) : NVML_ERROR_FUNCTION_NOT_FOUND;

	return trk__nvml_scaled(r, value * scale);
}

/* ---- what the driver's costly functions may take ----
 *
 * On a server with an H200, driver 580 takes 4 ms of CPU time to read the energy counter and 2 to 3
 * ms for the use by each process, where the other functions take 0.1 ms. */

bool trk__nvml_is_affordable(const struct nvml *n, const struct cost *c,
			     const struct trk_gpu_scan *scan)
{
	double allowed_ns = COST_CREDIT_NS + COST_SHARE * (double) (scan->now_ns - c->first_ns);

	return scan->is_full || !c->first_ns || (double) c->spent_ns * n->count <= allowed_ns;
}

void trk__nvml_add_cost(struct cost *c, uint64_t began_cpu_ns, uint64_t now_ns)
{
	if (!c->first_ns)
		c->first_ns = now_ns;
	c->spent_ns += trk__clock_thread_cpu_ns() - began_cpu_ns;
}

/* ---- the board ---- */

/* nvmlDeviceGetTemperature is deprecated since CUDA 13 and may be removed. */
static struct trk_gpu_value temperature_of(struct nvml *n, nvml_device handle)
{
	struct nvml_temperature t = {.version = NVML_TEMPERATURE_V1,
				     .sensor = NVML_TEMPERATURE_GPU};
	unsigned int value = 0;
	int r = CALL(n, temperature, handle, NVML_TEMPERATURE_GPU, &value);

	if (r != NVML_ERROR_FUNCTION_NOT_FOUND && r != NVML_ERROR_NOT_SUPPORTED)
		return trk__nvml_scaled(r, value);
	if (!n->f.temperature_v)
		return trk__nvml_scaled(r, 0);
	r = n->f.temperature_v(handle, &t);
	return trk__nvml_scaled(r, t.celsius);
}

/* Between two readings of the counter, power times time is added. The sum is kept when the counter
 * says less, until it has caught up. */
static struct trk_gpu_value energy_of(struct nvml *n, struct kept *k,
				      const struct trk_gpu_scan *scan, struct trk_gpu_value power)
{
	struct energy *e = &k->energy;
	uint64_t began_cpu_ns = trk__clock_thread_cpu_ns();
	unsigned long long millijoules = 0;
	double before = e->read.value, now;

	if (power.why == TRK_GPU_KNOWN && e->read.why == TRK_GPU_KNOWN &&
	    !trk__nvml_is_affordable(n, &e->cost, scan)) {
		now = before + power.value * (double) (scan->now_ns - e->read_ns) / 1e9;
		if (now > e->told)
			e->told = now;
		return trk__gpu_known(e->told);
	}
	e->read = trk__nvml_scaled(CALL(n, energy, k->handle, &millijoules), 0);
	trk__nvml_add_cost(&e->cost, began_cpu_ns, scan->now_ns);
	if (e->read.why != TRK_GPU_KNOWN) {
		e->told = 0;
		return e->read;
	}
	now = (double) millijoules / 1e3;
	if (now < before || now > e->told)
		e->told = now;
	e->read.value = now;
	e->read_ns = scan->now_ns;
	return trk__gpu_known(e->told);
}

static void set_board(struct nvml *n, struct kept *k, const struct trk_gpu_scan *scan,
		      struct trk_gpu_value *m)
{
	nvml_device handle = k->handle;
	unsigned long long wide = 0;
	int r = CALL(n, throttle, handle, &wide);

	m[TRK_GPU_TEMPERATURE_METRIC] = temperature_of(n, handle);
	m[TRK_GPU_POWER_METRIC] = trk__nvml_figure(n->f.power, handle, 1000);
	m[TRK_GPU_ENERGY_METRIC] = energy_of(n, k, scan, m[TRK_GPU_POWER_METRIC]);
	m[TRK_GPU_CLOCK_METRIC] = trk__nvml_figure_of(n->f.clock, handle, NVML_CLOCK_SM, 1e6);
	m[TRK_GPU_MEMORY_CLOCK_METRIC] =
		trk__nvml_figure_of(n->f.clock, handle, NVML_CLOCK_MEM, 1e6);
	m[TRK_GPU_THROTTLE_METRIC] = trk__nvml_scaled(r, (double) wide);
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

void trk__nvml_board(struct nvml *n, struct kept *k, const struct trk_gpu_scan *scan,
		     struct trk_gpu_value *m)
{
	set_board(n, k, scan, m);
	set_links(n, k, scan->now_ns, m);
}
