/* resource_tracker.h - measure the resources that a batch job uses.
 *
 * The C library tracks a process, the calling program, or a command. It also reads recordings,
 * those of the library and those of `resource-tracker run`, `attach` and `system`. On macOS and
 * Windows it only reads recordings: trk_tracker_..., trk_counters_... and trk_mark() exist on Linux
 * alone.
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
 * environment. Different threads may use different objects at the same time, and several threads
 * may use one tracker. A recording that was read does not change.
 *
 * All numbers agree with those of the `resource-tracker` command; docs/columns.md lists every
 * column with unit and source. Unknown is NaN, never 0. */
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

/* Initializer for the _INIT macros below: `size` is the size of the struct, all else is zero. */
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
#define TRK_ERR_FORMAT      4001 /* not a recording, or no file that can be imported */
#define TRK_ERR_VERSION     4002 /* made by a newer version */
#define TRK_ERR_DAMAGED     4003 /* its first record is not intact */
#define TRK_ERR_NODATA      4004 /* too little was recorded */
#define TRK_ERR_NORUN       4005 /* no such run */
#define TRK_ERR_AMBIGUOUS   4006 /* more than one run matches */
#define TRK_ERR_UNSUPPORTED 4007 /* this kernel does not support it, or a library is missing */
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

/* ---- tracking ---- */

/* Set `size` by TRK_TRACKER_OPTIONS_INIT: a program that was built against an older header keeps
 * working with a newer library. A field that is 0 or NULL has its default value. */
struct trk_tracker_options {
	size_t size;
	int pid; /* the process to track, with its descendants; 0: the calling process */
	/* a command to run and track instead, NULL-terminated; searched for in PATH */
	char *const *argv;
	double interval_s; /* between samples, 0.01 to 3600; 0: 1 */
	int no_children;   /* not 0: track the process without its descendants */
	int no_process;    /* not 0: measure the machine only */
	int no_system;     /* not 0: measure the processes only */
	int in_thread;     /* not 0: sample in a thread of this program, not in a separate
			  process */
	/* the recording is written to DIR/runs/ and kept; NULL: a temporary directory, which
	 * trk_tracker_free() removes */
	const char *dir;
	const char *job; /* name of the run */
	/* path of the resource-tracker program; NULL: the installed one, else the one in the
	 * directory of the library, else the one in PATH. Ignored with in_thread. */
	const char *program;
	/* further options of `resource-tracker attach` (`system`, `run`), as on its command line,
	 * NULL-terminated; ignored with in_thread */
	char *const *options;
	/* with in_thread: samples per second of the Python lines that run, 0.1 to 1000; negative:
	 * as `--lines auto`; 0: none. Without in_thread use `--lines` in `options`. */
	double lines_hz;
};
#define TRK_TRACKER_OPTIONS_INIT TRK_SIZED_INIT(trk_tracker_options)

/* A running or stopped tracker; opaque. */
struct trk_tracker;

/* Start sampling. By default a small separate process samples: it shares no memory, descriptor or
 * terminal with the calling program, is not its child, and exits when the tracked process or the
 * calling program exits. (A command is a child of that process, and runs until it exits.) On a
 * cloud machine that process requests region and type from the cloud's metadata service, unless the
 * environment has TRACKER_NO_DISCOVERY=1; a thread sends no request. The caller frees *ret. On
 * failure returns -ESRCH (no such process), -ENOENT or -EACCES (the resource-tracker program is
 * missing or not executable), -TRK_ERR_RANGE, … and writes a sentence into why[0..why_size), which
 * may be NULL. If `pid` is of a thread, its process is tracked, and `why` says so; on other success
 * `why` is "". */
int trk_tracker_start(const struct trk_tracker_options *options, struct trk_tracker **ret,
		      char *why, size_t why_size);

/* Take a last sample and stop. Waits at most 5 s, then returns -ETIMEDOUT; waits without limit for
 * a command to exit. Has no effect if the tracker has stopped, or in a forked child. */
