#include "history/postgres_library.h"

#include "base/dynamic.h"
#include "base/error.h"

int trk__libpq_load(struct trk_libpq *ret)
{
	const struct trk_symbol wanted[] = {
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

	ret->handle = trk__library_load("libpq.so.5", wanted, sizeof(wanted) / sizeof(wanted[0]));
	return ret->handle ? 0 : -TRK_E_UNSUPPORTED;
}
