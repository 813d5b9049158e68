/* What each cloud vendor's file provides: how its machines are known, what is asked, how the answers
 * are read. Documented by the vendors; each file names its pages' facts. */
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

struct trk_cloud_vendor {
	const char *id;
	enum trk_cloud_likeness (*looks)(const struct trk_dmi *dmi);
	/* Fill in the requests of a step, which all go out at once: step 0 at first, then step 1 when
	 * those of step 0 have ended. `answers` are those of the steps before. Returns how many. */
	size_t (*ask)(unsigned int step, const struct trk_cloud_answer *answers,
		      struct trk_cloud_request *ret);
	/* All answers, in the order of the requests: is it this vendor, and what does it say? Fills in
	 * region, zone, type, allocation, and `reason` where something is missing for good. */
	bool (*read)(const struct trk_cloud_answer *answers, size_t n, struct trk_cloud *ret);
	/* What the firmware tells beside the vendor; may be NULL. */
	void (*read_dmi)(const struct trk_dmi *dmi, struct trk_cloud *ret);
};

extern const struct trk_cloud_vendor trk__cloud_aws, trk__cloud_gcp, trk__cloud_azure,
	trk__cloud_hetzner, trk__cloud_upcloud, trk__cloud_alicloud, trk__cloud_ovh,
	trk__cloud_vultr, trk__cloud_digitalocean, trk__cloud_scaleway, trk__cloud_oracle,
	trk__cloud_linode, trk__cloud_exoscale;
extern const struct trk_cloud_vendor *const trk__cloud_vendors[]; /* NULL-terminated */

/* ---- helpers ---- */

/* A name as vendors give them: letters, digits and ._:/- of text[0..len), blanks around it dropped. False,
 * and `to` untouched, for anything else (a page of HTML, say) and for what does not fit. */
bool trk__cloud_word_n(const char *text, size_t len, char *to, size_t size);
bool trk__cloud_word(const char *text, char *to, size_t size); /* NULL is none */
/* The same of the body of an answer. */
bool trk__cloud_answer_word(const struct trk_cloud_answer *a, char *to, size_t size);
/* The body as JSON; the caller releases on success. */
bool trk__cloud_answer_json(const struct trk_cloud_answer *a, struct trk_json_doc *ret);
/* The last part of a path: "projects/1/zones/us-central1-a" -> "us-central1-a". */
const char *trk__cloud_last_part(const char *path);

/* A virtual machine of QEMU, KVM, Xen or OpenStack that does not say whose it is. */
bool trk__cloud_is_unnamed(const struct trk_dmi *dmi);
/* Does one of sys_vendor, product_name, bios_vendor, chassis_vendor, board_vendor start so? */
bool trk__cloud_dmi_says(const struct trk_dmi *dmi, const char *text);

#endif