int trk_tracker_stop(struct trk_tracker *t);
/* As trk_tracker_stop(), and store the exit code of the job, 0 to 255, in the recording. */
int trk_tracker_stop_as(struct trk_tracker *t, int exit_code);

/* 1 while samples are taken, else 0. */
int trk_tracker_running(struct trk_tracker *t);

/* Number of samples taken so far. */
uint64_t trk_tracker_samples(struct trk_tracker *t);

/* Wait until `samples` samples were taken, at most timeout_s seconds; negative: without limit.
 * Returns 1, or 0 when the time is over or sampling ended before. */
int trk_tracker_wait(struct trk_tracker *t, uint64_t samples, double timeout_s);

/* Record a mark: a name for the present moment. Returns 0 or a negative error. */
int trk_tracker_mark(struct trk_tracker *t, const char *name);

/* The next alert about the tracked processes (docs/alerts.md has the rules), as JSON text that the
 * caller frees with free(): rule, severity, state ("firing" or "resolved"), text, fix, value,
 * limit, pid, job, run; null where something is not known. Waits at most timeout_s seconds,
 * negative: without limit. Returns 1; 0 when the time is over, or when no further alert can come:
 * sampling has ended, or runs in a thread, which evaluates no rules. The newest 32 alerts are kept
 * until this function returns them. */
int trk_tracker_alert(struct trk_tracker *t, double timeout_s, char **ret);

/* Wait until the command exits, and store its wait status, as of waitpid(2), in *ret_status.
 * Returns -ECHILD if no command was started. */
int trk_tracker_wait_command(struct trk_tracker *t, int *ret_status);

/* Path of the recording; valid as long as the tracker. */
const char *trk_tracker_recording(const struct trk_tracker *t);

/* Why sampling ended early or lost data, or "". Valid until the next call. */
const char *trk_tracker_error(struct trk_tracker *t);

/* Read what was recorded so far. The caller frees *ret with trk_recording_free(). */
struct trk_recording;
int trk_tracker_read(struct trk_tracker *t, struct trk_recording **ret);

/* Stop, free the tracker, and remove a temporary recording. `t` may be NULL. */
void trk_tracker_free(struct trk_tracker *t);

/* Record a mark from inside a job of `resource-tracker run`. `guard` is the value of the
 * environment variable RESOURCE_TRACKER_RUN. -EINVAL when that is NULL or the name is empty,
 * -ECONNREFUSED when the tracker is gone. */
int trk_mark(const char *guard, const char *name);

/* ---- current counters, without a tracker ---- */

/* Create one object and read it repeatedly: a reading skips what has not changed since the last
 * one. Several threads may read one object; after fork() the child creates its own. For active
 * process trees descriptors are kept open (closed on exec): on at most 128 processes, or
 * RLIMIT_NOFILE / 8 if that is less, for all objects together. */
struct trk_counters;

/* Counters of the process `pid` and its descendants, or of that process only. The id of a thread
 * stands for its process. The caller frees
 * *ret. -ESRCH when there is no such process. */
int trk_counters_of_process(int pid, int no_children, struct trk_counters **ret);
/* Counters of the machine. The caller frees *ret. */
int trk_counters_of_machine(struct trk_counters **ret);
void trk_counters_free(struct trk_counters *c);

/* Totals since the start of the processes, ended ones included; they never decrease. */
struct trk_process_counters {
	double user_s, system_s;
	double memory_mib;              /* proportional set size now */
	double read_bytes, write_bytes; /* at the storage layer; NaN: not readable */
	int processes;                  /* live processes, the root included */
	int gone;                       /* not 0: the root process has ended */
};
int trk_counters_process(struct trk_counters *c, struct trk_process_counters *ret);

