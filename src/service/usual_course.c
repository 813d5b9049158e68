#include "service/usual_course.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "recording/store.h"

enum { BYTES_MAX = 4 << 20 };

static void read_one(struct trk_usual_course *u, int runs_fd, const char *file,
		     const struct trk_record *now)
{
	struct trk_record *record = calloc(1, sizeof(*record));
	struct trk_report_rows *rows = NULL;

	if (!record || trk__record_read(runs_fd, file, record, NULL, NULL, NULL) < 0) {
		free(record);
		return;
	}
	if (trk__advice_ended_well(&record->outcome))
		rows = trk__report_rows_new(record);
	if (rows && trk__record_read_rows(runs_fd, file, trk__report_rows_take, rows, NULL) >= 0)
		trk__course_add(u, now, record, rows);
	trk__report_rows_free(rows);
	trk__record_release(record);
	free(record);
}

static bool is_candidate(const struct trk_history_run *run)
{
	return run->ended && run->code == 0 && run->signal == 0 && trk__store_is_name(run->file);
}

int trk__job_runs_usual(const struct trk_job_runs *runs, const struct trk_service *s,
			const struct trk_record *record, struct trk_usual_course **ret)
{
	TRK_FD_CLEANUP int runs_fd =
		s->dir && *s->dir ? trk__store_open(s->dir, false, NULL) : -ENOENT;
	struct trk_usual_course *u;
	off_t bytes = 0;

	*ret = NULL;
	if (runs_fd < 0 || runs->count <= TRK_COURSE_RUNS_MIN)
		return 0;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	for (size_t i = runs->count - 1; i-- > 0 && u->runs < TRK_COURSE_RUNS_MAX;) {
		struct stat st;

		if (!is_candidate(&runs->run[i]) ||
		    fstatat(runs_fd, runs->run[i].file, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		bytes += st.st_size;
		if (bytes > BYTES_MAX)
			break;
		read_one(u, runs_fd, runs->run[i].file, record);
	}
	if (u->runs < TRK_COURSE_RUNS_MIN) {
		free(u);
		return 0;
	}
	*ret = u;
	return 0;
}
