#include "probe/darwin/disks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/dynamic.h"

enum { DISKS_MAX = 256 };
enum { UTF8 = 0x08000100, SIGNED_64_BITS = 4 }; /* kCFStringEncodingUTF8, kCFNumberSInt64Type */

static int load(struct trk_mac_iokit *call)
{
	const struct trk_symbol wanted[] = {
		{"IOServiceMatching", &call->match},
		{"IOServiceGetMatchingServices", &call->find},
		{"IOIteratorNext", &call->next},
		{"IORegistryEntryGetRegistryEntryID", &call->id},
		{"IORegistryEntryCreateCFProperty", &call->property},
		{"IOObjectRelease", &call->release_object},
		{"CFStringCreateWithCString", &call->text},
		{"CFDictionaryGetValue", &call->value},
		{"CFNumberGetValue", &call->number},
		{"CFGetTypeID", &call->type},
		{"CFDictionaryGetTypeID", &call->dictionary_type},
		{"CFNumberGetTypeID", &call->number_type},
		{"CFRelease", &call->release},
	};
	/* Symbols of CoreFoundation, a dependency, are found through this handle. It stays
	 * loaded. */
	void *handle = trk__library_load("/System/Library/Frameworks/IOKit.framework/IOKit", wanted,
					 sizeof(wanted) / sizeof(wanted[0]));

	return handle ? 0 : -ENOENT;
}

int trk__mac_disks_init(struct trk_mac_disks *d, const struct trk_mac_iokit *call)
{
	int r = 0;

	*d = (struct trk_mac_disks){.statistics = NULL};
	trk__meter_init(&d->meter, DISKS_MAX);
	if (call)
		d->call = *call;
	else
		r = load(&d->call);
	if (r < 0)
		return r;
	d->statistics = d->call.text(NULL, "Statistics", UTF8);
	d->bytes_read = d->call.text(NULL, "Bytes (Read)", UTF8);
	d->bytes_written = d->call.text(NULL, "Bytes (Write)", UTF8);
	return d->statistics && d->bytes_read && d->bytes_written ? 0 : -ENOMEM;
}

void trk__mac_disks_release(struct trk_mac_disks *d)
{
	const void *const keys[] = {d->statistics, d->bytes_read, d->bytes_written};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i])
			d->call.release(keys[i]);
	d->statistics = d->bytes_read = d->bytes_written = NULL;
	trk__meter_release(&d->meter);
}

static bool read_number(const struct trk_mac_disks *d, const void *dictionary, const void *key,
			uint64_t *ret)
{
	const void *number = d->call.value(dictionary, key);
	int64_t value = 0;

	if (!number || d->call.type(number) != d->call.number_type() ||
	    !d->call.number(number, SIGNED_64_BITS, &value) || value < 0)
		return false;
	*ret = (uint64_t) value;
	return true;
}

/* A driver without statistics, such as of an empty card reader, adds nothing. */
static void take_disk(struct trk_mac_disks *d, uint32_t disk)
{
	const void *statistics = d->call.property(disk, d->statistics, NULL, 0);
	struct trk_meter_member *member;
	uint64_t id, in = 0, out = 0;
	char name[TRK_METER_NAME];
	bool is_new;

	if (statistics && d->call.type(statistics) == d->call.dictionary_type() &&
	    d->call.id(disk, &id) == 0 && read_number(d, statistics, d->bytes_read, &in) &&
	    read_number(d, statistics, d->bytes_written, &out)) {
		int len = snprintf(name, sizeof(name), "%" PRIu64, id);

		member = trk__meter_find(&d->meter, name, (size_t) len, &is_new);
		if (member) {
			member->counted = true;
			trk__meter_take(&d->meter, member, is_new, in, out);
		}
	}
	if (statistics)
		d->call.release(statistics);
}

int trk__mac_disks_update(struct trk_mac_disks *d, uint64_t *ret_read_bytes,
			  uint64_t *ret_write_bytes)
{
	uint32_t disks, disk;
	void *matching;

	if (!d->bytes_written)
		return -ENODATA;
	matching = d->call.match("IOBlockStorageDriver");
	if (!matching || d->call.find(0, matching, &disks) != 0)
		return -EIO;
	trk__meter_begin(&d->meter);
	while ((disk = d->call.next(disks)) != 0) {
		take_disk(d, disk);
		(void) d->call.release_object(disk);
	}
	(void) d->call.release_object(disks);
	(void) trk__meter_end(&d->meter);
	if (d->meter.count == 0 && d->meter.in + d->meter.out == 0)
		return -ENODATA;
	*ret_read_bytes = d->meter.in;
	*ret_write_bytes = d->meter.out;
	return 0;
}
