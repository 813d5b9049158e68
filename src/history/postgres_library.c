#include "history/postgres_library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/error.h"

int trk__libpq_load(struct trk_libpq *ret)
{
	const struct {
		const char *name;
		void *to; /* a pointer to a function */
	} wanted[] = {
		{"PQconnectdbParams", &ret->connectdbParams},
		{"PQstatus", &ret->status},
		{"PQerrorMessage", &ret->errorMessage},
		{"PQfinish", &ret->finish},
		{"PQsendQuery", &ret->sendQuery},
		{"PQsendQueryParams", &ret->sendQueryParams},
		{"PQsocket", &ret->socket},
		{"PQconsumeInput", &ret->consumeInput},
		{"PQisBusy", &ret->isBusy},
		{"PQgetResult", &ret->getResult},
		{"PQresultStatus", &ret->resultStatus},
		{"PQntuples", &ret->ntuples},
		{"PQgetvalue", &ret->getvalue},
		{"PQgetisnull", &ret->getisnull},
		{"PQclear", &ret->clear},
	};

	ret->handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
	if (!ret->handle)
		return -TRK_E_UNSUPPORTED;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *symbol = dlsym(ret->handle, wanted[i].name);

		if (!symbol)
			return -TRK_E_UNSUPPORTED;
		memcpy(wanted[i].to, &symbol, sizeof(symbol));
	}
	return 0;
}