/* Totals since boot; NaN where this kernel or container does not provide them. */
struct trk_machine_counters {
	double processes;
	double user_s, system_s; /* user_s includes nice, system_s interrupts */
	double memory_free_mib, memory_used_mib, memory_buffers_mib, memory_cached_mib;
	double memory_active_mib, memory_inactive_mib;
	double net_recv_bytes, net_sent_bytes;
};
int trk_counters_machine(struct trk_counters *c, struct trk_machine_counters *ret);
/* One disk (bytes since boot) or file system, as of the last trk_counters_machine(). -ENOENT past
 * the end. Names are valid until the next trk_counters_machine(). */
int trk_counters_disk(struct trk_counters *c, size_t index, const char **ret_name,
		      double *ret_read_bytes, double *ret_write_bytes);
int trk_counters_mount(struct trk_counters *c, size_t index, const char **ret_point,
		       double *ret_total_bytes, double *ret_used_bytes, double *ret_free_bytes);

/* ---- recordings ---- */

/* Read a recording file: finished, still being written, or cut. Returns 0 and an object that the
 * caller frees, or a negative error: -ENOENT, -TRK_ERR_FORMAT, -TRK_ERR_VERSION, or
 * -TRK_ERR_DAMAGED if the first record is damaged. Later damaged records are skipped and
 * counted. */
int trk_recording_open(const char *path, struct trk_recording **ret);
void trk_recording_free(struct trk_recording *recording);

/* Number of samples that were recorded, and of records that were skipped as damaged. */
uint64_t trk_recording_samples(const struct trk_recording *recording);
uint64_t trk_recording_damaged(const struct trk_recording *recording);

/* Number of rows that are stored (fewer than samples once old ones were merged). */
size_t trk_recording_rows(const struct trk_recording *recording);
/* One value in the column's unit; NaN when unknown, or when row or column is past the end. A merged
 * row has the mean, or the sum for amounts (bytes, CPU seconds). */
double trk_recording_value(const struct trk_recording *recording, size_t row, size_t column);

/* Statistics of a column in its unit, time-weighted; NaN where nothing is known, sum for
 * amounts. */
struct trk_column_summary {
	double mean, max, min, p50, p95, p99, sum;
};
int trk_recording_stats(const struct trk_recording *recording, size_t column,
			struct trk_column_summary *ret);

/* A figure of the whole run and its quality, TRK_UNKNOWN to TRK_ESTIMATED. */
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

/* Use of one program in one row, as a line of `export --what programs`. Texts are valid as long as
 * the recording. */
struct trk_program_use {
	double timestamp, elapsed_s, interval_s; /* s; of the row */
	const char *program;      /* "sort", "train.py worker"; "the rest": of no program */
	double cpu_s, memory_mib; /* NaN: not known */
	uint64_t processes;       /* at the end of the row */
};
/* Write the use of all programs, row by row, into list[0..max); returns how many entries there are,
 * which may be more than max. The programs of a row add up to its process_utime + process_stime and
 * process_memory. Returns 0 where the recording has none (made by an older version), or if out
 * of memory. */
size_t trk_recording_programs(struct trk_recording *recording, struct trk_program_use *list,
			      size_t max);

/* A process, as a line of `export --what processes`. The recording lists processes whose end was
 * observed or that lived for 1 s, until its list is full. */
struct trk_recorded_process {
	const char *program, *command; /* command: truncated; "" if not recorded */
	long pid;
	/* since the start of the run; end_s NaN: alive at the last sample */
	double start_s, end_s;
	double cpu_s, peak_rss_mib;
	int ended;
};
/* Write the processes, in the order of the recording, into list[0..max); returns how many there
 * are. */
size_t trk_recording_processes(struct trk_recording *recording, struct trk_recorded_process *list,
			       size_t max);

/* The summary, schema "resource-tracker.summary/1", as JSON text that the caller frees with free().
 * Its advice is from this run only: trk_recommend() uses the earlier runs of the job as well, and
 * trk_compare() says what changed. NULL if out of memory. */
char *trk_recording_summary(const struct trk_recording *recording);

