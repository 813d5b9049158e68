/* Usage of AMD and Intel cards by the tracked processes: the clients of their open files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "probe/gpu/drm_private.h"

enum { FDS_MAX = 4096 }; /* descriptors of a process that are read */

static struct trk_drm_known *find_client(struct trk_drm *d, const struct trk_drm_client *now,
					 size_t card)
{
	for (size_t i = 0; i < d->clients; i++)
		if (d->client[i].card == card && d->client[i].now.id == now->id)
			return &d->client[i];
	return NULL;
}

/* ---- new clients ---- */

static struct trk_drm_clock *clock_of(struct trk_drm_card *c, const char *name)
{
	for (size_t i = 0; i < c->clocks; i++)
		if (!strcmp(c->clock[i].name, name))
			return &c->clock[i];
	if (c->clocks == TRK_DRM_ENGINES_MAX)
		return NULL;
	c->clock[c->clocks] = (struct trk_drm_clock){.at_ns = 0};
	(void) snprintf(c->clock[c->clocks].name, sizeof(c->clock[0].name), "%.15s", name);
	return &c->clock[c->clocks++];
}

/* Any client of an engine shows its clock; two readings yield its rate. */
static void note_clocks(struct trk_drm_card *c, const struct trk_drm_client *now, uint64_t now_ns)
{
	for (size_t i = 0; i < now->engines; i++) {
		const struct trk_drm_engine *e = &now->engine[i];
		struct trk_drm_clock *clock = e->has_cycles ? clock_of(c, e->name) : NULL;

		if (!clock)
			continue;
		if (clock->at_ns && now_ns > clock->at_ns && e->total_cycles > clock->cycles)
			clock->per_ns = (double) (e->total_cycles - clock->cycles) /
					(double) (now_ns - clock->at_ns);
		clock->cycles = e->total_cycles;
		clock->at_ns = now_ns;
	}
}

/* A new client counts from zero. An engine whose clock rate is unknown stays unknown. */
static struct trk_drm_client beginning_of(struct trk_drm *d, struct trk_drm_card *c,
					  const struct trk_drm_client *now, uint64_t over_ns)
{
	struct trk_drm_client begin = *now;

	begin.engines = 0;
	for (size_t i = 0; i < now->engines; i++) {
		struct trk_drm_engine e = now->engine[i];
		struct trk_drm_clock *clock = e.has_cycles ? clock_of(c, e.name) : NULL;
		double passed = clock ? clock->per_ns * (double) over_ns : 0;

		if (e.has_cycles && !(passed > 0)) {
			d->needs_clock = true;
			continue;
		}
		e.busy_ns = e.cycles = 0;
		e.total_cycles -=
			passed < (double) e.total_cycles ? (uint64_t) passed : e.total_cycles;
		begin.engine[begin.engines++] = e;
	}
	return begin;
}

/* ---- clients ---- */

static double memory_of(const struct trk_drm_card *c, const struct trk_drm_client *now)
{
	double bytes = now->has_memory ? (double) now->memory_bytes : (double) NAN;

	if (!c->is_apu || !now->has_gtt)
		return bytes;
	return (now->has_memory ? bytes : 0) + (double) now->gtt_bytes;
}

/* before NULL: the first poll, when the start of a client is unknown. */
static void add_to_user(struct trk_drm_user *user, const struct trk_drm_card *c,
			const struct trk_drm_client *now, const struct trk_drm_client *before,
			uint64_t over_ns)
{
	user->bytes += memory_of(c, now);
	if (!before) {
		user->share = user->encoder = user->decoder = NAN;
		return;
	}
	user->share += trk__drm_kind_share(now, before, "", over_ns);
	if (!c->is_amd) { /* Intel's engines for video do both */
		user->encoder = user->decoder = NAN;
		return;
	}
	user->encoder += trk__drm_kind_share(now, before, "enc", over_ns);
	user->decoder += trk__drm_kind_share(now, before, "dec", over_ns);
}

static void take_client(struct trk_drm *d, pid_t pid, const struct trk_drm_client *now,
			uint64_t now_ns)
{
	uint64_t over_ns = now_ns - d->last_ns;
	struct trk_drm_client begin;
	struct trk_drm_known *known;
	struct trk_drm_user *user;
	struct trk_drm_card *c;
	size_t card = 0;

	while (card < d->cards && strcmp(d->card[card].bus, now->bus) != 0)
		card++;
	if (card == d->cards)
		return;
	c = &d->card[card];
	known = find_client(d, now, card);
	if (known && known->poll == d->poll)
		return; /* another descriptor of the same client */
	if (!known && d->clients == TRK_DRM_CLIENTS_MAX)
		return;
	note_clocks(c, now, now_ns);
	begin = known ? known->now : beginning_of(d, c, now, over_ns);
	if (!known)
		known = &d->client[d->clients++];
	user = trk__drm_user_of(d, card, pid);
	if (user)
		add_to_user(user, c, now, d->last_ns ? &begin : NULL, over_ns);
	*known = (struct trk_drm_known){.now = *now, .card = card, .poll = d->poll};
}

