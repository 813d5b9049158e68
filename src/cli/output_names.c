/* Checks of output file names: is the format supported, and is the place writable? */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* Extensions of formats. Others (".txt", ".log", ".2024") do not select a format. */
static const char formats[] = " csv tsv json jsonl ndjson html htm md pdf png svg jpg jpeg gif "
			      "parquet feather arrow avro orc "
			      "xlsx xls ods sqlite sqlite3 db duckdb h5 hdf5 nc pkl pickle rds "
			      "rdata yaml yml toml xml tex "
			      "docx odt ps eps zip tar xz zst bz2 ";

bool cli_is_word_of(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; len && (at = strstr(at, word)); at += len)
		if ((at == list || strchr(" \n", at[-1])) && strchr(" \n", at[len]))
			return true;
	return false;
}

const char *cli_extension(const char *path)
{
	static char text[16];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name), at;

	if (len > 3 && !strcmp(name + len - 3, ".gz"))
		len -= 3;
	for (at = len; at > 0 && name[at - 1] != '.'; at--)
		;
	text[0] = '\0';
	if (at < 2 || len - at >= sizeof(text)) /* ".profile" is a name */
		return text;
	(void) snprintf(text, sizeof(text), "%.*s", (int) (len - at), name + at);
	for (char *c = text; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char) (*c - 'A' + 'a');
	return text;
}

const char *cli_page_format(const char *path)
{
	return path && !strcmp(cli_extension(path), "md") ? "md" : "html";
}

bool cli_is_foreign_format(const char *verb, const char *path, const char *known)
{
	const char *extension = cli_extension(path);

	if (!cli_is_word_of(formats, extension) || cli_is_word_of(known, extension))
		return false;
	cli_complain("%s: %s: cannot write the format .%s, only: %s", verb, path, extension, known);
	return true;
}

int cli_check_output(const char *option, const char *path)
{
	char folder[4096];
	const char *slash;
	struct stat st;
	int error = 0;

	if (!path || !*path || !strcmp(path, "-") || !strncmp(path, "fd:", 3))
		return 0;
	slash = strrchr(path, '/');
	(void) snprintf(folder, sizeof(folder), "%.*s", slash ? (int) (slash - path) : 1,
			slash ? path : ".");
	if (stat(path, &st) == 0)
		error = S_ISDIR(st.st_mode) ? EISDIR : access(path, W_OK) ? errno : 0;
	else if (access(*folder ? folder : "/", W_OK | X_OK) != 0)
		error = errno;
	if (!error)
		return 0;
	cli_complain("--%s %s: cannot be written%s: %s", option, path,
		     error == ENOENT ? " so far" : "", trk__strerror(error));
	return -error;
}
