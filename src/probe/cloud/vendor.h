/* What each cloud vendor's file provides: how its machines are recognised, the requests, and how
 * answers are parsed. Each file cites the vendor's documentation. */
#ifndef TRK_PROBE_CLOUD_VENDOR_H
#define TRK_PROBE_CLOUD_VENDOR_H

#include "base/json_read.h"
#include "probe/cloud/cloud.h"
#include "probe/cloud/http.h"
#include "probe/cloud/vendors.def"
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
	TRK_CLOUD_MAYBE, /* a virtual machine without a vendor name, as this vendor has some */
	TRK_CLOUD_SURE,
};

/* A fixed request; always GET. */
struct trk_cloud_question {
	const char *path;
	const char *address; /* NULL: 169.254.169.254 */
	const char *headers; /* each ended by CR LF; NULL: none */
};

/* Members that a vendor does not need are NULL. */
struct trk_cloud_vendor {
	const char *id;
	/* Firmware: the prefix of one of its texts, or the asset tag of the chassis; and whether a
	 * machine without a vendor name may be this vendor's. `looks` replaces these checks. */
	const char *firmware[2], *chassis_tag;
	bool unnamed;
	enum trk_cloud_likeness (*looks)(const struct trk_dmi *dmi);
	/* Requests that are sent at once, in this order, up to a NULL path. Where a request depends
	 * on an answer, `ask` instead fills in the requests of a step, which are sent together:
	 * step 1 when those of step 0 have ended. `answers` are those of earlier steps. Returns
	 * their number. */
	struct trk_cloud_question question[TRK_CLOUD_REQUESTS];
	/* A service that may require a token: step 0 requests one, step 1 reads the paths, with the
	 * token, if there is one, in `header`. */
	struct {
		const char *header, *address, *path[TRK_CLOUD_REQUESTS];
	} token;
	size_t (*ask)(unsigned int step, const struct trk_cloud_answer *answers,
		      struct trk_cloud_request *ret);
	/* True if the answers are this vendor's. Fills in region, zone, type, allocation, and
	 * `reason` where something stays unknown. `read` takes all answers, in the order of the
	 * requests; `read_json` the last one, a JSON document. */
	bool (*read)(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret);
	bool (*read_json)(const struct trk_json_doc *d, const struct trk_json_value *root,
			  struct trk_cloud *ret);
	const char *lacks; /* what the metadata lacks: the reason for an unknown type */
	/* Further facts from the firmware. */
	void (*read_dmi)(const struct trk_dmi *dmi, struct trk_cloud *ret);
};

/* Call the vendor's function or, without one, use its table. */
enum trk_cloud_likeness trk__cloud_looks(const struct trk_cloud_vendor *v,
					 const struct trk_dmi *dmi);
size_t trk__cloud_ask(const struct trk_cloud_vendor *v, unsigned int step,
		      const struct trk_cloud_answer *answers, struct trk_cloud_request *ret);
bool trk__cloud_read(const struct trk_cloud_vendor *v, const struct trk_cloud_answer *answers,
		     size_t n, struct trk_cloud *ret);

/* clang-format off */
#define X(name) extern const struct trk_cloud_vendor trk__cloud_##name;
TRK_CLOUD_VENDOR_LIST(X)
#undef X
/* clang-format on */
extern const struct trk_cloud_vendor *const trk__cloud_vendors[]; /* NULL-terminated */

/* ---- helpers ---- */

/* The body of an answer, if it is a single word. */
bool trk__cloud_answer_word(const struct trk_cloud_answer *a, char *to, size_t size);
/* Parse the body as JSON; the caller releases *ret on success. */
bool trk__cloud_answer_json(const struct trk_cloud_answer *a, struct trk_json_doc *ret);
/* The string at `key` of a JSON object, if it is a single word. */
bool trk__cloud_json_word(const struct trk_json_doc *d, const struct trk_json_value *object,
			  const char *key, char to[TRK_CLOUD_TEXT]);
/* The last part of a path: "projects/1/zones/us-central1-a" -> "us-central1-a". */
const char *trk__cloud_last_part(const char *path);

/* True if sys_vendor, product_name or the vendor of BIOS, chassis or board starts with `text`. */
bool trk__cloud_dmi_says(const struct trk_dmi *dmi, const char *text);

#endif
