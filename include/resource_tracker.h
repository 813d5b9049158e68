/* resource_tracker.h - what a batch job really used.
 *
 * The C library tracks a process, this program itself, or a command, and reads recordings, its own
 * and those of `resource-tracker run`, `attach` and `system`.
 *
 *     struct trk_tracker_options options = TRK_TRACKER_OPTIONS_INIT;
 *     struct trk_tracker *t;
 *     char why[256];
 *
 *     if (trk_tracker_start(&options, &t, why, sizeof(why)) < 0)    // this process, every second
 *             die(why);
 *     work();
 *     trk_tracker_stop(t);
 *     if (trk_tracker_read(t, &recording) == 0) ... // its samples, statistics, totals
 *     trk_tracker_free(t);
 *
 * Errors: a function that can fail returns 0 or a count, or a negative errno or a negative code of
 * this library (TRK_ERR_...); trk_strerror() has its text. A failed call leaves its results
 * untouched. The library never prints, never exits, and touches neither locale, signals nor
 * environment. Distinct objects may be used by distinct threads at once, and one tracker by several
 * threads; a recording that was read does not change.
 *
 * Numbers are those of the program: docs/columns.md lists every column with unit and source.
 * Unknown is NaN, never 0. */
#ifndef RESOURCE_TRACKER_H
#define RESOURCE_TRACKER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Version of the library, "MAJOR.MINOR.PATCH". Static. */
const char *trk_version(void);

/* Zeros and the size of the struct: for the _INIT macros below. */
#ifdef __cplusplus
#define TRK_SIZED_INIT(type)                                                                       \
	[] {                                                                                       \
		struct type zeros = {};                                                            \
		zeros.size = sizeof(zeros);                                                        \
		return zeros;                                                                      \
	}()
#else
#define TRK_SIZED_INIT(type)                                                                       \
	{                                                                                          \
		.size = sizeof(struct type)                                                        \
	}
#endif

/* Codes in addition to those of errno, returned with a minus sign. */
#define TRK_ERR_FORMAT      4001 /* not a recording */
#define TRK_ERR_VERSION     4002 /* made by a newer version */
#define TRK_ERR_DAMAGED     4003 /* its first record is not intact */
#define TRK_ERR_NODATA      4004 /* too little was recorded */
#define TRK_ERR_NORUN       4005 /* no such run */
#define TRK_ERR_AMBIGUOUS   4006 /* more than one run matches */
#define TRK_ERR_UNSUPPORTED 4007 /* by this kernel, or a library is missing */
#define TRK_ERR_RANGE       4008 /* an option out of range */
#define TRK_ERR_SYMLINK     4009 /* a symbolic link, which is not followed */
#define TRK_ERR_UNTRUSTED   4010 /* another user owns it or may write to it */
#define TRK_ERR_NOTFILE     4011 /* a FIFO, a socket or a device, where a file is expected */

/* Text of an error code, negative or positive. Static, never NULL. */
const char *trk_strerror(int code);

/* ---- columns ---- */

/* The columns of a row: index 0 to trk_columns() - 1. */
size_t trk_columns(void);
/* Full name ("process_cpu_usage"), unit ("cores") and description; NULL past the end. Static. */
const char *trk_column_name(size_t column);
const char *trk_column_unit(size_t column);
const char *trk_column_description(size_t column);
/* Index of the column with this full name, or -1. */
int trk_column_find(const char *name);

/* ---- tracking ---- */

/* Set `size` by TRK_TRACKER_OPTIONS_INIT: a program that was built against an older header keeps
 * working with a newer library. What is 0 or NULL has its default. */
