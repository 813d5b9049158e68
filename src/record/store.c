#include "record/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/libc.h"
#include "base/parse.h"
#include "record/identity.h"
#include "record/reader.h"

enum { NAME_SIZE = 96, RUNS_MAX = 1000000 };

/* mkdir -p, each new level 0700. */
static int make_directories(const char *dir)
{
	char path[4096];
	size_t len = strlen(dir);

	if (len == 0 || len >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, dir, len + 1);
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		path[i] = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		path[i] = i < len ? '/' : '\0';
	}
	return 0;
}

/* The directory `runs` itself: what a link planted there points to is somebody else's choice. (The
 * state directory may lie behind links: that one was named by the user.) */
static int open_runs(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), error = errno;
	struct stat st;

	if (fd >= 0)
		return fd;
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return -TRK_E_SYMLINK;
	return -error;
}

int trk__store_open(const char *dir, bool create, struct trk_error *reterr)
{
	char path[4096];
	int fd, r = 0;

	if (!*dir) /* as of any path, and not the root */
		return trk__error_set(reterr, -ENOENT, "", "the folder of recordings has no name");
	if (snprintf(path, sizeof(path), "%s/runs", dir) >= (int) sizeof(path))
		r = -ENAMETOOLONG;
	if (r == 0 && create)
		r = make_directories(path);
	fd = r < 0 ? r : open_runs(path);
	if (fd < 0)
		(void) trk__error_set(reterr, fd, path, "%s: %s", path, trk__strerror(fd));
	return fd;
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

/* ---- listing ---- */

struct listing {
	char (*name)[NAME_SIZE];
	size_t count, cap;
};

static bool is_recording(const char *name)
{
	size_t len = strlen(name);

	return name[0] >= '0' && name[0] <= '9' && len > 5 && len < NAME_SIZE &&
	       !strcmp(name + len - 5, ".rtrk");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int list_runs(int runs_fd, struct listing *list)
{
	struct dirent *entry;
	DIR *dir;
	int r = trk__list_dir_at(runs_fd, ".", &dir);

	*list = (struct listing){.count = 0};
	if (r < 0)
		return r;
	while ((entry = readdir(dir)) && list->count < RUNS_MAX) {
		if (!is_recording(entry->d_name) || entry->d_type == DT_LNK)
			continue;
		if (list->count == list->cap) {
			size_t cap = list->cap ? list->cap * 2 : 64;
			void *bigger = realloc(list->name, cap * NAME_SIZE);

			if (!bigger)
				break;
			list->name = bigger;
			list->cap = cap;
		}
		(void) snprintf(list->name[list->count++], NAME_SIZE, "%s", entry->d_name);
	}
	(void) closedir(dir);
	if (list->count)
		qsort(list->name, list->count, NAME_SIZE, by_name);
	return 0;
}

int trk__store_each(int runs_fd, int (*fn)(void *data, const char *name), void *data)
{
	struct listing list;
	int r = list_runs(runs_fd, &list);

	for (size_t i = 0; r == 0 && i < list.count; i++)
		if (fn(data, list.name[i]) != 0)
			break;
	free(list.name);
	return r;
}

static const char *id_of(const char *name)
{
	const char *dash = strchr(name, '-');

	return dash ? dash + 1 : name;
}

/* By its name, or by its name and scope. */
static bool is_of_job(const struct trk_run *run, const char *job, size_t len)
{
	char label[TRK_LABEL_SIZE];

	size_t kept = len < sizeof(run->job) ? len : sizeof(run->job) - 1; /* longer ones are cut */

	if (strlen(run->job) == kept && !memcmp(run->job, job, kept))
		return true;
	trk__identity_label(run->job, run->scope, label);
	return strlen(label) == len && !memcmp(label, job, len);
}

/* "@", "@2", "JOB@", "JOB@-1": the n-th from the end, of that job. */
static int find_recent(int runs_fd, const struct listing *list, const char *reference,
		       const char *at, char name[96])
{
	size_t job_len = (size_t) (at - reference);
	uint64_t nth = 1;

	at++;
	if (*at == '-')
		at++;
	if (*at && (trk__parse_u64(at, &nth) < 0 || nth == 0))
		return -TRK_E_NORUN;
	for (size_t i = list->count; i-- > 0;) {
		struct trk_run *run;
		bool same = true;

		if (job_len) {
			run = malloc(sizeof(*run));
			same = run &&
			       trk__record_read_start(runs_fd, list->name[i], run, NULL) == 0 &&
			       is_of_job(run, reference, job_len);
			free(run);
		}
		if (same && --nth == 0) {
			memcpy(name, list->name[i], NAME_SIZE);
			return 0;
		}
	}
	return -TRK_E_NORUN;
}

static int find_prefix(const struct listing *list, const char *reference, char name[96])
{
	size_t len = strlen(reference), matches = 0;

	for (size_t i = 0; i < list->count; i++) {
		const char *id = id_of(list->name[i]);

		if (strncmp(id, reference, len) != 0 && strncmp(id + 2, reference, len) != 0)
			continue;
		memcpy(name, list->name[i], NAME_SIZE);
		matches++;
		if (!strcmp(id + len, ".rtrk"))
			return 0;
	}
	if (matches == 1)
		return 0;
	return matches ? -TRK_E_AMBIGUOUS : -TRK_E_NORUN;
}

int trk__store_find(int runs_fd, const char *reference, char name[96], struct trk_error *reterr)
{
	const char *at = strrchr(reference, '@'); /* a job's name may hold one */
	struct listing list;
	int r = list_runs(runs_fd, &list);

	if (r == 0)
		r = at ? find_recent(runs_fd, &list, reference, at, name)
		       : find_prefix(&list, reference, name);
	free(list.name);
	if (r < 0)
		(void) trk__error_set(reterr, r, NULL, "%s: %s", reference, trk__strerror(r));
	return r;
}
