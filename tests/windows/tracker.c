/* A program that uses the C library, for the tests under Wine. It prints the results of the
 * library.
 *
 *     tracker self PROGRAM DIR | pid PROGRAM PID | run PROGRAM WORD… | machine PROGRAM | thread PROGRAM
 *     tracker stay PROGRAM     start a tracker, print the path of its recording, and do not end */
#include <windows.h>

#include <resource_tracker.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t own_cpu(void)
{
	FILETIME created, ended, kernel, user;

	GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
	return (uint64_t) user.dwHighDateTime << 32 | user.dwLowDateTime;
}

static void burn(unsigned int ms)
{
	uint64_t until = own_cpu() + (uint64_t) ms * 10000;
	volatile unsigned int x = 1;

	while (own_cpu() < until)
		for (int i = 0; i < 200000; i++)
			x = x * 1664525u + 1013904223u;
}

static void print_total(const struct trk_recording *recording, const char *key)
{
	struct trk_figure figure;

	if (trk_recording_total(recording, key, &figure) < 0)
		exit(97);
	printf("%s=%g quality=%d source=%s\n", key, figure.value, figure.quality, figure.source);
}

static void print_recording(struct trk_tracker *t)
{
	struct trk_recording *recording;
	const char *name;
	double at_s;
	char *summary;
	int r = trk_tracker_read(t, &recording);

	printf("recording=%s\n", trk_tracker_recording(t));
	printf("read=%s error=%s\n", trk_strerror(r), trk_tracker_error(t));
	if (r < 0)
		return;
	printf("rows=%llu\n", (unsigned long long) trk_recording_rows(recording));
	print_total(recording, "cpu_s");
	print_total(recording, "peak_memory_mib");
	print_total(recording, "disk_read_bytes");
	for (size_t i = 0; trk_recording_mark(recording, i, &name, &at_s) == 0; i++)
		printf("mark=%s\n", name);
	summary = trk_recording_summary(recording);
	for (char *c = summary; c && *c; c++)
		if (*c == '\n')
			*c = ' ';
	printf("summary=%s\n", summary);
	free(summary);
	trk_recording_free(recording);
}

static int track(struct trk_tracker_options *options, const char *what)
{
	struct trk_tracker *t = NULL;
	char why[256] = "", *alert;
	int r = trk_tracker_start(options, &t, why, sizeof(why)), status = -1;

	if (r < 0) {
		printf("start=%d %s\n", r, why);
		return 1;
	}
	if (!strcmp(what, "stay")) {
		printf("recording=%s\n", trk_tracker_recording(t));
		fflush(stdout);
		Sleep(INFINITE);
	}
	printf("running=%d\n", trk_tracker_running(t));
	if (options->argv) {
		r = trk_tracker_wait_command(t, &status);
		printf("command=%d status=%d\n", r, status);
	} else {
		burn(600);
		printf("marked=%d\n", trk_tracker_mark(t, "sp\xc3\xa4t"));
		printf("waited=%d\n", trk_tracker_wait(t, 5, 60));
		printf("alert=%d\n", trk_tracker_alert(t, 0.1, &alert));
	}
	printf("stopped=%d\n", options->argv ? trk_tracker_stop(t) : trk_tracker_stop_as(t, 3));
	printf("running=%d again=%d late=%d\n", trk_tracker_running(t), trk_tracker_stop(t),
	       trk_tracker_mark(t, "late"));
	print_recording(t);
	trk_tracker_free(t);
	return 0;
}

/* The library takes UTF-8. */
static char *utf8(const wchar_t *wide)
{
	int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
	char *text = malloc((size_t) size);

	WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
	return text;
}

int wmain(int argc, wchar_t **wide)
{
	struct trk_tracker_options options = TRK_TRACKER_OPTIONS_INIT;
	static char *const more[] = {"--no-discovery", NULL};
	char *argv[16] = {NULL};

	if (argc < 3 || argc > 15)
		return 98;
	for (int i = 0; i < argc; i++)
		argv[i] = utf8(wide[i]);
	setvbuf(stdout, NULL, _IONBF, 0);
	options.program = argv[2];
	options.options = more;
	options.interval_s = 0.1;
	options.job = "gr\xc3\xb6\xc3\x9f"
		      "e";
	if (!strcmp(argv[1], "self"))
		options.dir = argv[3];
	if (!strcmp(argv[1], "pid"))
		options.pid = atoi(argv[3]);
	if (!strcmp(argv[1], "machine"))
		options.no_process = 1;
	if (!strcmp(argv[1], "thread"))
		options.in_thread = 1;
	if (!strcmp(argv[1], "run"))
		options.argv = argv + 3;
	return track(&options, argv[1]);
}