struct trk_tracker_options {
	size_t size;
	pid_t pid; /* the process to track, with all that it starts; 0: this process */
	char *const *
		argv; /* a command to run and track instead, NULL-terminated (looked for in PATH) */
	double interval_s; /* between samples, 0.01 to 3600; 0: 1 */
	int no_children;   /* not 0: the one process without its tree */
	int no_process;    /* not 0: the machine alone */
	int no_system;     /* not 0: the processes alone */
	int in_thread; /* not 0: sample in a thread of this program, not in a process of its own */
	const char *dir; /* where the recording goes (DIR/runs/) and stays; NULL: a temporary
	                        directory that trk_tracker_free() removes */
	const char *job; /* name of the run */
	const char
		*program; /* path of the resource-tracker program; NULL: the installed one, else the
	                        one beside the library, else the one in PATH. Not used in a thread. */
	char *const
		*options; /* further options of `resource-tracker attach` (`system`, `run`), as on
	                         its command line, NULL-terminated; not used in a thread */
	double lines_hz;  /* in a thread: how many times a second to look which lines of Python code
	                    run, 0.1 to 1000; negative: as `--lines auto`; 0: never. A process has
	                    `--lines` in its options. */
};
#define TRK_TRACKER_OPTIONS_INIT TRK_SIZED_INIT(trk_tracker_options)

/* A running or stopped tracker; opaque. */
struct trk_tracker;

/* Start sampling. By default a small process of its own does it: it shares no memory, no descriptor
 * and no terminal with this program, is not its child, and ends by itself when the tracked process
 * or this program ends. (A command is run by that process, is its child, and goes on to its end.)
 * On a machine of a cloud that process asks the cloud's metadata service for region and type,
 * unless the environment has TRACKER_NO_DISCOVERY=1; a thread sends no request. The caller frees
 * *ret. On failure returns -ESRCH (no such process), -ENOENT or -EACCES (no program to sample
 * with), -TRK_ERR_RANGE, … and writes a sentence into why[0..why_size), which may be NULL. */
int trk_tracker_start(const struct trk_tracker_options *options, struct trk_tracker **ret,
		      char *why, size_t why_size);

/* Stop after a last sample; waits at most 5 s, then returns -ETIMEDOUT. A command is waited for
 * without limit. Harmless when it has stopped. In a forked child nothing is stopped. */
int trk_tracker_stop(struct trk_tracker *t);
/* The same, and say how the job ended: its exit code, 0 to 255, for the recording and its
 * report. */
int trk_tracker_stop_as(struct trk_tracker *t, int exit_code);

/* 1 while samples are taken, else 0. */
int trk_tracker_running(struct trk_tracker *t);

/* Samples so far. */
uint64_t trk_tracker_samples(struct trk_tracker *t);

/* Wait until there are `samples`; at most timeout_s seconds, negative: without limit. Returns 1; 0
 * when the time is over or sampling ended before. */
int trk_tracker_wait(struct trk_tracker *t, uint64_t samples, double timeout_s);

/* Name this moment. 0 or a negative error. */
int trk_tracker_mark(struct trk_tracker *t, const char *name);

/* The next alert about the tracked processes (docs/alerts.md has the rules), as JSON text that the
 * caller frees with free(): rule, severity, state ("firing" or "resolved"), text, fix, value,
 * limit, pid, job, run; null where something is not known. Waits at most timeout_s seconds,
 * negative: without limit. Returns 1; 0 when the time is over, or when no further alert can come:
 * sampling has ended, or a thread samples, which judges no rules. The newest 32 are kept until they
 * are taken. */
int trk_tracker_alert(struct trk_tracker *t, double timeout_s, char **ret);

/* Wait for a command's end: its wait status as of waitpid(2) in *ret_status. -ECHILD without
 * one. */
int trk_tracker_wait_command(struct trk_tracker *t, int *ret_status);

/* Path of the recording; valid as long as the tracker. */
const char *trk_tracker_recording(const struct trk_tracker *t);

/* Why sampling ended early or lost something, or "". Valid until the next call. */
const char *trk_tracker_error(struct trk_tracker *t);

/* Read what was recorded so far. */
struct trk_recording;
int trk_tracker_read(struct trk_tracker *t, struct trk_recording **ret);

/* Stop, and remove a temporary recording. NULL is fine. */
void trk_tracker_free(struct trk_tracker *t);

/* From inside a job of `resource-tracker run`: name this moment. `guard` is the value of the
 * environment variable RESOURCE_TRACKER_RUN. -EINVAL when that is NULL or the name is empty,
 * -ECONNREFUSED when the tracker is gone. */
