#include "probe/linux/pid_smaps.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/parse.h"

int trk__pid_smaps_parse(const char *text, struct trk_pid_smaps *ret)
{
	struct trk_pid_smaps s = {0};
	bool has_rss = false, has_pss = false;
	uint64_t shared_clean = 0, shared_dirty = 0, private_dirty = 0;
	const struct trk_kib_line lines[] = {
		{"Rss:", &s.rss_bytes, &has_rss},
		{"Pss:", &s.pss_bytes, &has_pss},
		{"Pss_Anon:", &s.pss_anon_bytes, &s.has_split},
		{"Pss_File:", &s.pss_file_bytes, NULL},
		{"Pss_Shmem:", &s.pss_shmem_bytes, NULL},
		{"Shared_Clean:", &shared_clean, NULL},
		{"Shared_Dirty:", &shared_dirty, NULL},
		{"Private_Dirty:", &private_dirty, NULL},
		{"Anonymous:", &s.anon_bytes, NULL},
		{"Swap:", &s.swap_bytes, NULL},
		{"SwapPss:", &s.swap_pss_bytes, NULL},
	};
	int r = trk__kib_lines_parse(text, lines, sizeof(lines) / sizeof(lines[0]));

	if (r < 0)
		return r;
	if (!has_rss || !has_pss)
		return -EBADMSG;
	if (shared_clean > UINT64_MAX - shared_dirty)
		return -EBADMSG;
	s.shared_bytes = shared_clean + shared_dirty;
	s.dirty_bytes = shared_dirty + private_dirty; /* the parser bounds each */
	*ret = s;
	return 0;
}

int trk__pid_smaps_read(struct trk_reader *reader, const struct trk_env *env, uint64_t key,
			const char *dir, struct trk_pid_smaps *ret, uint64_t *ret_ns)
{
	char text[2048];
	ssize_t len = trk__reader_read(reader, env, key, TRK_PATH("%s/smaps_rollup", dir), text,
				       sizeof(text), ret_ns);

	/* Either the process or the file is missing. */
	if (len == -ENOENT && faccessat(env->proc_fd, dir, F_OK, 0) < 0)
		return -ESRCH;
	if (len < 0)
		return (int) len;
	/* A process without an address space (zombie, kernel thread) reads empty on some
	 * kernels. */
	return len == 0 ? -ESRCH : trk__pid_smaps_parse(text, ret);
}
