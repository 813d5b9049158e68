/* Parses lines, fields and values of the output of nvidia-smi. */
#include "probe/gpu/nvidia_smi_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

#define MIB 1048576.0

enum { NUMBER_MAX = 32, FIELDS_MAX = 64 };

/* A part of the text. */
struct span {
	const char *at;
	size_t len;
};

enum kind { MEBIBYTES, PERCENT, PLAIN, MEGAHERTZ, BITS };

static struct span trimmed(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t' || *from == '\r'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
		to--;
	return (struct span){from, (size_t) (to - from)};
}

static struct span line_at(const char *text)
{
	return (struct span){text, strcspn(text, "\n")};
}

static bool is_word(struct span s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

static bool contains(struct span s, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= s.len; i++)
		if (strncasecmp(s.at + i, word, len) == 0)
			return true;
	return false;
}

static void copy_text(struct span s, char *to, size_t size)
{
	size_t n = s.len < size ? s.len : size - 1;

	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char) s.at[i] < ' ' ? ' ' : s.at[i];
	to[n] = '\0';
}

static bool integer_of(struct span s, uint64_t max, uint64_t *ret)
{
	char text[NUMBER_MAX];
	uint64_t value;

	if (s.len == 0 || s.len >= sizeof(text))
		return false;
	copy_text(s, text, sizeof(text));
	if (trk__parse_u64(text, &value) < 0 || value > max)
		return false;
	*ret = value;
	return true;
}

/* ---- comma-separated tables ---- */

/* Field separators are a comma and a blank: a comma between two digits is a decimal sign. */
static bool is_decimal_sign(const char *at, const char *start, const char *end)
{
	return at > start && at + 1 < end && at[-1] >= '0' && at[-1] <= '9' && at[1] >= '0' &&
	       at[1] <= '9';
}

static size_t split_fields(struct span line, struct span *field)
{
	const char *end = line.at + line.len, *from = line.at;
	size_t n = 0;

	for (const char *at = from; n < FIELDS_MAX; at++) {
		if (at < end && (*at != ',' || is_decimal_sign(at, line.at, end)))
			continue;
		field[n++] = trimmed(from, at);
		if (at == end)
			return n;
		from = at + 1;
	}
	return 0; /* no known table has so many columns */
}

/* "memory.total [MiB]" without the unit. */
static struct span bare_name(struct span head)
{
	for (size_t i = 0; i + 1 < head.len; i++)
		if (head.at[i] == ' ' && head.at[i + 1] == '[')
			return trimmed(head.at, head.at + i);
	return head;
}

/* Join the parts of a name with commas. False: the row does not match the head line. */
static bool join_name(struct span *field, size_t *n, size_t heads, size_t name)
{
	size_t extra = *n - heads;
	const char *end;

	if (*n == heads)
		return true;
	if (*n < heads || name >= heads)
		return false;
	end = field[name + extra].at + field[name + extra].len;
	field[name].len = (size_t) (end - field[name].at);
	for (size_t i = name + 1; i < heads; i++)
		field[i] = field[i + extra];
	*n = heads;
	return true;
}

/* ---- values ---- */