int trk_mark(const char *guard, const char *name);

/* ---- this machine ---- */

/* What this machine is, as JSON of the schema "resource-tracker.server/1": `os`, `vcpus`,
 * `memory_mib`, `memory_mb`, `cpu_model`, `gpu_count`, `gpu_names`, … Nothing is requested over a
 * network. Text that the caller frees with free(); NULL without memory or /proc. */
char *trk_server_info(void);

/* In which cloud it stands, as JSON of the schema "resource-tracker.cloud/1": `vendor`, `region`,
 * `zone`, `instance_type`, `allocation`, `discovery_time`, … (`inferred` says why that type, where
 * the cloud does not name it and one type alone is like this machine.) The firmware is looked at
 * first; only where it is that of a cloud's machine the metadata service is queried, for a second
 * at most, in which this call blocks. `ask` 0: no request is sent. `dir` is a directory in which
 * the answer is kept until the next boot; NULL: it is not kept. Text that the caller frees with
 * free(); NULL without memory or /proc. */
char *trk_cloud_info(int ask, const char *dir);

/* ---- the counters of now, without a tracker ---- */

/* Made once and read often: what has not moved since the last reading is not read again. Readings
 * of one object may come from several threads; after fork() the child makes one of its own. Of a
 * tree of which much moves, descriptors are kept (closed on exec): on at most 128 processes, or an
 * eighth of RLIMIT_NOFILE where that is less, of all objects together. */
struct trk_counters;

/* Of the tree below `pid`, or of that process alone. The caller frees *ret. -ESRCH when there is no
 * such process. */
int trk_counters_of_process(pid_t pid, int no_children, struct trk_counters **ret);
/* Of the machine. */
int trk_counters_of_machine(struct trk_counters **ret);
void trk_counters_free(struct trk_counters *c);

/* Totals since the start of the processes, those that have ended included: they never step back. */
struct trk_process_counters {
	double user_s, system_s;
	double memory_mib;              /* proportional set size now */
	double read_bytes, write_bytes; /* at the storage layer; NaN: not readable */
	int processes;                  /* living, the first one included */
	int gone;                       /* not 0: the process itself has ended */
};
int trk_counters_process(struct trk_counters *c, struct trk_process_counters *ret);

/* Totals since boot; NaN where this kernel or container does not tell. */
struct trk_machine_counters {
	double processes;
	double user_s, system_s; /* nice in the first, interrupts in the second */
	double memory_free_mib, memory_used_mib, memory_buffers_mib, memory_cached_mib;
	double memory_active_mib, memory_inactive_mib;
	double net_recv_bytes, net_sent_bytes;
};
int trk_counters_machine(struct trk_counters *c, struct trk_machine_counters *ret);
/* After that: each disk (bytes since boot) and each file system. -ENOENT past the end. The names
 * are valid until the next trk_counters_machine(). */
int trk_counters_disk(struct trk_counters *c, size_t index, const char **ret_name,
		      double *ret_read_bytes, double *ret_write_bytes);
int trk_counters_mount(struct trk_counters *c, size_t index, const char **ret_point,
		       double *ret_total_bytes, double *ret_used_bytes, double *ret_free_bytes);

/* ---- recordings ---- */

/* Read a recording file: finished, still being written, or cut. Returns 0 and an object that the
 * caller frees, or a negative error: -ENOENT, or that the file is no recording, is of a newer
 * version, or is damaged from its first record on. Damaged records further on are skipped and
 * counted. */
int trk_recording_open(const char *path, struct trk_recording **ret);
void trk_recording_free(struct trk_recording *recording);

/* Rows that the recording stands for, and records that were skipped as damaged. */
uint64_t trk_recording_samples(const struct trk_recording *recording);
uint64_t trk_recording_damaged(const struct trk_recording *recording);

/* Number of rows that are stored (fewer than samples once old ones were merged). */
size_t trk_recording_rows(const struct trk_recording *recording);
/* One value in the column's unit; NaN when unknown, or when row or column is past the end. Of
 * merged rows the mean, of amounts (bytes, CPU seconds) the sum. */
