/* The versions of the table, for both databases. */
#include "history/private.h"

/* What 1.0.0 creates; frozen, as every step is. */
#define CREATE(key, real, whole, count, flag)                                                      \
	"CREATE TABLE IF NOT EXISTS run (n " key ", id TEXT NOT NULL, job TEXT NOT NULL, "         \
	"kind TEXT NOT NULL, command TEXT NOT NULL, file TEXT NOT NULL, verdict TEXT NOT NULL, "   \
	"start_s " real ", duration_s " real ", cpu_s " real ", cpu_mean " real ", cpu_max " real  \
	", peak_memory_mib " real ", memory_mean_mib " real ", disk_read_bytes " real              \
	", disk_write_bytes " real ", gpu_mean " real ", gpu_max " real ", vram_max_mib " real     \
	", limit_cpu " real ", limit_memory_mib " real ", request_cpu " real                       \
	", request_memory_mib " real ", code " whole ", signal " whole ", samples " count          \
	", ended " flag ", input_bytes " real ", cost_usd " real                                   \
	", scope TEXT, tags TEXT, peak_swap_mib " real ", capacity TEXT);"                         \
	"CREATE UNIQUE INDEX IF NOT EXISTS run_file ON run (file);"                                \
	"CREATE INDEX IF NOT EXISTS run_time ON run (start_s);"                                    \
	"CREATE INDEX IF NOT EXISTS run_job ON run (job, start_s);"

#define ADD_OUTSIDE(real)                                                                          \
	"ALTER TABLE run ADD COLUMN peak_huge_pages_mib " real ";"                                 \
	"ALTER TABLE run ADD COLUMN peak_needed_mib " real

const struct trk_history_step trk__history_steps[] = {
	{CREATE("INTEGER PRIMARY KEY", "REAL", "INTEGER", "INTEGER",
		"INTEGER") "CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value)",
	 CREATE("BIGSERIAL PRIMARY KEY", "DOUBLE PRECISION", "INTEGER", "BIGINT",
		"BOOLEAN") "CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT)"},
	{ADD_OUTSIDE("REAL"), ADD_OUTSIDE("DOUBLE PRECISION")},
};

enum { FIRST = 7, STEPS = sizeof(trk__history_steps) / sizeof(trk__history_steps[0]) };

const int trk__history_step_count = STEPS;
const int trk__history_version = FIRST + STEPS - 1;

int trk__history_next_step(int64_t version, const char *path, struct trk_error *reterr)
{
	const char *name = path ? path : "history";

	if (version <= 0)
		return 0;
	if (version > trk__history_version)
		return trk__error_set(reterr, -TRK_ERR_VERSION, path,
				      "%s: made by a newer version of resource-tracker", name);
	if (version < FIRST)
		return trk__error_set(
			reterr, -TRK_ERR_VERSION, path,
			"%s: made by a version of resource-tracker before 1.0.0. Try: "
			"move it away; a new one is filled from the recordings",
			name);
	return (int) (version - FIRST + 1);
}
