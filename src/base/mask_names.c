/* Names of secrets: which option, variable or key has a password, token or key as its value.
 *
 * A name is divided into its words: db-pass, DB_PASS and dbPass are "db" and "pass". They are
 * judged from the last to the first, because the last one says what the name is about:
 * --secret-name has a name as its value, SECRET_KEY_BASE a secret. */
#include <string.h>
#include <strings.h>

#include "base/mask_private.h"

enum { WORDS_MAX = 12, WORD_SIZE = 32 };

/* Blanks around each word of a list. Words that the name of a secret may end with. */
static const char passwords[] =
	" password passwords passwd passphrase passcode secret apisecret mnemonic "
	"passwort kennwort motdepasse contraseña contraseÑa contrasena senha wachtwoord parola "
	"lösenord losenord passord adgangskode salasana hasło haslo heslo jelszó jelszo şifre "
	"пароль Пароль ПАРОЛЬ 密码 密碼 口令 パスワード 비밀번호 ";
/* They mean a secret as the last word alone; the first ones also at the end of a word: authtoken. */
static const char token_ends[] = " token signature credential credentials creds pass pwd pw ";
static const char tokens[] =
	" auth sig jwt psk wpapsk pin otp totp bearer sas cookie cred oauth masterauth authcode "
	"hmackey mdp passe clave sifre ";
/* A value of these names a file as often as it is the secret. */
static const char files[] = " credential credentials creds cred cookie pwd ";
/* "pass" at the end of these, or behind these, means something else: --low-pass, --compass. */
static const char no_pass[] = " by low high band com encom tres sur over under one two three multi "
			      "single first second all num per im no ";
/* "token" behind these is one of a text, or of a page of a list: --pad-token, --next-token. */
static const char no_token[] = " pad bos eos sep cls unk mask special start stop begin end blank "
			       "space newline image audio video prompt context first last next "
			       "page starting continuation delimiter lang language num per max ";
/* Which keys are secret: API_KEY, accountKey. */
static const char secret_keys[] =
	" api secret access shared preshared master signing encryption encrypt decryption cipher "
	"account auth license licence service subscription storage deploy admin client app "
	"application webhook hmac aes consumer activation registration write ingest "
	"instrumentation functions authorization authentication ";
static const char file_keys[] = " private priv ssh gpg pgp rsa host tls ssl ";
/* Services whose keys and personal access tokens are secret: --openai-key, GITHUB_PAT. */
static const char services[] =
	" openai anthropic claude gemini cohere mistral groq perplexity deepseek xai replicate "
	"huggingface hf fireworks openrouter elevenlabs deepgram assemblyai stability langsmith "
	"langchain langfuse pinecone weaviate qdrant elastic algolia wandb comet neptune clearml "
	"kaggle roboflow datadog dd newrelic sentry grafana honeycomb pagerduty opsgenie posthog "
	"amplitude mixpanel sendgrid mailgun mailchimp postmark twilio slack discord telegram "
	"stripe paypal braintree shopify aws azure gcp google firebase cloudflare digitalocean "
	"linode vultr heroku netlify vercel supabase tailscale ngrok mapbox github gh gitlab "
	"bitbucket devops ado jira atlassian confluence airtable figma npm pypi nuget rapidapi "
	"serpapi serper tavily ncbi entrez zenodo alchemy infura etherscan binance coinbase "
	"alphavantage finnhub quandl fred openweather openweathermap tmdb virustotal shodan ";
/* OPENAI_KEY is secret, as any NAME_KEY in capitals but these. */
static const char open_keys[] =
	" sort partition primary foreign public pub cache group join row index hash data s object "
	"bucket unique dataset kms job task run item record document entity metric config env "
	"natural surrogate template hot order lookup map dict shard cluster routing "
	"merge id field column feature idempotency dedup bind prefix translation ";
/* The name of a secret may go on with these: DB_PASSWORD_PROD, client-key-data, TOKEN_V2. */
static const char tails[] = " base data value string text plain plaintext raw b64 base64 hex json "
			    "pem prod production dev development test testing staging stage live "
			    "sandbox local old new current previous next primary secondary main "
			    "ro rw v ";
