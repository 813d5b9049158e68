#include "base/curl.h"

#include <stddef.h>

#include "base/dynamic.h"
#include "base/error.h"

int trk__curl_load(struct trk_curl *ret)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4",
					    "libcurl-nss.so.4"};
	const struct trk_symbol wanted[] = {
		{"curl_easy_init", &ret->easy_init},
		{"curl_easy_setopt", &ret->easy_setopt},
		{"curl_easy_perform", &ret->easy_perform},
		{"curl_easy_getinfo", &ret->easy_getinfo},
		{"curl_easy_cleanup", &ret->easy_cleanup},
		{"curl_easy_strerror", &ret->easy_strerror},
		{"curl_slist_append", &ret->slist_append},
		{"curl_slist_free_all", &ret->slist_free_all},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (trk__library_load(names[i], wanted, sizeof(wanted) / sizeof(wanted[0])))
			return 0;
	return -TRK_ERR_UNSUPPORTED;
}
