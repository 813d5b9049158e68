#include "probe/linux/dmi.h"

#include <stddef.h>
#include <string.h>

#include "base/file.h"

static void read_text(int sys_fd, const char *file, char text[TRK_DMI_TEXT])
{
	ssize_t len = trk__read_at(sys_fd, TRK_PATH("class/dmi/id/%s", file), text, TRK_DMI_TEXT);

	if (len < 0) /* longer texts are not used */
		text[0] = '\0';
	len = (ssize_t) strlen(text);
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
		text[--len] = '\0';
	for (char *c = text; *c; c++)
		if ((unsigned char) *c < 0x20 || (unsigned char) *c >= 0x7f)
			*c = '?';
}

void trk__dmi_read(int sys_fd, struct trk_dmi *ret)
{
	static const struct {
		const char *file;
		size_t offset;
	} files[] = {
		{"sys_vendor", offsetof(struct trk_dmi, sys_vendor)},
		{"product_name", offsetof(struct trk_dmi, product_name)},
		{"bios_vendor", offsetof(struct trk_dmi, bios_vendor)},
		{"bios_version", offsetof(struct trk_dmi, bios_version)},
		{"chassis_vendor", offsetof(struct trk_dmi, chassis_vendor)},
		{"chassis_asset_tag", offsetof(struct trk_dmi, chassis_asset_tag)},
		{"board_vendor", offsetof(struct trk_dmi, board_vendor)},
	};

	*ret = (struct trk_dmi){.known = false};
	if (sys_fd < 0)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		read_text(sys_fd, files[i].file, (char *) ret + files[i].offset);
	ret->known = ret->sys_vendor[0] || ret->product_name[0];
}