double trk_recording_value(const struct trk_recording *recording, size_t row, size_t column);
/* A whole column into values[0..max); returns the number of rows, which may be more than max. */
size_t trk_recording_column(const struct trk_recording *recording, size_t column, double *values,
			    size_t max);

/* Statistics of a column in its unit, time-weighted; NaN where nothing is known, sum for
 * amounts. */
struct trk_column_summary {
	double mean, max, min, p50, p95, p99, sum;
};
int trk_recording_stats(const struct trk_recording *recording, size_t column,
			struct trk_column_summary *ret);

/* A figure of the whole run and how far it can be trusted. */
#define TRK_UNKNOWN   0
#define TRK_EXACT     1
#define TRK_AT_LEAST  2
#define TRK_AT_MOST   3
#define TRK_ESTIMATED 4
struct trk_figure {
	double value; /* NaN when unknown */
	int quality;
	const char *source; /* where the number comes from; valid as long as the recording */
	const char *reason; /* why it is not exact; "" when it is */
};
/* key: cpu_s, cpu_user_s, cpu_system_s, peak_memory_mib, peak_processes, disk_read_bytes,
 * disk_write_bytes, major_faults, context_switches, gpu_energy_j, peak_memory_at_least_mib,
 * peak_memory_at_most_mib, peak_group_memory_mib, peak_shared_files_mib, peak_swap_mib,
 * forks_refused, peak_commit_mib. -ENOENT for another key. */
int trk_recording_total(const struct trk_recording *recording, const char *key,
			struct trk_figure *ret);
/* The limits of the run. key: cpu (cores), memory_mib, pids, memory_high_mib, swap_mib, time_s,
 * gpu. */
int trk_recording_limit(const struct trk_recording *recording, const char *key,
			struct trk_figure *ret);

/* The marks, in order: name, and seconds since the start. Returns 0, or -ENOENT past the end. */
int trk_recording_mark(const struct trk_recording *recording, size_t index, const char **ret_name,
		       double *ret_elapsed_s);

/* What a program used in a row, as a line of `export --what programs`. Texts are valid as long as
 * the recording. */
struct trk_program_use {
	double timestamp, elapsed_s, interval_s; /* s; of the row */
	const char *program;      /* "sort", "train.py worker"; "the rest": of none */
	double cpu_s, memory_mib; /* NaN: not known */
	uint64_t processes;       /* at its end */
};
/* All of them, row by row, into list[0..max); returns how many there are, which may be more than
 * max. The programs of a row add up to its process_utime + process_stime and process_memory. 0
 * where the recording has none (it is of an older version), or without memory. */
size_t trk_recording_programs(struct trk_recording *recording, struct trk_program_use *list,
			      size_t max);

/* A process, as a line of `export --what processes`: those that were seen to end or that lived 1 s,
 * while there was room. */
struct trk_recorded_process {
	const char *program, *command; /* command: cut; "" where it was not kept */
	long pid;
	double start_s,
		end_s; /* since the start of the run; end_s NaN: it was alive at the last look */
	double cpu_s, peak_rss_mib;
	int ended;
};
/* In the order of the recording, as above. */
size_t trk_recording_processes(struct trk_recording *recording, struct trk_recorded_process *list,
			       size_t max);

/* Let what is advised from this recording rest on the earlier runs of its job as well, as the
 * program does: "advice" and (with a history) "change" of the summary, trk_servers_for_run(), and
 * the best server of trk_recording_bill(). Then all of them name what `resource-tracker show`,
 * `recommend` and the page name. history and earlier: as in struct trk_report_options, with its
 * errors; both NULL: this run alone again. */
int trk_recording_earlier(struct trk_recording *recording, const char *history,
			  const char *earlier);

/* The summary, schema "resource-tracker.summary/1", as JSON text that the caller frees with free().
 * NULL without memory. */
char *trk_recording_summary(const struct trk_recording *recording);