static struct trk_gpu_value no_number(struct span s)
{
	static const struct {
		const char *word;
		enum trk_gpu_why why;
	} words[] = {
		{"n/a", TRK_GPU_UNSUPPORTED},
		{"not supported", TRK_GPU_UNSUPPORTED},
		{"not found", TRK_GPU_UNSUPPORTED},
		{"deprecated", TRK_GPU_UNSUPPORTED},
		{"no data", TRK_GPU_UNSUPPORTED},
		{"permission", TRK_GPU_DENIED},
		{"lost", TRK_GPU_LOST},
		{"reset", TRK_GPU_LOST},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (contains(s, words[i].word))
			return trk__gpu_unknown(words[i].why);
	return trk__gpu_unknown(TRK_GPU_FAILED); /* [Unknown Error], ERR!, or any other text */
}

/* The factor of a unit, NaN if it does not fit the kind; no unit means the usual one. */
static double scale_of(enum kind kind, struct span unit)
{
	static const struct {
		enum kind kind;
		const char *unit;
		double scale;
	} units[] = {
		{MEBIBYTES, "", MIB},
		{MEBIBYTES, "MiB", MIB},
		{MEBIBYTES, "KiB", 1024},
		{MEBIBYTES, "B", 1},
		{MEBIBYTES, "GiB", 1024 * MIB},
		{PERCENT, "", 0.01},
		{PERCENT, "%", 0.01},
		{MEGAHERTZ, "", 1e6},
		{MEGAHERTZ, "MHz", 1e6},
		{PLAIN, "", 1},
		{PLAIN, "W", 1},
		{PLAIN, "C", 1},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].kind == kind && is_word(unit, units[i].unit))
			return units[i].scale;
	return NAN;
}

/* "0x0000000000000004" */
static struct trk_gpu_value to_bits(struct span s)
{
	char text[NUMBER_MAX];
	const char *hex = text + 2;
	uint64_t bits;

	if (s.len <= 2 || s.len >= sizeof(text) || s.at[0] != '0' || s.at[1] != 'x')
		return no_number(s);
	copy_text(s, text, sizeof(text));
	return trk__scan_hex(&hex, &bits) && !*hex ? trk__gpu_known((double) bits)
						   : trk__gpu_unknown(TRK_GPU_FAILED);
}

/* Number of leading digits and decimal signs. */
static size_t number_length(struct span s)
{
	size_t len = 0;

	while (len < s.len &&
	       ((s.at[len] >= '0' && s.at[len] <= '9') || s.at[len] == '.' || s.at[len] == ','))
		len++;
	return len;
}

static struct trk_gpu_value value_of(struct span s, enum kind kind)
{
	size_t len = number_length(s);
	char text[NUMBER_MAX];
	double value;

	if (kind == BITS)
		return to_bits(s);
	copy_text((struct span){s.at, len}, text, sizeof(text));
	for (char *sign = strchr(text, ','); sign; sign = NULL)
		*sign = '.';
	if (len == 0 || len >= sizeof(text) || trk__parse_decimal(text, &value) < 0)
		return no_number(s);
	value *= scale_of(kind, trimmed(s.at + len, s.at + s.len));
	if (!(value <= (kind == PERCENT ? 1 : 1e18)))
		return trk__gpu_unknown(TRK_GPU_FAILED);
	return trk__gpu_known(value);
}

/* ---- GPUs ---- */

enum column { NONE, INDEX, NAME, UUID, BUS, DRIVER, MIG, METRIC, PART }; /* PART: of a sum */