/* Which lines of the job's programs used CPU time and memory, schema "resource-tracker.lines/1"
 * (docs/lines.md), as JSON text that the caller frees with free(). by: "line", "function", "file",
 * "thread", "process" or "phase"; NULL: line. from_s and to_s select a part of the run, in seconds
 * since its start; NaN: its start, its end. NULL where no stacks were sampled (see --lines of
 * `resource-tracker attach`), for another `by`, or if out of memory. */
char *trk_recording_lines(const struct trk_recording *recording, const char *by, double from_s,
			  double to_s);

/* ---- servers and prices ---- */

/* The catalogue: server types of several clouds, with prices by region and benchmark scores
 * (docs/catalog.md). One is built into the library; nothing is requested over a network. Several
 * threads may use a catalogue at once. */
struct trk_catalog;

/* Set `size` by TRK_CATALOG_OPTIONS_INIT. docs/catalog.md describes the format of the files. */
struct trk_catalog_options {
	size_t size;
	const char *catalog; /* file with the catalogue; NULL: the built-in one */
	/* file with scores and further types; NULL: the file installed with the library, if
	 * present; "none": no file */
	const char *scores;
	/* the folder in which `resource-tracker catalog update` stores prices, usually
	 * ~/.cache/resource-tracker; NULL: none */
	const char *cache;
	const char *prices; /* file of own prices, which override all others; NULL: none */
	int of_user;        /* not 0: if `cache` is NULL, use this user's, as the command does */
};
#define TRK_CATALOG_OPTIONS_INIT TRK_SIZED_INIT(trk_catalog_options)

/* `options` NULL: the defaults. The caller frees *ret, after all results that were found in it. A
 * file that is missing, truncated, of another format or wrong is an error; `why`, which may be
 * NULL, then has file, line and column. A cache file that another user may have written is ignored:
 * the call succeeds, and `why` has its name and the reason. On other success `why` is "". */
int trk_catalog_open(const struct trk_catalog_options *options, struct trk_catalog **ret, char *why,
		     size_t why_size);
void trk_catalog_free(struct trk_catalog *catalog);

/* Requirements on a server. Set `size` by TRK_SERVER_NEEDS_INIT; a field that is 0 or NULL requires
 * nothing. Lists are separated by commas. */
struct trk_server_needs {
	size_t size;
	double vcpus;
	double memory_mib;      /* available to a job: less than the vendor advertises */
	double gpus;            /* whole GPUs */
	double vram_mib;        /* of each GPU */
	double storage_gb;      /* local disk */
	int gpu_shares;         /* not 0: a share of one GPU is enough */
	int spot;               /* not 0: price at the typical spot saving */
	const char *arch;       /* "x86_64", "arm64", "any"; NULL: this machine's, or the run's */
	const char *allocation; /* "dedicated", "shared", "burstable" */
	const char *vendors;    /* "aws,hetzner" */
	const char *regions;    /* "us-east-1,fsn1"; restricted ones are found only by name */
	const char *countries;  /* "DE,FR"; "EU": its member states */
	const char *exclude;    /* patterns of fnmatch(3) for vendors, regions, types */
	/* "price" (per hour), "run-cost" (in trk_servers_find(): of an hour's work of `vcpus`),
	 * "score-per-price"; NULL: price, or run-cost in trk_recommend() */
	const char *order_by;
	int previous_generation; /* not 0: also types of which the vendor offers a successor */
};
#define TRK_SERVER_NEEDS_INIT TRK_SIZED_INIT(trk_server_needs)

/* Servers that were found, each in the cheapest of the allowed regions. */
struct trk_servers;

/* Search for servers. If none fits, the list is empty; `reason` of the JSON names the binding
 * requirement and the nearest miss. The caller frees *ret. -ENOENT for a vendor, region, country or
 * type that is not in the catalogue, -EINVAL for another invalid word, -TRK_ERR_RANGE for an
 * invalid number; `why` has a sentence. */
