/* The subset of TOML that settings need. Anything else is an error with line and column. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/config.h"

void cli_toml_init(struct cli_toml *t, const char *file, const char *text)
{
	*t = (struct cli_toml){.file = file, .at = text, .line_start = text, .line = 1};
	if (!strncmp(t->at, "\xef\xbb\xbf", 3))
		t->at += 3;
}

static int wrong(const struct cli_toml *t, char *error, const char *what)
{
	(void) snprintf(error, 512, "%s:%u:%u: %s", t->file, t->line,
			(unsigned int) (t->at - t->line_start) + 1, what);
	return -EINVAL;
}

static void skip_blanks(struct cli_toml *t)
{
	while (*t->at == ' ' || *t->at == '\t' || *t->at == '\r')
		t->at++;
}

static void next_line(struct cli_toml *t)
{
	t->at++;
	t->line++;
	t->line_start = t->at;
}

/* Skip blanks, comments and line ends; inside a list these are allowed anywhere. */
static void skip_space(struct cli_toml *t)
{
	for (;;) {
		skip_blanks(t);
		if (*t->at == '#')
			t->at += strcspn(t->at, "\n");
		if (*t->at != '\n')
			return;
		next_line(t);
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char) c) || c == '_' || c == '-';
}

static int read_word(struct cli_toml *t, char *word, size_t size, char *error)
{
	size_t len = 0;

	while (is_word(t->at[len]))
		len++;
	if (len == 0)
		return wrong(t, error, "a key is expected here");
	if (len >= size)
		return wrong(t, error, "key is too long");
	memcpy(word, t->at, len);
	word[len] = '\0';
	t->at += len;
	return 0;
}

static int escape(struct cli_toml *t, char *ret, char *error)
{
	static const char from[] = "\"\\nt", to[] = "\"\\\n\t";
	const char *found = *t->at ? strchr(from, *t->at) : NULL;

	if (!found)
		return wrong(t, error, "only \\\" \\\\ \\n and \\t may follow a backslash");
	*ret = to[found - from];
	return 0;
}

static int read_text(struct cli_toml *t, char *error)
{
	char quote = *t->at++;
	size_t len = 0;

	t->is_text = true;
	for (; *t->at != quote; t->at++) {
		char c = *t->at;

		if (c == '\0' || c == '\n')
			return wrong(t, error, "text does not end on its line");
		if (c == '\\' && quote == '"') {
			t->at++;
			if (escape(t, &c, error) < 0)
				return -EINVAL;
		}
		if (len == sizeof(t->value) - 1)
			return wrong(t, error, "text is too long");
		t->value[len++] = c;
	}
	t->at++;
	t->value[len] = '\0';
	return 0;
}

/* A number, true or false, as text, without underscores between digits. */
static int read_bare(struct cli_toml *t, char *error)
{
	size_t len = strcspn(t->at, " \t\r\n#,]"), kept = 0;
	bool number = len > 0 && (isdigit((unsigned char) *t->at) || strchr("+-.", *t->at));

	t->is_text = false;
	if (!number && !(len == 4 && !strncmp(t->at, "true", 4)) &&
	    !(len == 5 && !strncmp(t->at, "false", 5)))
		return wrong(t, error,
			     "a value is expected here: text in quotes, a number, true or false");
	for (size_t i = 0; i < len && kept < 64; i++)
		if (t->at[i] != '_' || !number)
			t->value[kept++] = t->at[i];
	t->value[kept] = '\0';
	t->at += len;
	return 0;
}

static int read_value(struct cli_toml *t, char *error)
{
	return *t->at == '"' || *t->at == '\'' ? read_text(t, error) : read_bare(t, error);
}

static int end_of_line(struct cli_toml *t, char *error)
{
	skip_blanks(t);
	if (*t->at && *t->at != '\n' && *t->at != '#')
		return wrong(t, error, "the end of the line is expected here");
	return 0;
}

static int read_table(struct cli_toml *t, char *error)
{
	t->at++;
	skip_blanks(t);
	if (read_word(t, t->table, sizeof(t->table), error) < 0)
		return -EINVAL;
	skip_blanks(t);
	if (*t->at != ']')
		return wrong(t, error, "] is expected here");
	t->at++;
	return end_of_line(t, error);
}

/* One more text of a list, or its end. */
static int read_item(struct cli_toml *t, char *error)
{
	skip_space(t);
	if (*t->at == ']') {
		t->at++;
		t->is_list = false;
		return end_of_line(t, error);
	}
	if (read_value(t, error) < 0)
		return -EINVAL;
	skip_space(t);
	if (*t->at == ',')
		t->at++;
	else if (*t->at != ']')
		return wrong(t, error, ", or ] is expected here");
	return 1;
}

int cli_toml_next(struct cli_toml *t, char error[512])
{
	int r;

	for (;;) {
		if (t->is_list) {
			r = read_item(t, error);
			if (r != 0)
				return r;
		}
		skip_space(t);
		if (*t->at == '\0')
			return 0;
		if (*t->at != '[')
			break;
		if (read_table(t, error) < 0)
			return -EINVAL;
	}
	t->key_line = t->line;
	if (read_word(t, t->key, sizeof(t->key), error) < 0)
		return -EINVAL;
	skip_blanks(t);
	if (*t->at != '=')
		return wrong(t, error, "= is expected here");
	t->at++;
	skip_blanks(t);
	if (*t->at == '[') {
		t->at++;
		t->is_list = true;
		return cli_toml_next(t, error);
	}
	if (read_value(t, error) < 0 || end_of_line(t, error) < 0)
		return -EINVAL;
	return 1;
}
