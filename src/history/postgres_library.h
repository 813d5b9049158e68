/* libpq, loaded on first use. Only what history needs; declared after the documentation of its C
 * interface. */
#ifndef TRK_HISTORY_POSTGRES_LIBRARY_H
#define TRK_HISTORY_POSTGRES_LIBRARY_H

enum { CONNECTION_OK = 0, PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2 };
struct pg_conn;
struct pg_result;

struct trk_libpq {
	void *handle;
	struct pg_conn *(*connectdbParams)(const char *const *keys, const char *const *values,
					   int expand);
	int (*status)(const struct pg_conn *c);
	const char *(*errorMessage)(const struct pg_conn *c);
	void (*finish)(struct pg_conn *c);
	int (*sendQuery)(struct pg_conn *c, const char *sql);
	int (*sendQueryParams)(struct pg_conn *c, const char *sql, int n, const unsigned int *types,
			       const char *const *values, const int *lengths, const int *formats,
			       int binary);
	int (*socket)(const struct pg_conn *c);
	int (*consumeInput)(struct pg_conn *c);
	int (*isBusy)(struct pg_conn *c);
	struct pg_result *(*getResult)(struct pg_conn *c);
	int (*resultStatus)(const struct pg_result *r);
	int (*ntuples)(const struct pg_result *r);
	char *(*getvalue)(const struct pg_result *r, int row, int column);
	int (*getisnull)(const struct pg_result *r, int row, int column);
	void (*clear)(struct pg_result *r);
};

/* Load it. Returns 0, with a handle that is the caller's; or -TRK_E_UNSUPPORTED when it is not installed or
 * lacks something, and no handle. */
int trk__libpq_load(struct trk_libpq *ret);

#endif