int trk_servers_find(const struct trk_catalog *catalog, const struct trk_server_needs *needs,
		     struct trk_servers **ret, char *why, size_t why_size);

void trk_servers_free(struct trk_servers *servers);

/* As JSON of the schema "resource-tracker.servers/1", with the names of the Keeper API
 * (`vendor_id`, `api_reference`, `vcpus`, `memory_amount`, `min_price_ondemand`, …); for a run also
 * the cheapest server by the hour and the near misses. At most `limit` servers, 0: all. The caller
 * frees the text with free(); NULL if out of memory. */
char *trk_servers_json(const struct trk_servers *servers, size_t limit);

/* ---- recommendations ---- */

/* Set `size` by TRK_RECOMMEND_OPTIONS_INIT, as with struct trk_tracker_options. What is 0 or NULL
 * has its default. */
struct trk_recommend_options {
	size_t size;
	const char *history; /* state directory with the earlier runs of the job, as in struct
	                        trk_report_options; NULL: use this run only */
	const char *earlier; /* the same as JSON, as in struct trk_report_options */
	const char *cache;   /* price folder, as in struct trk_report_options */
	const char *method;  /* "default", "original" (the rule of the original Python package) */
	const char *risk;    /* "default", "cheap", "safe" */
	double input_bytes;  /* input of the next run; 0: not known */
	/* Tags of the next run, "KEY=VALUE" or "KEY", NULL-terminated: memory is advised from
	 * earlier runs with the same tags; NULL: the tags of this run */
	const char *const *tags;
	/* the server that the run ran on, "aws/us-east-1/m5.large"; NULL: as recorded */
	const char *instance;
	/* requirements on the servers, which override those of the run; NULL: none */
	const struct trk_server_needs *needs;
	size_t limit;   /* maximum number of servers; 0: 5 */
	int no_servers; /* not 0: do not search for servers */
	int short_runs; /* not 0: search for servers even if the run took less than 0.1 s */
	int failed;     /* not 0: the job has failed, though the recording may not say so */
	/* a team's database, "postgresql://HOST/NAME", instead of that in `history`; loads libpq.
	 * If it cannot be reached, the runs in `history` are used. NULL: none */
	const char *history_url;
	/* as in struct trk_catalog_options; NULL: the files that the command uses */
	const char *catalog, *scores, *prices;
	/* not 0: if `history` or `history_url` is NULL, use this user's, as the command does:
	 * RESOURCE_TRACKER_DIR or the XDG directories, and RESOURCE_TRACKER_HISTORY */
	int of_user;
};
#define TRK_RECOMMEND_OPTIONS_INIT TRK_SIZED_INIT(trk_recommend_options)

/* A recommendation; opaque. */
struct trk_recommendation;

/* What the next run should request, and the servers on which it costs least, as `resource-tracker
 * recommend` prints for this recording. No request is sent over a network. `options` NULL: the
 * defaults. The caller frees *ret. Errors: those of trk_recording_open(); -TRK_ERR_NODATA where no
 * run has samples; -EINVAL for an invalid word, -TRK_ERR_RANGE for an invalid number; those of
 * trk_report_write_with() for the history. why[0..why_size), which may be NULL, has a sentence; on
 * success a remark, such as a database that could not be reached, or "". */
int trk_recommend(const char *recording, const struct trk_recommend_options *options,
		  struct trk_recommendation **ret, char *why, size_t why_size);
void trk_recommendation_free(struct trk_recommendation *recommendation);

/* The recommendation as JSON of the schema "resource-tracker.advice/1", as `recommend --json`
 * prints it. The caller frees the text with free(); NULL if out of memory. */
char *trk_recommendation_json(const struct trk_recommendation *recommendation);
/* ---- alerts ---- */

/* The alerts of this user, open and ended, and silences, as JSON of the schema
 * "resource-tracker.alerts/1", as `resource-tracker alerts list --json` prints it; the caller frees
 * *ret with free(). dir: the state directory (`dir` of a tracker, --recording of the command); if
 * it does not exist, there are no alerts. Returns 0; -EBADMSG for a file that does not hold alerts,
 * -TRK_ERR_UNTRUSTED, or a negative errno, with a sentence in why[0..why_size), which may be
 * NULL. */
