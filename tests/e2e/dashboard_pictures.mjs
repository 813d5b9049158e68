// The dashboard's pictures of the documentation, from a history that a program made up (make pictures):
//
//     node tests/e2e/dashboard_pictures.mjs OUT
//
// OUT gets dashboard-overview.png, dashboard-job.png and dashboard-alerts.png. The alerts are those that
// `alerts check` raises about this history.
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { close, folder, frame, open, program, run } from "./lib.mjs";

const AS_OF = "1795334400"; // 22 Nov 2026, 08:00 UTC
const [out] = process.argv.slice(2), state = join(folder, "fleet"), file = join(folder, "fleet.html");
const PAGES = [["overview", "", 1250], ["job", "#/job/job-000", 1100], ["alerts", "#/alerts", 620]];

execFileSync(process.env.MAKE_HISTORY ?? join(dirname(program), "tests/e2e/make_history"), [state, "1", "1.1"]);
run("internal", "alerts", "check", "--now", AS_OF, "--recording", state);
run("internal", "alerts", "silence", "--now", AS_OF, "--recording", state, "--job", "job-004", "--for", "3d", "--reason", "new image on Tuesday");
run("dashboard", "--recording", state, "--as-of", AS_OF, "--static", file);
for (const [name, hash, height] of PAGES) {
	const page = await open(pathToFileURL(file).href + hash, { width: 1400 });

	await page.waitForSelector("#app[data-ready]");
	await page.setViewportSize({ width: 1400, height });
	await frame(page);
	await page.screenshot({ path: join(out, `dashboard-${name}.png`) });
	await page.context().close();
}
await close();