/* First the fields of the query. */
static const struct name {
	const char *text;
	enum column column;
	enum trk_gpu_metric metric;
	enum kind kind;
} names[] = {
	/* clang-format off */
	{"index",				INDEX,	0, PLAIN},
	{"uuid",				UUID,	0, PLAIN},
	{"pci.bus_id",				BUS,	0, PLAIN},
	{"driver_version",			DRIVER,	0, PLAIN},
	{"mig.mode.current",			MIG,	0, PLAIN},
	{"memory.total",			METRIC, TRK_GPU_MEMORY_TOTAL_METRIC, MEBIBYTES},
	{"memory.used",				METRIC, TRK_GPU_MEMORY_USED_METRIC, MEBIBYTES},
	{"utilization.gpu",			METRIC, TRK_GPU_UTILIZATION_METRIC, PERCENT},
	{"utilization.memory",			METRIC, TRK_GPU_MEMORY_ACTIVITY_METRIC, PERCENT},
	{"utilization.encoder",			METRIC, TRK_GPU_ENCODER_METRIC, PERCENT},
	{"utilization.decoder",			METRIC, TRK_GPU_DECODER_METRIC, PERCENT},
	{"temperature.gpu",			METRIC, TRK_GPU_TEMPERATURE_METRIC, PLAIN},
	{"power.draw",				METRIC, TRK_GPU_POWER_METRIC, PLAIN},
	{"clocks.sm",				METRIC, TRK_GPU_CLOCK_METRIC, MEGAHERTZ},
	{"clocks.mem",				METRIC, TRK_GPU_MEMORY_CLOCK_METRIC, MEGAHERTZ},
	{"clocks.max.sm",			METRIC, TRK_GPU_CLOCK_MAX_METRIC, MEGAHERTZ},
	{"clocks.max.mem",			METRIC, TRK_GPU_MEMORY_CLOCK_MAX_METRIC, MEGAHERTZ},
	{"fan.speed",				METRIC, TRK_GPU_FAN_METRIC, PERCENT},
	{"enforced.power.limit",		METRIC, TRK_GPU_POWER_LIMIT_METRIC, PLAIN},
	{"pcie.link.gen.current",		METRIC, TRK_GPU_PCIE_GENERATION_METRIC, PLAIN},
	{"pcie.link.width.current",		METRIC, TRK_GPU_PCIE_WIDTH_METRIC, PLAIN},
	{"ecc.errors.corrected.volatile.total",	METRIC, TRK_GPU_ECC_CORRECTED_METRIC, PLAIN},
	{"ecc.errors.uncorrected.volatile.total", METRIC, TRK_GPU_ECC_UNCORRECTED_METRIC, PLAIN},
	{"retired_pages.single_bit_ecc.count",	PART, TRK_GPU_RETIRED_PAGES_METRIC, PLAIN},
	{"retired_pages.double_bit.count",	PART, TRK_GPU_RETIRED_PAGES_METRIC, PLAIN},
	{"remapped_rows.correctable",		PART, TRK_GPU_REMAPPED_ROWS_METRIC, PLAIN},
	{"remapped_rows.uncorrectable",		PART, TRK_GPU_REMAPPED_ROWS_METRIC, PLAIN},
	{"clocks_event_reasons.active",		METRIC, TRK_GPU_THROTTLE_METRIC, BITS},
	{"clocks_throttle_reasons.active",	METRIC, TRK_GPU_THROTTLE_METRIC, BITS},
	{"name",				NAME,	0, PLAIN},
	/* other names of these */
	{"gpu_name",				NAME,	0, PLAIN},
	{"gpu_uuid",				UUID,	0, PLAIN},
	{"gpu_bus_id",				BUS,	0, PLAIN},
	{"clocks.current.sm",			METRIC, TRK_GPU_CLOCK_METRIC, MEGAHERTZ},
	{"clocks.current.memory",		METRIC, TRK_GPU_MEMORY_CLOCK_METRIC, MEGAHERTZ},
	{"clocks.max.memory",			METRIC, TRK_GPU_MEMORY_CLOCK_MAX_METRIC, MEGAHERTZ},
	/* clang-format on */
};

const char *trk__smi_field(int index)
{
	return names[index].text;
}

struct heads {
	const struct name *of[FIELDS_MAX];
	size_t count, name; /* name: the column that may have commas; count: none */
};

static const struct name *find_name(struct span head)
{
	struct span bare = bare_name(head);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_word(bare, names[i].text))
			return &names[i];
	return NULL;
}

static bool is_gpu_head(struct span line, struct heads *ret)
{
	struct span field[FIELDS_MAX];
	struct heads h = {.count = split_fields(line, field)};
	bool has_index = false;

	h.name = h.count;
	for (size_t i = 0; i < h.count; i++) {
		h.of[i] = find_name(field[i]);
		if (h.of[i] && h.of[i]->column == NAME)
			h.name = i;
		has_index |= h.of[i] && h.of[i]->column == INDEX;
	}
	if (has_index)
		*ret = h;
	return has_index;
}

/* The sum of two columns is known if both are. */
static void add_part(struct trk_gpu_value *sum, struct trk_gpu_value v)
{
	if (sum->why == TRK_GPU_NOT_ASKED)
		*sum = v;
	else if (sum->why == TRK_GPU_KNOWN)
		*sum = v.why == TRK_GPU_KNOWN ? trk__gpu_known(sum->value + v.value) : v;
}

