// Observes a changing page in a browser: look.mjs URL SECONDS STATE [PICTURE] It opens the page, waits until the page
// shows STATE or the time is over, and prints as JSON: the states that the page has shown, its number of charts, its
// further requests, and errors. The file in LOOK_SEEN is created as soon as the page has shown a state.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [url, seconds, wanted, picture] = process.argv.slice(2);

const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1200, height: 1500 } });
const seen = { states: [], charts: 0, requests: [], errors: [], misses: 0, failed: [] };
page.on("crash", () => seen.errors.push("the page crashed"));
page.on("requestfailed", (request) => seen.failed.push(request.failure()?.errorText));
page.on("pageerror", (error) => seen.errors.push(String(error)));
page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
page.on("request", (request) => seen.requests.push(request.url()));
await page.goto(url);
// A card server shows the card in a frame.
const card = () => page.frames().find((frame) => frame.url().includes("/card/")) ?? page.mainFrame();
for (const end = Date.now() + 1000 * seconds; Date.now() < end && seen.states.at(-1) !== wanted; ) {
	try {
		const state = await card().locator(".state").first().textContent({ timeout: 500 });
		if (seen.states.at(-1) !== state) {
			seen.states.push(state);
			if (process.env.LOOK_SEEN) {
				writeFileSync(process.env.LOOK_SEEN, "");
			}
		}
	} catch {
		seen.misses++; // it is being loaded again
	}
	await new Promise((done) => setTimeout(done, 100));
}
seen.charts = await card().locator("figure.chart").count();
seen.requests = [...new Set(seen.requests)].filter((request) => request !== url);
if (picture) {
	await page.screenshot({ path: picture });
}
await browser.close();
console.log(JSON.stringify(seen));