/* With these the name is about something else: --password-file, TOKEN_TYPE. */
static const char others[] =
	" file files filename path name names id ids url uri dir folder type kind length len size "
	"limit limits count counts min max policy policies ttl timeout expiry expires expiration "
	"age "
	"mode version stdin stdout fd env var variable variables prompt manager provider store "
	"backend source method format field fields column columns col header endpoint host port "
	"arn "
	"ref refs class index algorithm alg algo hasher to label labels namespace region prefix "
	"suffix pattern regex list scan scanning rotation sharing share strength expired required "
	"enabled disabled check change reset callback helper server mount volume template engine "
	"agent through jar generator validator validation rule rules score scope scopes audience "
	"issuer lifetime interval period cost level less rounds ";
/* --ask-pass and its like take no value. */
static const char questions[] =
	" no ask use require requires has have needs show skip without prompt print is should "
	"enable "
	"disable get read hide allow generate rotate list delete reset forget with ";
static const char literals[] =
	" true false yes no on off none null nil undefined str string bytes bool ";
static const char methods[] =
	" basic digest bearer ntlm negotiate oauth oauth2 kerberos gssapi ldap "
	"iam plain login md5 scram jwt password token s3 s3v4 hmac rsa ecdsa ed25519 pss sha256 ";

struct word {
	char text[WORD_SIZE]; /* lower case, without digits at its end; "" for digits alone */
	size_t len;
};

/* ASCII letters of either case are the same. */
static bool is_listed(const char *list, const char *word, size_t len)
{
	for (const char *item = list + 1; *item;) {
		size_t n = strcspn(item, " ");

		if (n == len && !strncasecmp(item, word, n))
			return true;
		item += n + 1;
	}
	return false;
}

/* The listed word at the end of w, or NULL; it begins in the list. */
static const char *listed_end(const char *list, const struct word *w)
{
	for (const char *item = list + 1; *item;) {
		size_t len = strcspn(item, " ");

		if (len <= w->len && !strncmp(w->text + w->len - len, item, len))
			return item;
		item += len + 1;
	}
	return NULL;
}

/* ---- words ---- */

/* Also a byte of a letter outside of ASCII. */
static bool is_in_word(char c)
{
	return trk__mask_is_alnum(c) || trk__mask_is_beyond_ascii(c);
}

/* Whether a word of the name begins here: dbPass, APIKey. */
static bool is_boundary(const char *text, size_t at, size_t len)
{
	return trk__mask_is_upper(text[at]) && (trk__mask_is_lower(text[at - 1]) ||
						(trk__mask_is_upper(text[at - 1]) && at + 1 < len &&
						 trk__mask_is_lower(text[at + 1])));
}

static void take_word(struct word *w, const char *text, size_t len)
{
	size_t cut;

	while (len > 0 && trk__mask_is_digit(text[len - 1]))
		len--;
	cut = len < WORD_SIZE ? 0 : len - WORD_SIZE + 1;
	w->len = len - cut;
	for (size_t i = 0; i < w->len; i++) {
		char c = text[cut + i];

		w->text[i] = trk__mask_is_upper(c) ? (char) (c - 'A' + 'a') : c;
	}
	w->text[w->len] = '\0';
}

/* Writes the words of the name, the last one first. Returns how many. */
static size_t words_of(const char *text, size_t len, struct word word[WORDS_MAX])
{
	size_t n = 0, at;

	for (size_t end = len; n < WORDS_MAX; end = at) {
		while (end > 0 && !is_in_word(text[end - 1]))
			end--;
		if (end == 0)
			break;
		at = end - 1;
		while (at > 0 && is_in_word(text[at - 1]) && !is_boundary(text, at, len))
			at--;
		take_word(&word[n++], text + at, end - at);
	}
	return n;
}

/* ---- names ---- */

static bool is_in_capitals(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (trk__mask_is_lower(text[i]))
			return false;
	return trk__mask_is_alnum(text[0]);
}

