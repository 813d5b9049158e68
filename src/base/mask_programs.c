/* Options of known programs whose names do not say that their values are secret. */
#include <stdint.h>
#include <string.h>

#include "base/mask_private.h"

struct program_options {
	const char *programs; /* each between blanks; NULL: all */
	/* The options count behind one of these words of the command; NULL: at once. "x." is each
	 * word that begins so. "--x" is an option without a value. */
	const char *verbs;
	/* Each between blanks: "-p" takes -pVALUE, "-p VALUE" and "-p=VALUE"; "-p~" -pVALUE alone,
	 * "-p_" all but that. "-p!": the next command follows it. "2": the second operand is
	 * secret; "2+": and all behind it. "@": an operand that is the name of a secret is followed
	 * by its value. */
	const char *options;
	char after; /* the secret follows this character of the value; 0: all of it */
};

/* A bit of trk_mask.programs for each. */
static const struct program_options table[] = {
	{" mysql mysqldump mysqladmin mysqlimport mysqlcheck mysqlshow mysqlpump mysqlslap mysqlsh "
	 "mysqlbinlog mariadb mariadb-dump mariadb-admin mariadb-import mariadb-check "
	 "mariadb-backup xtrabackup 7z 7za 7zr 7zz rar unrar ",
	 NULL, " -p~ -hp~ ", 0},
	{" sshpass ", NULL, " -p! ", 0},
	{" docker podman buildah skopeo nerdctl crane oras helm az oc cf singularity apptainer ",
	 " login ", " -p ", 0},
	{" mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop "
	 "mongofiles psexec psexec.exe paexec twine cqlsh ncftp ncftpput ncftpget rdesktop "
	 "mydumper "
	 "myloader beeline cypher-shell cbq cbbackup cbrestore couchbase-cli rabbitmqadmin smbmap ",
	 NULL, " -p ", 0},
	{" sqlcmd sqlcmd.exe bcp osql isql tsql freebcp zip unzip ipmitool mosquitto_pub "
	 "mosquitto_sub mosquitto_rr p4 ",
	 NULL, " -P ", 0},
	{" redis-cli valkey-cli keydb-cli ", NULL, " -a @ ", 0},
	{" ldapsearch ldapadd ldapmodify ldapdelete ldapmodrdn ldapcompare ldapwhoami kadmin ",
	 NULL, " -w ", 0},
	{" ldappasswd ", NULL, " -w -s -a ", 0},
	{" snmpget snmpgetnext snmpset snmpwalk snmpbulkget snmpbulkwalk snmptable snmptrap ", NULL,
	 " -A -X -c ", 0},
	{" openssl ", NULL, " -k_ -K -hmac ", 0},
	{" openssl ", " passwd ", " 1+ ", 0},
	{" curl ", NULL, " -u -U -E --user --proxy-user --cert --proxy-cert ", ':'},
	{" curl ", NULL, " -b --cookie ", '='},
	{" http https xh ", NULL, " -a --auth ", ':'},
	{" ctr etcdctl ", NULL, " -u --user ", ':'},
	{" lftp ", NULL, " -u --user ", ','},
	{" smbclient smbget smbcacls rpcclient winexe wmic nmblookup ", NULL, " -U --user ", '%'},
	{" xfreerdp wlfreerdp xfreerdp3 wfreerdp mstsc ", NULL, " /p: ", 0},
	{" pdftotext pdfinfo pdfimages pdftoppm pdftocairo pdfdetach ", NULL, " -opw -upw ", 0},
	{" sqlplus sqlldr expdp impdp ", NULL, " 1 ", '/'},
	{NULL, NULL, " --from-literal ", '='},
	{" nuget dotnet choco ", " push ", " -k ", 0},
	{" poetry ", " publish ", " -p ", 0},
	{" sonar-scanner mvn gradle ", NULL, " -Dsonar.login ", 0},
	{" ssh-keygen ", NULL, " -N -P ", 0},
	{" usermod useradd ", NULL, " -p ", 0},
	{" htpasswd ", NULL, " 3+ ", 0},
	{" mkpasswd ", NULL, " 1+ ", 0},
	{" wpa_passphrase ", NULL, " 2 ", 0},
	{" net net.exe ", " use ", " 2+ ", 0},
	{" net net.exe ", " user ", " 2 ", 0},
	{" vault wandb cargo comet replicate railway ", " login ", " 1+ ", 0},
	{" snyk ", " auth ", " 1+ ", 0},
	{" rclone ", " obscure ", " 1 ", 0},
	{" ansible-vault ", " encrypt_string ", " 1+ ", 0},
	{" rabbitmqctl ", " add_user authenticate_user change_password ", " 2 ", 0},
	{" mc ", " set ", " 3+ ", 0},
	{" aws npm yarn pnpm pip gcloud conda pulumi netlify ", " set env:set ", " @ ", 0},
	{" git poetry composer rclone ", " config ", " @ ", 0},
	{" dvc ", " modify ", " @ ", 0},
	{" machine ", " login ", " @ ", 0}, /* of .netrc */
	{" nmcli wpa_cli ngrok iwconfig pdftk grafana-cli grafana neo4j-admin ", NULL, " @ ", 0},
	{NULL, " login signin ", " --key --pat ", 0},
	{" gh glab hub ", " login ", " --with-token ", 0},
	{" gh az ", " secret ", " --value --body -b ", 0},
	{" glab ", " variable ", " --value -v 3 ", 0},
	{" fly flyctl supabase doppler modal eas infisical gh ", " secret secrets ", " 1+ ", '='},
	{" vault bao ", " put patch ", " 1+ ", '='},
	{" consul etcdctl ", " put ", " @ ", 0},
	{" aws ", " put-parameter ", " --value ", 0},
	{" aws ", " encrypt ", " --plaintext ", 0},
	{" pulumi composer ", " --secret --auth ", " 2 ", 0},
	{" poetry composer ", " http-basic. ", " 2 ", 0},
	{" poetry composer ",
	 " pypi-token. github-oauth. gitlab-oauth. gitlab-token. bitbucket-oauth. bearer. ", " 1+ ",
	 0},
	{" rman ", " target catalog auxiliary ", " 1 ", '/'},
	{" isql iusql ", NULL, " 3 ", 0},
	{" influx ", NULL, " -t_ -p_ ", 0},
	{" security ", " add-generic-password add-internet-password ", " -w ", 0},
	{" airflow superset ", " create create-admin create-user ", " -p ", 0},
};

