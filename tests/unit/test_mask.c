/* Masking of secrets in the arguments of a command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/mask.h"
#include "skip.h"

#ifndef TRK_FIXTURES
#define TRK_FIXTURES "tests/fixtures"
#endif

struct masked {
	const char *text, *want; /* want NULL: left as it is */
};

static void assert_masked(const struct masked *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *want = cases[i].want ? cases[i].want : cases[i].text;
		struct trk_mask mask = {.strict = true};
		char ret[512];

		assert_int_equal(trk__mask_argument(&mask, cases[i].text, ret, sizeof(ret)),
				 strlen(want));
		assert_string_equal(ret, want);
	}
}

#define ASSERT_MASKED(cases) assert_masked(cases, sizeof(cases) / sizeof((cases)[0]))

static void mail_addresses_are_found(void **state)
{
	static const struct masked cases[] = {
		{"user@example.com", "[EMAIL]"},
		{"--notify=first.last+tag@mail.example.co.uk", "--notify=[EMAIL]"},
		{"write to a@b.org, or to <c@d.net>.", "write to [EMAIL], or to <[EMAIL]>."},
		{"git@github.com:org/repo.git", "[EMAIL]:org/repo.git"},
		{"user@localhost", NULL},
		{"@reference", NULL},
		{"JOB@-1", NULL},
		{"pkg@1.2.3", NULL},
	};

	ASSERT_MASKED(cases);
}

static void addresses_of_machines_are_found(void **state)
{
	static const struct masked cases[] = {
		{"10.1.2.3", "[IP]"},
		{"--host=192.168.0.17:8080", "--host=[IP]:8080"},
		{"10.0.0.0/8", "[IP]/8"},
		{"It is 127.0.0.1.", "It is [IP]."},
		{"fe80::1%eth0", "[IP]%eth0"},
		{"[2001:db8::7]:443", "[[IP]]:443"},
		{"::1", "[IP]"},
		{"1.2.3", NULL},
		{"1.2.3.4.5", NULL},
		{"300.1.2.3", NULL},
		{"v1.2.3.4", NULL},
		{"12:34:56", NULL},
		{"std::vector", NULL},
		{"::", NULL},
		{"a:b", NULL},
	};

	ASSERT_MASKED(cases);
}

static void addresses_of_pages_are_found_where_they_may_tell_something(void **state)
{
	static const struct masked cases[] = {
		{"ftp://host.example/file", "[URL]"},
		{"http://host/?a=b", "[URL]"},
		{"https://example.com/x?sig=1&t=2", "[URL]"},
		{"http://intern/page", "[URL]"},
		{"--url=https://a.example/?q now", "--url=[URL] now"},
		{"s3://bucket/key?versionId=3", "[URL]"},
		{"https://example.com/data.csv", NULL},
		{"s3://bucket/key", NULL},
		{"http://10.1.2.3/x", "http://[IP]/x"},
		{"postgres://me:pw@db.example/x", "[SECRET]"},
		{"https://token@git.example/x", "[SECRET]"},
		{"jdbc:mysql://me:pw@db:3306/x", "jdbc:[SECRET]"},
		{"ssh://git@host.example/x", "ssh://[EMAIL]/x"},
		{"a://", NULL},
	};

	ASSERT_MASKED(cases);
}

static void values_of_secret_names_are_found(void **state)
{
	static const struct masked cases[] = {
		{"--password=hunter2", "--password=[SECRET]"},
		{"API_KEY=abc", "API_KEY=[SECRET]"},
		{"-Dspring.datasource.password=x", "-Dspring.datasource.password=[SECRET]"},
		{"export DB_PASSWORD='a b'; run", "export DB_PASSWORD='[SECRET]'; run"},
		{"{\"client_secret\": \"x,y\", \"n\": 1}",
		 "{\"client_secret\": \"[SECRET]\", \"n\": 1}"},
		{"Authorization: Bearer abc def", "Authorization: [SECRET]"},
		{"login --password hunter2 --user me", "login --password [SECRET] --user me"},
		{"--db-pass=hunter2", "--db-pass=[SECRET]"},
		{"--db-pass=a,b;c d", "--db-pass=[SECRET]"},
		{"run --db-pass hunter2 x", "run --db-pass [SECRET] x"},
		{"DB_PASS=hunter2", "DB_PASS=[SECRET]"},
		{"dbPass: hunter2", "dbPass: [SECRET]"},
		{"MYSQL_PWD=hunter2 run", "MYSQL_PWD=[SECRET] run"},
		{"REDISCLI_AUTH=hunter2", "REDISCLI_AUTH=[SECRET]"},
		{"--pgpass=x", "--pgpass=[SECRET]"},
		{"Cookie: a=b; c=d", "Cookie: [SECRET]"},
		{"--low-pass=50", NULL},
		{"--bypass=50", NULL},
		{"--max-tokens=512", NULL},
		{"--tokenizer=gpt2", NULL},
		{"--password", NULL},
		{"--password=", NULL},
		{"token bucket", NULL},
		{"login --password --user me", NULL},
		{"compass=north", NULL},
	};

	ASSERT_MASKED(cases);
}

