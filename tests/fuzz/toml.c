/* Configuration files. Every entry has a key and a bounded value, every error has a place, and the
 * parser reaches the end. */
#include <string.h>

#include "cli/config.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct cli_toml *t = malloc(sizeof(*t));
	char error[512] = "";
	size_t entries = 0;
	int r;

	if (!t)
		abort();
	cli_toml_init(t, "file.toml", text);
	while ((r = cli_toml_next(t, error)) > 0) {
		FUZZ_CHECK(t->key[0] != '\0' && strlen(t->value) < sizeof(t->value));
		FUZZ_CHECK(t->key_line >= 1 && t->key_line <= t->line);
		FUZZ_CHECK(++entries <= size);
	}
	if (r < 0)
		FUZZ_CHECK(!strncmp(error, "file.toml:", 10) && !strchr(error, '\n'));
	free(t);
	free(text);
	return 0;
}
