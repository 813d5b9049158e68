#include "history/sqlite_library.h"

#include <dlfcn.h>

#include "base/dynamic.h"
#include "base/error.h"

int trk__sqlite_load(struct trk_sqlite *ret)
{
	struct trk_sqlite s = {.handle = NULL};
	const struct trk_symbol wanted[] = {
		{"sqlite3_open_v2", &s.open_v2},
		{"sqlite3_close", &s.close},
		{"sqlite3_exec", &s.exec},
		{"sqlite3_errmsg", &s.errmsg},
		{"sqlite3_busy_timeout", &s.busy_timeout},
		{"sqlite3_prepare_v2", &s.prepare_v2},
		{"sqlite3_step", &s.step},
		{"sqlite3_reset", &s.reset},
		{"sqlite3_finalize", &s.finalize},
		{"sqlite3_bind_text", &s.bind_text},
		{"sqlite3_bind_int64", &s.bind_int64},
		{"sqlite3_bind_double", &s.bind_double},
		{"sqlite3_bind_null", &s.bind_null},
		{"sqlite3_column_text", &s.column_text},
		{"sqlite3_column_int64", &s.column_int64},
		{"sqlite3_column_double", &s.column_double},
		{"sqlite3_column_type", &s.column_type},
	};

	s.handle = trk__library_load("libsqlite3.so.0", wanted, sizeof(wanted) / sizeof(wanted[0]));
	if (!s.handle)
		return -TRK_E_UNSUPPORTED;
	*ret = s;
	return 0;
}

void trk__sqlite_unload(struct trk_sqlite *s)
{
	if (s->handle)
		(void) dlclose(s->handle);
	s->handle = NULL;
}
