// Measures a page in Chromium: first paint, the time until everything is shown, hovering and zooming.
//
//     browser.mjs FILE KIND     KIND: ours, raw (ours with its recording), peer or empty
//
// Prints medians in ms as JSON.
//
// Hovers and zooms are real input events, at full speed (hover_1) and with a CPU that is slowed down 4 times
// (hover_4). For each, Chromium's trace contains the frame in which the result was shown, the CPU time of the page's
// thread for that frame (input, script, style, layout, paint and commit), and whether another frame passed between the
// event and that frame (late). `closer` is the time to draw a detailed view once the pointer rests, at full speed.
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

// Traces what `act` does, which is called with 0 to count - 1, a rest after each.
async function traced(page, count, act) {
	const session = await browser.newBrowserCDPSession();
	const events = [];
	session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
	const done = new Promise((end) => session.once("Tracing.tracingComplete", end));
	await session.send("Tracing.start", { traceConfig: { includedCategories: ["devtools.timeline", "cc"] }, transferMode: "ReportEvents" });
	for (let i = 0; i < count; i++) {
		await act(i);
		await page.waitForTimeout(50);
	}
	await page.waitForTimeout(150);
	await session.send("Tracing.end");
	await done;
	await session.detach();
	return events.sort((a, b) => a.ts - b.ts);
}

// Of each event of this type: CPU time of the page's thread for the frame that shows it, with the handling of
// the event where that came before the frame, and the frames that began in between.
function framesOf(events, type) {
	const inputs = events.filter(({ name, args }) => name === "EventDispatch" && args.data.type === type);
	return inputs.map((input) => {
		const frames = events.filter(({ name, ph, tid, ts, dur }) => name === "ProxyMain::BeginMainFrame" && ph === "X" && tid === input.tid && ts + dur > input.ts);
		const commits = events.filter(({ name, tid, ts }) => name === "ProxyMain::BeginMainFrame::commit" && tid === input.tid && ts > input.ts);
		const at = frames.findIndex(({ ts, dur }) => commits[0].ts < ts + dur);
		const before = frames[at].ts > input.ts ? input.tdur : 0;
		return { work: (frames[at].tdur + before) / 1000, between: at };
	});
}

if (kind === "ours" || kind === "raw") {
	const page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, bypassCSP: true });
	await page.goto(pathToFileURL(path).href);
	const session = await page.context().newCDPSession(page);
	await page.locator("#charts").scrollIntoViewIfNeeded();
	await page.locator("#charts").focus();
	const box = await page.locator(".frame").nth(0).boundingBox();
	const hover = (i) => page.mouse.move(box.x + 100 + ((i * 37) % 900), box.y + 20);
	const zoom = (i) => page.keyboard.press(i % 2 ? "-" : "+");
	for (const [name, type, act] of [["hover", "pointermove", hover], ["zoom", "keydown", zoom]]) {
		for (const rate of [1, 4]) {
			await session.send("Emulation.setCPUThrottlingRate", { rate });
			await traced(page, 10, act);
			const found = framesOf(await traced(page, 60, act), type);
			result[`${name}_${rate}`] = median(found.map((each) => each.work));
			result[`${name}_${rate}_late`] = found.filter(({ between }) => between > 0).length;
		}
	}
	await session.send("Emulation.setCPUThrottlingRate", { rate: 1 });
	// From the key to the finest drawing of the middle half: with a rest of 120 ms in it.
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
