/* Queries metadata services. Each possible vendor is at one step; when all requests of a step have
 * ended, its next step begins. One edge-triggered descriptor covers all connections and the timer:
 * a ready connection is continued until it would block. */
#include "probe/cloud/cloud.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/os.h"
#include "probe/cloud/vendor.h"

/* Limit of the whole query; a metadata service answers within milliseconds. */
#define LIMIT_NS TRK_NS_PER_S
/* Limit of waiting for a token: a container's network may drop the answer. */
#define PATIENCE_NS (LIMIT_NS / 4)

enum { VENDORS_MAX = 16, PORT = 80 };

const struct trk_cloud_vendor *const trk__cloud_vendors[] = {
#define X(name) &trk__cloud_##name,
	TRK_CLOUD_VENDOR_LIST(X)
#undef X
		NULL,
};

struct request {
	struct trk_http http;
	bool over;
};

/* A queried vendor. */
struct asked {
	const struct trk_cloud_vendor *vendor;
	struct request request[TRK_CLOUD_REQUESTS];
	struct trk_cloud_answer answer[TRK_CLOUD_REQUESTS];
	size_t n; /* requests so far */
	unsigned int step;
	bool over;
	bool judged; /* all answers were examined and belong to another vendor */
};

struct trk_cloud_probe {
	struct asked asked[VENDORS_MAX];
	size_t n;
	struct sockaddr_in endpoint;
	bool has_endpoint, sure;
	struct trk_cloud firmware; /* the result from the firmware, if it is this vendor */
	int group_fd, timer_fd;
	uint64_t start_ns;
};

/* ---- one request ---- */

static void begin_request(struct trk_cloud_probe *p, struct request *r,
			  const struct trk_cloud_request *what)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	const char *address = what->address ? what->address : "169.254.169.254";
	char text[1024];

	(void) inet_pton(AF_INET, address, &to.sin_addr);
	if (p->has_endpoint)
		to = p->endpoint;
	(void) snprintf(text, sizeof(text),
			"%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: resource-tracker\r\n%s%s"
			"Connection: close\r\n\r\n",
			what->method, what->path, address, what->headers,
			strcmp(what->method, "PUT") != 0 ? "" : "Content-Length: 0\r\n");
	r->over = trk__http_begin(&r->http, &to, text) < 0 ||
		  trk__os_group_add(p->group_fd, r->http.fd) < 0;
	if (r->over)
		trk__http_close(&r->http);
}

static void step_request(struct request *r, struct trk_cloud_answer *a)
{
	struct trk_http_response response;
	int n;

	if (r->over)
		return;
	n = trk__http_step(&r->http, &response);
	if (n == 0)
		return;
	r->over = true;
	trk__http_close(&r->http);
	if (n > 0 && response.status == 200)
		*a = (struct trk_cloud_answer){true, response};
}

/* ---- one vendor ---- */

static void begin_step(struct trk_cloud_probe *p, struct asked *v)
{
	struct trk_cloud_request what[TRK_CLOUD_REQUESTS];
	size_t n = trk__cloud_ask(v->vendor, v->step, v->answer, what);

	v->over = n == 0 || v->n + n > TRK_CLOUD_REQUESTS;
	for (size_t i = 0; i < n && !v->over; i++)
		begin_request(p, &v->request[v->n + i], &what[i]);
	if (!v->over)
		v->n += n;
	v->step++;
}

/* Continue without a missing token, as the service may not require one. */
static void hurry(struct trk_cloud_probe *p, struct asked *v)
{
	struct trk_cloud_request what[TRK_CLOUD_REQUESTS];

	if (v->step == 1 && trk__cloud_ask(v->vendor, 1, v->answer, what) > 0)
		begin_step(p, v);
}

static void step_vendor(struct trk_cloud_probe *p, struct asked *v, bool patient)
{
	bool all = true;

	if (v->over)
		return;
	for (size_t i = 0; i < v->n; i++) {
		step_request(&v->request[i], &v->answer[i]);
		all &= v->request[i].over;
	}
	if (all)
		begin_step(p, v);
	else if (!patient)
		hurry(p, v);
}

static enum trk_cloud_likeness likeness(const struct trk_cloud_vendor *v, const struct trk_dmi *dmi)
{
	return dmi->known || dmi->chassis_asset_tag[0] ? trk__cloud_looks(v, dmi) : TRK_CLOUD_NO;
}