static bool take_field(struct trk_smi_gpu *g, const struct name *n, struct span s)
{
	struct trk_gpu_device *d = &g->device;
	uint64_t number;

	switch (n->column) {
	case INDEX:
		if (!integer_of(s, 1023, &number))
			return false;
		g->index = (int) number;
		break;
	case NAME:
		copy_text(s, d->name, sizeof(d->name));
		break;
	case UUID:
		copy_text(s, d->uuid, sizeof(d->uuid));
		break;
	case BUS:
		copy_text(s, d->bus, sizeof(d->bus));
		break;
	case DRIVER:
		copy_text(s, d->driver, sizeof(d->driver));
		break;
	case MIG:
		d->mig = is_word(s, "Enabled");
		break;
	case PART:
		add_part(&d->metric[n->metric], value_of(s, n->kind));
		break;
	default:
		d->metric[n->metric] = value_of(s, n->kind);
	}
	return true;
}

static void explain_mig(struct trk_gpu_device *d)
{
	static const enum trk_gpu_metric shares[] = {
		TRK_GPU_UTILIZATION_METRIC, TRK_GPU_MEMORY_ACTIVITY_METRIC, TRK_GPU_ENCODER_METRIC,
		TRK_GPU_DECODER_METRIC};

	for (size_t i = 0; d->mig && i < sizeof(shares) / sizeof(shares[0]); i++)
		if (d->metric[shares[i]].why == TRK_GPU_UNSUPPORTED)
			d->metric[shares[i]] = trk__gpu_unknown(TRK_GPU_MIG);
}

static bool take_gpu(struct span line, const struct heads *h, struct trk_smi_gpu *ret)
{
	struct span field[FIELDS_MAX];
	size_t n = split_fields(line, field);
	struct trk_smi_gpu g;

	if (n == 0 || !join_name(field, &n, h->count, h->name))
		return false;
	g.index = 0;
	g.knows_shares = false;
	trk__gpu_init_device(&g.device, "nvidia");
	for (size_t i = 0; i < n; i++)
		if (h->of[i] && !take_field(&g, h->of[i], field[i]))
			return false;
	explain_mig(&g.device);
	*ret = g;
	return true;
}

int trk__smi_gpus_parse(const char *text, struct trk_smi_gpu *gpu, size_t max, size_t *ret_count)
{
	bool in_table = false, none = false;
	struct heads heads = {.count = 0};
	size_t n = 0;

	for (; *text && n < max; text = trk__skip_line(text)) {
		struct span line = line_at(text);

		none |= contains(line, "No devices were found");
		if (!in_table)
			in_table = is_gpu_head(line, &heads);
		else if (take_gpu(line, &heads, &gpu[n]))
			n++;
	}
	if (!in_table && !none)
		return -EBADMSG;
	*ret_count = n;
	return 0;
}

/* ---- errors ---- */

bool trk__smi_refused(const char *text, char *field, size_t size)
{
	const char *at = strstr(text, "Field \""), *end;

	if (!at)
		return false;
	at += strlen("Field \"");
	end = strchr(at, '"');
	if (!end || end == at || strncmp(end, "\" is not a valid field", 22) != 0 ||
	    (size_t) (end - at) >= size)
		return false;
	copy_text((struct span){at, (size_t) (end - at)}, field, size);
	return true;
}

void trk__smi_first_line(const char *text, char *to, size_t size)
{
	struct span line = {text, 0};

	for (; *text && line.len == 0; text = trk__skip_line(text)) {
		line = line_at(text);
		line = trimmed(line.at, line.at + line.len);
	}
	copy_text(line, to, size);
	for (; *to; to++)
		if ((unsigned char) *to > '~')
			*to = '?';
}

/* ---- compute processes ---- */

