/* Check the sources of figures on this machine (machine_sources.c of each system) and the directory
 * of recordings, with hints for what is missing. */
#include <stdio.h>

#include "base/env.h"
#include "base/file.h"
#include "recording/store.h"
#include "service/check.h"

void trk__check_set(struct trk_check *f, const char *what, enum trk_check_state state,
		    const char *source, const char *hint)
{
	*f = (struct trk_check){.what = what, .state = state};
	(void) snprintf(f->text, sizeof(f->text), "%.159s", source); /* one line of a table */
	(void) snprintf(f->hint, sizeof(f->hint), "%s", state == TRK_CHECK_GOOD ? "" : hint);
}

static void check_store(struct trk_check *f, const char *dir)
{
	struct trk_error error = {.code = 0};
	int fd = trk__store_open(dir, true, &error);

	if (!*dir)
		trk__check_set(f, "recordings", TRK_CHECK_BAD, "the state directory",
			       "another user owns it or may write to it. Try: --recording DIR");
	else
		trk__check_set(f, "recordings", fd >= 0 ? TRK_CHECK_GOOD : TRK_CHECK_BAD, dir,
			       error.message);
	trk__close(fd);
}

int trk__machine_check(const char *dir, const struct trk_gpu_hints *hints,
		       struct trk_check list[TRK_CHECKS_MAX])
{
	struct trk_env env;
	int r = trk__env_init(&env);
	size_t n;

	if (r < 0)
		return r;
	n = trk__machine_sources(&env, hints, list);
	check_store(&list[n++], dir);
	trk__env_release(&env);
	return (int) n;
}
