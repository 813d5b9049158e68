/* What each cloud vendor's file provides: how its machines are recognised, the requests, and how
 * answers are read. Documented by the vendors; each file cites the facts of its pages. */
#ifndef TRK_PROBE_CLOUD_VENDOR_H
#define TRK_PROBE_CLOUD_VENDOR_H

#include "base/json_read.h"
#include "probe/cloud/cloud.h"
#include "probe/cloud/http.h"
#include "probe/linux/dmi.h"

enum { TRK_CLOUD_REQUESTS = 6, TRK_CLOUD_HEADERS = 320 };

struct trk_cloud_request {
	const char *method, *path;       /* static */
	const char *address;             /* NULL: 169.254.169.254 */
	char headers[TRK_CLOUD_HEADERS]; /* each ended by CR LF */
};

struct trk_cloud_answer {
	bool ok; /* a response of status 200 came in time */
	struct trk_http_response response;
};

enum trk_cloud_likeness {
	TRK_CLOUD_NO,
	TRK_CLOUD_MAYBE, /* a virtual machine without a name: this vendor has such ones */
	TRK_CLOUD_SURE,
};

/* A fixed request; always GET. */
struct trk_cloud_question {
	const char *path;
	const char *address; /* NULL: 169.254.169.254 */
	const char *headers; /* each ended by CR LF; NULL: none */
};

/* What is NULL is not needed. */
struct trk_cloud_vendor {
	const char *id;
	/* Firmware: what one of its texts starts with, or the tag of the chassis; and whether
	 * machines without a name may be this vendor's. `looks` decides where it is more than
	 * that. */
	const char *firmware[2], *chassis_tag;
	bool unnamed;
	enum trk_cloud_likeness (*looks)(const struct trk_dmi *dmi);
	/* Requests that are sent at once, in this order; a NULL path ends them. Where a request
	 * needs an answer, `ask` fills in the requests of a step, which are sent together: step 0
	 * first, step 1 when those of step 0 have ended. `answers` are those of earlier steps.
	 * Returns how many. */
	struct trk_cloud_question question[TRK_CLOUD_REQUESTS];
	size_t (*ask)(unsigned int step, const struct trk_cloud_answer *answers,
		      struct trk_cloud_request *ret);
	/* True if it is this vendor. Fills in region, zone, type, allocation, and `reason` where
	 * something stays unknown. From all answers, in the order of the requests; or from the one
	 * answer, a JSON document. */
	bool (*read)(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret);
	bool (*read_json)(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret);
	const char *lacks; /* what its metadata does not name: the reason why there is no type */
	/* Further facts from the firmware. */
	void (*read_dmi)(const struct trk_dmi *dmi, struct trk_cloud *ret);
};

/* The same for every vendor, by its functions or its table. */
enum trk_cloud_likeness trk__cloud_looks(const struct trk_cloud_vendor *v,
					 const struct trk_dmi *dmi);
size_t trk__cloud_ask(const struct trk_cloud_vendor *v, unsigned int step,
		      const struct trk_cloud_answer *answers, struct trk_cloud_request *ret);
bool trk__cloud_read(const struct trk_cloud_vendor *v, const struct trk_cloud_answer *answers,
		     size_t n, struct trk_cloud *ret);

/* Each vendor has a file NAME.c with trk__cloud_NAME, in the order in which vendors are queried. */
/* clang-format off */
#define TRK_CLOUD_VENDOR_LIST(X) \
	X(aws) X(gcp) X(azure) X(hetzner) X(upcloud) X(alicloud) X(ovh) X(vultr) X(oracle) \
	X(digitalocean) X(scaleway) X(linode) X(exoscale)
#define X(name) extern const struct trk_cloud_vendor trk__cloud_##name;
TRK_CLOUD_VENDOR_LIST(X)
#undef X
/* clang-format on */
extern const struct trk_cloud_vendor *const trk__cloud_vendors[]; /* NULL-terminated */

/* ---- helpers ---- */

/* The requests of a service that may want a token: step 0 asks for one, step 1 reads `paths`.
 * Without a token the paths are read without. `header` carries it. */
struct trk_cloud_token_service {
	const char *address, *header;
	const char *const *paths;
	size_t count;
};
size_t trk__cloud_ask_token(const struct trk_cloud_token_service *service, unsigned int step,
			    const struct trk_cloud_answer *answers, struct trk_cloud_request *ret);
/* As above, for the body of an answer. */
bool trk__cloud_answer_word(const struct trk_cloud_answer *a, char *to, size_t size);
/* The body as JSON; the caller releases on success. */
bool trk__cloud_answer_json(const struct trk_cloud_answer *a, struct trk_json_doc *ret);
/* A text of a JSON document, if it is a single word. */
bool trk__cloud_json_word(const struct trk_json_doc *d, const struct trk_json_value *object,
			  const char *key, char *to, size_t size);
/* The last part of a path: "projects/1/zones/us-central1-a" -> "us-central1-a". */
const char *trk__cloud_last_part(const char *path);

/* Does one of sys_vendor, product_name, bios_vendor, chassis_vendor, board_vendor start so? */
bool trk__cloud_dmi_says(const struct trk_dmi *dmi, const char *text);

#endif
