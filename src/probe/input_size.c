#include "probe/input_size.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

const char *trk__input_path(const char *argument)
{
	const char *equals = argument[0] == '-' ? strchr(argument, '=') : NULL;
	const char *path = equals ? equals + 1 : argument;

	return *path && *path != '-' ? path : NULL;
}

uint64_t trk__input_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t) st.st_size : 0;
}