/* Which lines of the job's programs used CPU time and memory, schema
 * "resource-tracker.lines/1" (docs/lines.md), as JSON text that the caller frees with free(). by:
 * "line", "function", "file", "thread", "process" or "phase"; NULL: line. from_s and to_s: a part
 * of the run, seconds since its start; NaN: from the start, to the end. NULL where no stacks were
 * sampled (see --lines of `resource-tracker attach`), for another `by`, or without memory. */
char *trk_recording_lines(const struct trk_recording *recording, const char *by, double from_s,
			  double to_s);

/* ---- servers and prices ---- */

/* The catalogue: types of servers of several clouds, with prices by region and scores
 * (docs/catalog.md). The library carries one and reads it in place; nothing is requested over a
 * network. It may be used by several threads at once. */
struct trk_catalog;

/* Set `size` by TRK_CATALOG_OPTIONS_INIT. Every file is one of docs/catalog.md's format. */
struct trk_catalog_options {
	size_t size;
	const char *catalog; /* instead of the one that the library carries; NULL: that one */
	const char *scores; /* scores and further types; NULL: the file that is installed along with
	                        the library, if it is there; "none" */
	const char
		*cache; /* the folder in which `resource-tracker catalog update` and `import` keep
	                        what they got, usually ~/.cache/resource-tracker; NULL: none */
	const char *prices; /* of one's own, above all others; NULL: none */
	int of_user; /* not 0: a `cache` that is NULL is that of this user, as for the command */
};
#define TRK_CATALOG_OPTIONS_INIT TRK_SIZED_INIT(trk_catalog_options)

/* `options` NULL: the defaults. The caller frees *ret, after everything that was found in it. A
 * file that is missing, cut, of another format or wrong is an error; `why`, which may be NULL, then
 * has file, line and column. A file of the cache that another user may have written is left out:
 * the call succeeds, and `why` names it with the reason; else it is "" then. */
int trk_catalog_open(const struct trk_catalog_options *options, struct trk_catalog **ret, char *why,
		     size_t why_size);
void trk_catalog_free(struct trk_catalog *catalog);

/* What a server must have. Set `size` by TRK_SERVER_NEEDS_INIT; what is 0 or NULL asks nothing.
 * Lists have commas between their names. */
struct trk_server_needs {
	size_t size;
	double vcpus;
	double memory_mib;      /* that a job gets: less than is advertised */
	double gpus;            /* whole ones */
	double vram_mib;        /* of each GPU */
	double storage_gb;      /* local disk */
	int gpu_shares;         /* not 0: a share of one GPU is enough */
	int spot;               /* not 0: price at the typical spot saving */
	const char *arch;       /* "x86_64", "arm64", "any"; NULL: this machine's, or the run's */
	const char *allocation; /* "dedicated", "shared", "burstable" */
	const char *vendors;    /* "aws,hetzner" */
	const char *regions;    /* "us-east-1,fsn1"; restricted ones are found by name only */
	const char *countries;  /* "DE,FR"; "EU": its member states */
	const char *exclude;    /* patterns of fnmatch(3) for vendors, regions, types */
	const char *order_by; /* "price" (an hour), "run-cost", "score-per-price"; NULL: price, and
	                           run-cost for a run */
	/* For run-cost without a run: */
	double run_s;            /* time of the run as measured; 0: 3600 */
	double busy_cores;       /* meanwhile; 0: vcpus, at least 1 */
	const char *measured_on; /* the type of server that it was measured on; NULL: not known */
	double boot_s;           /* paid before the job starts; 0: none */
	int previous_generation; /* not 0: also types of which the vendor offers a successor */
};
#define TRK_SERVER_NEEDS_INIT TRK_SIZED_INIT(trk_server_needs)

/* Servers that were found, each where it is cheapest among the regions that are allowed. */
struct trk_servers;

/* Look for servers. Where none fits, the list is empty and trk_servers_reason() names the need that
 * binds and the nearest miss. The caller frees *ret. -ENOENT for a vendor, region, country or type
 * that is not in the catalogue, -EINVAL for another word, -TRK_ERR_RANGE for a number; with a
 * sentence in `why`. */
