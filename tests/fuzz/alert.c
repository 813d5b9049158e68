/* The list of sent alerts and an alert to send, read from files and variables. Invariants: what was
 * read can be written and reads back as the same; texts are one line. */
#include "alert/book.h"
#include "alert/deliver.h"

#include "fuzz.h"

enum { MAX = 16 * 1024 * 1024 };

static void check_line(const char *text)
{
	for (; *text; text++)
		FUZZ_CHECK((unsigned char) *text >= ' ' && *text != 127);
}

static void read_book(const char *text, size_t size)
{
	struct trk_alert_book book, again;
	struct trk_alert_message *m = malloc(sizeof(*m));
	const struct trk_alert_route route = {.kind = "mail", .key = 1};
	struct trk_buf first, second;

	FUZZ_CHECK(m && trk__alert_book_init(&book) == 0 && trk__alert_book_init(&again) == 0);
	trk__buf_init(&first, MAX);
	trk__buf_init(&second, MAX);
	if (trk__alert_book_read(text, size, &book, NULL) == 0) {
		trk__alert_book_write(&book, &first);
		FUZZ_CHECK(first.error == 0);
		FUZZ_CHECK(trk__alert_book_read(first.data, first.len, &again, NULL) == 0);
		trk__alert_book_write(&again, &second);
		FUZZ_CHECK(second.len == first.len &&
			   memcmp(first.data, second.data, first.len) == 0);
		for (size_t i = 0; i < book.count; i++) {
			check_line(book.entry[i].job);
			check_line(book.entry[i].text);
		}
		(void) trk__alert_book_collect(&book, &route, true, 1795348800, m);
	}
	trk__buf_release(&first);
	trk__buf_release(&second);
	trk__alert_book_release(&book);
	trk__alert_book_release(&again);
	free(m);
}

static void read_message(const char *text, size_t size)
{
	struct trk_alert_message *m = malloc(sizeof(*m));
	struct trk_buf b;

	FUZZ_CHECK(m != NULL);
	trk__buf_init(&b, MAX);
	if (trk__alert_message_read(text, size, m, NULL) == 0) {
		check_line(m->job);
		check_line(m->text);
		for (const struct trk_alert_sink *s = trk__alert_sinks; s->kind; s++)
			if (s->body)
				s->body(m, &b);
		trk__alert_mail(m, "a@b", "c@d", &b);
		FUZZ_CHECK(b.error == 0);
	}
	trk__buf_release(&b);
	free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	read_book(text, size);
	read_message(text, size);
	free(text);
	return 0;
}
