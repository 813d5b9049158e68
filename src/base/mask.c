#include "base/mask.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum {
	RANDOM_MIN = 20,   /* shortest word that may be random, in bytes */
	DISTINCT_MIN = 10, /* different characters in it */
	NAME_MAX_SIZE = 128,
};

static const char secret_word[] = "[SECRET]";

/* A match in the text. */
struct found {
	size_t kept, len; /* bytes to copy, and then to replace */
	const char *by;
};

/* ASCII, in every locale. */
static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_upper(c) || is_lower(c) || is_digit(c);
}

/* Length of the prefix of letters, digits and `more`. */
static size_t run_of(const char *text, const char *more)
{
	size_t n = 0;

	while (text[n] && (is_alnum(text[n]) || strchr(more, text[n])))
		n++;
	return n;
}

static bool has(const char *text, size_t len, const char *chars)
{
	return strcspn(text, chars) < len;
}

/* ---- names ---- */

/* Where the last word of a name begins: "pass" of db-pass, DB_PASS and dbPass. */
static size_t last_word_of(const char *text, size_t len)
{
	size_t at = len;

	while (at > 0 && is_alnum(text[at - 1]) &&
	       !(at < len && is_lower(text[at - 1]) && is_upper(text[at])))
		at--;
	return at;
}

static bool is_one_of(const char *const *list, size_t n, const char *text, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && !strncasecmp(list[i], text, len))
			return true;
	return false;
}

#define IS_ONE_OF(list, text, len) is_one_of(list, sizeof(list) / sizeof((list)[0]), text, len)

/* Short words that mean a secret as the last word of a name, except behind some words:
 * --low-pass. */
static bool ends_with_secret_word(const char *text, size_t len)
{
	static const char *const words[] = {"pass", "pwd", "auth", "sig", "jwt"};
	static const char *const before[] = {"low", "high", "band", "by", "two", "multi", "single"};
	size_t at = last_word_of(text, len), end = at;

	while (end > 0 && !is_alnum(text[end - 1]))
		end--;
	if (!IS_ONE_OF(words, text + at, len - at))
		return false;
	at = last_word_of(text, end);
	return !IS_ONE_OF(before, text + at, end - at);
}

/* True if the name of an option, variable or key means that its value is secret. */
static bool is_secret_name(const char *text, size_t len)
{
	static const char *const ends[] = {
		"password",   "passwd",        "passphrase", "secret",     "token",
		"apikey",     "accesskey",     "secretkey",  "privatekey", "accountkey",
		"credential", "credentials",   "signature",  "authkey",    "masterkey",
		"signingkey", "encryptionkey",
	};
	static const char *const wholes[] = {"pgpass", "sshpass"};
	static const char negation[] = "--no-";
	char name[NAME_MAX_SIZE];
	size_t n = 0, skipped = len < sizeof(name) ? 0 : len - sizeof(name) + 1;

	if (!strncmp(text, negation, sizeof(negation) - 1))
		return false;
	for (size_t i = skipped; i < len; i++)
		if (is_alnum(text[i]))
			name[n++] = text[i];
	name[n] = '\0';
	if (IS_ONE_OF(wholes, name, n) || ends_with_secret_word(text, len))
		return true;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (n >= end && !strcasecmp(name + n - end, ends[i]))
			return true;
	}
	return false;
}

/* "Authorization: Bearer …": the value has several words. */
static bool is_header_name(const char *text, size_t len)
{
	static const char *const cookies[] = {"cookie", "set-cookie"};
	static const char name[] = "authorization";
	size_t end = sizeof(name) - 1;

	return (len >= end && !strncasecmp(text + len - end, name, end)) ||
	       IS_ONE_OF(cookies, text, len);
}

/* The value at text, up to its closing quote or to what ends a word. */
static size_t value_length(const char *text, char quote, bool is_header)
{
	const char ends[] = {quote, '\0'};

	if (quote)
		return strcspn(text, ends);
	return strcspn(text, is_header ? "\"'\n" : " \t\n\"',;&|)}");
}

/* name=value, name: value, "name": "value", and --name value inside of one argument. `first`: at
 * the beginning of an argument, of which --name=value is the whole. */