int trk_servers_find(const struct trk_catalog *catalog, const struct trk_server_needs *needs,
		     struct trk_servers **ret, char *why, size_t why_size);

/* The servers on which a run like this one is cheapest: with the cores, memory and GPUs that it
 * needed, its architecture, at its vendor and region if it is known where it ran. What is set in
 * `needs` (which may be NULL) holds instead. Run times come from how busy the cores were and from
 * the scores of both servers. After trk_recording_earlier() it rests on the earlier runs as well,
 * as `resource-tracker recommend` does. -TRK_ERR_NODATA when the recording is too short to tell;
 * else the errors of trk_servers_find(). */
int trk_servers_for_run(const struct trk_catalog *catalog, const struct trk_recording *recording,
			const struct trk_server_needs *needs, struct trk_servers **ret, char *why,
			size_t why_size);
void trk_servers_free(struct trk_servers *servers);

/* Texts are never NULL, "" where nothing is known, and valid as long as the catalogue; numbers are
 * NaN where nothing is known. */
struct trk_server_offer {
	const char *vendor, *type, *region, *country;
	const char *arch, *allocation, *gpu_model;
	double vcpus, memory_mib, usable_memory_mib;
	double gpus, vram_mib; /* of each GPU */
	double storage_gb;     /* local disk; NaN: none, or not known */
	double score;          /* of all threads */
	double usd_per_hour;   /* on demand, or at the typical saving with `spot` */
	double spot_saving;    /* typical, 0 to 1 */
	const char *price_source, *price_quality;
	int price_date; /* 20260131 */
	/* Where a run was looked at: */
	double run_s, billed_s, run_usd;
	int speed_known;         /* 0: no score stands behind run_s */
	int previous_generation; /* not 0: the vendor offers a successor */
	int price_age_days;      /* since the price was listed; negative: not known */
};
size_t trk_servers_count(const struct trk_servers *servers);
/* 0, or -ENOENT past the end. */
int trk_servers_get(const struct trk_servers *servers, size_t index, struct trk_server_offer *ret);
/* Why there is none; "" where there is one. Valid as long as the list. */
const char *trk_servers_reason(const struct trk_servers *servers);
/* As JSON of the schema "resource-tracker.servers/1", with the names of the Keeper API
 * (`vendor_id`, `api_reference`, `vcpus`, `memory_amount`, `min_price_ondemand`, …); of a run also
 * what is cheapest by the hour and the near misses. At most `limit` servers, 0: all. Text that the
 * caller frees with free(); NULL without memory. */
char *trk_servers_json(const struct trk_servers *servers, size_t limit);

/* What a run cost. Texts are "" and numbers NaN where nothing is known. */
struct trk_bill {
	double usd; /* run time in whole billing steps, at least the vendor's minimum */
	double usd_per_hour, billed_s;
	double idle_cpu_usd, idle_memory_usd; /* of it, for what was never used */
	char price_source[64], price_date[16], price_quality[16];
	/* The cheapest server there for such a run, and what it saves. */
	char best_vendor[16], best_type[64], best_region[64];
	double best_usd, best_usd_per_hour, best_run_s, saving_usd;
	char best_price_source[64], best_price_date[16];
	char reason[160]; /* why something is not known */
};
/* `catalog` NULL: as it was written into the recording at the end of the run, by the prices of that
 * day; -TRK_ERR_NODATA where none was. Else by this catalogue's, and for the server `instance`
 * ("aws/us-east-1/m5.large"; NULL: where the run ran); -EINVAL for an instance of another form. */
int trk_recording_bill(const struct trk_recording *recording, const struct trk_catalog *catalog,
		       const char *instance, struct trk_bill *ret);

/* ---- what to request next time ---- */

/* Set `size` by TRK_RECOMMEND_OPTIONS_INIT, as with struct trk_tracker_options. What is 0 or NULL
 * has its default. */
