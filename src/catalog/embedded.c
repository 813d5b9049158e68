/* The image that the build made from data/ (embedded.S holds its bytes). */
#include "catalog/catalog.h"

extern const char trk__catalog_bytes[];

void trk__catalog_embedded(struct trk_catalog *ret)
{
	*ret = (struct trk_catalog){.image = (const void *) trk__catalog_bytes};
}
