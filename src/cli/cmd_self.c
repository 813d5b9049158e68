/* resource-tracker self: check that this installation is whole, or copy it into a folder.
 *
 * `self check` reads the program itself, loads each optional library, reads the catalogue, and
 * tracks one small job (this program's `version`) into the directory of recordings. What can be
 * measured on this machine is another question: `doctor` answers it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/dynamic.h"
#include "base/file.h"
#include "base/json.h"
#include "base/os.h"
#include "cli/environment.h"
#include "cli/cli.h"
#include "cli/own_run.h"
#include "recording/store.h"

enum { PATH_SIZE = 4096, PROGRAM_MAX = 64 << 20, FREE_BYTES_MIN = 32 << 20 };

enum state { GOOD, ABSENT, BROKEN };

struct finding {
	const char *what; /* static */
	enum state state;
	char text[512];
};

struct settings {
	bool json;
	const char *dir;
};

static const struct cli_option options[] = {
	{"json", 0, NULL, "check: as one JSON document", cli_set_flag,
	 offsetof(struct settings, json)},
	{"recording", 0, "DIR", "check: directory of the recordings", cli_set_text,
	 offsetof(struct settings, dir)},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* The libraries of docs/dependencies.md. The first soname that loads is used. */
static const struct {
	const char *what, *sonames[3], *version, *lost, *package;
} libraries[] = {
	{"SQLite",
	 {"libsqlite3.so.0"},
	 "sqlite3_libversion",
	 "history, compare and recommend",
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
};
enum { LIBRARIES = sizeof(libraries) / sizeof(libraries[0]), FINDINGS = LIBRARIES + 6 };

static struct finding *find(struct finding *f, const char *what, enum state state)
{
	f->what = what;
	f->state = state;
	f->text[0] = '\0';
	return f;
}

/* Path of this program; "" with errno set where /proc is not mounted. */
static void own_path(char path[PATH_SIZE])
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_SIZE - 1);

	path[len < 0 ? 0 : len] = '\0';
}

static void check_program(struct finding *f, const char *path)
{
	struct utsname machine;
	struct stat st;

	find(f, "program", GOOD);
	if (uname(&machine) < 0 || stat(path, &st) < 0) {
		f->state = BROKEN;
		(void) snprintf(f->text, sizeof(f->text),
				"/proc/self/exe: %s. Try: mount -t proc proc /proc",
				strerror(errno));
		return;
	}
	(void) snprintf(f->text, sizeof(f->text), "version %s on %.60s, %s, %lld KiB, %.300s",
			TRK_BUILD_VERSION, machine.machine,
			trk__os_is_dynamic() ? "dynamic" : "static: loads no library",
			(long long) st.st_size / 1024, path);
}

static void check_permissions(struct finding *f, const char *path)
{
	struct stat st;

	find(f, "permissions", GOOD);
	if (stat(path, &st) < 0) {
		f->state = BROKEN;
		(void) snprintf(f->text, sizeof(f->text), "%.300s: %s", path, strerror(errno));
	} else if (st.st_mode & (S_ISUID | S_ISGID)) {
		f->state = BROKEN;
		(void) snprintf(f->text, sizeof(f->text),
				"set-user-id or set-group-id, which it must not have. "
				"Try: chmod 755 %.300s",
				path);
	} else if (st.st_mode & S_IWOTH) {
		f->state = BROKEN;
		(void) snprintf(f->text, sizeof(f->text),
				"every user may write to it. Try: chmod 755 %.300s", path);
	} else if (st.st_uid != 0 && st.st_uid != geteuid()) {
		f->state = BROKEN;
		(void) snprintf(f->text, sizeof(f->text),
				"it belongs to user %u, who is neither you nor root",
				(unsigned int) st.st_uid);
	} else {
		(void) snprintf(f->text, sizeof(f->text),
				"mode %03o, no set-user-id, owner %u, no other user may write",
				(unsigned int) st.st_mode & 0777, (unsigned int) st.st_uid);
	}
}

