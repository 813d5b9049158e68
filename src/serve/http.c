#include "serve/http.h"

#include "base/dynamic.h"
#include "base/error.h"

int trk__http_load(struct trk_http *ret)
{
	const struct trk_symbol wanted[] = {
		{"MHD_start_daemon", &ret->start_daemon},
		{"MHD_stop_daemon", &ret->stop_daemon},
		{"MHD_get_fdset", &ret->get_fdset},
		{"MHD_run", &ret->run},
		{"MHD_get_timeout", &ret->get_timeout},
		{"MHD_lookup_connection_value", &ret->lookup_value},
		{"MHD_get_connection_values", &ret->get_values},
		{"MHD_create_response_from_buffer", &ret->create_response},
		{"MHD_add_response_header", &ret->add_header},
		{"MHD_queue_response", &ret->queue_response},
		{"MHD_destroy_response", &ret->destroy_response},
	};

	if (trk__library_load("libmicrohttpd.so.12", wanted, sizeof(wanted) / sizeof(wanted[0])))
		return 0;
	return -TRK_ERR_UNSUPPORTED;
}