/* The vendors that the firmware names; without a name, all that are possible. */
static void choose(struct trk_cloud_probe *p, const struct trk_dmi *dmi)
{
	enum trk_cloud_likeness best = TRK_CLOUD_MAYBE;
	size_t i;

	for (i = 0; trk__cloud_vendors[i] && !p->has_endpoint; i++)
		if (likeness(trk__cloud_vendors[i], dmi) > best)
			best = TRK_CLOUD_SURE;
	for (i = 0; trk__cloud_vendors[i]; i++)
		if (p->has_endpoint || likeness(trk__cloud_vendors[i], dmi) == best)
			p->asked[p->n++].vendor = trk__cloud_vendors[i];
	p->sure = best == TRK_CLOUD_SURE && p->n == 1;
	trk__cloud_clear(&p->firmware);
	if (!p->sure)
		return;
	(void) snprintf(p->firmware.vendor, sizeof(p->firmware.vendor), "%s",
			p->asked[0].vendor->id);
	(void) snprintf(p->firmware.source, sizeof(p->firmware.source), "firmware");
	if (p->asked[0].vendor->read_dmi)
		p->asked[0].vendor->read_dmi(dmi, &p->firmware);
}

static int open_waiting(struct trk_cloud_probe *p)
{
	int r;

	p->start_ns = trk__clock_monotonic_ns();
	p->group_fd = trk__os_group();
	if (p->group_fd < 0)
		return p->group_fd;
	p->timer_fd = trk__os_timer();
	if (p->timer_fd < 0)
		return p->timer_fd;
	r = trk__os_timer_set(p->timer_fd, p->start_ns + PATIENCE_NS);
	return r < 0 ? r : trk__os_group_add(p->group_fd, p->timer_fd);
}

int trk__cloud_probe_new(const struct trk_dmi *dmi, const struct sockaddr_in *endpoint,
			 struct trk_cloud_probe **ret, struct trk_cloud *known)
{
	struct trk_cloud_probe *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->group_fd = p->timer_fd = -1;
	p->has_endpoint = endpoint != NULL;
	if (endpoint)
		p->endpoint = *endpoint;
	choose(p, dmi);
	if (p->n == 0) {
		trk__cloud_clear(known);
		(void) snprintf(
			known->reason, sizeof(known->reason),
			dmi->known ? "the firmware is not that of a cloud machine (%.40s %.40s): "
				     "no request was sent"
				   : "the firmware does not name a vendor: no request was "
				     "sent%.0s%.0s",
			dmi->sys_vendor, dmi->product_name);
		free(p);
		*ret = NULL;
		return 0;
	}
	r = open_waiting(p);
	if (r < 0) {
		trk__cloud_probe_free(p);
		return r;
	}
	for (size_t i = 0; i < p->n; i++)
		begin_step(p, &p->asked[i]);
	*ret = p;
	return 0;
}

int trk__cloud_probe_fd(const struct trk_cloud_probe *p)
{
	return p->group_fd;
}

/* Read the result from vendors that have answered completely or, at the end, from any answers. */
static bool read_all(struct trk_cloud_probe *p, bool at_end, struct trk_cloud *ret)
{
	for (size_t i = 0; i < p->n; i++) {
		struct asked *v = &p->asked[i];
		struct trk_cloud c;

		if (v->judged || (!v->over && !at_end))
			continue;
		v->judged = v->over;
		trk__cloud_clear(&c);
		if (!trk__cloud_read(v->vendor, v->answer, v->n, &c))
			continue;
		(void) snprintf(c.vendor, sizeof(c.vendor), "%s", v->vendor->id);
		(void) snprintf(c.source, sizeof(c.source), "metadata service%s",
				v->over ? "" : ", in part");
		if (!v->over)
			(void) snprintf(c.reason, sizeof(c.reason),
					"not all answers came within a second");
		if (!c.instance_type[0])
			memcpy(c.instance_type, p->firmware.instance_type, sizeof(c.instance_type));
		*ret = c;
		return true;
	}
	return false;
}

bool trk__cloud_probe_step(struct trk_cloud_probe *p, struct trk_cloud *ret)
{
	uint64_t elapsed = trk__clock_monotonic_ns() - p->start_ns;
	uint64_t next_ns = (elapsed / PATIENCE_NS + 1) * PATIENCE_NS;
	bool all = true, at_end;

	trk__os_timer_take(p->timer_fd);
	(void) trk__os_timer_set(p->timer_fd, p->start_ns + next_ns);
	/* There are few connections, so each is continued whether ready or not. */
	trk__os_group_take(p->group_fd);
	for (size_t i = 0; i < p->n; i++) {
		step_vendor(p, &p->asked[i], elapsed < PATIENCE_NS);
		all &= p->asked[i].over;
	}
	at_end = all || elapsed >= LIMIT_NS;
	if (!read_all(p, at_end, ret)) {
		if (!at_end)
			return false;
		*ret = p->firmware;
		(void) snprintf(ret->reason, sizeof(ret->reason), "%s",
				all ? "no metadata service gave a valid answer"
				    : "no metadata service answered within a second");
	}
	ret->discovery_time = (double) elapsed / 1e9;
	return true;
}

void trk__cloud_probe_free(struct trk_cloud_probe *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->asked[i].n; k++)
			trk__http_release(&p->asked[i].request[k].http);
	trk__close(p->group_fd);
	trk__close(p->timer_fd);
	free(p);
}
