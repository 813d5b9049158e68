#include "probe/linux/space.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "probe/linux/mounts.h"

enum { TEXT_MAX = 4 * 1024 * 1024 }; /* a mount table with many thousand lines */

/* ---- kinds of mounts ---- */

static bool is_one_of(const char *type, const char *const *types)
{
	for (; *types; types++)
		if (!strcmp(type, *types))
			return true;
	return false;
}

/* True for local storage. An allow-list, because new kernels add pseudo file systems. */
static bool is_storage(const struct trk_mount *m)
{
	static const char *const types[] = {
		"ext2",    "ext3",     "ext4",    "xfs",      "btrfs",  "zfs",   "f2fs",
		"jfs",     "vfat",     "exfat",   "ntfs",     "ntfs3",  "msdos", "hfs",
		"hfsplus", "ufs",      "minix",   "reiserfs", "nilfs2", "udf",   "jffs2",
		"ubifs",   "bcachefs", "fuseblk", NULL,
	};

	return is_one_of(m->type, types);
}

static bool is_overlay(const struct trk_mount *m)
{
	return !strcmp(m->type, "overlay");
}

static bool is_root_overlay(const struct trk_mount *m)
{
	return is_overlay(m) && !strcmp(m->point, "/");
}

/* True if statvfs or a walk through this mount may block on a dead server. Network file systems
 * that are not listed are recognised by a source such as server:/export or //server/share. */
static bool may_block(const struct trk_mount *m)
{
	static const char *const types[] = {
		"nfs",    "nfs4",   "cifs",   "smb3",  "smbfs",    "ceph",     "glusterfs",
		"lustre", "gpfs",   "mmfs",   "9p",    "virtiofs", "afs",      "coda",
		"beegfs", "ocfs2",  "gfs2",   "pvfs2", "davfs",    "orangefs", "panfs",
		"autofs", "wekafs", "vboxsf", "ncpfs", "vmhgfs",   "fuse",     NULL,
	};

	if (is_storage(m))
		return false;
	return is_one_of(m->type, types) || !strncmp(m->type, "fuse.", 5) ||
	       !strncmp(m->source, "//", 2) || strstr(m->source, ":/");
}

/* ---- the mount table as a tree ---- */

struct place {
	int id, parent;
	bool blocks;
	const char *point; /* points into the table's points */
};

struct table {
	struct place *place; /* owned; one per mount, in the order of the text */
	size_t count;
	char *points; /* owned; all mount points */
	int top;      /* the root mount; may be in no line (chroot) */
};

static void table_release(struct table *t)
{
	free(t->place);
	free(t->points);
}

static bool is_listed(const struct table *t, int id)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->place[i].id == id)
			return true;
	return false;
}

/* The parent of the root mount is not visible, or is the root mount itself. */
static int find_top(const struct table *t)
{
	const struct place *root = NULL;

	for (size_t i = 0; i < t->count; i++) {
		const struct place *p = &t->place[i];

		if ((!root || strlen(p->point) < strlen(root->point)) &&
		    (p->parent == p->id || !is_listed(t, p->parent)))
			root = p;
	}
	return root ? root->parent : 0;
}

static int table_init(struct table *t, const char *text)
{
	size_t lines = 1, used = 0;
	struct trk_mount m;
	int r;

	for (const char *s = text; (s = strchr(s, '\n')); s++)
		lines++;
	/* A decoded mount point is at most as long as its line. */
	*t = (struct table){
		.place = calloc(lines, sizeof(*t->place)),
		.points = malloc(strlen(text) + 1),
	};
	if (!t->place || !t->points) {
		table_release(t);
		return -ENOMEM;
	}
	while ((r = trk__mount_parse(&text, &m)) != 0) {
		size_t size = strlen(m.point) + 1;

		if (r < 0)
			continue;
		/* If the root is on the network, nothing runs without its server anyway. */
		t->place[t->count++] = (struct place){
			.id = m.id,
			.parent = m.parent,
			.blocks = may_block(&m) && strcmp(m.point, "/") != 0,
			.point = memcpy(t->points + used, m.point, size),
		};
		used += size;
	}
	t->top = find_top(t);
	return 0;
}

/* The mount on top of `id` at the first `len` bytes of `path`. */
static const struct place *mounted_on(const struct table *t, int id, const char *path, size_t len)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct place *p = &t->place[i];

		if (p->parent == id && p->id != id && !strncmp(p->point, path, len) &&
		    p->point[len] == '\0')
			return p;
	}
	return NULL;
}

/* Resolve the mount point as the kernel would: true if the path leads to this mount, not to one
 * mounted over it or over a parent directory, and passes none that may block. */
static bool can_reach(const struct table *t, const struct place *goal)
{
	const char *path = goal->point;
	size_t len = 1, steps = 0;
	int at = t->top;

	if (!path || path[0] != '/')
		return false;
	for (;;) {
		const struct place *p;

		while ((p = mounted_on(t, at, path, len))) {
			if (p->blocks || ++steps > t->count)
				return false;
			at = p->id;
		}
		if (path[len] == '\0')
			return at == goal->id;
		if (path[len] == '/')
			len++;
		len += strcspn(path + len, "/");
	}
}

/* ---- the members ---- */

static void clear(struct trk_space_meter *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->member[i].source);
		free(s->member[i].point);
	}
	s->count = 0;
}

/* True if the file system is a member: a bind mount, a subvolume, or another mount of the device. A
 * btrfs on several devices has one device number, but any of their names. */
