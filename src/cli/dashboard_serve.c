#include "cli/dashboard_serve.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/libc.h"
#include "base/os.h"
#include "cli/cli.h"
#include "cli/environment.h"
#include "serve/dashboard_server.h"
#include "track/job.h"

enum { PATH_SIZE = 4096 };

struct serving {
	const struct cli_fleet_settings *views;
	bool open;            /* the browser */
	char page[PATH_SIZE]; /* file that redirects the browser to the address; "": none */
};

/* The address contains a secret, and all users can read the arguments of a process. So the browser
 * opens a file of mode 0600 that redirects to the address. */
static void open_redirect(struct serving *s, const char *address)
{
	const char *dir = cli_state_dir(s->views->dir);
	TRK_FD_CLEANUP int store_fd = *dir ? trk__store_open(dir, true, NULL) : -1;
	TRK_FD_CLEANUP int fd = -1;
	char text[512];
	int len = snprintf(text, sizeof(text),
			   "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" "
			   "content=\"0; url=%s\"><title>resource-tracker</title>\n",
			   address);

	if (store_fd < 0 || snprintf(s->page, sizeof(s->page), "%s/dashboard-%08x.html", dir,
				     trk__random_bits()) >= PATH_SIZE) {
		s->page[0] = '\0';
		return;
	}
	fd = open(s->page, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && trk__write_all(fd, text, (size_t) len) == 0)
		cli_browser_open(s->page);
}

static void print_address(void *data, const char *address)
{
	struct serving *s = data;
	TRK_BUF_LOCAL(b, 1024);

	trk__buf_printf(&b, "%s\n", address);
	(void) cli_print(&b);
	cli_complain("dashboard: serves this user until Ctrl-C");
	if (s->open && trk__os_has_desktop())
		open_redirect(s, address);
}

/* A descriptor that becomes readable on a signal to end the program, or -1 after a complaint. */
static int block_signals(void)
{
	sigset_t ends;
	int fd;

	(void) sigemptyset(&ends);
	(void) sigaddset(&ends, SIGINT);
	(void) sigaddset(&ends, SIGTERM);
	(void) sigaddset(&ends, SIGHUP);
	(void) sigprocmask(SIG_BLOCK, &ends, NULL);
	(void) signal(SIGPIPE, SIG_IGN);
	fd = trk__job_open_signals(&ends);
	if (fd < 0)
		cli_complain("dashboard: signals: %s", trk__strerror(fd));
	return fd;
}

int cli_dashboard_serve(const struct cli_fleet_settings *views, uint16_t port, bool open)
{
	struct serving serving = {.views = views, .open = open};
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int stop_fd = block_signals();
	struct trk_dashboard_server server = {
		.service = cli_service(views->dir),
		.as_of_s = views->as_of_s,
		.utc_offset_s = cli_utc_offset(cli_fleet_now(views)),
		.port = port,
		.stop_fd = stop_fd,
		.on_ready = print_address,
		.data = &serving,
	};
	int r;

	if (stop_fd < 0)
		return EXIT_ERROR;
	r = trk__dashboard_serve(&server, &error);
	if (serving.page[0])
		(void) unlink(serving.page);
	if (r < 0)
		cli_complain("dashboard: %s", trk__error_text(&error, r));
	return r < 0 ? EXIT_ERROR : EXIT_OK;
}
