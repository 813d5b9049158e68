/* A tool that runs during the build: it converts the text files of data/ to the image that the program embeds.
 *
 *     catalog_pack IMAGE ASSEMBLY TEXT…
 *
 * It writes the image to IMAGE, and to ASSEMBLY an assembler source that includes it (ELF, Mach-O, PE). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "catalog/text.h"

static int complain(const char *what, const char *why)
{
	(void) fprintf(stderr, "catalog_pack: %s%s%s\n", what, *what ? ": " : "", why);
	return 1;
}

static int write_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), error;

	if (fd < 0)
		return complain(path, "cannot write");
	error = trk__write_all(fd, data, len);
	trk__close(fd);
	return error < 0 ? complain(path, "cannot write") : 0;
}

static int add_file(struct trk_catalog_builder *b, const char *path)
{
	struct trk_error error = {.code = 0};
	char *text = NULL;
	ssize_t len = trk__read_all_at(AT_FDCWD, path, 64 << 20, &text);
	int r;

	if (len < 0)
		return complain(path, trk__strerror((int) len));
	r = trk__catalog_text_add(b, path, text, (size_t) len, &error);
	free(text);
	return r < 0 ? complain("", error.message) : 0;
}

int main(int argc, char **argv)
{
	struct trk_catalog_builder b;
	struct trk_catalog c;
	char *path, *text;
	int len, r = 0;

	if (argc < 4)
		return complain("", "usage: catalog_pack IMAGE ASSEMBLY TEXT...");
	trk__catalog_builder_init(&b);
	for (int i = 3; i < argc && r == 0; i++)
		r = add_file(&b, argv[i]);
	if (r == 0 && trk__catalog_builder_finish(&b, &c) < 0)
		r = complain("", "out of memory");
	trk__catalog_builder_release(&b);
	if (r != 0)
		return r;
	r = write_file(argv[1], c.image, c.image->size);
	trk__catalog_release(&c);
	path = realpath(argv[1], NULL);
	len = asprintf(&text,
		       "#ifdef __APPLE__\n"
		       "\t.section __TEXT, __const\n\t.balign 16\n\t.globl _trk__catalog_bytes\n"
		       "\t.private_extern _trk__catalog_bytes\n"
		       "_trk__catalog_bytes:\n\t.incbin \"%s\"\n"
		       "#elif defined(_WIN32)\n"
		       "\t.section .rdata, \"dr\"\n\t.balign 16\n\t.globl trk__catalog_bytes\n"
		       "trk__catalog_bytes:\n\t.incbin \"%s\"\n"
		       "#else\n"
		       "\t.section .rodata\n\t.balign 16\n\t.global trk__catalog_bytes\n"
		       "\t.hidden trk__catalog_bytes\n\t.type trk__catalog_bytes, %%object\n"
		       "trk__catalog_bytes:\n\t.incbin \"%s\"\n"
		       "\t.size trk__catalog_bytes, . - trk__catalog_bytes\n"
		       "\t.section .note.GNU-stack, \"\", %%progbits\n"
		       "#endif\n",
		       path ? path : argv[1], path ? path : argv[1], path ? path : argv[1]);
	if (r == 0)
		r = len < 0 ? complain("", "out of memory")
			    : write_file(argv[2], text, (size_t) len);
	free(path);
	if (len >= 0)
		free(text);
	return r;
}
