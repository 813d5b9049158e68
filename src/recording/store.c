#include "recording/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/libc.h"
#include "base/parse.h"
#include "base/trust.h"
#include "recording/reader.h"

enum { NAME_SIZE = 96, ID_DIGITS = 8, RUNS_MAX = 1000000 };

/* The directory `runs` itself must not be a link, as another user may have created it. (The state
 * directory may be reached through links: the user named it.) */
static int open_runs(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int error = errno;
	struct stat st;

	if (fd >= 0)
		return fd;
	if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return -TRK_ERR_SYMLINK;
	return -error;
}

static int create_runs(const char *dir)
{
	struct trk_trust_folder at;
	int r = trk__trust_make_named_dir(dir, TRK_TRUST_MAKE, 0700, &at);

	if (r < 0)
		return r;
	r = mkdirat(at.fd, "runs", 0700) < 0 && errno != EEXIST ? -errno : open_runs(at.fd, "runs");
	trk__close(at.fd);
	return r;
}

int trk__store_open(const char *dir, bool create, struct trk_error *reterr)
{
	char path[4096];
	int fd = 0;

	if (!*dir) /* as of any path, and not the root */
		return trk__error_set(reterr, -ENOENT, "", "the folder of recordings has no name");
	if (snprintf(path, sizeof(path), "%s/runs", dir) >= (int) sizeof(path))
		fd = -ENAMETOOLONG;
	if (fd == 0)
		fd = create ? create_runs(dir) : open_runs(AT_FDCWD, path);
	if (fd < 0)
		(void) trk__error_set(reterr, fd, path, "%s: %s", path, trk__strerror(fd));
	return fd;
}

bool trk__store_exists(const char *dir)
{
	TRK_FD_CLEANUP int runs_fd = *dir ? trk__store_open(dir, false, NULL) : -1;

	return runs_fd >= 0;
}

void trk__store_new_id(struct trk_run *run)
{
	(void) snprintf(run->id, sizeof(run->id), "r-%08" PRIx32, trk__random_bits());
}

void trk__store_name(const struct trk_run *run, char name[96])
{
	(void) snprintf(name, NAME_SIZE, "%013" PRIu64 "-%s.rtrk", run->start_ns / TRK_NS_PER_MS,
			run->id);
}

static const char *id_of(const char *name)
{
	const char *dash = strchr(name, '-');

	return dash ? dash + 1 : name;
}

/* <digits>-<id>.rtrk, of which the id has letters, digits and dashes. */
bool trk__store_is_name(const char *name)
{
	size_t digits = strspn(name, "0123456789"), len;

	if (digits == 0 || digits > 20 || name[digits] != '-')
		return false;
	len = digits + 1;
	while (name[len] == '-' || (name[len] >= '0' && name[len] <= '9') ||
	       (name[len] >= 'a' && name[len] <= 'z') || (name[len] >= 'A' && name[len] <= 'Z'))
		len++;
	return len > digits + 1 && len + 5 < NAME_SIZE && !strcmp(name + len, ".rtrk");
}

bool trk__store_is_name_of(const char *name, const char *id, double start_s)
{
	size_t id_len = strlen(id);
	const char *at = name;
	uint64_t start_ms;

	if (!trk__store_is_name(name) || strlen(id_of(name)) != id_len + 5 ||
	    strncmp(id_of(name), id, id_len) != 0 || !trk__scan_u64(&at, &start_ms))
		return false;
	/* The time is stored in seconds, as a double, and is rounded. */
	return (double) start_ms >= start_s * 1000 - 1.5 &&
	       (double) start_ms <= start_s * 1000 + 1.5;
}

/* ---- listing ---- */

struct listing {
	char (*name)[NAME_SIZE];
	size_t count, cap;
	struct trk_store_refused refused;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int list_runs(int runs_fd, struct listing *list)
{
	struct trk_store_refused *refused = &list->refused;
	bool is_shared = trk__trust_is_shared(runs_fd);
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(runs_fd, ".");
	struct dirent *entry;

