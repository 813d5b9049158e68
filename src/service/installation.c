/* Check this installation: the program, the libraries that are loaded on first use, the catalogue,
 * the directory of recordings, and tracking of a job. Also copies the program. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/dynamic.h"
#include "base/file.h"
#include "base/os.h"
#include "base/trust.h"
#include "recording/store.h"
#include "service/check.h"

enum { PATH_SIZE = 4096, PROGRAM_MAX = 64 << 20, FREE_BYTES_MIN = 32 << 20 };

/* The libraries of docs/dependencies.md. The first soname that loads is used. */
static const struct {
	const char *what, *sonames[3], *version, *lost, *package;
} libraries[] = {
	{"SQLite",
	 {"libsqlite3.so.0"},
	 "sqlite3_libversion",
	 "figures of runs whose recordings were deleted",
	 "Try: apt install libsqlite3-0"},
	{"zlib",
	 {"libz.so.1"},
	 "zlibVersion",
	 "import and export of .gz files",
	 "Try: apt install zlib1g"},
	{"libcurl",
	 {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"},
	 "curl_version",
	 "catalog update and --online",
	 "Try: apt install libcurl4"},
	{"libmicrohttpd",
	 {"libmicrohttpd.so.12"},
	 "MHD_get_version",
	 "dashboard in the browser",
	 "Try: apt install libmicrohttpd12"},
	{"libpq", {"libpq.so.5"}, NULL, "a history in PostgreSQL", "Try: apt install libpq5"},
	{"libcrypto",
	 {"libcrypto.so.3", "libcrypto.so.1.1"},
	 NULL,
	 "signed alerts (json: with a key), hashes of catalog update",
	 "Try: apt install libssl3"},
	{"libdw", {"libdw.so.1"}, NULL, "lines of native code", "Try: apt install libdw1"},
	{"libstdc++",
	 {"libstdc++.so.6"},
	 NULL,
	 "names of C++ and Rust functions",
	 "Try: apt install libstdc++6"},
};
enum { LIBRARIES = sizeof(libraries) / sizeof(libraries[0]) };

void trk__check_fill(struct trk_check *f, const char *what, enum trk_check_state state,
		     const char *format, ...)
{
	va_list args;

	*f = (struct trk_check){.what = what, .state = state};
	va_start(args, format);
	(void) vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
}

static void check_program(struct trk_check *f, const char *path)
{
	struct utsname machine;
	struct stat st;

	if (uname(&machine) < 0 || stat(path, &st) < 0)
		trk__check_fill(f, "program", TRK_CHECK_BAD, "%s: %s%s", trk__os_own_file(),
				strerror(errno),
				trk__os_has_proc ? ". Try: mount -t proc proc /proc" : "");
	else
		trk__check_fill(f, "program", TRK_CHECK_GOOD,
				"version %s on %.60s, %s, %lld KiB, %.300s", TRK_BUILD_VERSION,
				machine.machine,
				trk__os_is_dynamic() ? "dynamic" : "static: loads no library",
				(long long) st.st_size / 1024, path);
}

static void check_permissions(struct trk_check *f, const char *path)
{
	static const char what[] = "permissions";
	struct stat st;

	if (stat(path, &st) < 0)
		trk__check_fill(f, what, TRK_CHECK_BAD, "%.300s: %s", path, strerror(errno));
	else if (st.st_mode & (S_ISUID | S_ISGID))
		trk__check_fill(f, what, TRK_CHECK_BAD,
				"set-user-id or set-group-id, which it must not have. Try: chmod "
				"755 %.300s",
				path);
	else if (st.st_mode & S_IWOTH)
		trk__check_fill(f, what, TRK_CHECK_BAD,
				"every user may write to it. Try: chmod 755 %.300s", path);
	else if (st.st_uid != 0 && st.st_uid != geteuid())
		trk__check_fill(f, what, TRK_CHECK_BAD, "it belongs to user %u, not to you or root",
				(unsigned int) st.st_uid);
	else if (!trk__os_has_modes)
		trk__check_fill(f, what, TRK_CHECK_GOOD,
				"it belongs to you or the system; who else may write is not read");
	else
		trk__check_fill(f, what, TRK_CHECK_GOOD,
				"mode %03o, no set-user-id, owner %u, no other user may write",
				(unsigned int) st.st_mode & 0777, (unsigned int) st.st_uid);
}

static void check_library(struct trk_check *f, size_t which)
{
	const char *(*version)(void) = NULL;
	const char *soname = NULL, *text;
	void *handle = NULL;

	for (size_t i = 0; i < 3 && libraries[which].sonames[i] && !handle; i++) {
		soname = libraries[which].sonames[i];
		handle = trk__library_load(soname, NULL, 0);
	}
	if (!handle) {
		trk__check_fill(f, libraries[which].what, TRK_CHECK_PART,
				"%s cannot be loaded: needed for %s. %s",
				libraries[which].sonames[0], libraries[which].lost,
				trk__os_library_advice(libraries[which].package));
		return;
	}
	if (libraries[which].version) {
		void *symbol = dlsym(handle, libraries[which].version);

		memcpy(&version, &symbol, sizeof(symbol));
	}
	/* curl_version() also lists the versions of the libraries of libcurl. */
	text = version ? version() : "";
	trk__check_fill(f, libraries[which].what, TRK_CHECK_GOOD, "%s%s%.*s", soname,
			version ? " " : "", (int) strcspn(text, " "), text);
	/* Not unloaded: dlclose does not free the memory of its own libraries. */
}

static void check_catalogue(struct trk_check *f, const struct trk_price_layers *layers)
{
	struct trk_prices k;
	size_t servers, prices;
	char date[16];

	if (trk__prices_load(layers, &k, NULL) != 0) {
		trk__check_fill(f, "catalogue", TRK_CHECK_BAD,
				"it cannot be read. Try: resource-tracker catalog info");
		return;
	}
	(void) trk__catalog_servers(&k.c, &servers);
	(void) trk__catalog_prices(&k.c, &prices);
	trk__check_fill(f, "catalogue", servers && prices ? TRK_CHECK_GOOD : TRK_CHECK_BAD,
			"%zu servers, %zu prices, of %s%s%.200s", servers, prices,
			trk__catalog_date(k.c.image->date, date),
			k.scores[0] ? ", scores " : ", no file of scores", k.scores);
	trk__prices_release(&k);
}

static void check_folder(struct trk_check *f, const char *dir)
{
	static const char what[] = "recordings";
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int fd = *dir ? trk__store_open(dir, true, &error) : -1;
	struct statvfs fs;

	if (!*dir)
		trk__check_fill(f, what, TRK_CHECK_BAD,
				"the state directory belongs to another user, or another user may "
				"write to it. "
				"Try: --recording DIR");
	else if (fd < 0)
		trk__check_fill(f, what, TRK_CHECK_BAD, "%.400s", error.message);
	else if (fstatvfs(fd, &fs) < 0)
		trk__check_fill(f, what, TRK_CHECK_GOOD, "%.300s, free space unknown", dir);
	else
		trk__check_fill(f, what, TRK_CHECK_GOOD, "%.300s, %.1f GB free%s", dir,
				(double) fs.f_bavail * (double) fs.f_frsize / 1e9,
				(double) fs.f_bavail * (double) fs.f_frsize < FREE_BYTES_MIN
					? ", little for recordings of up to 12 MiB each"
					: "");
}

size_t trk__installation_check(const struct trk_service *s, const char *tmp,
			       struct trk_check list[TRK_CHECKS_MAX])
{
	char path[PATH_SIZE] = "";
	size_t n = 0;

	if (trk__os_program(path, sizeof(path)) < 0)
		path[0] = '\0';
	check_program(&list[n++], path);
	check_permissions(&list[n++], path);
	for (size_t i = 0; i < LIBRARIES; i++)
		if (!trk__os_replaces_library(libraries[i].sonames[0]))
			check_library(&list[n++], i);
	check_catalogue(&list[n++], &s->layers);
	check_folder(&list[n++], s->dir);
	trk__installation_check_job(&list[n++], tmp);
	return n;
}

/* ---- a copy ---- */

/* In DIR/bin. */
static const char *const shells[] = {"bash", "sh"};
static const char shell_target[] = "../resource-tracker";

/* Whether a name is free for a link to the program: nothing is there, or an earlier such link. */
static bool is_free(int dirfd, const char *name)
{
	char target[sizeof(shell_target) + 1];
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	return trk__read_link_at(dirfd, name, target, sizeof(target)) >= 0 &&
	       strcmp(target, shell_target) == 0;
}

/* Open DIR/bin, which is made if it is missing. It must not be a link, as those to the program lead
 * to the folder above it, nor belong to another user. */
static int open_bin(int dirfd, struct trk_error *reterr)
{
	int fd = mkdirat(dirfd, "bin", 0755) < 0 && errno != EEXIST
			 ? -1
			 : openat(dirfd, "bin", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP
			       ? trk__error_set(reterr, -EEXIST, "bin",
						"bin is there already, and is no folder. "
						"Try: another folder")
			       : -errno;
	if (fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()))
		return fd;
	trk__close(fd);
	return trk__error_set(reterr, -TRK_ERR_UNTRUSTED, "bin",
			      "bin belongs to another user. Try: another folder");
}

/* Links to the program, the tracking shells. */
static int check_shells(int bin_fd, struct trk_error *reterr)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!is_free(bin_fd, shells[i]))
			return trk__error_set(reterr, -EEXIST, shells[i],
					      "bin/%s is there already, and is no link to "
					      "resource-tracker. Try: another folder",
					      shells[i]);
	return 0;
}

