/* Bytes that the disks of a Mac have read and written.
 *
 * Source: "Statistics" of each IOBlockStorageDriver in the registry of IOKit. The framework is
 * loaded at run time, with prototypes declared here; the build does not link against it. */
#ifndef TRK_PROBE_DARWIN_DISKS_H
#define TRK_PROBE_DARWIN_DISKS_H

#include <stdint.h>

#include "probe/linux/meter.h"

/* The functions of IOKit and CoreFoundation that are called. Objects of IOKit are Mach ports of 32
 * bits, those of CoreFoundation are pointers. */
struct trk_mac_iokit {
	void *(*match)(const char *class_name);
	int (*find)(uint32_t port, void *matching, uint32_t *ret_iterator); /* takes `matching` */
	uint32_t (*next)(uint32_t iterator);
	int (*id)(uint32_t entry, uint64_t *ret_id);
	const void *(*property)(uint32_t entry, const void *key, const void *allocator,
				uint32_t options);
	int (*release_object)(uint32_t object);
	const void *(*text)(const void *allocator, const char *text, uint32_t encoding);
	const void *(*value)(const void *dictionary, const void *key);
	unsigned char (*number)(const void *number, long type, void *ret);
	unsigned long (*type)(const void *object);
	unsigned long (*dictionary_type)(void);
	unsigned long (*number_type)(void);
	void (*release)(const void *object);
};

struct trk_mac_disks {
	struct trk_mac_iokit call;
	struct trk_meter meter;
	const void *statistics, *bytes_read, *bytes_written; /* keys; NULL: IOKit is missing */
};

/* Returns 0 or a negative errno; call _release in both cases. `call` NULL: load the framework. */
int trk__mac_disks_init(struct trk_mac_disks *d, const struct trk_mac_iokit *call);
void trk__mac_disks_release(struct trk_mac_disks *d);
/* Monotone totals since the first update, which returns 0 and 0. A mounted disk image counts as a
 * disk. Returns 0 or a negative errno; -ENODATA where IOKit lists no disk. */
int trk__mac_disks_update(struct trk_mac_disks *d, uint64_t *ret_read_bytes,
			  uint64_t *ret_write_bytes);

#endif
