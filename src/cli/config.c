#include "cli/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os.h"
#include "base/trust.h"

enum { FILE_MAX = 256 * 1024, PATH_SIZE = 4096 };

/* What one set of sources is applied to. */
struct target {
	const struct cli_command *command;
	void *settings;
	struct cli_origins *origins;
	bool lenient; /* the file was not named by the user: a mistake in it does not stop a job */
	bool local;   /* the file in the working directory */
};

static void note_origin(struct target *t, const struct cli_option *o, const char *value,
			const char *origin, bool refused)
{
	struct cli_origin *entry;

	if (!t->origins || t->origins->count == CLI_ORIGINS_MAX)
		return;
	entry = &t->origins->entry[t->origins->count++];
	entry->option = o;
	(void) snprintf(entry->value, sizeof(entry->value), "%s", value);
	(void) snprintf(entry->origin, sizeof(entry->origin), "%s", origin);
	entry->refused = refused;
}

/* Set one option as if it were a flag. The setter's complaint names the origin. */
static int apply(struct target *t, const struct cli_option *o, const char *value,
		 const char *origin)
{
	int truth, r = 0;

	cli_set_origin(origin);
	if (o->value) {
		const char *kept = cli_keep(value, strlen(value));

		if (kept)
			r = o->set(t->settings, o, kept);
		else
			cli_complain("too much text");
		r = kept ? r : EXIT_USAGE;
	} else {
		truth = cli_truth(value);
		if (truth < 0)
			r = cli_reject(EXIT_USAGE, "%s: true or false is expected, not %s", o->name,
				       value);
		else if (truth)
			r = o->set(t->settings, o, NULL);
	}
	cli_set_origin(NULL);
	if (r == 0)
		note_origin(t, o, value, origin, false);
	return r;
}

static const struct cli_option *find_option(const struct cli_command *command, const char *name)
{
	for (const struct cli_option *o = command->options; o->name; o++) {
		size_t i = 0;

		while (o->name[i] &&
		       (o->name[i] == name[i] || (o->name[i] == '-' && name[i] == '_')))
			i++;
		if (o->help && o->name[i] == '\0' && name[i] == '\0')
			return o;
	}
	return NULL;
}

/* ---- files ---- */

/* The option of a key. Table names are ignored, except two of the Rust sibling and that of tags. */
static const struct cli_option *meaning_of(const struct cli_command *command,
					   const struct cli_toml *t)
{
	const char *key = t->key;

	if (!strcmp(t->table, "job") && !strcmp(key, "name"))
		key = "job";
	else if (!strcmp(t->table, "tracker") && !strcmp(key, "interval_secs"))
		key = "interval";
	else if (!strcmp(t->table, "tags") || !strcmp(key, "tags"))
		key = "tag";
	return find_option(command, key);
}

/* A key of another command, or of the Python package, is not a mistake. */
static bool is_known_elsewhere(const struct cli_toml *t)
{
	for (const struct cli_command *const *c = cli_commands; *c; c++)
		if (meaning_of(*c, t))
			return true;
	return !strcmp(t->key, "pid") || !strcmp(t->table, "python");
}

/* Why the type of a value is wrong for this option, or NULL. Numbers are also accepted as text: job
 * = 2024. */
static const char *wrong_type(const struct cli_option *o, const struct cli_toml *t)
{
	bool is_tag = !strcmp(t->table, "tags");

	if (t->is_text && !o->value)
		return "true or false is expected, not text";
	if (t->is_list && (is_tag || !cli_is_word_of("tag alert on-alert", o->name)))
		return "one value is expected, not a list";
	if (!t->is_text && !is_tag && o->value && o->value[0] != '[' &&
	    strcmp(o->value, "true|false") != 0 &&
	    (!strcmp(t->value, "true") || !strcmp(t->value, "false")))
		return "a value is expected, not true or false";
	return NULL;
}

static int reject_key(const struct target *target, const char *key, const char *origin)
{
	bool is_gone;

	cli_set_origin(origin);
	is_gone = cli_is_gone_key(key);
	cli_set_origin(NULL);
	if (!is_gone)
		cli_complain("%s: unknown key %s%s. Try: resource-tracker config --help", origin,
			     key, target->lenient ? " is ignored" : "");
	return EXIT_USAGE;
}