static bool find_named(const char *text, bool first, struct found *ret)
{
	size_t name = run_of(text, "_-."), at = name, len;
	bool is_header = is_header_name(text, name);
	char quote = '\0';

	if (name == 0 || !(is_header || is_secret_name(text, name)))
		return false;
	if (text[at] == '"' || text[at] == '\'')
		at++;
	if (text[at] == '=' || text[at] == ':')
		at++;
	else if (text[0] != '-' || text[at] != ' ')
		return false;
	at += strspn(text + at, " ");
	if (text[at] == '"' || text[at] == '\'')
		quote = text[at++];
	len = first && text[0] == '-' && text[name] == '='
		      ? strlen(text + at)
		      : value_length(text + at, quote, is_header);
	if (len == 0 || (text[name] == ' ' && text[at] == '-'))
		return false;
	*ret = (struct found){at, len, secret_word};
	return true;
}

/* ---- addresses ---- */

static size_t scheme_length(const char *text)
{
	size_t n = run_of(text, "+.-");

	return n && !is_digit(text[0]) && !strncmp(text + n, "://", 3) ? n : 0;
}

/* scheme://user:password@host and https://token@host; strict: see the head of mask.h. */
static bool find_url(const char *text, bool strict, struct found *ret)
{
	size_t scheme = scheme_length(text), rest = scheme + 3, host, len;
	const char *at;

	if (!scheme)
		return false;
	len = strcspn(text, " \t\n\"'<>");
	host = strcspn(text + rest, "/?# \t\n\"'<>");
	at = memchr(text + rest, '@', host);
	if (at && (!strncasecmp(text, "http", 4) ||
		   memchr(text + rest, ':', (size_t) (at - text) - rest)))
		*ret = (struct found){0, len, secret_word};
	else if (strict && (has(text + rest, len - rest, "?&=") || !strncasecmp(text, "ftp:", 4) ||
			    (!strncasecmp(text, "http", 4) && !has(text + rest, len - rest, "."))))
		*ret = (struct found){0, len, "[URL]"};
	else
		return false;
	return true;
}

static bool find_email(const char *text, struct found *ret)
{
	size_t local = run_of(text, "._%+-"), domain, last;

	if (local == 0 || text[local] != '@')
		return false;
	domain = run_of(text + local + 1, ".-");
	while (domain > 0 && !is_alnum(text[local + domain]))
		domain--;
	last = domain;
	while (last > 0 && text[local + last] != '.')
		last--;
	/* The last label has only letters, at least two. */
	if (last == 0 || domain - last < 2)
		return false;
	for (size_t i = last + 1; i <= domain; i++)
		if (is_digit(text[local + i]))
			return false;
	*ret = (struct found){0, local + 1 + domain, "[EMAIL]"};
	return true;
}

/* The longest run of the characters that inet_pton takes as an address. */
static size_t address_length(const char *text, int family, const char *chars)
{
	char word[INET6_ADDRSTRLEN + 1], address[sizeof(struct in6_addr)];
	size_t n = 0;

	while (n < sizeof(word) && text[n] && strchr(chars, text[n]))
		n++;
	if (n == sizeof(word) || is_alnum(text[n]))
		return 0;
	/* Drop the end of a sentence, and the colon before a port. */
	while (n > 1 && (text[n - 1] == '.' || (text[n - 1] == ':' && text[n - 2] != ':')))
		n--;
	memcpy(word, text, n);
	word[n] = '\0';
	return inet_pton(family, word, address) == 1 ? n : 0;
}

static bool find_ip(const char *text, struct found *ret)
{
	static const char digits[] = "0123456789.";
	static const char hex[] = "0123456789abcdefABCDEF:.";
	size_t n = address_length(text, AF_INET, digits);

	if (n == 0)
		n = address_length(text, AF_INET6, hex);
	if (n == 0 || strspn(text, ":") == n)
		return false;
	*ret = (struct found){0, n, "[IP]"};
	return true;
}

/* ---- random words ---- */

/* Random text changes the kind of character at about every second place; concatenated words and
 * numbers change it less often. `mixed`: of upper case, lower case and digits at least. */