int trk_alerts(const char *dir, char **ret, char *why, size_t why_size);

/* ---- comparing runs ---- */

/* Set `size` by TRK_COMPARE_OPTIONS_INIT. */
struct trk_compare_options {
	size_t size;
	/* the recording of an earlier run; NULL: compare with the job's earlier runs in the
	 * history */
	const char *with;
	const char *fail_on; /* rules such as "duration>+5%,peak_mem>+10%"; NULL: none */
	const char *history, *history_url; /* as in struct trk_recommend_options */
	int of_user;
};
#define TRK_COMPARE_OPTIONS_INIT TRK_SIZED_INIT(trk_compare_options)

/* What changed in a run, as `resource-tracker compare --json` prints it. *ret: JSON text of the
 * schema "resource-tracker.compare/1", which the caller frees with free(). Returns how many of the
 * rules in fail_on matched, or the errors of trk_recommend(); -TRK_ERR_NODATA for the first run of
 * a job. `why`: as in trk_recommend(). */
int trk_compare(const char *recording, const struct trk_compare_options *options, char **ret,
		char *why, size_t why_size);

/* ---- files of other tools ---- */

/* Convert a file of another tool into recordings in DIR/runs, as `resource-tracker import` does.
 * format: as in `import --from`, such as "snapshot"; NULL: detected from the content. Returns how
 * many runs the file holds, those already present included; or a negative error with a sentence in
 * `why`. */
int trk_import(const char *file, const char *format, const char *dir, char *why, size_t why_size);

/* ---- reports ---- */

/* Set `size` by TRK_REPORT_OPTIONS_INIT, as with struct trk_tracker_options. What is 0 or NULL has
 * its default. */
struct trk_report_options {
	size_t size;
	const char *format; /* "html" (or NULL), one self-contained file; "md", Markdown */
	/* state directory (`dir` of a tracker, --recording of the command) with earlier runs of the
	 * job, used for what changed and for the next request, as by `resource-tracker report`.
	 * Updates DIR/history.sqlite, and loads libsqlite3. NULL: use this run only. */
	const char *history;
	int embed_raw; /* not 0: embed all samples in the page; "html" only */
	int failed;    /* not 0: the job has failed, though the recording may not say so */
	/* figures of earlier runs of the job as JSON, instead of `history`: an array of objects,
	 * oldest run first, with start_s, duration_s, cpu_s, cpu_mean, cpu_max, peak_memory_mib,
	 * memory_mean_mib, disk_read_bytes, disk_write_bytes, gpu_mean, gpu_max, vram_max_mib,
	 * code; a missing member is unknown */
	const char *earlier;
	const char *integration; /* what tracked the run, for the page footer: "Metaflow 2.19" */
	/* folder of fetched and imported prices, as in struct trk_catalog_options; NULL: that of
	 * the command, $XDG_CACHE_HOME/resource-tracker, else ~/.cache/resource-tracker; "none": no
	 * folder */
	const char *cache;
	const char *history_url; /* as in struct trk_recommend_options */
	int of_user;             /* as in struct trk_recommend_options */
};
#define TRK_REPORT_OPTIONS_INIT TRK_SIZED_INIT(trk_report_options)

/* Write a report about a recording into the file `path`, atomically. `options` NULL: the defaults.
 * Returns 0; -EINVAL for another format, or for embed_raw with another than "html"; the errors of
 * trk_recording_open(); a write error; or the error of a history that cannot be opened:
 * -TRK_ERR_UNSUPPORTED without libsqlite3, -TRK_ERR_VERSION for one of another version, or a
 * negative errno. On an error nothing is written. */
int trk_report_write_with(const char *recording, const char *path,
			  const struct trk_report_options *options);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
