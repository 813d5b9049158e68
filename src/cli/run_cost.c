#include "cli/run_cost.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/catalog_files.h"
#include "report/cost.h"
#include "report/infer.h"

void cli_run_cost(void *data, struct trk_record *record)
{
	struct cli_catalog_choice choice = {.quiet = true};
	struct cli_catalog *catalog;

	(void) data;
	if (!record->place.has_cloud || !record->place.cloud.vendor[0])
		return;
	catalog = calloc(1, sizeof(*catalog));
	if (catalog && cli_catalog_load(&choice, catalog) == 0) {
		(void) trk__infer_type(&catalog->c, &record->place.server, &record->place.cloud);
		if (trk__cost_of_run(&catalog->c, record, &record->place.cloud,
				     &record->place.cost) == 0)
			record->place.has_cost = true;
		trk__catalog_release(&catalog->c);
	} else {
		record->place.has_cost = true;
		(void) snprintf(record->place.cost.reason, sizeof(record->place.cost.reason),
				"the catalogue cannot be read: resource-tracker catalog info");
	}
	free(catalog);
}
