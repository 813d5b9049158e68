/* The versions of the table, for both databases. */
#include "history/private.h"

/* The first version; frozen, as every step is. */
#define CREATE(key, real, whole, count, flag)                                                      \
	"CREATE TABLE IF NOT EXISTS run (n " key ", id TEXT NOT NULL, job TEXT NOT NULL, "         \
	"kind TEXT NOT NULL, command TEXT NOT NULL, file TEXT NOT NULL, verdict TEXT NOT NULL, "   \
	"start_s " real ", duration_s " real ", cpu_s " real ", cpu_mean " real ", cpu_max " real  \
	", peak_memory_mib " real ", memory_mean_mib " real ", disk_read_bytes " real              \
	", disk_write_bytes " real ", gpu_mean " real ", gpu_max " real ", vram_max_mib " real     \
	", limit_cpu " real ", limit_memory_mib " real ", request_cpu " real                       \
	", request_memory_mib " real ", code " whole ", signal " whole ", samples " count          \
	", ended " flag ");"                                                                       \
	"CREATE UNIQUE INDEX IF NOT EXISTS run_file ON run (file);"                                \
	"CREATE INDEX IF NOT EXISTS run_time ON run (start_s);"                                    \
	"CREATE INDEX IF NOT EXISTS run_job ON run (job, start_s);"

#define ADD(column, sqlite_type, postgres_type)                                                    \
	{                                                                                          \
		"ALTER TABLE run ADD COLUMN " column " " sqlite_type,                              \
			"ALTER TABLE run ADD COLUMN IF NOT EXISTS " column " " postgres_type       \
	}
#define ADD_REAL(column) ADD(column, "REAL", "DOUBLE PRECISION")
#define ADD_TEXT(column) ADD(column, "TEXT", "TEXT") /* NULL: unknown */

const struct trk_history_step trk__history_steps[] = {
	{CREATE("INTEGER PRIMARY KEY", "REAL", "INTEGER", "INTEGER",
		"INTEGER") "CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value)",
	 CREATE("BIGSERIAL PRIMARY KEY", "DOUBLE PRECISION", "INTEGER", "BIGINT",
		"BOOLEAN") "CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT)"},
	ADD_REAL("input_bytes"),
	ADD_REAL("cost_usd"),
	ADD_TEXT("scope"), /* NULL: of every scope */
	ADD_TEXT("tags"),
	ADD_REAL("peak_swap_mib"),
	ADD_TEXT("capacity"),
};

const int trk__history_version = sizeof(trk__history_steps) / sizeof(trk__history_steps[0]);