enum { PROGRAMS = sizeof(table) / sizeof(table[0]), NAME_SIZE = 24 };
_Static_assert(PROGRAMS <= 64, "one bit each");

static bool is_active(const struct trk_mask *mask, size_t i)
{
	if (table[i].verbs)
		return (mask->verbs >> i) & 1;
	return !table[i].programs || ((mask->programs >> i) & 1);
}

static bool is_verb(const char *verbs, const char *text, size_t len)
{
	for (const char *item = verbs + 1; *item;) {
		size_t n = strcspn(item, " ");
		bool is_start = item[n - 1] == '.' && len > n;

		if ((n == len || is_start) && !strncmp(text, item, n))
			return true;
		item += n + 1;
	}
	return false;
}

/* The name of the program that the word at text runs, between blanks. False: too long, or no name. */
static bool take_name(const char *text, size_t len, char name[NAME_SIZE])
{
	size_t at = len;

	while (at > 0 && len - at + 3 < NAME_SIZE && text[at - 1] != '/')
		at--;
	if (len < at + 2 || (at > 0 && text[at - 1] != '/') || memchr(text, ':', len))
		return false;
	name[0] = ' ';
	memcpy(name + 1, text + at, len - at);
	memcpy(name + 1 + len - at, " ", 2);
	return true;
}

/* Notes the program or the verb that the word at text is. False: it is neither. */
static bool note(struct trk_mask *mask, const char *text)
{
	char name[NAME_SIZE];
	size_t len = trk__mask_word(text);
	uint64_t programs = 0, verbs = 0;
	bool has_name = take_name(text, len, name);

	for (size_t i = 0; i < PROGRAMS; i++) {
		bool is_on = !table[i].programs || ((mask->programs >> i) & 1);

		if (has_name && table[i].programs && strstr(table[i].programs, name))
			programs |= (uint64_t) 1 << i;
		if (is_on && table[i].verbs && is_verb(table[i].verbs, text, len))
			verbs |= (uint64_t) 1 << i;
	}
	if (!(programs | verbs))
		return false;
	mask->programs |= verbs ? 0 : programs;
	mask->verbs = verbs ? mask->verbs | verbs : 0;
	mask->operands = 0;
	return true;
}

/* Where the secret begins in a value; a value without the character has none. */
static size_t secret_in_value(const char *value, size_t len, char after)
{
	const char *at = after ? memchr(value, after, len) : NULL;

	return !after ? 0 : at ? (size_t) (at + 1 - value) : len;
}

