#include "base/mask.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mask_private.h"

enum {
	RANDOM_MIN = 20,   /* shortest word that may be random, in bytes */
	DISTINCT_MIN = 10, /* different characters in it */
	HOOK_MIN = 16,     /* shortest key in the path of a webhook */
	NUMBER_MIN = 6,    /* shortest number in front of any key there */
	DASHED_MIN = 8,    /* shortest value that begins with a dash */
	FOREIGN_MAX = 64,  /* bytes of a name up to its last letter outside of ASCII */
	LOOK_MAX = 512,    /* bytes of a path or of a command that are searched */
};

const char trk__mask_secret[] = "[SECRET]";

size_t trk__mask_run(const char *text, const char *more)
{
	size_t n = 0;

	while (text[n] && (trk__mask_is_alnum(text[n]) || strchr(more, text[n])))
		n++;
	return n;
}

size_t trk__mask_word(const char *text)
{
	return strcspn(text, " \t\n\"';,|&()");
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* c is not NUL. */
static bool is_one_of(char c, const char *chars)
{
	return c && strchr(chars, c);
}

/* ---- names ---- */

/* Length of the name at text, whose letters may be of any language. */
static size_t name_length(const char *text)
{
	size_t n = trk__mask_run(text, "_-.");

	while (n < FOREIGN_MAX && trk__mask_is_beyond_ascii(text[n])) {
		n++;
		n += trk__mask_run(text + n, "_-.");
	}
	return n;
}

/* "Authorization: Bearer …": the value has several words. */
static bool is_header_name(const char *text, size_t len)
{
	static const char name[] = "authorization";
	size_t end = sizeof(name) - 1;

	return (len >= end && !strncasecmp(text + len - end, name, end)) ||
	       (len == 6 && !strncasecmp(text, "cookie", len)) ||
	       (len == 10 && !strncasecmp(text, "set-cookie", len));
}

/* "Bearer " and its like, in front of a value: their length; 0: others. */
static size_t scheme_of_value(const char *text)
{
	static const char *const schemes[] = {"bearer ", "basic ", "token ", "apikey ", "digest "};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (!strncasecmp(text, schemes[i], strlen(schemes[i])) &&
		    text[strlen(schemes[i])] != '-')
			return strlen(schemes[i]);
	return 0;
}

/* A backslash escapes the next character, except in a quote of a shell. */
size_t trk__mask_value(const char *text, char quote)
{
	const char quoted[] = {quote, '\0'};
	const char *ends = quote ? quoted : " \t\n\"',;&|)}<>";
	size_t n = quote ? 0 : scheme_of_value(text);

	while (text[n] && !strchr(ends, text[n]))
		n += text[n] == '\\' && text[n + 1] && quote != '\'' ? 2 : 1;
	return n;
}

/* "=", ":" and their like, but no comparison, scope or scheme: "==", "::", "://". */
static size_t sign_length(const char *text)
{
	static const char *const signs[] = {"=>", ":=", "<-", "=", ":"};

	if (!strncmp(text, "==", 2) || !strncmp(text, "::", 2) || !strncmp(text, "://", 3))
		return 0;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (!strncmp(text, signs[i], strlen(signs[i])))
			return strlen(signs[i]);
	return 0;
}

/* Whether the word at text, behind the name of a secret, is rather its value than an option: a single
 * dash, and as many letters and digits as few options have. */
static bool is_dashed_value(const char *text)
{
	size_t len = trk__mask_word(text);
	bool has_letter = false, has_digit = false;

	if (text[0] != '-' || text[1] == '-' || len < DASHED_MIN)
		return false;
	for (size_t i = 1; i < len; i++) {
		if (is_one_of(text[i], "=./:"))
			return false;
		has_digit = has_digit || trk__mask_is_digit(text[i]);
		has_letter =
			has_letter || trk__mask_is_lower(text[i]) || trk__mask_is_upper(text[i]);
	}
	return has_letter && has_digit;
}

/* Length of what is between a name and its value: "=", ": ", "=>", ":=", " <- ", ">" of XML, and
 * "(" or "," in front of a quote. 0: no value follows. `closed`: the name was quoted. */
static size_t operator_length(const char *text, char before, bool closed, bool is_option)
{
	size_t gap = strspn(text, " \t"), n = sign_length(text + gap);
	const char *at = text + gap;

	if (n)
		return gap + n + strspn(at + n, " \t");
	if (*at == '>' && (before == '<' || closed))
		return gap + 1;
	if (!strncasecmp(at, "by ", 3)) { /* SQL: IDENTIFIED BY 'x' */
		gap += 3;
		at += 3;
	}
	n = *at == '(' || (*at == ',' && closed) ? 1 + strspn(at + 1, " \t") : 0;
	if (is_quote(at[n]) && (n || (gap && !closed)))
		return gap + n;
	return is_option && gap && (*at != '-' || is_dashed_value(at)) ? gap : 0;
}

/* Length of the quote, and the bracket, that close a name. */
static size_t closing_length(const char *text, bool *ret_closed)
{
	size_t n = text[0] == '\\' && is_quote(text[1]) ? 1 : 0;

	*ret_closed = is_quote(text[n]);
	n += *ret_closed;
	return n + (*ret_closed && text[n] == ']');
}

/* Where the value of text[0..name) begins; 0: none follows. */
static size_t value_at(const char *text, size_t name, char before)
{
	bool closed;
	size_t at = name + closing_length(text + name, &closed), more, n;

	/* "name": "DB_PASSWORD", "value": "x" */
	more = at + strspn(text + at, ", \t\r\n\\");
	more += is_quote(text[more]);
	if (more > at && !strncasecmp(text + more, "value", 5) &&
	    is_one_of(text[more + 5], "\"'\\=: ")) {
		at = more + 5;
		at += closing_length(text + at, &closed);
	}
	n = operator_length(text + at, before, closed, text[0] == '-');
	return n ? at + n : 0;
}

/* Skips what opens the value: a quote, three, r", \", ("; *ret_quote is what closes it. */
static size_t opening_length(const char *text, char *ret_quote)
{
	size_t at = strspn(text, "rRbBfFuUL@$\\");

	*ret_quote = '\0';
	if (at <= 2 && is_quote(text[at])) {
		*ret_quote = at && text[at - 1] == '\\' ? '\\' : text[at];
		return at + (text[at + 1] == text[at] && text[at + 2] == text[at] ? 3 : 1);
	}
	if (is_one_of(text[0], "([") && is_quote(text[1])) {
		*ret_quote = text[0] == '(' ? ')' : ']';
		return 1;
	}
	return 0;
}

/* The value of NAME=value is the whole rest of an argument, unless the argument is a line. */
static bool is_whole(const struct trk_mask *mask, const char *text, size_t name)
{
	if (text[name] != '=')
		return false;
	for (size_t i = 0; i < name; i++)
		if (trk__mask_is_lower(text[i]) || is_one_of(text[i], "-."))
			return text[0] == '-';
	return mask->is_data;
}

/* The key of an address: ?key=AIza… */
static bool is_key_of_address(const char *text, size_t name, char before)
{
	size_t len = name == 3 && !strncasecmp(text, "key=", 4) ? trk__mask_run(text + 4, "_-") : 0;

	return is_one_of(before, "?&") && len >= HOOK_MIN && strcspn(text + 4, "0123456789") < len;
}

static enum trk_secret_kind kind_of_name(const char *text, size_t name, char before, bool is_header)
{
	if (is_header || is_key_of_address(text, name, before) ||
	    (name == 10 && !strncasecmp(text, "identified", name)))
		return TRK_SECRET_ANY;
	return trk__secret_name(text, name);
}

/* password: str = "x": length of all from the type, of `len` bytes, to the end of the value; *ret_quote
 * closes that. 0: no value follows. */
static size_t typed_length(const char *text, size_t len, char *ret_quote)
{
	size_t gap = strspn(text + len, " "), at = len + gap;

	if (!gap || text[at] != '=')
		return 0;
	at++;
	at += strspn(text + at, " ");
	at += opening_length(text + at, ret_quote);
	return at + trk__mask_value(text + at, *ret_quote);
}

/* token = f(x), token = d[i], password=f(): an expression of a program. */
static bool is_expression(const char *text, size_t name, const char *value)
{
	bool is_spaced = text[name] == ' ';
	size_t path = trk__mask_is_digit(value[0]) ? 0 : trk__mask_run(value, "_.");

	if (!path || text[0] == '-')
		return false;
	return value[path] == '(' ? is_spaced || value[path + 1] == ')'
				  : is_spaced && value[path] == '[';
}

/* name=value, name: value, "name": "value", and --name value inside of one argument. `first`: at
 * the beginning of an argument. */
static bool find_named(const struct trk_mask *mask, const char *text, char before, bool first,
		       struct trk_mask_found *ret)
{
	size_t name = name_length(text), at = name ? value_at(text, name, before) : 0;
	bool is_header = at > 0 && is_header_name(text, name) && is_one_of(text[name], ":=\"'");
	enum trk_secret_kind kind =
		at > 0 ? kind_of_name(text, name, before, is_header) : TRK_SECRET_NONE;
	size_t len, typed;
	char quote;

	if (!kind)
		return false;
	at += opening_length(text + at, &quote);
	if (!quote && is_expression(text, name, text + at))
		return false;
	if (first && is_whole(mask, text, name))
		len = strlen(text + at);
	else
		len = is_header && !quote ? strcspn(text + at, "\"'\n")
					  : trk__mask_value(text + at, quote);
	typed = quote || text[name] != ':' ? 0 : typed_length(text + at, len, &quote);
	if (!typed && trk__secret_is_plain(kind, text + at, len))
		return false;
	len = typed ? typed : len;
	*ret = (struct trk_mask_found){at, len, trk__mask_secret};
	return !mask->is_source || quote;
}

/* "Bearer abc123", wherever it stands. */
static bool find_bearer(const char *text, struct trk_mask_found *ret)
{
	static const char name[] = "bearer ";
	size_t at = sizeof(name) - 1, len;

	if (strncasecmp(text, name, at) != 0)
		return false;
	len = trk__mask_run(text + at, "._~+/=-");
	*ret = (struct trk_mask_found){at, len, trk__mask_secret};
	return len >= 8 && strcspn(text + at, "0123456789") < len;
}

/* login('user', 'x'): all values behind the first one of a call that logs in. */
static bool find_login_call(const char *text, struct trk_mask_found *ret)
{
	static const char *const calls[] = {"login", "log_in", "signin", "sign_in", "authenticate"};
	size_t at = trk__mask_run(text, "_."), values = 0, end = 0;
	bool is_call = false;

	for (size_t i = 0; text[at] == '(' && i < sizeof(calls) / sizeof(calls[0]); i++) {
		size_t len = strlen(calls[i]);

		is_call |= at >= len && !strncasecmp(text + at - len, calls[i], len);
	}
	while (is_call && is_one_of(text[at], values ? "," : "(")) {
		char quote = text[at + 1 + strspn(text + at + 1, " ")];

		if (!is_quote(quote))
			break;
		at += 2 + strspn(text + at + 1, " ");
		if (values++ == 1)
			ret->kept = at;
		end = at + trk__mask_value(text + at, quote);
		at = end + (text[end] == quote);
		at += strspn(text + at, " ");
	}
	ret->len = end - ret->kept;
	ret->by = trk__mask_secret;
	return values > 1 && ret->len > 0;
}

/* ---- addresses ---- */

/* The word of an address that text is in, examined once. */
struct scan {
	const char *end;                        /* behind the word */
	const char *last_at, *last_dot, *query; /* last '@', last '.', last of ?&=; NULL: none */
};

static void scan_word(struct scan *s, const char *text)
{
	if (s->end && text < s->end)
		return;
	*s = (struct scan){.end = text + strcspn(text, " \t\n\"'<>")};
	for (const char *at = text; at < s->end; at++) {
		s->last_at = *at == '@' ? at : s->last_at;
		s->last_dot = *at == '.' ? at : s->last_dot;
		s->query = is_one_of(*at, "?&=") ? at : s->query;
	}
}

static size_t scheme_length(const char *text)
{
	size_t n = trk__mask_run(text, "+.-");

	return n && !trk__mask_is_digit(text[0]) && !strncmp(text + n, "://", 3) ? n : 0;
}

/* Whether user:password@ begins here. The password may hold "/", "?" or "#", which should be
 * escaped in it: what follows the colon is then no port. */
static bool has_password(const char *text, size_t host, const struct scan *s, bool is_http)
{
	const char *at = memchr(text, '@', host), *colon = memchr(text, ':', host);
	size_t port;

	if (at)
		return is_http || (colon && colon < at);
	if (!colon || text[0] == '[')
		return false;
	port = strspn(colon + 1, "0123456789");
	return colon + 1 + port < text + host && s->last_at > text;
}

/* user:password@tcp(host), as drivers in Go have it. */
static bool find_driver_address(const char *text, const struct scan *s, struct trk_mask_found *ret)
{
	size_t at = s->last_at > text ? trk__mask_run(text, "_-.") + 1 : 1, len = 0;

	if (at == 1 || text[at - 1] != ':')
		return false;
	while (len < LOOK_MAX && text[at + len] && !is_one_of(text[at + len], " \t\n\"'@"))
		len++;
	*ret = (struct trk_mask_found){at, len, trk__mask_secret};
	return len > 0 &&
	       (!strncmp(text + at + len, "@tcp(", 5) || !strncmp(text + at + len, "@unix(", 6));
}

/* A key: a word that is long and looks random. */
static bool has_random_part(const char *text, size_t len)
{
	for (size_t at = 0, n; at < len; at += n + 1) {
		bool upper = false, lower = false, digit = false;

		for (n = 0; at + n < len &&
			    (trk__mask_is_alnum(text[at + n]) || is_one_of(text[at + n], "-_"));
		     n++) {
			upper = upper || trk__mask_is_upper(text[at + n]);
			lower = lower || trk__mask_is_lower(text[at + n]);
			digit = digit || trk__mask_is_digit(text[at + n]);
		}
		if (n >= HOOK_MIN && (digit || (upper && lower)))
			return true;
	}
	return false;
}

/* The number of a webhook and its key, of any form: 123456789/x. */
static bool is_numbered_key(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits >= NUMBER_MIN && text[digits] == '/' && trk__mask_is_alnum(text[digits + 1]);
}

/* Length of the address of a webhook up to its key: https://hooks.slack.com/, and the path behind
 * /webhooks/. 0: it is none. */
static size_t hook_length(const char *text, size_t rest, size_t host, size_t len)
{
	static const char *const parts[] = {"hook", "webhook", "integration/", "key/", "token/"};
	size_t path = rest;

	while (path < len && !is_one_of(text[path], "?#"))
		path++;
	for (size_t at = rest, n; at < path; at += n + 1) {
		bool in_host = at < rest + host;

		n = strcspn(text + at, in_host ? "./?# \t\n\"'<>" : "/?# \t\n\"'<>");
		for (size_t i = 0; i < (in_host ? 2 : sizeof(parts) / sizeof(parts[0])); i++) {
			size_t from = in_host ? rest + host + 1 : at + n + 1;

			if (!strncmp(text + at, parts[i], strlen(parts[i])) && from < path)
				return has_random_part(text + from, path - from) ||
						       is_numbered_key(text + from)
					       ? from
					       : 0;
		}
	}
	return 0;
}

/* scheme://user:password@host, https://token@host, and a webhook; strict: see the head of mask.h.
 */
static bool find_url(const char *text, bool strict, const struct scan *s,
		     struct trk_mask_found *ret)
{
	size_t scheme = scheme_length(text), rest = scheme + 3, host, len, hook;
	bool is_http = !strncasecmp(text, "http", 4);

	if (!scheme || text + rest > s->end)
		return false;
	len = (size_t) (s->end - text);
	host = strcspn(text + rest, "/?# \t\n\"'<>");
	hook = is_http ? hook_length(text, rest, host, len < LOOK_MAX ? len : LOOK_MAX) : 0;
	if (has_password(text + rest, host, s, is_http))
		*ret = (struct trk_mask_found){0, len, trk__mask_secret};
	else if (hook)
		*ret = (struct trk_mask_found){hook, len - hook, trk__mask_secret};
	else if (strict && (s->query > text || !strncasecmp(text, "ftp:", 4) ||
			    (is_http && s->last_dot < text)))
		*ret = (struct trk_mask_found){0, len, "[URL]"};
	else
		return false;
	return true;
}

static bool find_email(const char *text, struct trk_mask_found *ret)
{
	size_t local = trk__mask_run(text, "._%+-"), domain, last;

	if (local == 0 || text[local] != '@')
		return false;
	domain = trk__mask_run(text + local + 1, ".-");
	while (domain > 0 && !trk__mask_is_alnum(text[local + domain]))
		domain--;
	last = domain;
	while (last > 0 && text[local + last] != '.')
		last--;
	/* The last label has only letters, at least two. */
	if (last == 0 || domain - last < 2)
		return false;
	for (size_t i = last + 1; i <= domain; i++)
		if (trk__mask_is_digit(text[local + i]))
			return false;
	*ret = (struct trk_mask_found){0, local + 1 + domain, "[EMAIL]"};
	return true;
}

/* The longest run of the characters that inet_pton takes as an address. */
static size_t address_length(const char *text, int family, const char *chars)
{
	char word[INET6_ADDRSTRLEN + 1], address[sizeof(struct in6_addr)];
	size_t n = 0;

	while (n < sizeof(word) && text[n] && strchr(chars, text[n]))
		n++;
	if (n == sizeof(word) || trk__mask_is_alnum(text[n]))
		return 0;
	/* Drop the end of a sentence, and the colon before a port. */
	while (n > 1 && (text[n - 1] == '.' || (text[n - 1] == ':' && text[n - 2] != ':')))
		n--;
	memcpy(word, text, n);
	word[n] = '\0';
	return inet_pton(family, word, address) == 1 ? n : 0;
}

static bool find_ip(const char *text, struct trk_mask_found *ret)
{
	static const char digits[] = "0123456789.";
	static const char hex[] = "0123456789abcdefABCDEF:.";
	size_t n = address_length(text, AF_INET, digits);

	if (n == 0)
		n = address_length(text, AF_INET6, hex);
	if (n == 0 || strspn(text, ":") == n)
		return false;
	*ret = (struct trk_mask_found){0, n, "[IP]"};
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
		int kind = trk__mask_is_upper(c) ? 0 : trk__mask_is_lower(c) ? 1 : 2;

		if (!trk__mask_is_alnum(c))
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

/* Base64 text contains slashes, and is masked as a whole; in a path, which begins with a slash,
 * only the random-looking part is masked. `before` is the byte in front of text. */
static bool find_random(const char *text, char before, struct trk_mask_found *ret)
{
	size_t all, piece;

	if (text[0] == '/')
		return false;
	all = trk__mask_run(text, before == '/' ? "+_-" : "+/_-");
	*ret = (struct trk_mask_found){0, all, trk__mask_secret};
	for (size_t at = 0; at < all; at += piece + 1) {
		piece = trk__mask_run(text + at, "+");
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

/* Whether a command reads a secret from its standard input. */
static bool reads_secret(const char *command)
{
	static const char *const readers[] = {"sudo -S",      "-stdin",        "passwd",
					      "--with-token", "passphrase-fd", "kinit"};

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		if (strstr(command, readers[i]))
			return true;
	return false;
}

/* sudo -S COMMAND <<< PASSWORD; it begins at `start`, perhaps behind other commands. */
static bool find_here(const char *start, const char *text, struct trk_mask_found *ret)
{
	const char *from = text;
	char line[256], quote;
	size_t at;

	if (strncmp(text, "<<<", 3) != 0 || (text > start && text[-1] == '<'))
		return false;
	while (from > start && (size_t) (text - from) + 1 < sizeof(line) &&
	       !is_one_of(from[-1], "|;&\n"))
		from--;
	(void) snprintf(line, sizeof(line), "%.*s", (int) (text - from), from);
	at = strspn(text, "< \t");
	at += opening_length(text + at, &quote);
	*ret = (struct trk_mask_found){at, trk__mask_value(text + at, quote), trk__mask_secret};
	return ret->len > 0 && reads_secret(line);
}

/* echo PASSWORD | sudo -S COMMAND */
static bool find_piped(const char *text, struct trk_mask_found *ret)
{
	size_t at = !strncmp(text, "echo ", 5) ? 5 : !strncmp(text, "printf ", 7) ? 7 : 0;
	size_t len = 0;
	char line[256];

	if (at == 0)
		return false;
	while (len < LOOK_MAX && text[at + len] && !is_one_of(text[at + len], "|;&\n"))
		len++;
	if (text[at + len] != '|' || len == 0)
		return false;
	(void) snprintf(line, sizeof(line), "%.*s", (int) sizeof(line) - 1, text + at + len + 1);
	line[strcspn(line, "|;&\n")] = '\0';
	*ret = (struct trk_mask_found){at, len - (text[at + len - 1] == ' '), trk__mask_secret};
	return reads_secret(line);
}

static bool find_token(const char *text, struct trk_mask_found *ret)
{
	*ret = (struct trk_mask_found){0, trk__token_length(text), trk__mask_secret};
	return ret->len > 0;
}

static bool find_secret(struct trk_mask *mask, const char *start, const char *text, char before,
			struct scan *scan, struct trk_mask_found *ret)
{
	bool strict = mask->strict, first = text == start;
	bool is_word = first || is_one_of(before, " \t\n;|&(\"'");

	scan_word(scan, text);
	return (is_word && (trk__mask_program(mask, text, first, ret) || find_piped(text, ret))) ||
	       find_url(text, strict, scan, ret) ||
	       (strict && (find_email(text, ret) || find_ip(text, ret))) ||
	       find_named(mask, text, before, first, ret) || find_bearer(text, ret) ||
	       find_here(start, text, ret) || find_login_call(text, ret) ||
	       find_driver_address(text, scan, ret) || find_token(text, ret) ||
	       (strict && find_random(text, before, ret));
}

/* Whether text is behind the "+" or "++" at the start of a word: +name=value of Hydra. */
static bool is_added(const char *start, const char *text)
{
	const char *at = text;

	while (at > start && at[-1] == '+' && text - at < 2)
		at--;
	return at < text && (at == start || is_one_of(at[-1], " \t\n\"'"));
}

static void put_masked(struct output *o, struct trk_mask *mask, const char *text)
{
	const char *start = text;
	struct scan scan = {.end = NULL};
	char before = ' ', quote = 0;
	bool is_line =
		!mask->programs; /* else ; and & are data of a program that was named before */

	while (*text && o->len + 1 < o->size) {
		bool is_start = before == '+'
					? is_added(start, text)
					: !trk__mask_is_alnum(before) && !is_one_of(before, "_-.%");
		struct trk_mask_found f = {1, 0, ""};

		if (before == quote)
			quote = 0;
		else if (!quote && is_quote(before))
			quote = before;
		else if (!quote && is_line && is_one_of(before, ";|&\n"))
			mask->programs = mask->verbs = 0;
		if (is_start && !find_secret(mask, start, text, before, &scan, &f))
			f = (struct trk_mask_found){1, 0, ""};
		put_text(o, text, f.kept);
		put_text(o, f.by, strlen(f.by));
		text += f.kept + f.len;
		before = text[-1];
	}
}

/* -c of a shell and its like: the next argument is a line. */
static bool takes_line(const char *text)
{
	size_t len = strlen(text);

	return !strcasecmp(text, "/c") || !strcasecmp(text, "-command") ||
	       !strcmp(text, "--command") ||
	       (len >= 2 && text[0] == '-' && text[1] != '-' && text[len - 1] == 'c');
}

/* Length of the part of a value in front of its secret. */
static size_t kept_of(const char *value, char after)
{
	const char *at = after ? strchr(value, after) : NULL;

	return !after ? 0 : at ? (size_t) (at + 1 - value) : strlen(value);
}

size_t trk__mask_argument(struct trk_mask *mask, const char *text, char *ret, size_t size)
{
	struct output o = {ret, 0, size};
	enum trk_secret_kind kind = (enum trk_secret_kind) mask->value_follows;
	bool is_value = kind && kind != TRK_SECRET_FILE && is_dashed_value(text);
	bool is_option = text[0] == '-' && text[1] && !is_value;
	size_t kept = kept_of(text, mask->value_after), name = name_length(text);

	ret[0] = '\0';
	mask->value_after = 0;
	/* "--name" and "--name=": the value is the next argument. */
	mask->value_follows = is_option && (!text[name] || !strcmp(text + name, "="))
				      ? (unsigned char) trk__secret_name(text, name)
				      : TRK_SECRET_NONE;
	if (kind && !is_option && text[kept] && !trk__secret_is_plain(kind, text, strlen(text))) {
		put_text(&o, text, kept);
		put_text(&o, trk__mask_secret, strlen(trk__mask_secret));
	} else if (strstr(text, "-----BEGIN")) {
		put_text(&o, "[KEY]", strlen("[KEY]"));
	} else {
		put_masked(&o, mask, text);
	}
	mask->is_data = !takes_line(text);
	return o.len;
}

size_t trk__mask_command(const char *arguments, size_t len, bool strict, bool is_cut, char *ret,
			 size_t size)
{
	struct trk_mask mask = {.strict = strict};
	size_t used = 0;

	for (size_t at = 0; at < len && used + 1 < size; at += strlen(arguments + at) + 1) {
		bool is_last = at + strlen(arguments + at) >= len;
		size_t room = size - used;
		size_t put = trk__mask_argument(&mask, arguments + at, ret + used, room);

		if (is_last && is_cut && put + 1 < room)
			put = (size_t) snprintf(ret + used, room, "%s", TRK_REDACTED);
		used += put < room ? put : room - 1;
		ret[used++] = '\0';
	}
	return used;
}

bool trk__is_masked(const char *text)
{
	static const char *const words[] = {trk__mask_secret, "[KEY]", "[URL]", "[EMAIL]", "[IP]"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}