static bool is_random(const char *text, size_t len, bool mixed)
{
	size_t count[3] = {0}, changes = 0, distinct = 0;
	bool seen[128] = {false};
	int before = -1;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		int kind = is_upper(c) ? 0 : is_lower(c) ? 1 : 2;

		if (!is_alnum(c))
			continue;
		count[kind]++;
		changes += before >= 0 && kind != before;
		before = kind;
		distinct += !seen[c & 127];
		seen[c & 127] = true;
	}
	len = count[0] + count[1] + count[2];
	if (len < RANDOM_MIN || distinct < DISTINCT_MIN ||
	    (mixed && !(count[0] && count[1] && count[2])))
		return false;
	return changes * (count[0] && count[1] ? 2 : 4) >= len;
}

static bool has_known_start(const char *text, size_t len)
{
	static const char *const starts[] = {
		"AKIA",        "ASIA",   "ghp_",    "gho_",     "ghu_",     "ghs_",     "ghr_",
		"github_pat_", "glpat-", "sk-",     "sk_live_", "sk_test_", "rk_live_", "xoxb-",
		"xoxp-",       "xoxa-",  "xoxs-",   "AIza",     "hf_",      "npm_",     "pypi-",
		"eyJ",         "SG.",    "dop_v1_", "ya29.",
	};

	if (len < RANDOM_MIN || !has(text, len, "0123456789"))
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(text, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static bool find_key(const char *text, struct found *ret)
{
	size_t len = run_of(text, "_-.");

	*ret = (struct found){0, len, secret_word};
	return has_known_start(text, len);
}

/* Base64 text contains slashes, and is masked as a whole; in a path, which begins with a slash,
 * only the random-looking part is masked. `before` is the byte in front of text. */
static bool find_random(const char *text, char before, struct found *ret)
{
	size_t all, piece;

	if (text[0] == '/')
		return false;
	all = run_of(text, before == '/' ? "+_-" : "+/_-");
	*ret = (struct found){0, all, secret_word};
	for (size_t at = 0; at < all; at += piece + 1) {
		piece = run_of(text + at, "+");
		if (is_random(text + at, piece, false))
			return true;
	}
	return is_random(text, all, true);
}

/* ---- options of known programs ---- */

struct program_option {
	const char *programs; /* each between blanks */
	char letter;
	bool attached, separate; /* -pVALUE, -p VALUE */
	char after;              /* the secret follows this character of the value; 0: all of it */
};

/* A row is found by the name of the program, or by a word of its command (docker login). */
static const struct program_option program_options[] = {
	{" mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlpump mysqlslap "
	 "mariadb mariadb-dump mariadb-admin 7z 7za 7zr rar unrar ",
	 'p', true, false, 0},
	{" sshpass login mongo mongosh mongodump mongorestore mongoexport mongoimport ", 'p', true,
	 true, 0},
	{" sqlcmd bcp zip unzip ", 'P', true, true, 0},
	{" redis-cli ", 'a', false, true, 0},
	{" ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ", 'w', true, true, 0},
	{" curl ", 'u', true, true, ':'},
	{" http https xh ", 'a', true, true, ':'},
	{" lftp ", 'u', true, true, ','},
	{" smbclient ", 'U', true, true, '%'},
};

#define PROGRAM_OPTIONS (sizeof(program_options) / sizeof(program_options[0]))

static size_t word_length(const char *text)
{
	return strcspn(text, " \t\n\"';,|&()");
}

/* Sets the program whose options follow, if the word at text is the name of a known one. */
static void note_program(struct trk_mask *mask, const char *text)
{
	char name[24] = " ";
	size_t len = word_length(text), at = len;

	while (at > 0 && text[at - 1] != '/')
		at--;
	if (len == at || len - at + 3 > sizeof(name) || memchr(text, ':', len))
		return;
	memcpy(name + 1, text + at, len - at);
	memcpy(name + 1 + len - at, " ", 2);
	for (size_t i = 0; i < PROGRAM_OPTIONS; i++)
		if (strstr(program_options[i].programs, name))
			mask->program = (unsigned char) (i + 1);
}

/* Where the secret begins in the value of such an option; a value without it has none. */
static size_t secret_in_value(const char *value, size_t len, char after)
{
	const char *at = after ? memchr(value, after, len) : NULL;

	return !after ? 0 : at ? (size_t) (at + 1 - value) : len;
}

/* Length of the option at text, up to its value if that is in the same argument; 0: another word.
 * Options without a value may stand before the letter: curl -sSu. */
static size_t option_length(const struct program_option *o, const char *text)
{
	static const char *const longs[] = {"--user", "--proxy-user"};
	size_t len = word_length(text), flags = 1;

	if (o->after == ':')
		for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
			size_t n = strlen(longs[i]);

			if (!strncmp(text, longs[i], n) && strchr("= ", text[n]))
				return n + (text[n] == '=');
		}
	while (flags < len && is_alnum(text[flags]))
		flags++;
	if (text[0] != '-' || len < 2)
		return 0;
	if (text[1] == o->letter && (len > 2 ? o->attached : o->separate))
		return 2;
	return o->separate && o->after && flags == len && text[len - 1] == o->letter ? len : 0;
}

static bool find_program_option(struct trk_mask *mask, const char *text, bool first,
				struct found *ret)
{
	const struct program_option *o = &program_options[mask->program - 1];
	size_t at = option_length(o, text), len, skipped;

	if (at == 0)
		return false;
	if (!o->after) /* once: sshpass -p X ssh -p 22 */
		mask->program = 0;
	if (text[at] == '\0') {
		mask->value_follows = true;
		mask->value_after = o->after;
		return false;
	}
	at += strspn(text + at, " ");
	at += text[at] == '"' || text[at] == '\'';
	len = first && text[2] != ' ' ? strlen(text + at) : word_length(text + at);
	skipped = secret_in_value(text + at, len, o->after);
	*ret = (struct found){at + skipped, len - skipped, secret_word};
	return len > skipped;
}

/* ---- the argument ---- */

struct output {
	char *text;
	size_t len, size;
};

static void put_text(struct output *o, const char *text, size_t len)
{
	size_t room = o->size - 1 - o->len;

	len = len < room ? len : room;
	memcpy(o->text + o->len, text, len);
	o->len += len;
	o->text[o->len] = '\0';
}

static bool find_secret(struct trk_mask *mask, const char *text, char before, bool first,
			struct found *ret)
{
	bool strict = mask->strict, is_word = first || strchr(" \t\n;|&(\"'", before);

	if (is_word)
		note_program(mask, text);
	return (is_word && mask->program && find_program_option(mask, text, first, ret)) ||
	       find_url(text, strict, ret) ||
	       (strict && (find_email(text, ret) || find_ip(text, ret))) ||
	       find_named(text, first, ret) || find_key(text, ret) ||
	       (strict && find_random(text, before, ret));
}

static void put_masked(struct output *o, struct trk_mask *mask, const char *text)
{
	const char *start = text;
	char before = ' ', quote = 0;
	bool is_line =
		!mask->program; /* else ; and & are data of a program that was named before */

	while (*text && o->len + 1 < o->size) {
		bool is_start = !is_alnum(before) && !strchr("_-.%+", before);
		struct found f = {1, 0, ""};

		if (before == quote)
			quote = 0;
		else if (!quote && (before == '"' || before == '\''))
			quote = before;
		else if (!quote && is_line && strchr(";|&\n", before))
			mask->program = 0;
		if (is_start && !find_secret(mask, text, before, text == start, &f))
			f = (struct found){1, 0, ""};
		put_text(o, text, f.kept);
		put_text(o, f.by, strlen(f.by));
		text += f.kept + f.len;
		before = text[-1];
	}
}

size_t trk__mask_argument(struct trk_mask *mask, const char *text, char *ret, size_t size)
{
	struct output o = {ret, 0, size};
	bool is_option = text[0] == '-' && text[1];
	bool is_value = mask->value_follows && !is_option;
	size_t kept = secret_in_value(text, strlen(text), mask->value_after);

	ret[0] = '\0';
	mask->value_after = 0;
	mask->value_follows = is_option && text[run_of(text, "_-.")] == '\0' &&
			      is_secret_name(text, strlen(text));
	if (is_value && text[kept]) {
		put_text(&o, text, kept);
		put_text(&o, secret_word, strlen(secret_word));
	} else if (strstr(text, "-----BEGIN")) {
		put_text(&o, "[KEY]", strlen("[KEY]"));
	} else {
		put_masked(&o, mask, text);
	}
	return o.len;
}
