#include "track/discovery.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/trust.h"
#include "probe/linux/dmi.h"
#include "recording/store.h"
#include "probe/cloud/cloud.h"

static void lay_over(char *to, size_t size, const char *stated)
{
	if (*stated)
		(void) snprintf(to, size, "%s", stated);
}

/* Stated values take precedence over found ones. */
static void settle(const struct trk_discovery *d, const struct trk_cloud *found,
		   struct trk_place *place)
{
	const struct trk_cloud *s = d->options->stated;
	struct trk_cloud *c = &place->cloud;

	*c = *found;
	place->has_cloud = true;
	if (!s || !s->vendor[0])
		return;
	if (strcmp(s->vendor, c->vendor) != 0)
		trk__cloud_clear(c); /* do not mix facts of two vendors */
	lay_over(c->vendor, sizeof(c->vendor), s->vendor);
	lay_over(c->region, sizeof(c->region), s->region);
	lay_over(c->zone, sizeof(c->zone), s->zone);
	lay_over(c->instance_type, sizeof(c->instance_type), s->instance_type);
	lay_over(c->allocation, sizeof(c->allocation), s->allocation);
	(void) snprintf(c->source, sizeof(c->source), "stated");
	c->reason[0] = '\0';
}

static void settle_without(const struct trk_discovery *d, const char *reason,
			   struct trk_place *place)
{
	struct trk_cloud nothing;

	trk__cloud_clear(&nothing);
	(void) snprintf(nothing.reason, sizeof(nothing.reason), "%s", reason);
	settle(d, &nothing, place);
}

static bool is_stated(const struct trk_cloud *s)
{
	return s && s->vendor[0] && s->region[0] && s->instance_type[0];
}

void trk__discovery_begin(struct trk_discovery *d, const struct trk_env *env,
			  const struct trk_discovery_options *options, struct trk_place *place)
{
	struct trk_cloud known;
	struct trk_dmi dmi;

	*d = (struct trk_discovery){.env = env, .options = options, .dir_fd = -1};
	if (!options->ask || is_stated(options->stated)) {
		settle_without(d, "no request was sent: --no-discovery", place);
		return;
	}
	if (options->dir)
		d->dir_fd = trk__trust_open_named_dir(options->dir);
	if (d->dir_fd >= 0 && trk__cloud_cache_read(env, d->dir_fd, &known) == 0) {
		settle(d, &known, place);
		return;
	}
	trk__dmi_read(env->sys_fd, &dmi);
	if (trk__cloud_probe_new(&dmi, options->endpoint, &d->probe, &known) < 0)
		settle_without(d, "no descriptor or no memory for a request", place);
	else if (!d->probe)
		settle(d, &known, place);
}

int trk__discovery_fd(const struct trk_discovery *d)
{
	return d->probe ? trk__cloud_probe_fd(d->probe) : -1;
}

/* The state directory may be new. */
static void keep(struct trk_discovery *d, const struct trk_cloud *found)
{
	if (!found->vendor[0] || !d->options->dir)
		return;
	if (d->dir_fd < 0) {
		trk__close(trk__store_open(d->options->dir, true, NULL));
		d->dir_fd = trk__trust_open_named_dir(d->options->dir);
	}
	if (d->dir_fd >= 0)
		(void) trk__cloud_cache_write(d->env, d->dir_fd, found);
}

bool trk__discovery_step(struct trk_discovery *d, struct trk_place *place)
{
	struct trk_cloud found;

	if (!d->probe || !trk__cloud_probe_step(d->probe, &found))
		return false;
	trk__cloud_probe_free(d->probe);
	d->probe = NULL;
	keep(d, &found);
	settle(d, &found, place);
	return true;
}

bool trk__discovery_end(struct trk_discovery *d, struct trk_place *place)
{
	bool pending = d->probe != NULL;

	if (pending && !trk__discovery_step(d, place))
		settle_without(d, "the run ended before a metadata service had answered", place);
	trk__cloud_probe_free(d->probe);
	d->probe = NULL;
	trk__close(d->dir_fd);
	d->dir_fd = -1;
	return pending;
}

void trk__discovery_wait(const struct trk_env *env, const struct trk_discovery_options *options,
			 struct trk_place *place)
{
	struct trk_discovery d;

	trk__discovery_begin(&d, env, options, place);
	while (!place->has_cloud) {
		struct pollfd fd = {.fd = trk__discovery_fd(&d), .events = POLLIN};

		(void) poll(&fd, 1, 100);
		(void) trk__discovery_step(&d, place);
	}
	(void) trk__discovery_end(&d, place);
}