	*list = (struct listing){.count = 0};
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) && list->count < RUNS_MAX) {
		if (!trk__store_is_name(entry->d_name))
			continue;
		if (trk__trust_check_entry(runs_fd, entry->d_name, is_shared,
					   refused->count ? NULL : &refused->why) < 0) {
			refused->count++;
			continue;
		}
		if (trk__array_reserve(&list->name, &list->cap, list->count + 1, NAME_SIZE) < 0)
			break;
		(void) snprintf(list->name[list->count++], NAME_SIZE, "%s", entry->d_name);
	}
	if (list->count)
		qsort(list->name, list->count, NAME_SIZE, by_name);
	return 0;
}

int trk__store_each(int runs_fd, int (*fn)(void *data, const char *name), void *data,
		    struct trk_store_refused *ret_refused)
{
	struct listing list;
	int r = list_runs(runs_fd, &list);

	if (ret_refused)
		*ret_refused = list.refused;
	for (size_t i = 0; r == 0 && i < list.count; i++)
		if (fn(data, list.name[i]) != 0)
			break;
	free(list.name);
	return r;
}

/* By its name, or by its name and scope. */
static bool is_of_job(const struct trk_run *run, const char *job, size_t len)
{
	char label[TRK_LABEL_SIZE];

	size_t kept = len < sizeof(run->job) ? len : sizeof(run->job) - 1; /* longer ones are cut */

	if (strlen(run->job) == kept && !memcmp(run->job, job, kept))
		return true;
	trk__run_label(run->job, run->scope, label);
	return strlen(label) == len && !memcmp(label, job, len);
}

/* "@", "@2", "JOB@", "JOB@-1": the n-th from the end, of that job. */
static int find_recent(int runs_fd, const struct listing *list, const char *reference,
		       const char *at, char name[96])
{
	size_t job_len = (size_t) (at - reference);
	uint64_t nth = 1;

	at += *at == '@';
	if (*at == '-')
		at++;
	if (*at && (trk__parse_u64(at, &nth) < 0 || nth == 0))
		return -TRK_ERR_NORUN;
	for (size_t i = list->count; i-- > 0;) {
		struct trk_run *run;
		bool same = true;

		if (job_len) {
			run = malloc(sizeof(*run));
			same = run && trk__record_read_start(runs_fd, list->name[i], run) == 0 &&
			       is_of_job(run, reference, job_len);
			free(run);
		}
		if (same && --nth == 0) {
			memcpy(name, list->name[i], NAME_SIZE);
			return 0;
		}
	}
	return -TRK_ERR_NORUN;
}

/* Without "r-", the start of an id needs some characters: less is a word. */
static int find_prefix(const struct listing *list, const char *reference, char name[96])
{
	enum { BARE_MIN = 4 };
	size_t len = strlen(reference), matches = 0;

	for (size_t i = 0; i < list->count; i++) {
		const char *id = id_of(list->name[i]);

		if (strncmp(id, reference, len) != 0 &&
		    (len < BARE_MIN || strncmp(id + 2, reference, len) != 0))
			continue;
		memcpy(name, list->name[i], NAME_SIZE);
		matches++;
		if (!strcmp(id + len, ".rtrk"))
			return 0;
	}
	if (matches == 1)
		return 0;
	return matches ? -TRK_ERR_AMBIGUOUS : -TRK_ERR_NORUN;
}

/* A job's name, "cafe" say, may also be the start of an id: the job is meant. */
static int find_named(int runs_fd, const struct listing *list, const char *reference, char name[96])
{
	const char *end = reference + strlen(reference);
	int r = find_prefix(list, reference, name);
	char of_job[NAME_SIZE];

	if (r == 0 && ((*reference && reference[1] == '-') || end - reference == ID_DIGITS))
		return 0;
	if (find_recent(runs_fd, list, reference, end, of_job) < 0)
		return r;
	memcpy(name, of_job, NAME_SIZE);
	return 0;
}

int trk__store_find(int runs_fd, const char *reference, char name[96],
		    struct trk_store_refused *ret_refused, struct trk_error *reterr)
{
	const char *at = strrchr(reference, '@'); /* a job's name may hold one */
	struct listing list;
	int r = list_runs(runs_fd, &list);

	if (ret_refused)
		*ret_refused = list.refused;
	if (r == 0 && at)
		r = find_recent(runs_fd, &list, reference, at, name);
	else if (r == 0)
		r = find_named(runs_fd, &list, reference, name);
	free(list.name);
	if (r < 0)
		(void) trk__error_set(reterr, r, NULL, "%s: %s", reference, trk__strerror(r));
	return r;
}