static bool is_member(const struct trk_space_meter *s, const struct trk_mount *m)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct trk_space_member *have = &s->member[i];

		if ((have->major == m->major && have->minor == m->minor) ||
		    (!strncmp(m->source, "/dev/", 5) && !strcmp(have->source, m->source)))
			return true;
	}
	return false;
}

/* Index of the first data set of the same pool ("pool" or "pool/…"), or `own`. */
static size_t find_leader(const struct trk_space_meter *s, const char *source, size_t own)
{
	size_t len = strcspn(source, "/");

	for (size_t i = 0; i < own; i++)
		if (s->member[i].pooled && strcspn(s->member[i].source, "/") == len &&
		    !strncmp(s->member[i].source, source, len))
			return i;
	return own;
}

static int add_mount(struct trk_space_meter *s, const struct trk_mount *m)
{
	struct trk_space_member new = {.major = m->major, .minor = m->minor};

	if (s->count == TRK_SPACE_MEMBERS)
		return 0;
	if (trk__array_reserve(&s->member, &s->cap, s->count + 1, sizeof(*s->member)) < 0)
		return -ENOMEM;
	new.source = strdup(m->source);
	new.point = strdup(m->point);
	if (!new.source || !new.point) {
		free(new.source);
		free(new.point);
		return -ENOMEM;
	}
	memcpy(new.type, m->type, sizeof(new.type));
	new.pooled = !strcmp(m->type, "zfs");
	new.leader = new.pooled ? find_leader(s, new.source, s->count) : s->count;
	s->member[s->count++] = new;
	return 0;
}

/* Add up to `max` mounts that count, are reachable, and are no members yet. */
static int collect(struct trk_space_meter *s, const char *text, const struct table *t,
		   bool (*is_wanted)(const struct trk_mount *), size_t max)
{
	struct trk_mount m;
	size_t line = 0;
	int r, added = 0;

	while (added == 0 && s->count < max && (r = trk__mount_parse(&text, &m)) != 0) {
		if (r < 0)
			continue;
		if (is_wanted(&m) && !is_member(s, &m) && can_reach(t, &t->place[line]))
			added = add_mount(s, &m);
		line++;
	}
	return added;
}

static int take_table(struct trk_space_meter *s, const char *text)
{
	struct table t;
	int r = table_init(&t, text);

	if (r < 0)
		return r;
	clear(s);
	r = collect(s, text, &t, is_storage, TRK_SPACE_MEMBERS);
	/* In a container, files such as /etc/hosts are often bind mounts from the disk that also
	 * holds the overlay, and statvfs shows the same figures for both: only one counts. */
	if (r == 0 && s->count == 0)
		r = collect(s, text, &t, is_root_overlay, 1);
	if (r == 0 && s->count == 0)
		r = collect(s, text, &t, is_overlay, 1);
	table_release(&t);
	return r;
}

/* ---- the meter ---- */

int trk__space_meter_init(struct trk_space_meter *s, const struct trk_env *env)
{
	*s = (struct trk_space_meter){.statvfs = statvfs, .stale = true};
	s->fd = openat(env->proc_fd, "self/mountinfo", O_RDONLY | O_CLOEXEC);
	return s->fd < 0 ? -errno : 0;
}

void trk__space_meter_release(struct trk_space_meter *s)
{
	clear(s);
	free(s->member);
	s->member = NULL;
	s->cap = 0;
	trk__close(s->fd);
	s->fd = -1;
}

/* poll(2) reports each change once. */
static bool table_changed(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLPRI};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLPRI));
}

static int refresh(struct trk_space_meter *s)
{
	char *text = NULL;
	ssize_t len;
	int r;

	s->stale = table_changed(s->fd) || s->stale;
	if (!s->stale)
		return 0;
	len = trk__read_all_fd(s->fd, TEXT_MAX, &text);
	if (len < 0)
		return (int) len;
	r = take_table(s, text);
	free(text);
	s->stale = r < 0;
	return r;
}

static void ask(const struct trk_space_meter *s, struct trk_space_member *m)
{
	struct statvfs fs;
	uint64_t unit;

	m->total_bytes = 0;
	if (s->statvfs(m->point, &fs) < 0 || fs.f_blocks == 0)
		return;
	unit = fs.f_frsize ? fs.f_frsize : fs.f_bsize;
	m->total_bytes = fs.f_blocks * unit;
	m->used_bytes = fs.f_blocks > fs.f_bfree ? (fs.f_blocks - fs.f_bfree) * unit : 0;
	m->available_bytes = fs.f_bavail * unit;
}

int trk__space_meter_update(struct trk_space_meter *s, uint64_t *ret_total, uint64_t *ret_used,
			    uint64_t *ret_free)
{
	uint64_t total = 0, used = 0, available = 0;
	bool any = false;
	int r;

	if (s->fd < 0)
		return -ENODATA;
	r = refresh(s);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->count; i++)
		s->member[i].free_bytes = 0;
	for (size_t i = 0; i < s->count; i++) {
		struct trk_space_member *m = &s->member[i], *leader = &s->member[m->leader];

		ask(s, m);
		if (m->total_bytes == 0)
			continue;
		any = true;
		used += m->used_bytes;
		total += m->pooled ? m->used_bytes : m->total_bytes;
		if (leader->free_bytes < m->available_bytes)
			leader->free_bytes = m->available_bytes;
	}
	for (size_t i = 0; i < s->count; i++) {
		available += s->member[i].free_bytes;
		total += s->member[i].pooled ? s->member[i].free_bytes : 0;
	}
	if (!any)
		return -ENODATA;
	*ret_total = total;
	*ret_used = used;
	*ret_free = available;
	return 0;
}
