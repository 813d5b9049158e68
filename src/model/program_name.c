#include "model/program_name.h"

#include <stdio.h>
#include <string.h>

#include "base/mask.h"

enum { COMM_CUT = 15 }; /* bytes that the kernel keeps of a name */

/* The command-line syntax of an interpreter: which options take a value, and which name the program
 * or contain code. */
struct interpreter {
	const char *name;
	bool has_version;      /* digits and dots may follow the name */
	const char *valued;    /* letters of options with a value in the next argument */
	char module;           /* option whose value names the program; '\0': none */
	char code;             /* option whose value is code; '\0': none */
	bool is_class;         /* the first operand is a class, and words are long options */
	const char *file_flag; /* "--file=": names the script */
};

static const struct interpreter interpreters[] = {
	{"python", true, "WX", 'm', 'c', false, NULL},
	{"pypy", true, "WX", 'm', 'c', false, NULL},
	{"perl", true, "", '\0', 'e', false, NULL},
	{"ruby", true, "rIE", '\0', 'e', false, NULL},
	{"R", false, "gd", 'f', 'e', false, "--file="},
	{"Rscript", false, "", '\0', 'e', false, NULL},
	{"node", false, "r", '\0', 'e', false, NULL},
	{"java", false, "", '\0', '\0', true, NULL},
	{"bash", false, "oO", '\0', 'c', false, NULL},
	{"sh", false, "o", '\0', 'c', false, NULL},
	{"dash", false, "o", '\0', 'c', false, NULL},
	{"zsh", false, "o", '\0', 'c', false, NULL},
	{"ksh", false, "o", '\0', 'c', false, NULL},
};

static const struct interpreter *interpreter_of(const char *comm)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		const struct interpreter *it = &interpreters[i];
		size_t n = strlen(it->name);

		if (comm[0] != it->name[0] || strncmp(comm, it->name, n) != 0)
			continue;
		if (comm[n] == '\0' ||
		    (it->has_version && comm[n + strspn(comm + n, "0123456789.")] == '\0'))
			return it;
	}
	return NULL;
}

bool trk__program_is_interpreter(const char *comm)
{
	return interpreter_of(comm) != NULL;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_name(const char *name, char ret[TRK_PROGRAM_NAME_SIZE])
{
	size_t n = 0;

	for (; name[n] && n + 1 < TRK_PROGRAM_NAME_SIZE; n++)
		ret[n] = (unsigned char) name[n] < ' ' || name[n] == 0x7f ? '?' : name[n];
	/* Do not cut within a UTF-8 character. */
	if (name[n])
		while (n > 0 && ((unsigned char) name[n] & 0xc0) == 0x80)
			n--;
	ret[n] = '\0';
}

/* The next argument, or NULL. */
static const char *next_of(const char *arg, const char *end)
{
	const char *next = arg + strlen(arg) + 1;

	return next < end ? next : NULL;
}

static bool is_worker_code(const char *code)
{
	return !strncmp(code, "from multiprocessing", 20) || !strncmp(code, "from joblib", 11);
}

static bool is_worker_module(const char *module)
{
	return !strncmp(module, "joblib.externals.loky", 21) || strstr(module, "popen_loky");
}

/* The option `-x`, alone or at the end of several letters: "-lc". */
static bool has_letter(const char *arg, char letter)
{
	return letter && arg[0] == '-' && arg[1] != '-' && strchr(arg + 1, letter);
}

static bool is_java_valued(const char *arg)
{
	static const char *const words[] = {"-cp",           "-classpath",  "--class-path", "-p",
					    "--module-path", "--add-opens", "--add-modules"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(arg, words[i]))
			return true;
	return false;
}

static const char *java_program(const char *arg, const char *end)
{
	for (; arg; arg = next_of(arg, end)) {
		const char *dot;

		if (!strcmp(arg, "-jar") || !strcmp(arg, "-m")) {
			arg = next_of(arg, end);
			return arg ? base_of(arg) : NULL;
		}
		if (is_java_valued(arg)) {
			arg = next_of(arg, end);
			if (!arg)
				return NULL;
			continue;
		}
		if (arg[0] == '-' || arg[0] == '\0' || trk__is_masked(arg))
			continue;
		dot = strrchr(arg, '.');
		return dot && dot[1] ? dot + 1 : arg;
	}
	return NULL;
}

/* What the interpreter runs, or NULL. *ret_code: the command line contains the code. */
static const char *script_of(const struct interpreter *it, const char *arg, const char *end,
			     bool *ret_code, bool *ret_worker)
{
	for (; arg; arg = next_of(arg, end)) {
		const char *value = next_of(arg, end);

		if (it->file_flag && !strncmp(arg, it->file_flag, strlen(it->file_flag)))
			return base_of(arg + strlen(it->file_flag));
		if (trk__is_masked(arg)) /* the value of an option: node --token X app.js */
			continue;
		if (arg[0] != '-' || arg[1] == '\0')
			return arg[0] && arg[0] != '-' && arg[0] != '+' ? base_of(arg) : NULL;
		if (has_letter(arg, it->code)) {
			*ret_code = true;
			*ret_worker = value && is_worker_code(value);
			return NULL;
		}
		if (has_letter(arg, it->module)) {
			*ret_worker = value && is_worker_module(value);
			return value ? base_of(value) : NULL;
		}
		if (arg[1] != '-' && arg[2] == '\0' && strchr(it->valued, arg[1]))
			arg = value;
		if (!arg)
			break;
	}
	return NULL;
}

static void name_script(const struct interpreter *it, const char *args, size_t len,
			char ret[TRK_PROGRAM_NAME_SIZE], bool *ret_worker)
{
	const char *end = args + len, *first = next_of(args, end), *script;
	bool is_code = false;

	script = it->is_class ? java_program(first, end)
			      : script_of(it, first, end, &is_code, ret_worker);
	if (script && !*ret_worker)
		put_name(script, ret);
	else if (is_code)
		(void) snprintf(ret, TRK_PROGRAM_NAME_SIZE, "%s -%c", it->name, it->code);
	else
		put_name(it->name, ret);
}

void trk__program_name(const char *comm, const char *args, size_t len,
		       char ret[TRK_PROGRAM_NAME_SIZE], bool *ret_worker)
{
	const struct interpreter *it = interpreter_of(comm);

	*ret_worker = false;
	if (len && args[len - 1] != '\0') /* truncated: not a list of arguments */
		len = 0;
	if (it && len) {
		name_script(it, args, len, ret, ret_worker);
	} else if (it) {
		put_name(it->name, ret);
	} else if (!strcmp(comm, "collect2") || !strncmp(comm, "ld.", 3)) {
		put_name("ld", ret);
	} else if (len && strlen(comm) == COMM_CUT && !strncmp(base_of(args), comm, COMM_CUT) &&
		   !strchr(base_of(args), ' ')) {
		put_name(base_of(args), ret); /* the kernel has truncated comm */
	} else {
		put_name(comm, ret);
	}
}
