/* Vendor and product names from the firmware.
 *
 * Source: /sys/class/dmi/id (x86 and ARM servers with SMBIOS). Serial numbers are not read: most
 * are readable by root only, and none is needed. */
#ifndef TRK_PROBE_LINUX_DMI_H
#define TRK_PROBE_LINUX_DMI_H

#include <stdbool.h>

#include "model/server.h"

/* Texts are empty where unknown. */
struct trk_dmi {
	char sys_vendor[TRK_DMI_TEXT], product_name[TRK_DMI_TEXT];
	char bios_vendor[TRK_DMI_TEXT], bios_version[TRK_DMI_TEXT];
	char chassis_vendor[TRK_DMI_TEXT], chassis_asset_tag[TRK_DMI_TEXT];
	char board_vendor[TRK_DMI_TEXT];
	bool known; /* the directory exists and names a vendor or a product */
};

/* sys_fd: directory descriptor of /sys (borrowed), or -1. */
void trk__dmi_read(int sys_fd, struct trk_dmi *ret);

#endif
