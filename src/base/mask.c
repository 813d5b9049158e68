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

/* True if the name of an option, variable or key means that its value is secret. */
static bool is_secret_name(const char *text, size_t len)
{
	static const char *const ends[] = {
		"password",   "passwd",      "passphrase", "secret",     "token",
		"apikey",     "accesskey",   "secretkey",  "privatekey", "accountkey",
		"credential", "credentials", "signature",
	};
	static const char *const wholes[] = {"pass", "pwd", "auth", "sig"};
	char name[NAME_MAX_SIZE];
	size_t n = 0, skipped = len < sizeof(name) ? 0 : len - sizeof(name) + 1;

	for (size_t i = skipped; i < len; i++)
		if (is_alnum(text[i]))
			name[n++] = text[i];
	name[n] = '\0';
	for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++)
		if (!strcasecmp(name, wholes[i]))
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
	static const char name[] = "authorization";
	size_t end = sizeof(name) - 1;

	return len >= end && !strncasecmp(text + len - end, name, end);
}

/* The value at text, up to its closing quote or to what ends a word. */
static size_t value_length(const char *text, char quote, bool is_header)
{
	const char ends[] = {quote, '\0'};

	if (quote)
		return strcspn(text, ends);
	return strcspn(text, is_header ? "\"'\n" : " \t\n\"',;&|)}");
}

/* name=value, name: value, "name": "value", and --name value inside of one argument. */
static bool find_named(const char *text, struct found *ret)
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
	len = value_length(text + at, quote, is_header);
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

static bool find_secret(const char *text, char before, bool strict, struct found *ret)
{
	return find_url(text, strict, ret) ||
	       (strict && (find_email(text, ret) || find_ip(text, ret))) || find_named(text, ret) ||
	       find_key(text, ret) || (strict && find_random(text, before, ret));
}

static void put_masked(struct output *o, const char *text, bool strict)
{
	char before = ' ';

	while (*text && o->len + 1 < o->size) {
		bool is_start = !is_alnum(before) && !strchr("_-.%+", before);
		struct found f = {1, 0, ""};

		if (is_start && !find_secret(text, before, strict, &f))
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

	ret[0] = '\0';
	mask->value_follows = is_option && text[run_of(text, "_-.")] == '\0' &&
			      is_secret_name(text, strlen(text));
	if (is_value && text[0])
		put_text(&o, secret_word, strlen(secret_word));
	else if (strstr(text, "-----BEGIN"))
		put_text(&o, "[KEY]", strlen("[KEY]"));
	else
		put_masked(&o, text, mask->strict);
	return o.len;
}