static void look_at_descriptor(struct trk_drm *d, int fd_dir, pid_t pid, const char *number,
			       uint64_t now_ns)
{
	struct trk_drm_client now;
	char link[64], text[4096];
	ssize_t len;

	(void) trk__read_link_at(fd_dir, number, link, sizeof(link));
	if (!strcmp(link, "/dev/kfd") && !trk__kfd_knows(d, pid))
		d->unknown_queues = true;
	if (strncmp(link, "/dev/dri/", 9) != 0)
		return;
	len = trk__read_at(d->env.proc_fd, TRK_PATH("%d/fdinfo/%s", (int) pid, number), text,
			   sizeof(text));
	if (len == -EACCES || len == -EPERM)
		d->denied = true;
	if (len > 0 && trk__drm_fdinfo_parse(text, &now) == 0)
		take_client(d, pid, &now, now_ns);
}

static void look_at_process(struct trk_drm *d, pid_t pid, uint64_t now_ns)
{
	TRK_DIR_CLEANUP DIR *dir = trk__list_dir_at(d->env.proc_fd, TRK_PATH("%d/fd", (int) pid));
	struct dirent *entry;
	int left = FDS_MAX;

	if (!dir) {
		d->denied |= errno == EACCES || errno == EPERM;
		return;
	}
	while (left-- > 0 && (entry = trk__next_entry(dir)))
		look_at_descriptor(d, dirfd(dir), pid, entry->d_name, now_ns);
}

static void forget_clients(struct trk_drm *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->clients; i++)
		if (d->client[i].poll == d->poll)
			d->client[kept++] = d->client[i];
	d->clients = kept;
}

void trk__drm_look_at_processes(struct trk_drm *d, const struct trk_gpu_scan *scan)
{
	d->poll++;
	d->users = 0;
	d->denied = d->unknown_queues = d->needs_clock = false;
	for (size_t i = 0; scan->pid && i < scan->pids; i++)
		look_at_process(d, scan->pid[i], scan->now_ns);
	forget_clients(d);
	trk__kfd_add_processes(d, scan);
}

/* ---- adding to the scan ---- */

/* fdinfo does not count the work of compute queues. Where all queues on the card are the job's, the
 * card's activity is the job's; else the job's share is unknown. */
static void settle_queues(struct trk_drm *d, const struct trk_drm_card *c, size_t card,
			  struct trk_gpu_value busy)
{
	bool is_taken = false;

	for (size_t i = 0; i < d->users; i++) {
		struct trk_drm_user *u = &d->user[i];

		if (u->card != card || !c->has_queues)
			continue;
		if (c->has_strangers)
			u->share = u->has_queues ? (double) NAN : u->share;
		else if (u->has_queues || is_taken)
			u->share = is_taken ? 0 : busy.value;
		is_taken |= u->has_queues;
	}
}

/* The reason why a share is unknown, if it is. */
static enum trk_gpu_why why_unknown(const struct trk_drm *d, const struct trk_drm_card *c)
{
	if (d->last_ns == 0 || d->needs_clock)
		return TRK_GPU_FIRST_LOOK;
	return c->has_strangers ? TRK_GPU_NOT_SPLIT : TRK_GPU_UNSUPPORTED;
}

void trk__drm_add_users(struct trk_drm *d, struct trk_gpu_scan *scan, size_t card)
{
	struct trk_drm_card *c = &d->card[card];
	struct trk_gpu_device *device = &scan->device[c->device];

	if (c->device == TRK_GPUS_MAX)
		return;
	if (d->denied || (d->unknown_queues && c->kfd_ids)) {
		enum trk_gpu_why why = d->denied ? TRK_GPU_DENIED : TRK_GPU_FOREIGN_PIDS;

		trk__gpu_set_tree_unknown(device, why);
		device->metric[TRK_GPU_TREE_MEMORY_METRIC] = trk__gpu_unknown(why);
		return;
	}
	device->metric[TRK_GPU_TREE_SHARE_METRIC] = trk__gpu_unknown(why_unknown(d, c));
	device->metric[TRK_GPU_TREE_ENCODER_METRIC] = device->metric[TRK_GPU_TREE_DECODER_METRIC] =
		trk__gpu_unknown(d->last_ns == 0 && c->is_amd ? TRK_GPU_FIRST_LOOK
							      : TRK_GPU_UNSUPPORTED);
	settle_queues(d, c, card, device->metric[TRK_GPU_UTILIZATION_METRIC]);
	for (size_t i = 0; i < d->users; i++) {
		const struct trk_drm_user *u = &d->user[i];
		struct trk_gpu_process *p;

		if (u->card != card)
			continue;
		p = trk__gpu_add_process(scan, c->device, u->pid, 0);
		if (!p)
			return;
		p->is_listed = true;
		p->bytes = u->bytes;
		p->share = u->share;
		p->encoder = u->encoder;
		p->decoder = u->decoder;
		device->processes++;
	}
}