enum process_column { ON_GPU, PID, MEMORY, COMMAND, SM, ENCODER, DECODER, PROCESS_COLUMNS };

/* Where the columns of a table are; FIELDS_MAX: no such column. */
struct process_heads {
	size_t count, at[PROCESS_COLUMNS];
};

static bool find_columns(const struct span *field, size_t n, struct process_heads *ret)
{
	static const struct {
		const char *name;
		enum process_column column;
	} columns[] = {
		{"gpu_uuid", ON_GPU},
		{"gpu", ON_GPU},
		{"pid", PID},
		{"used_gpu_memory", MEMORY},
		{"used_memory", MEMORY},
		{"fb", MEMORY},
		{"process_name", COMMAND},
		{"name", COMMAND},
		{"sm", SM},
		{"enc", ENCODER},
		{"dec", DECODER},
	};
	struct process_heads h = {.count = n};

	for (int i = 0; i < PROCESS_COLUMNS; i++)
		h.at[i] = FIELDS_MAX;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
			if (is_word(bare_name(field[i]), columns[k].name))
				h.at[columns[k].column] = i;
	if (h.at[ON_GPU] == FIELDS_MAX || h.at[PID] == FIELDS_MAX)
		return false;
	*ret = h;
	return true;
}

static bool is_app_head(struct span line, struct process_heads *ret)
{
	struct span field[FIELDS_MAX];

	return find_columns(field, split_fields(line, field), ret);
}

static bool take_app(struct span line, const struct process_heads *h, struct trk_smi_process *ret)
{
	struct trk_smi_process p = {
		.index = -1, .bytes = NAN, .share = NAN, .encoder = NAN, .decoder = NAN};
	struct span field[FIELDS_MAX];
	size_t n = split_fields(line, field);
	uint64_t pid;

	if (n == 0 || !join_name(field, &n, h->count, h->at[COMMAND]) ||
	    !integer_of(field[h->at[PID]], INT32_MAX, &pid) || pid == 0 ||
	    field[h->at[ON_GPU]].len == 0)
		return false;
	copy_text(field[h->at[ON_GPU]], p.uuid, sizeof(p.uuid));
	p.pid = (pid_t) pid;
	if (h->at[MEMORY] < n)
		p.bytes = value_of(field[h->at[MEMORY]], MEBIBYTES).value;
	*ret = p;
	return true;
}

int trk__smi_apps_parse(const char *text, struct trk_smi_process *process, size_t max,
			size_t *ret_count)
{
	struct process_heads heads = {.count = 0};
	bool in_table = false, none = false;
	size_t n = 0;

	for (; *text && n < max; text = trk__skip_line(text)) {
		struct span line = line_at(text);

		none |= contains(line, "No running processes found");
		if (!in_table)
			in_table = is_app_head(line, &heads);
		else if (take_app(line, &heads, &process[n]))
			n++;
	}
	if (!in_table && !none)
		return -EBADMSG;
	*ret_count = n;
	return 0;
}

/* ---- pmon ---- */

static size_t words(struct span line, struct span *word)
{
	size_t n = 0;

	for (size_t i = 0; i < line.len && n < FIELDS_MAX;) {
		size_t start;

		while (i < line.len && (line.at[i] == ' ' || line.at[i] == '\t' ||
					line.at[i] == '\r' || line.at[i] == '#'))
			i++;
		start = i;
		while (i < line.len && line.at[i] != ' ' && line.at[i] != '\t' &&
		       line.at[i] != '\r')
			i++;
		if (i > start)
			word[n++] = (struct span){line.at + start, i - start};
	}
	return n;
}

static bool is_pmon_head(struct span line, struct process_heads *ret)
{
	struct span word[FIELDS_MAX];

	return find_columns(word, words(line, word), ret);
}

/* Values above 100 are invalid. '-' means 0 if the program has another figure for this process. */
static double percent_at(const struct span *word, size_t n, size_t column, bool dash_is_zero)
{
	uint64_t number;

	if (column >= n)
		return NAN;
	if (integer_of(word[column], 100, &number))
		return (double) number / 100;
	return dash_is_zero && is_word(word[column], "-") ? 0 : (double) NAN;
}

