#include "service/prune.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "recording/store.h"
#include "service/runs.h"

struct pruning {
	const struct trk_prune_rules *rules;
	struct trk_history *h;
	bool is_away; /* h is not the history of the team, which is to be used */
	int runs_fd;
	size_t kept;
	trk_pruned_fn *pruned;
	void *data;
};

static int remove_run(struct pruning *p, const struct trk_past_run *run, struct trk_error *reterr)
{
	/* A row may come from a database that others fill: only the run's own recording is
	 * removed. */
	bool there = trk__store_is_name_of(run->file, run->id, run->start_s) &&
		     faccessat(p->runs_fd, run->file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	int r = 0;

	if (!there && !p->rules->forget)
		return 0;
	if (p->is_away || (!p->rules->forget && !trk__history_keeps(p->h, run))) {
		p->kept++;
		return 0;
	}
	if (!p->rules->dry_run && p->rules->forget)
		r = trk__history_forget(p->h, run->id, reterr);
	if (r < 0)
		return r;
	if (!p->rules->dry_run && there && unlinkat(p->runs_fd, run->file, 0) < 0) {
		r = -errno;
		return trk__error_set(reterr, r, run->file, "%s: cannot remove: %s", run->file,
				      trk__strerror(r));
	}
	p->pruned(p->data, run);
	return 0;
}

static int prune_list(struct pruning *p, const struct trk_run_list *list, struct trk_error *reterr)
{
	const struct trk_prune_rules *rules = p->rules;
	double latest = (double) time(NULL) - (double) rules->older_ns / 1e9;
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->count; i++) {
		const struct trk_past_run *run = &list->run[i];

		if (run->ended && (!rules->older_ns || run->start_s < latest) &&
		    (rules->keep == UINT64_MAX || i >= rules->keep))
			r = remove_run(p, run, reterr);
	}
	return r;
}

int trk__prune(const struct trk_service *s, struct trk_history *h,
	       const struct trk_prune_rules *rules, trk_pruned_fn *pruned, void *data,
	       size_t *ret_kept, struct trk_error *reterr)
{
	struct pruning p = {.rules = rules,
			    .h = h,
			    .is_away = s->history_url && !trk__history_is_of_team(h),
			    .pruned = pruned,
			    .data = data};
	struct trk_job_key key = {rules->job, NULL};
	struct trk_run_list list = {.count = 0};
	struct trk_named_job job;
	int r;

	if (rules->job && trk__named_job_find(h, rules->job, &job)) {
		if (job.namesakes > 1)
			return trk__error_set(reterr, -EINVAL, NULL,
					      "%zu jobs are called %s. Try: --job '%s in %s'",
					      job.namesakes, job.job, job.job, job.scope);
		key = trk__named_job_key(&job);
	}
	r = trk__run_list_read(h, rules->job ? &key : NULL, 0, true, &list, reterr);
	if (r < 0)
		return r;
	/* As for writing: not behind a link of another user. */
	p.runs_fd = trk__store_open(s->dir, true, reterr);
	r = p.runs_fd < 0 && p.runs_fd != -ENOENT ? p.runs_fd : prune_list(&p, &list, reterr);
	*ret_kept = p.kept;
	trk__close(p.runs_fd);
	trk__run_list_release(&list);
	return r;
}