struct trk_recommend_options {
	size_t size;
	const char *history; /* the state directory with the earlier runs of the job, as in struct
	                        trk_report_options; NULL: this run alone */
	const char *earlier; /* the earlier runs as JSON, as there, instead of `history` */
	const char *cache;   /* the folder of fetched and imported prices, as there */
	const char *method;  /* "default", "original" (the rule of the original Python package) */
	const char *risk;    /* "default", "cheap", "safe" */
	double input_bytes;  /* input of the next run; 0: not known */
	const char *const *tags; /* of the next run, "KEY=VALUE" or "KEY", NULL-terminated: earlier
	                            runs with the same tags decide on memory; NULL: those of this run */
	const char *
		instance; /* the server that it ran on, "aws/us-east-1/m5.large"; NULL: as recorded */
	const struct trk_server_needs
		*needs; /* of the servers; what they leave open is as for the run.
	                                         NULL: nothing is asked */
	size_t limit;   /* servers that are named; 0: 5 */
	int no_servers; /* not 0: none is looked for */
	int short_runs; /* not 0: look for servers also where the run took less than 0.1 s */
	int failed;     /* not 0: the job has failed, though the recording may not say so */
	const char
		*history_url; /* the database of a team, "postgresql://HOST/NAME", instead of that
	                            in `history`; loads libpq. Where it cannot be reached, the runs in
	                            `history` are looked at. NULL: none */
	const char *catalog, *scores,
		*prices; /* as in struct trk_catalog_options; NULL: those of the
	                                          command */
	int of_user; /* not 0: `history` and `history_url` that are NULL are those of the command for
	                this user: by RESOURCE_TRACKER_DIR or the XDG directories, and by
	                RESOURCE_TRACKER_HISTORY */
};
#define TRK_RECOMMEND_OPTIONS_INIT TRK_SIZED_INIT(trk_recommend_options)

/* An answer; opaque. */
struct trk_recommendation;

/* What the next run should request, and the servers on which it costs least: what `resource-tracker
 * recommend` answers about this recording. No request is sent over a network. `options` NULL: the
 * defaults. The caller frees *ret. The errors of trk_recording_open(); -TRK_ERR_NODATA where no run
 * has samples; -EINVAL for a wrong word, -TRK_ERR_RANGE for a number; the errors of
 * trk_report_write_with() for the history; with a sentence in why[0..why_size), which may be NULL
 * and after a success has a remark, such as a database that could not be reached, or "". */
int trk_recommend(const char *recording, const struct trk_recommend_options *options,
		  struct trk_recommendation **ret, char *why, size_t why_size);
void trk_recommendation_free(struct trk_recommendation *recommendation);

/* A figure of it. key: cpu (vCPUs), memory_mib, gpus, vram_mib (of each GPU), time_s (of the next
 * run, where it is known), runs (that it rests on). NaN where it is not known. 0, or -ENOENT for
 * another key. */
int trk_recommendation_value(const struct trk_recommendation *recommendation, const char *key,
			     double *ret);
/* All of it as JSON of the schema "resource-tracker.advice/1", as of `recommend --json`. Text that
 * the caller frees with free(); NULL without memory. */
char *trk_recommendation_json(const struct trk_recommendation *recommendation);
/* As `recommend` prints it, in UTF-8, in lines of `columns` (40 to 200; 0: 200). Freed with free();
 * NULL without memory. */
char *trk_recommendation_text(const struct trk_recommendation *recommendation, size_t columns);
/* Lines to paste, as of `recommend --for KIND`: "slurm", "k8s", "docker", "batch", "metaflow",
 * "nextflow", "snakemake", "htcondor", "pbs", "lsf", "sge". note[0..note_size), which may be NULL,
 * gets what the request does not cover and the lines do not say; else "". Freed with free(); NULL
 * for another kind, or without memory. */
char *trk_recommendation_lines(const struct trk_recommendation *recommendation, const char *kind,
			       char *note, size_t note_size);

/* ---- alerts ---- */

/* The alerts of this user, open and ended, and silences: JSON of the schema
 * "resource-tracker.alerts/1", as `resource-tracker alerts list --json` prints it, that the caller
 * frees with free(). dir: the state directory (tracker's `dir`, the program's --recording); where
 * none exists there is no alert. 0; -EBADMSG for a file that does not hold alerts,
 * -TRK_ERR_UNTRUSTED, or a negative errno; with a sentence in why[0..why_size), which may be
 * NULL. */
