#include "cli/environment.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/parse.h"
#include "cli/cli.h"
#include "cli/progress.h"

/* ---- recordings ---- */

const char *cli_state_dir(const char *dir)
{
	static char text[TRK_PLACE_PATH_SIZE];
	static bool has_warned;
	struct trk_error error = {.code = 0};

	if (dir)
		return dir;
	if (trk__usual_state_dir(getenv, text, &error) == 0)
		return text;
	if (!has_warned)
		cli_complain("%s: no recordings are kept or read there. Try: --recording DIR",
			     error.message);
	has_warned = true;
	return "";
}

const char *cli_temporary_dir(const char *usual)
{
	const char *dir = getenv("TMPDIR");

	if (dir && *dir)
		return dir;
	/* Containers may lack /var/tmp. */
	return access(usual, W_OK) < 0 && access("/tmp", W_OK) == 0 ? "/tmp" : usual;
}

/* ---- prices ---- */

/* ../share/resource-tracker/sparecores.tsv next to the program. NULL: its path is unknown. */
static const char *installed_scores(void)
{
	static char text[4096];
	char exe[2048], *slash;

	if (trk__os_program(exe, sizeof(exe)) < 0)
		return NULL;
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	(void) snprintf(text, sizeof(text), "%s/../share/resource-tracker/sparecores.tsv", exe);
	return text;
}

struct trk_price_layers cli_price_layers(const struct trk_named_prices *files)
{
	static struct trk_price_paths room;

	return trk__price_layers(files, getenv, installed_scores(), &room);
}

/* ---- all of them ---- */

void cli_note(void *data, const char *text)
{
	cli_complain("%s", text);
}

static void show_download(void *data, const char *url, uint64_t done, uint64_t total)
{
	static struct cli_progress line;

	if (!url) {
		cli_progress_end(&line);
		line.what = NULL;
	} else if (line.what != url) {
		cli_progress_begin(&line, url);
	} else {
		cli_progress_show(&line, done, total);
	}
}

struct trk_service cli_service(const char *dir)
{
	static const struct trk_named_prices usual;
	const char *url = getenv("RESOURCE_TRACKER_HISTORY");

	return (struct trk_service){
		.dir = cli_state_dir(dir),
		.history_url = url && *url ? url : NULL,
		.layers = cli_price_layers(&usual),
		.note = cli_note,
		.progress = show_download,
	};
}

/* ---- the machine ---- */

static bool parse_endpoint(const char *value, struct sockaddr_in *ret)
{
	const char *colon = strchr(value, ':');
	struct sockaddr_in to = {.sin_family = AF_INET};
	char address[32];
	uint64_t port;

	if (!colon || trk__parse_u64(colon + 1, &port) < 0 || port == 0 || port > 65535)
		return false;
	(void) snprintf(address, sizeof(address), "%.*s", (int) (colon - value), value);
	if (inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    (ntohl(to.sin_addr.s_addr) >> 24) != IN_LOOPBACKNET)
		return false;
	to.sin_port = htons((uint16_t) port);
	*ret = to;
	return true;
}

const struct sockaddr_in *cli_cloud_endpoint(struct sockaddr_in *room)
{
	const char *value = getenv("RESOURCE_TRACKER_METADATA");

	if (!value)
		return NULL;
	if (!parse_endpoint(value, room)) {
		*room = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(1)};
		room->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	return room;
}

struct trk_gpu_hints cli_gpu_hints(bool of_job)
{
	const char *path = getenv("PATH");
	struct trk_gpu_hints hints = {
		.path = path ? path : "",
		.library_path = getenv("LD_LIBRARY_PATH"),
	};

	if (of_job) {
		hints.cuda_visible = getenv("CUDA_VISIBLE_DEVICES");
		hints.cuda_order = getenv("CUDA_DEVICE_ORDER");
		hints.nvidia_visible = getenv("NVIDIA_VISIBLE_DEVICES");
	}
	return hints;
}