static bool take_pmon(struct span line, const struct process_heads *h, struct trk_smi_process *ret)
{
	struct trk_smi_process p = {.bytes = NAN};
	struct span word[FIELDS_MAX];
	size_t n = words(line, word);
	uint64_t gpu, pid, number;

	if (h->at[ON_GPU] >= n || h->at[PID] >= n || !integer_of(word[h->at[ON_GPU]], 1023, &gpu) ||
	    !integer_of(word[h->at[PID]], INT32_MAX, &pid) || pid == 0)
		return false;
	p.index = (int) gpu;
	p.pid = (pid_t) pid;
	p.is_idle = h->at[SM] < n && is_word(word[h->at[SM]], "-");
	p.share = percent_at(word, n, h->at[SM], false);
	p.encoder = percent_at(word, n, h->at[ENCODER], !isnan(p.share));
	p.decoder = percent_at(word, n, h->at[DECODER], !isnan(p.share));
	if (h->at[MEMORY] < n && integer_of(word[h->at[MEMORY]], UINT32_MAX, &number))
		p.bytes = (double) number * MIB;
	*ret = p;
	return true;
}

int trk__smi_pmon_parse(const char *text, struct trk_smi_process *process, size_t max,
			size_t *ret_count)
{
	struct process_heads heads;
	bool in_table = false;
	size_t n = 0;

	for (; *text && n < max; text = trk__skip_line(text)) {
		struct span line = line_at(text);

		if (line.len && line.at[0] == '#')
			in_table |= is_pmon_head(line, &heads);
		else if (in_table && take_pmon(line, &heads, &process[n]))
			n++;
	}
	if (!in_table)
		return -EBADMSG;
	*ret_count = n;
	return 0;
}

/* ---- instances ---- */

static bool take_uuid(struct span line, char *to, size_t size)
{
	static const char before[] = "(UUID: ";
	const char *end = line.at + line.len;

	for (const char *at = line.at; at + sizeof(before) - 1 < end; at++) {
		const char *close;

		if (memcmp(at, before, sizeof(before) - 1) != 0)
			continue;
		at += sizeof(before) - 1;
		close = memchr(at, ')', (size_t) (end - at));
		if (!close || close == at)
			return false;
		copy_text((struct span){at, (size_t) (close - at)}, to, size);
		return true;
	}
	return false;
}

/* "  MIG 1g.5gb     Device  0: (UUID: MIG-…)" */
static bool take_instance(struct span line, int gpu, struct trk_smi_instance *ret)
{
	struct trk_smi_instance instance = {.index = gpu};
	size_t len = 0;

	line = trimmed(line.at, line.at + line.len);
	if (line.len < 4 || memcmp(line.at, "MIG ", 4) != 0 ||
	    !take_uuid(line, instance.uuid, sizeof(instance.uuid)))
		return false;
	while (len + 6 <= line.len && memcmp(line.at + len, "Device", 6) != 0)
		len++;
	copy_text(trimmed(line.at, line.at + len), instance.name, sizeof(instance.name));
	*ret = instance;
	return true;
}

int trk__smi_list_parse(const char *text, struct trk_smi_instance *instance, size_t max,
			size_t *ret_count)
{
	int gpu = -1;
	size_t n = 0;

	for (; *text && n < max; text = trk__skip_line(text)) {
		struct span line = line_at(text);
		uint64_t number;
		size_t colon;

		if (line.len > 4 && !memcmp(line.at, "GPU ", 4)) {
			colon = strcspn(line.at + 4, ":\n");
			if (integer_of((struct span){line.at + 4, colon}, 1023, &number))
				gpu = (int) number;
		} else if (gpu >= 0 && take_instance(line, gpu, &instance[n])) {
			n++;
		}
	}
	if (gpu < 0)
		return -EBADMSG;
	*ret_count = n;
	return 0;
}