int trk_alerts(const char *dir, char **ret, char *why, size_t why_size);

/* ---- what changed ---- */

/* Set `size` by TRK_COMPARE_OPTIONS_INIT. */
struct trk_compare_options {
	size_t size;
	const char
		*with; /* the recording of an earlier run; NULL: the earlier runs of the job, which
	                     the history has */
	const char *fail_on; /* rules such as "duration>+5%,peak_mem>+10%"; NULL: none */
	const char *history, *history_url; /* as in struct trk_recommend_options */
	int of_user;
};
#define TRK_COMPARE_OPTIONS_INIT TRK_SIZED_INIT(trk_compare_options)

/* What changed in a run, as `resource-tracker compare --json` prints it. *ret: JSON text of the
 * schema "resource-tracker.compare/1", which the caller frees with free(). Returns how many of the
 * rules hold; or the errors of trk_recommend(), -TRK_ERR_NODATA where it is the first run of its
 * job; `why` as there. */
int trk_compare(const char *recording, const struct trk_compare_options *options, char **ret,
		char *why, size_t why_size);

/* ---- files of other tools ---- */

/* Turn a file of another tool into recordings in DIR/runs, as `resource-tracker import` does.
 * format: one of those of `import --from`, "snapshot" among them; NULL: as its content shows.
 * Returns how many runs were added or were there already; or a negative error with a sentence in
 * `why`. */
int trk_import(const char *file, const char *format, const char *dir, char *why, size_t why_size);

/* ---- reports ---- */

/* Write a page about a recording into the file `path`, whole or not at all. format: "html" (or
 * NULL), a file that loads nothing from outside; "md", Markdown; "json", the same as data. It
 * rests on this one run. 0; -EINVAL for another format; the errors of trk_recording_open(); or the
 * error of writing. */
int trk_report_write(const char *recording, const char *path, const char *format);

/* Set `size` by TRK_REPORT_OPTIONS_INIT, as with struct trk_tracker_options. What is 0 or NULL has
 * its default. */
struct trk_report_options {
	size_t size;
	const char *format;  /* as of trk_report_write() */
	const char *history; /* a state directory (tracker's `dir`, the program's --recording): its
	                        earlier runs of the same job are looked at as `resource-tracker
	                        report` does, for what changed and for the next request. Brings
	                        DIR/history.sqlite up to date, and loads libsqlite3. NULL: this run
	                        alone. */
	int embed_raw;       /* not 0: all samples go into the page; "html" alone */
	int failed;          /* not 0: the job has failed, though the recording may not say so */
	const char *earlier; /* figures of earlier runs of the job as JSON, instead of `history`: a
	                        list of objects, the oldest run first, with start_s, duration_s,
	                        cpu_s, cpu_mean, cpu_max, peak_memory_mib, memory_mean_mib,
	                        disk_read_bytes, disk_write_bytes, gpu_mean, gpu_max, vram_max_mib,
	                        code; what is missing is not known */
	const char *integration; /* what tracked the run, for the page's foot: "Metaflow 2.19" */
	const char *cache;       /* the folder of fetched and imported prices, as in struct
	                        trk_catalog_options; NULL: that of the program,
	                        $XDG_CACHE_HOME/resource-tracker, else ~/.cache/resource-tracker;
	                        "none" */
	const char *history_url; /* as in struct trk_recommend_options */
	int of_user;             /* as there */
};
#define TRK_REPORT_OPTIONS_INIT TRK_SIZED_INIT(trk_report_options)

/* The same with options. Also -EINVAL for embed_raw with another format, and the error of a history
 * that cannot be opened: -TRK_ERR_UNSUPPORTED without libsqlite3, -TRK_ERR_VERSION for one of a
 * newer version, or a negative errno; then nothing is written. */
int trk_report_write_with(const char *recording, const char *path,
			  const struct trk_report_options *options);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
