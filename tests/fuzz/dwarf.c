/* Source lines of the addresses of an ELF file, by libdw, and demangling of compilers' names. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lines/dwarf.h"

#include "fuzz.h"

enum { ADDRESSES = 24, FIRST = 0x400110 }; /* where the seeds have their code */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trk_dwarf_line line[ADDRESSES] = {{.address = 0}};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char *text = fuzz_text(data, size);

	for (uint64_t i = 0; i < ADDRESSES; i++)
		line[i].address = FIRST + i * 4;
	if (fd >= 0 && write(fd, data, size) == (ssize_t) size)
		trk__dwarf_find(fd, line, ADDRESSES);
	for (int i = 0; i < ADDRESSES; i++) {
		FUZZ_CHECK(!line[i].file == (line[i].line == 0));
		free(line[i].file);
	}
	free(trk__demangle(text));
	if (fd >= 0)
		(void) close(fd);
	free(text);
	return 0;
}