static int apply_entry(struct target *target, const struct cli_toml *t)
{
	const struct cli_option *o = meaning_of(target->command, t);
	char origin[320], text[4224];
	const char *wrong;

	(void) snprintf(origin, sizeof(origin), "%.256s:%u", t->file, t->key_line);
	if (!o)
		return is_known_elsewhere(t) ? 0 : reject_key(target, t->key, origin);
	if (target->local && !cli_is_word_of(CLI_LOCAL_KEYS, o->name)) {
		note_origin(target, o, t->value, origin, true);
		cli_complain(
			"%s: %s is ignored, because the file was found in the working directory. "
			"Try: --config %s",
			origin, t->key, t->file);
		return 0;
	}
	wrong = wrong_type(o, t);
	if (wrong)
		return cli_reject(EXIT_USAGE, "%s: %s: %s", origin, t->key, wrong);
	if (!strcmp(t->table, "tags")) {
		(void) snprintf(text, sizeof(text), "%s=%s", t->key, t->value);
		return apply(target, o, text, origin);
	}
	return apply(target, o, t->value, origin);
}

/* Returns 0, or -EINVAL with the place of the first mistake of syntax. */
static int check_syntax(const char *file, const char *text, char error[512])
{
	struct cli_toml t;
	int r;

	cli_toml_init(&t, file, text);
	do
		r = cli_toml_next(&t, error);
	while (r > 0);
	return r;
}

/* A file with a syntax error is not applied in part, as half of its settings could have another
 * effect than all of them. */
static int apply_text(struct target *target, const char *file, const char *text)
{
	char error[512];
	struct cli_toml t;

	if (check_syntax(file, text, error) < 0)
		return cli_reject(EXIT_USAGE, "%s%s", error,
				  target->lenient ? "; the file is ignored" : "");
	cli_toml_init(&t, file, text);
	while (cli_toml_next(&t, error) > 0)
		if (apply_entry(target, &t) != 0 && !target->lenient)
			return EXIT_USAGE;
	return 0;
}

/* Apply an open file, or report why it could not be opened: fd may be a negative error. */
static int apply_file(struct target *target, const char *file, int fd)
{
	char *text = NULL;
	ssize_t len = fd < 0 ? fd : trk__read_all_fd(fd, FILE_MAX, &text);
	int r;

	if (len < 0)
		return cli_reject(EXIT_USAGE, "%s: cannot read the configuration: %s", file,
				  trk__strerror((int) len));
	r = apply_text(target, file, text);
	free(text);
	return r;
}

/* A mistake in a file that the user did not name gives one warning, and the command continues. A
 * file that another user may have written is ignored by every command. */
static int apply_found_file(struct target *t, const char *file)
{
	struct trk_error error = {.code = 0};
	TRK_FD_CLEANUP int fd = -1;
	int r = 0;

	if (faccessat(AT_FDCWD, file, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	fd = trk__trust_open_file(file, &error);
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES)
		return 0;
	cli_complain_once(t->lenient);
	if (fd == -TRK_ERR_UNTRUSTED)
		cli_complain("%s: the configuration is ignored. Try: --config %s", error.message,
			     file);
	else
		r = apply_file(t, file, fd);
	cli_complain_once(false);
	return t->lenient ? 0 : r;
}

static int apply_files(struct target *t, const char *file)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char path[PATH_SIZE] = "";

	if (file && *file) {
		TRK_FD_CLEANUP int fd = trk__open_regular_at(AT_FDCWD, file);

		return apply_file(t, file, fd);
	}
	t->lenient = !t->origins;
	if (xdg && trk__os_is_absolute(xdg))
		(void) snprintf(path, sizeof(path), "%s/resource-tracker/config.toml", xdg);
	else if (home && trk__os_is_absolute(home))
		(void) snprintf(path, sizeof(path), "%s/.config/resource-tracker/config.toml",
				home);
	if (path[0] && apply_found_file(t, path) != 0)
		return EXIT_USAGE;
	t->local = true;
	return apply_found_file(t, "resource-tracker.toml");
}

/* ---- the environment ---- */

void cli_variable_of(const char *option, char *name, size_t size)
{
	(void) snprintf(name, size, "TRACKER_%s", option);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : (char) toupper((unsigned char) *c);
}

/* An invalid value is reported and ignored: an inherited environment must not stop a job. */
static void apply_environment(struct target *t)
{
	for (const struct cli_option *o = t->command->options; o->name; o++) {
		char name[96];
		const char *value;

		cli_variable_of(o->name, name, sizeof(name));
		value = o->help ? getenv(name) : NULL;
		if (value && *value)
			(void) apply(t, o, value, name);
	}
	cli_variables_gone();
}

int cli_config(const struct cli_command *command, int argc, char **argv, void *settings,
	       struct cli_origins *origins)
{
	struct target t = {.command = command, .settings = settings, .origins = origins};
	const char *file = cli_option_value(command, argc, argv, "config");
	int r;

	cli_use_verb(command);
	r = apply_files(&t, file ? file : getenv("RESOURCE_TRACKER_CONFIG"));

	if (r == 0)
		apply_environment(&t);
	return r;
}
