// First paint, the time until all is shown, a hover and a zoom of a page in Chromium: browser.mjs FILE KIND,
// where KIND is ours, raw (ours with its recording), peer or empty. Prints medians in ms as JSON. Hover and
// zoom are taken at 4 times slower CPU: from the event to the frame after it, and what that frame costs the
// page's thread beyond a frame in which nothing happens; and at full speed what a closer drawing takes once
// the hand rests.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [, , path, kind] = process.argv;
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
const rounds = kind === "peer" ? 1 : 5;

const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu"],
});

async function firstPaint() {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, offline: true });
	const page = await context.newPage();
	await page.goto(pathToFileURL(path).href, { timeout: 300000 });
	const paint = await page.waitForFunction(
		() => performance.getEntriesByType("paint").find((each) => each.name === "first-contentful-paint")?.startTime,
		undefined,
		{ timeout: 300000 },
	);
	const first = await paint.jsonValue();
	// Until the page is loaded, its scripts have run and a frame has been painted after them.
	const all = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))));
	await context.close();
	return { first, all };
}

const paints = [];
for (let i = 0; i < rounds; i++) {
	paints.push(await firstPaint());
}
const result = { paint: median(paints.map((each) => each.first)), shown: median(paints.map((each) => each.all)) };

// One event a frame; `times` of it, and what the thread of the page worked for each.
async function events(page, session, code, count) {
	const used = async () => {
		const { metrics } = await session.send("Performance.getMetrics");
		return metrics.find((each) => each.name === "TaskDuration").value * 1000;
	};
	const before = await used();
	const times = await page.evaluate(
		async ([text, n]) => {
			const act = new Function("i", text);
			const found = [];
			for (let i = 0; i < n; i++) {
				await new Promise((done) => requestAnimationFrame(done));
				const start = performance.now();
				act(i);
				await new Promise((done) => {
					const channel = new MessageChannel();
					channel.port1.onmessage = done;
					requestAnimationFrame(() => channel.port2.postMessage(0));
				});
				found.push(performance.now() - start);
			}
			return found;
		},
		[code, count],
	);
	return { times, work: ((await used()) - before) / count };
}

if (kind === "ours" || kind === "raw") {
	const page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, bypassCSP: true });
	await page.goto(pathToFileURL(path).href);
	const session = await page.context().newCDPSession(page);
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	await page.locator("#charts").scrollIntoViewIfNeeded();
	const box = await page.locator(".frame").nth(0).boundingBox();
	await page.mouse.move(box.x + 300, box.y + 20);
	const hover = `document.querySelector('.frame').dispatchEvent(new PointerEvent('pointermove',{clientX:${box.x}+100+(i*37)%900,clientY:9,bubbles:true}))`;
	const zoom = "document.getElementById('charts').dispatchEvent(new KeyboardEvent('keydown',{key:i%2?'-':'+',bubbles:true}))";
	const acts = { idle: "0", hover, zoom };
	const found = { idle: { times: [], work: [] }, hover: { times: [], work: [] }, zoom: { times: [], work: [] } };
	await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
	for (let round = 0; round < 6; round++) {
		for (const [name, code] of Object.entries(acts)) {
			const { times, work } = await events(page, session, code, 12);
			if (round > 0) {
				found[name].times.push(...times);
				found[name].work.push(work);
			}
		}
	}
	for (const name of Object.keys(acts)) {
		result[name] = median(found[name].times);
		result[`${name}_work`] = median(found[name].work);
	}
	await session.send("Emulation.setCPUThrottlingRate", { rate: 1 });
	// From the key to the finest drawing of the middle half: with a rest of 120 ms in it.
	await page.keyboard.press("Tab");
	result.closer = await page.evaluate(async (wanted) => {
		const charts = document.getElementById("charts");
		const range = document.getElementById("range");
		const press = (key) => charts.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
		press("0");
		await new Promise((done) => setTimeout(done, 500));
		const start = performance.now();
		const path = document.querySelector(".plot .line").getAttribute("d");
		press("+");
		while (document.querySelector(".plot .line").getAttribute("d") === path || (wanted === "raw" && !range.textContent.includes("sample"))) {
			await new Promise((done) => setTimeout(done, 2));
		}
		return performance.now() - start;
	}, kind);
}
await browser.close();
console.log(JSON.stringify(result));