/* "-sSu": options without a value may stand in front of the letter of one. */
static bool ends_with_letter(const char *text, size_t len, char letter)
{
	for (size_t i = 1; i < len; i++)
		if (!trk__mask_is_alnum(text[i]))
			return false;
	return text[0] == '-' && len > 2 && text[len - 1] == letter;
}

/* Length of the option at text, up to its value if that is in the same argument; 0: another word.
 * `option` is one of the table and ends at a blank. */
static size_t option_length(const char *option, const char *text, char after)
{
	size_t n = strcspn(option, " ~!_"), len = trk__mask_word(text);
	bool is_letter = n == 2 && option[0] == '-', only_attached = option[n] == '~';
	bool has_more;

	if (strncmp(text, option, n) != 0)
		return is_letter && after && ends_with_letter(text, len, option[1]) ? len : 0;
	has_more = len > n || text[n] == '"' || text[n] == '\'';
	if (has_more && only_attached)
		return n;
	if (text[n] == '=')
		return n + 1;
	if (has_more && option[n] != '_')
		return is_letter || option[n - 1] == ':' ? n : 0;
	return only_attached || has_more ? 0 : n;
}

/* Masks the value at `at` of text. */
static bool mask_value(struct trk_mask *mask, const char *text, size_t at, char after, bool first,
		       struct trk_mask_found *ret)
{
	bool is_attached = at > 0 && text[at] != ' ';
	size_t len, skipped;
	char quote = '\0';

	if (text[at] == '\0') {
		mask->value_follows = TRK_SECRET_ANY;
		mask->value_after = after;
		return false;
	}
	at += strspn(text + at, " ");
	if (text[at] == '"' || text[at] == '\'')
		quote = text[at++];
	len = first && (is_attached || at == 0) ? strlen(text + at)
						: trk__mask_value(text + at, quote);
	if (after && text[at + len] == after)
		len += 1 + trk__mask_value(text + at + len + 1, quote);
	skipped = secret_in_value(text + at, len, after);
	*ret = (struct trk_mask_found){at + skipped, len - skipped, trk__mask_secret};
	return len > skipped;
}

/* "@": `aws configure set aws_secret_access_key VALUE`. */
static bool mask_named_operand(struct trk_mask *mask, const char *text, struct trk_mask_found *ret)
{
	size_t len = trk__mask_run(text, "_-.:/");
	enum trk_secret_kind kind = text[0] == '-' ? TRK_SECRET_NONE : trk__secret_name(text, len);

	if (!kind || (text[len] && text[len] != ' '))
		return false;
	if (text[len])
		return mask_value(mask, text, len, 0, false, ret);
	mask->value_follows = (unsigned char) kind;
	return false;
}

/* One item of the options of a row; it ends at a blank. */
static bool mask_item(struct trk_mask *mask, size_t row, const char *item, const char *text,
		      bool first, struct trk_mask_found *ret)
{
	size_t at;

	if (trk__mask_is_digit(item[0]))
		return text[0] != '-' &&
		       (item[1] == '+' ? mask->operands >= item[0] - '0'
				       : mask->operands == item[0] - '0') &&
		       mask_value(mask, text, 0, table[row].after, first, ret);
	if (item[0] == '@')
		return mask_named_operand(mask, text, ret);
	at = option_length(item, text, table[row].after);
	if (at == 0)
		return false;
	if (item[2] == '!')
		mask->programs = mask->verbs = 0;
	return mask_value(mask, text, at, table[row].after, first, ret);
}

bool trk__mask_program(struct trk_mask *mask, const char *text, bool first,
		       struct trk_mask_found *ret)
{
	size_t len = trk__mask_word(text);

	if (len == 0)
		return false;
	if (note(mask, text)) {
		if (text[0] != '-')
			return false;
		mask->value_follows = TRK_SECRET_NONE;
		*ret = (struct trk_mask_found){len, 0, ""};
		return true;
	}
	if (text[0] != '-' && mask->operands < UINT8_MAX)
		mask->operands++;
	for (size_t i = 0; i < PROGRAMS; i++) {
		if (!is_active(mask, i))
			continue;
		for (const char *item = table[i].options + 1; *item; item += strcspn(item, " ") + 1)
			if (mask_item(mask, i, item, text, first, ret))
				return true;
	}
	return false;
}