/* Each line is one command line, of which each word is one argument, and as one argument of sh -c. */
static void options_of_known_programs_are_found(void **state)
{
	static const struct masked cases[] = {
		{"mysql -u me -phunter2 db", "mysql -u me -p[SECRET] db"},
		{"/usr/bin/mysqldump -phunter2 db", "/usr/bin/mysqldump -p[SECRET] db"},
		{"mysql -p db", NULL},
		{"sshpass -p hunter2 ssh -p 22 host", "sshpass -p [SECRET] ssh -p 22 host"},
		{"sshpass -phunter2 ssh host", "sshpass -p[SECRET] ssh host"},
		{"docker login -u me -p hunter2 host", "docker login -u me -p [SECRET] host"},
		{"docker run -p 8080:80 image", NULL},
		{"curl -u me:hunter2 https://host/login", "curl -u me:[SECRET] https://host/login"},
		{"curl -ume:hunter2 host", "curl -ume:[SECRET] host"},
		{"curl https://host/login -sSu me:hunter2",
		 "curl https://host/login -sSu me:[SECRET]"},
		{"curl --user me:hunter2 host", "curl --user me:[SECRET] host"},
		{"curl --proxy-user=me:hunter2 host", "curl --proxy-user=me:[SECRET] host"},
		{"curl -u me host", NULL},
		{"curl --user-agent a:b host", NULL},
		{"redis-cli -h host -a hunter2 ping", "redis-cli -h host -a [SECRET] ping"},
		{"mongodump -p hunter2 -o out", "mongodump -p [SECRET] -o out"},
		{"ldapsearch -x -w hunter2 -b dc", "ldapsearch -x -w [SECRET] -b dc"},
		{"smbclient //host/share -U me%hunter2", "smbclient //host/share -U me%[SECRET]"},
		{"7z a -phunter2 out.7z in", "7z a -p[SECRET] out.7z in"},
		{"zip -P hunter2 out.zip in", "zip -P [SECRET] out.zip in"},
		{"pulumi config set --secret dbPass hunter2",
		 "pulumi config set --secret dbPass [SECRET]"},
		{"poetry config http-basic.foo me hunter2",
		 "poetry config http-basic.foo me [SECRET]"},
		{"vault kv put secret/a b=hunter2", "vault kv put secret/a b=[SECRET]"},
		{"rman target me/hunter2@db", "rman target me/[SECRET]"},
		{"lftp -u me,hunter2 host", "lftp -u me,[SECRET] host"},
		{"prefect cloud login --key hunter2", "prefect cloud login --key [SECRET]"},
		{"prefect deploy --key name", NULL},
		{"python mysql_bench.py -parallel", NULL},
		{"docker run --user 1000:1000 image", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *want = cases[i].want ? cases[i].want : cases[i].text;
		struct trk_mask whole = {.strict = false}, mask = {.strict = false};
		char ret[512], text[512] = "", word[512];
		size_t len = 0, n;

		(void) trk__mask_argument(&whole, cases[i].text, ret, sizeof(ret));
		assert_string_equal(ret, want);
		for (const char *at = cases[i].text; *at; at += n + (at[n] == ' ')) {
			n = strcspn(at, " ");
			(void) snprintf(word, sizeof(word), "%.*s", (int) n, at);
			(void) trk__mask_argument(&mask, word, ret, sizeof(ret));
			len += (size_t) snprintf(text + len, sizeof(text) - len, "%s%s",
						 len ? " " : "", ret);
		}
		assert_string_equal(text, want);
	}
}

static void separators_in_arguments_end_no_known_program(void **state)
{
	static const char *const argv[][4] = {
		{"curl", "https://h/?a=1&b=2", "-u", "me:hunter2"},
		{"mysql", "-e", "select 1; select 2", "-phunter2"},
	};
	static const char *const lines[] = {
		"curl 'https://h/?a=1&b=2' -u me:hunter2",
		"mysql -e \"select 1; select 2\" -phunter2",
	};
	char ret[256];

	for (size_t i = 0; i < sizeof(argv) / sizeof(argv[0]); i++) {
		struct trk_mask mask = {.strict = false}, line = {.strict = false};

		for (size_t k = 0; k < 4; k++)
			(void) trk__mask_argument(&mask, argv[i][k], ret, sizeof(ret));
		assert_string_equal(ret, i == 0 ? "me:[SECRET]" : "-p[SECRET]");
		(void) trk__mask_argument(&line, lines[i], ret, sizeof(ret));
		assert_null(strstr(ret, "hunter2"));
	}
}

static void another_command_of_a_line_is_no_known_program(void **state)
{
	struct trk_mask mask = {.strict = false};
	char ret[256];

	(void) trk__mask_argument(&mask, "mysql db; docker run -p 8080:80 x", ret, sizeof(ret));
	assert_string_equal(ret, "mysql db; docker run -p 8080:80 x");
}

static void long_random_words_are_found(void **state)
{
	static const struct masked cases[] = {
		{"3f5a9c1d7e2b4f6a8c0d1e2f3a4b5c6d7e8f9a0b", "[SECRET]"},
		{"--key=Zx8Qw3Er5Ty7Ui9Op1As2Df4", "--key=[SECRET]"},
		{"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzAb12Cd34Ef", "[SECRET]"},
		{"/data/3f5a9c1d7e2b4f6a8c0d1e2f3a4b5c6d7e8f9a0b/model.bin",
		 "/data/[SECRET]/model.bin"},
		{"AKIA0123456789ABCDEF", "[SECRET]"},
		{"ghp_0123456789abcdefghij0123456789abcdef", "[SECRET]"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_1", "[SECRET]"},
		{"550e8400-e29b-41d4-a716-446655440000", NULL},
		{"MyVeryLongClassNameForTestsOfThings", NULL},
		{"resnet50-batch128-epochs300-lr0.001-seed42", NULL},
		{"resnet50batch128epochs300learning", NULL},
		{"/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.so", NULL},
		{"12345678901234567890123456789012", NULL},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
		{"2026-11-22T11:03:52", NULL},
	};

	ASSERT_MASKED(cases);
}

/* Without `strict` nothing is masked that may be no secret, so that runs are told apart by their
 * arguments. */
static void by_default_only_passwords_tokens_and_keys_are_masked(void **state)
{
	static const struct masked cases[] = {
		{"--password=hunter2", "--password=[SECRET]"},
		{"API_KEY=abc", "API_KEY=[SECRET]"},
		{"Authorization: Bearer abc def", "Authorization: [SECRET]"},
		{"postgres://me:pw@db.example/x", "[SECRET]"},
		{"https://token@git.example/x", "[SECRET]"},
		{"https://a.example/x?X-Amz-Signature=0f&n=1",
		 "https://a.example/x?X-Amz-Signature=[SECRET]&n=1"},
		{"https://host/x?token=abc&n=1", "https://host/x?token=[SECRET]&n=1"},
		{"https://a.example/x?sv=2&sig=0f%3D", "https://a.example/x?sv=2&sig=[SECRET]"},
		{"ghp_0123456789abcdefghij0123456789abcdef", "[SECRET]"},
		{"KEY=-----BEGIN CERTIFICATE-----", "[KEY]"},
		{"user@example.com", NULL},
		{"10.1.2.3", NULL},
		{"https://example.com/x?page=1&t=2", NULL},
		{"ftp://host.example/file", NULL},
		{"3f5a9c1d7e2b4f6a8c0d1e2f3a4b5c6d7e8f9a0b", NULL},
		{"/data/3f5a9c1d7e2b4f6a8c0d1e2f3a4b5c6d7e8f9a0b/model.bin", NULL},
		{"--max-tokens=512", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *want = cases[i].want ? cases[i].want : cases[i].text;
		struct trk_mask mask = {.value_follows = false};
		char ret[512];

		(void) trk__mask_argument(&mask, cases[i].text, ret, sizeof(ret));
		assert_string_equal(ret, want);
	}
}

/* ---- whole command lines, of tests/fixtures/mask ---- */

/* Writes the arguments of a line, each ended by a NUL, with \n and \t as in C. Returns the length. */
static size_t arguments_of(char *line)
{
	size_t n = 0;

	line[strcspn(line, "\n")] = '\0';
	for (const char *at = line; *at; at++) {
		bool is_escape = at[0] == '\\' && (at[1] == 'n' || at[1] == 't');

		line[n++] = *at == '\t' ? '\0' : !is_escape ? *at : at[1] == 'n' ? '\n' : '\t';
		at += is_escape;
	}
	line[n] = '\0';
	return n + 1;
}

/* Calls `check` for each line: its arguments, and these masked. */
static size_t check_lines(const char *file, void (*check)(const char *line, size_t len,
							  const char *masked, size_t masked_len))
{
	const char *root = getenv("TRK_FIXTURES");
	char path[512], line[1024], masked[1024];
	size_t lines = 0, len;
	FILE *f;

	(void) snprintf(path, sizeof(path), "%s/mask/%s", root ? root : TRK_FIXTURES, file);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		len = arguments_of(line);
		check(line, len, masked,
		      trk__mask_command(line, len, false, false, masked, sizeof(masked)));
		lines++;
	}
	(void) fclose(f);
	return lines;
}

static void check_that_no_secret_is_kept(const char *line, size_t len, const char *masked,
					 size_t masked_len)
{
	(void) line;
	(void) len;
	for (size_t at = 0; at < masked_len; at += strlen(masked + at) + 1)
		if (strstr(masked + at, "hunter2"))
			fail_msg("kept in: %s", masked + at);
}

static void check_that_all_is_kept(const char *line, size_t len, const char *masked,
				   size_t masked_len)
{
	for (size_t at = 0; at < masked_len; at += strlen(masked + at) + 1)
		if (trk__is_masked(masked + at))
			fail_msg("masked: %s", masked + at);
	assert_int_equal(masked_len, len);
	assert_memory_equal(masked, line, len);
}

static void no_secret_of_a_command_line_is_kept(void **state)
{
	assert_true(check_lines("secrets.txt", check_that_no_secret_is_kept) >= 600);
}

static void what_is_no_secret_is_kept(void **state)
{
	assert_true(check_lines("innocent.txt", check_that_all_is_kept) >= 320);
}

/* Writes a text of the form, with the least of each class. */
static void text_of_form(const char *form, char *text)
{
	while (*form) {
		char class = *form++;
		long least = 1;

		if (!strchr("*&~^%#", class)) {
			*text++ = class;
			continue;
		}
		if (*form >= '0' && *form <= '9')
			least = strtol(form, (char **) (uintptr_t) &form, 10);
		for (long i = 0; i < least; i++)
			*text++ = class == '#'   ? (char) ('1' + i % 9)
				  : class == '%' ? "7e3b"[i % 4]
				  : class == '^' ? "7QZ3"[i % 4]
						 : "7qZ3"[i % 4];
	}
	*text = '\0';
}

static void tokens_of_known_services_are_found(void **state)
{
	static const char *const forms[] = {
#define TOKEN(form, what) form,
#include "base/mask_tokens.def"
#undef TOKEN
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct trk_mask mask = {.strict = false};
		char text[512] = "https://h/", ret[600];

		text_of_form(forms[i], text + 10);
		(void) trk__mask_argument(&mask, text + 10, ret, sizeof(ret));
		assert_string_equal(ret, "[SECRET]");
		(void) trk__mask_argument(&mask, text, ret, sizeof(ret));
		assert_string_equal(ret, "https://h/[SECRET]");
	}
}

/* Of a line of source code only what is quoted is a value. */
static void expressions_of_source_code_are_kept(void **state)
{
	static const struct masked cases[] = {
		{"token = tokens[i]", NULL},
		{"def f(password, token=None):", NULL},
		{"sig = np.zeros(5)", NULL},
		{"password = \"hunter2\"", "password = \"[SECRET]\""},
		{"f(api_key='hunter2', n=1)", "f(api_key='[SECRET]', n=1)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trk_mask mask = {.is_source = true};
		char ret[256];

		(void) trk__mask_argument(&mask, cases[i].text, ret, sizeof(ret));
		assert_string_equal(ret, cases[i].want ? cases[i].want : cases[i].text);
	}
}

/* CPU time of masking `size` bytes of a repeated part. */
static double cpu_s_of(const char *part, size_t size)
{
	struct trk_mask mask = {.strict = true};
	char *text = malloc(size), *ret = malloc(4 * size);
	clock_t before;

	assert_non_null(text);
	assert_non_null(ret);
	for (size_t at = 0; at + 1 < size; at++)
		text[at] = part[at % strlen(part)];
	text[size - 1] = '\0';
	before = clock();
	(void) trk__mask_argument(&mask, text, ret, 4 * size);
	before = clock() - before;
	free(ret);
	free(text);
	return (double) before / CLOCKS_PER_SEC;
}

/* An address, a command or a name in each of many pieces is not searched for again in all that
 * follows: 16 times the text takes about 16 times, not 256 times, as long. */
static void the_time_is_linear_in_the_length(void **state)
{
	static const char *const parts[] = {"a://",
					    "http://x:y/",
					    "a:",
					    "http://hooks/",
					    "token \"",
					    "echo x ",
					    "\u00f1",
					    "\u00f1a-b \u00f1",
					    "<<<",
					    "login('',\"",
					    "++token=",
					    "token = f(",
					    "--password -a1b2c3d4 "};

	if (checks_memory())
		SKIP("the sanitizers and valgrind add times of their own");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double short_s = cpu_s_of(parts[i], 16384), long_s = cpu_s_of(parts[i], 262144);

		assert_true(long_s < 80 * short_s + 0.1);
	}
}

static void a_key_is_masked_as_a_whole(void **state)
{
	static const struct masked cases[] = {
		{"-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END", "[KEY]"},
		{"KEY=-----BEGIN CERTIFICATE-----", "[KEY]"},
	};

	ASSERT_MASKED(cases);
}

static void ordinary_arguments_stay(void **state)
{
	static const struct masked cases[] = {
		{"", NULL},
		{"-", NULL},
		{"--", NULL},
		{"python", NULL},
		{"train.py", NULL},
		{"--lr=1e-3", NULL},
		{"for i in 1 2 3; do echo \"$i\" >> /tmp/x; done", NULL},
		{"na\xc3\xafve \xff\x80", NULL},
		{"a=b&c=d", NULL},
	};

	ASSERT_MASKED(cases);
}

static void the_argument_behind_a_secret_option_is_its_value(void **state)
{
	struct trk_mask mask = {.strict = true};
	char ret[64];

	(void) trk__mask_argument(&mask, "--password", ret, sizeof(ret));
	(void) trk__mask_argument(&mask, "two words", ret, sizeof(ret));
	assert_string_equal(ret, "[SECRET]");
	(void) trk__mask_argument(&mask, "words", ret, sizeof(ret));
	assert_string_equal(ret, "words");
	(void) trk__mask_argument(&mask, "--db-pass", ret, sizeof(ret));
	(void) trk__mask_argument(&mask, "words", ret, sizeof(ret));
	assert_string_equal(ret, "[SECRET]");
	(void) trk__mask_argument(&mask, "--no-password", ret, sizeof(ret));
	(void) trk__mask_argument(&mask, "words", ret, sizeof(ret));
	assert_string_equal(ret, "words");
	(void) trk__mask_argument(&mask, "--token", ret, sizeof(ret));
	(void) trk__mask_argument(&mask, "--verbose", ret, sizeof(ret));
	assert_string_equal(ret, "--verbose");
	(void) trk__mask_argument(&mask, "words", ret, sizeof(ret));
	assert_string_equal(ret, "words");
}

static void what_does_not_fit_is_cut(void **state)
{
	struct trk_mask mask = {.strict = true};
	char ret[8];

	assert_int_equal(trk__mask_argument(&mask, "a user@example.com b", ret, sizeof(ret)), 7);
	assert_string_equal(ret, "a [EMAI");
	assert_int_equal(trk__mask_argument(&mask, "abc", ret, 1), 0);
	assert_string_equal(ret, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mail_addresses_are_found),
		cmocka_unit_test(addresses_of_machines_are_found),
		cmocka_unit_test(addresses_of_pages_are_found_where_they_may_tell_something),
		cmocka_unit_test(values_of_secret_names_are_found),
		cmocka_unit_test(options_of_known_programs_are_found),
		cmocka_unit_test(separators_in_arguments_end_no_known_program),
		cmocka_unit_test(another_command_of_a_line_is_no_known_program),
		cmocka_unit_test(long_random_words_are_found),
		cmocka_unit_test(by_default_only_passwords_tokens_and_keys_are_masked),
		cmocka_unit_test(no_secret_of_a_command_line_is_kept),
		cmocka_unit_test(what_is_no_secret_is_kept),
		cmocka_unit_test(tokens_of_known_services_are_found),
		cmocka_unit_test(expressions_of_source_code_are_kept),
		cmocka_unit_test(the_time_is_linear_in_the_length),
		cmocka_unit_test(a_key_is_masked_as_a_whole),
		cmocka_unit_test(ordinary_arguments_stay),
		cmocka_unit_test(the_argument_behind_a_secret_option_is_its_value),
		cmocka_unit_test(what_does_not_fit_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