/* Of w, a key: what kind of key it is says its own beginning, or else the word before. */
static enum trk_secret_kind kind_of_key(const struct word *w, const struct word *before,
					bool is_last, bool in_capitals)
{
	struct word of = *w;
	size_t end = w->len >= 4 && w->text[w->len - 1] == 's' ? 4 : 3;

	if (w->len < end || strncmp(w->text + w->len - end, "keys", end) != 0)
		return TRK_SECRET_NONE;
	of.len -= end;
	of.text[of.len] = '\0';
	if (of.len == 0)
		of = *before;
	if (listed_end(secret_keys, &of))
		return TRK_SECRET_ANY;
	if (is_last && (listed_end(file_keys, &of) || is_listed(services, of.text, of.len)))
		return TRK_SECRET_FILE;
	return is_last && in_capitals && end == 3 && of.len &&
			       !is_listed(open_keys, of.text, of.len)
		       ? TRK_SECRET_FILE
		       : TRK_SECRET_NONE;
}

/* Whether a listed word is in front of the last `end` characters of w. */
static bool is_behind(const char *list, const struct word *w, size_t end, const struct word *before)
{
	struct word rest = *w;

	rest.len -= end;
	rest.text[rest.len] = '\0';
	if (rest.len == 0)
		rest = *before;
	return is_listed(list, rest.text, rest.len);
}

/* Of w, which is the last word of a name except for its tails. */
static enum trk_secret_kind kind_of_last(const struct word *w, const struct word *before)
{
	const char *end = listed_end(token_ends, w);
	bool is_pat = !strcmp(w->text, "pat") && is_listed(services, before->text, before->len);

	if (!end && !is_pat && !is_listed(tokens, w->text, w->len))
		return TRK_SECRET_NONE;
	if (end && !strncmp(end, "pass ", 5) && is_behind(no_pass, w, strlen("pass"), before))
		return TRK_SECRET_NONE;
	if (end && !strncmp(end, "token ", 6) && is_behind(no_token, w, strlen("token"), before))
		return TRK_SECRET_NONE;
	return listed_end(files, w) ? TRK_SECRET_FILE : TRK_SECRET_WORD;
}

enum trk_secret_kind trk__secret_name(const char *text, size_t len)
{
	static const struct word none;
	struct word word[WORDS_MAX];
	size_t n = len < 2 ? 0 : words_of(text, len, word);
	bool is_last = true, in_capitals = is_in_capitals(text, len);

	if (text[0] == '-' && n > 0 && is_listed(questions, word[n - 1].text, word[n - 1].len))
		return TRK_SECRET_NONE;
	for (size_t i = 0; i < n; i++) {
		const struct word *w = &word[i], *before = i + 1 < n ? w + 1 : &none;
		enum trk_secret_kind kind = listed_end(passwords, w)
						    ? TRK_SECRET_ANY
						    : kind_of_key(w, before, is_last, in_capitals);

		if (!kind && is_last)
			kind = kind_of_last(w, before);
		if (kind)
			return kind;
		if (is_listed(others, w->text, w->len))
			return TRK_SECRET_NONE;
		is_last = is_last && (w->len == 0 || is_listed(tails, w->text, w->len));
	}
	return TRK_SECRET_NONE;
}

/* ---- values ---- */

/* --pass 2, auth=0.5, --signature v4 */
static bool is_small_number(const char *value, size_t len)
{
	size_t start = value[0] == 'v' && len > 1, n = start;

	while (n < len && (trk__mask_is_digit(value[n]) || value[n] == '.'))
		n++;
	return n == len && len - start <= (memchr(value, '.', len) ? 6 : 2);
}

/* A word in brackets: --password '<password>', --token '[MASK]'. */
static bool is_in_brackets(const char *value, size_t len)
{
	char end = value[0] == '<' ? '>' : value[0] == '[' ? ']' : '\0';

	return end && len > 2 && value[len - 1] == end &&
	       trk__mask_run(value + 1, "_-|/ ") == len - 2;
}

/* A path, or a name with an extension. */
static bool is_file(const char *value, size_t len)
{
	size_t at = len;

	while (at > 0 && trk__mask_is_alnum(value[at - 1]))
		at--;
	return strchr("/.~@", value[0]) || !strncmp(value, "file:", 5) ||
	       (at > 1 && value[at - 1] == '.' && len - at >= 2 && len - at <= 4);
}

bool trk__secret_is_plain(enum trk_secret_kind kind, const char *value, size_t len)
{
	if (len == 0 || is_listed(literals, value, len) || is_in_brackets(value, len))
		return true;
	return kind != TRK_SECRET_ANY &&
	       (is_small_number(value, len) ||
		(kind == TRK_SECRET_WORD ? is_listed(methods, value, len) : is_file(value, len)));
}
