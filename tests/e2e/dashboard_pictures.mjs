// Takes the pictures of the dashboard for the documentation, from a synthetic history (make pictures):
//
//     node tests/e2e/dashboard_pictures.mjs OUT
//
// It writes dashboard-overview.webp, dashboard-job.webp and dashboard-alerts.webp to OUT. `alerts check` raises the
// alerts for this history.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { close, folder, frame, open, program, run, view } from "./lib.mjs";

const AS_OF = "1795334400"; // 22 Nov 2026, 08:00 UTC
const [out] = process.argv.slice(2), state = join(folder, "fleet"), file = join(folder, "fleet.html");
const PAGES = [["overview", "", 1460], ["job", "#/job/feature-store", 1000], ["alerts", "#/alerts", 720]];
// Jobs with names that say something, and how much more some of them request than they did.
const JOBS = {
	"000": ["feature-store", 1], "001": ["nightly-embeddings", 1], "002": ["dedup-corpus", 1], "003": ["tokenize-shards", 1],
	"004": ["filter-quality", 1], "005": ["elevation-backfill", 1], "006": ["train-lora", 1], "013": ["backtest-eu", 3], "021": ["joint-genotype", 2],
	"034": ["var-montecarlo", 4], "047": ["train-detector", 2], "055": ["churn-score", 4], "068": ["traffic-model", 3], "079": ["match-orders", 2],
};
const RENAME = `
import json, sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    for at, (name, more) in json.loads(sys.argv[2]).items():
        db.execute("""UPDATE run SET job = ?1, command = 'python ' || replace(?1, '-', '_') || '.py', request_cpu = request_cpu * ?2,
            limit_cpu = limit_cpu * ?2, request_memory_mib = request_memory_mib * ?2, limit_memory_mib = limit_memory_mib * ?2,
            capacity = format('%g requested --cpus\n%g requested --mem\nnan unknown \nnan unknown \n', request_cpu * ?2,
            request_memory_mib * ?2) WHERE job = 'job-' || ?3""", (name, more, at))
`;

execFileSync(process.env.MAKE_HISTORY ?? join(dirname(program), "tests/e2e/make_history"), [state, "1", "1.1"]);
execFileSync("/usr/bin/python3", ["-c", RENAME, join(state, "history.sqlite"), JSON.stringify(JOBS)]);
run("internal", "alerts", "check", "--now", AS_OF, "--recording", state);
run("internal", "alerts", "silence", "--now", AS_OF, "--recording", state, "--job", "filter-quality", "--for", "3d", "--reason", "new image on Tuesday");
run("dashboard", "--recording", state, "--as-of", AS_OF, "--static", file);
for (const [name, hash, height] of PAGES) {
	const page = await open(pathToFileURL(file).href + hash, { width: 1400, bypassCSP: true });

	await page.waitForSelector("#app[data-ready]");
	await page.setViewportSize({ width: 1400, height });
	await frame(page);
	await view(page, 1400, height, join(out, `dashboard-${name}.webp`));
	await page.context().close();
}
await close();