static int put_shells(int bin_fd)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (symlinkat(shell_target, bin_fd, shells[i]) < 0 && errno != EEXIST)
			return -errno;
	return 0;
}

/* Put the program into an open folder, and its links below it. */
static int put_program(const struct trk_trust_folder *at, const void *data, size_t len,
		       struct trk_error *reterr)
{
	TRK_FD_CLEANUP int bin_fd = -1;
	char name[32];
	int r = at->own ? 0 : -TRK_ERR_UNTRUSTED;

	if (r == 0 && trk__os_has_links)
		r = bin_fd = open_bin(at->fd, reterr);
	if (bin_fd >= 0)
		r = check_shells(bin_fd, reterr);
	(void) snprintf(name, sizeof(name), "resource-tracker%s", trk__os_program_ending);
	r = r < 0 ? r : trk__replace_at(at->fd, name, 0755, data, len);
	return r < 0 || bin_fd < 0 ? r : put_shells(bin_fd);
}

int trk__installation_copy(const char *dir, struct trk_error *reterr)
{
	const char *file = trk__os_own_file();
	struct trk_error error = {.code = 0};
	char *data = NULL;
	ssize_t len = trk__read_all_at(AT_FDCWD, file, PROGRAM_MAX, &data);
	struct trk_trust_folder at;
	int r;

	if (len < 0)
		return trk__error_set(reterr, (int) len, file, "%s: %s", file,
				      trk__strerror((int) len));
	r = trk__trust_make_named_dir(dir, TRK_TRUST_MAKE_LAST, 0755, &at);
	if (r == 0) {
		r = put_program(&at, data, (size_t) len, &error);
		trk__close(at.fd);
	}
	free(data);
	return r < 0 ? trk__error_set(reterr, r, dir, "%s: %s", dir, trk__error_text(&error, r))
		     : 0;
}