static void check_library(struct finding *f, size_t which)
{
	const char *(*version)(void) = NULL;
	const char *soname = NULL;
	void *handle = NULL;
	int len;

	find(f, libraries[which].what, ABSENT);
	for (size_t i = 0; i < 3 && libraries[which].sonames[i] && !handle; i++) {
		soname = libraries[which].sonames[i];
		handle = trk__library_load(soname, NULL, 0);
	}
	if (!handle) {
		(void) snprintf(f->text, sizeof(f->text), "%s cannot be loaded: needed for %s. %s",
				libraries[which].sonames[0], libraries[which].lost,
				trk__os_library_advice(libraries[which].package));
		return;
	}
	f->state = GOOD;
	if (libraries[which].version) {
		void *symbol = dlsym(handle, libraries[which].version);

		memcpy(&version, &symbol, sizeof(symbol));
	}
	len = snprintf(f->text, sizeof(f->text), "%s%s%.200s", soname, version ? " " : "",
		       version ? version() : "");
	/* curl_version() goes on with the versions of what libcurl itself uses. */
	if (len > 0 && (size_t) len < sizeof(f->text) && version)
		f->text[strlen(soname) + 1 + strcspn(f->text + strlen(soname) + 1, " ")] = '\0';
	/* It stays loaded: dlclose does not free what its own libraries hold. */
}

static void check_catalogue(struct finding *f)
{
	const struct trk_service service = cli_service("");
	struct trk_prices k;
	size_t servers, prices;
	char date[16];

	if (trk__prices_load(&service.layers, &k, NULL) != 0) {
		find(f, "catalogue", BROKEN);
		(void) snprintf(f->text, sizeof(f->text),
				"it cannot be read. Try: resource-tracker catalog info");
		return;
	}
	(void) trk__catalog_servers(&k.c, &servers);
	(void) trk__catalog_prices(&k.c, &prices);
	find(f, "catalogue", servers && prices ? GOOD : BROKEN);
	(void) snprintf(f->text, sizeof(f->text), "%zu servers, %zu prices, of %s%s%.200s", servers,
			prices, trk__catalog_date(k.c.image->date, date),
			k.scores[0] ? ", scores " : ", no file of scores", k.scores);
	trk__prices_release(&k);
}

static void check_folder(struct finding *f, const char *dir)
{
	struct trk_error error = {.code = 0};
	struct statvfs fs;
	int fd;

	find(f, "recordings", BROKEN);
	if (!*dir) {
		(void) snprintf(f->text, sizeof(f->text),
				"the state directory belongs to another user, or another user may "
				"write to it. Try: --recording DIR");
		return;
	}
	fd = trk__store_open(dir, true, &error);
	if (fd < 0) {
		(void) snprintf(f->text, sizeof(f->text), "%.400s", error.message);
		return;
	}
	f->state = GOOD;
	if (fstatvfs(fd, &fs) < 0)
		(void) snprintf(f->text, sizeof(f->text), "%.300s, free space unknown", dir);
	else
		(void) snprintf(f->text, sizeof(f->text), "%.300s, %.1f GB free%s", dir,
				(double) fs.f_bavail * (double) fs.f_frsize / 1e9,
				(double) fs.f_bavail * (double) fs.f_frsize < FREE_BYTES_MIN
					? ", little for recordings of up to 12 MiB each"
					: "");
	trk__close(fd);
}

static void check_job(struct finding *f)
{
	static const char *const version[] = {"version", NULL};
	char folder[PATH_SIZE];
	struct trk_record *record = calloc(1, sizeof(*record));
	int r = record ? cli_scratch_folder(folder, sizeof(folder), "/tmp") : -ENOMEM;

	find(f, "tracked job", BROKEN);
	if (r < 0) {
		(void) snprintf(f->text, sizeof(f->text), "%.300s: %s. Try: TMPDIR=DIR", folder,
				trk__strerror(r));
		free(record);
		return;
	}
	r = cli_own_run(folder, "self-check", version, -1, record);
	if (r == -EBADMSG) {
		(void) snprintf(f->text, sizeof(f->text), "its recording cannot be read");
	} else if (r != 0) {
		(void) snprintf(f->text, sizeof(f->text),
				"run ended with %d. Try: resource-tracker run -- true", r);
	} else {
		f->state = GOOD;
		(void) snprintf(f->text, sizeof(f->text), "ran, was recorded and read back");
		trk__record_release(record);
	}
	free(record);
	trk__remove_tree(folder);
}

static size_t examine(struct finding *list, const char *dir)
{
	char path[PATH_SIZE];
	size_t n = 0;

	own_path(path);
	check_program(&list[n++], path);
	check_permissions(&list[n++], path);
	for (size_t i = 0; i < LIBRARIES; i++)
		check_library(&list[n++], i);
	check_catalogue(&list[n++]);
	check_folder(&list[n++], dir);
	check_job(&list[n++]);
	return n;
}

static const char *const state_words[] = {"ok", "absent", "broken"};

static void print_text(struct trk_buf *b, const struct finding *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		trk__buf_printf(b, "%-6s  %-11s  %s\n", state_words[list[i].state], list[i].what,
				list[i].text);
}

