/* The sources of names of native code: mappings of a process, names of generated code, samples of
 * the kernel, and ELF files. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lines/elf_file.h"
#include "probe/linux/perf_sampler.h"
#include "probe/stack/mappings.h"
#include "probe/stack/perf_map.h"

#include "fuzz.h"

static void look_at_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct trk_elf_file f;
	uint64_t address;
	char path[32];

	(void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, data, size) == (ssize_t) size &&
	    trk__elf_file_open(path, geteuid(), &f) == 0) {
		for (uint64_t at = 0; at < 0x4000; at += 0x80)
			if (trk__elf_file_address(&f, at, &address)) {
				const struct trk_elf_symbol *s =
					trk__elf_file_function(&f, address);

				FUZZ_CHECK(!s || strlen(f.strings + s->name) < f.strings_size);
			}
		trk__elf_file_close(&f);
	}
	if (fd >= 0)
		(void) close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_perf_map names = {.text = NULL};
	struct trk_perf_sample sample;
	struct trk_mappings maps;
	char *text = fuzz_text(data, size);

	if (trk__mappings_parse(text, &maps) == 0) {
		FUZZ_CHECK(maps.count <= TRK_MAPPINGS);
		(void) trk__mappings_find(&maps, 0x401234);
		trk__mappings_release(&maps);
	}
	if (trk__perf_map_take(&names, text) == 0) /* takes the text */
		(void) trk__perf_map_find(&names, 0x7f10);
	trk__perf_map_release(&names);
	if (trk__perf_sample_parse(data, size, &sample) == 0)
		FUZZ_CHECK(sample.depth <= TRK_PERF_DEPTH);
	look_at_file(data, size);
	return 0;
}
