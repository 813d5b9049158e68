/* A program that reads a recording with the C library, for the tests under Wine: it prints the summary. */
#include <resource_tracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

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
	struct trk_recording *recording;
	struct trk_figure figure;
	char *summary;
	int r = argc == 2 ? trk_recording_open(utf8(wide[1]), &recording) : -1;

	if (r < 0) {
		printf("open=%d %s\n", r, trk_strerror(r));
		return 1;
	}
	r = trk_recording_total(recording, "cpu_s", &figure);
	printf("total=%d rows=%d cpu_s=%.17g quality=%d\n", r, (int) trk_recording_rows(recording),
	       figure.value, figure.quality);
	summary = trk_recording_summary(recording);
	printf("%s", summary);
	free(summary);
	trk_recording_free(recording);
	return 0;
}