static void print_json(struct trk_buf *b, const struct finding *list, size_t n)
{
	struct trk_json j;

	trk__json_init(&j, b, 1);
	trk__json_open(&j, '{');
	trk__json_key_text(&j, "schema", "resource-tracker.self-check/1");
	trk__json_key_text(&j, "version", TRK_BUILD_VERSION);
	trk__json_key(&j, "checks");
	trk__json_open(&j, '[');
	for (size_t i = 0; i < n; i++) {
		trk__json_open(&j, '{');
		trk__json_key_text(&j, "what", list[i].what);
		trk__json_key_text(&j, "state", state_words[list[i].state]);
		trk__json_key_text(&j, "text", list[i].text);
		trk__json_close(&j, '}');
	}
	trk__json_close(&j, ']');
	trk__json_close(&j, '}');
	trk__buf_putc(b, '\n');
}

static int check(const struct settings *s)
{
	struct finding list[FINDINGS];
	struct trk_buf b;
	size_t n = examine(list, cli_state_dir(s->dir));
	int r;

	trk__buf_init(&b, 1 << 20);
	if (s->json)
		print_json(&b, list, n);
	else
		print_text(&b, list, n);
	r = cli_write(STDOUT_FILENO, &b, "stdout");
	trk__buf_release(&b);
	for (size_t i = 0; i < n; i++)
		if (list[i].state == BROKEN)
			r = EXIT_ERROR;
	return r;
}

/* A new file of this name with these bytes, complete before it gets the name. 0 or a negative
 * errno. */
static int put_program(int dirfd, const char *data, size_t len)
{
	static const char temporary[] = ".resource-tracker.new";
	int fd, r;

	(void) unlinkat(dirfd, temporary, 0);
	fd = openat(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (fd < 0)
		return -errno;
	r = trk__write_all(fd, data, len);
	if (r == 0 && fchmod(fd, 0755) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(dirfd, temporary, dirfd, "resource-tracker") < 0)
		r = -errno;
	if (r < 0)
		(void) unlinkat(dirfd, temporary, 0);
	return r;
}

/* DIR/bin/bash and DIR/bin/sh: links to the program, the tracking shells. */
static int put_shells(int dirfd)
{
	static const char *const names[] = {"bin/bash", "bin/sh"};

	if (mkdirat(dirfd, "bin", 0755) < 0 && errno != EEXIST)
		return -errno;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void) unlinkat(dirfd, names[i], 0);
		if (symlinkat("../resource-tracker", dirfd, names[i]) < 0)
			return -errno;
	}
	return 0;
}

static int install(const char *dir)
{
	char *data = NULL;
	ssize_t len = trk__read_all_at(AT_FDCWD, "/proc/self/exe", PROGRAM_MAX, &data);
	int fd = -1, r = len < 0 ? (int) len : 0;

	if (r < 0) {
		cli_complain("self install: /proc/self/exe: %s", trk__strerror(r));
	} else {
		if (mkdir(dir, 0755) < 0 && errno != EEXIST)
			r = -errno;
		fd = r < 0 ? r : trk__open_dir_at(AT_FDCWD, dir);
		r = fd < 0 ? fd : put_program(fd, data, (size_t) len);
		if (r == 0)
			r = put_shells(fd);
		if (r < 0)
			cli_complain("self install: %s: %s", dir, trk__strerror(r));
	}
	trk__close(fd);
	free(data);
	return r < 0 ? EXIT_ERROR : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct settings s = {.dir = NULL};
	int at = cli_options(&cli_self, argc, argv, &s);

	if (at < 0)
		return at == CLI_HELP_GIVEN ? EXIT_OK : -at;
	if (at + 1 == argc && !strcmp(argv[at], "check"))
		return check(&s);
	if (at + 2 == argc && !strcmp(argv[at], "install") && *argv[at + 1])
		return install(argv[at + 1]);
	cli_complain("self: check, or install DIR. Try: resource-tracker self --help");
	return EXIT_USAGE;
}

const struct cli_command cli_self = {
	.name = "self",
	.usage = "self check [--json] | self install DIR",
	.summary = "Check that this installation is whole, or copy it into a folder.",
	.details =
		"check prints a line for the program, its permissions, each library that is loaded "
		"on first use, the\ncatalogue, the directory of recordings, and a small job that "
		"it tracks. \"absent\" is a library that\nis not there, and what is lost without "
		"it; \"broken\" ends with exit status 1.\n"
		"install copies the program to DIR/resource-tracker and links DIR/bin/bash and "
		"DIR/bin/sh to it, from\nan image without a shell or cp: for an init container.",
	.options = options,
	.run = run,
};
