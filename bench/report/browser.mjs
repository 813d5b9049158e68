// First paint, the time until all is shown, a hover and a zoom of a page in Chromium: browser.mjs FILE KIND, where KIND is ours, peer or
// empty. Prints medians in ms as JSON. Hover and zoom are taken at 4 times slower CPU: from the event to
// the frame after it, beside the time that the script itself needs.
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

if (kind === "ours") {
	const page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, bypassCSP: true });
	await page.goto(pathToFileURL(path).href);
	const session = await page.context().newCDPSession(page);
	await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
	await page.locator("#charts").scrollIntoViewIfNeeded();
	const box = await page.locator(".frame").nth(0).boundingBox();
	// What the script and the rendering take for one frame, by the clock of the page.
	const cost = (action) =>
		page.evaluate(async (code) => {
			const times = [];
			for (let i = 0; i < 21; i++) {
				await new Promise((done) => requestAnimationFrame(done));
				const before = performance.now();
				new Function("i", code)(i);
				await new Promise((done) => {
					const channel = new MessageChannel();
					channel.port1.onmessage = done;
					requestAnimationFrame(() => channel.port2.postMessage(0));
				});
				times.push(performance.now() - before);
			}
			return times.sort((a, b) => a - b)[10];
		}, action);
	await page.mouse.move(box.x + 300, box.y + 20);
	const move = "const f=document.querySelector('.frame'),b=f.getBoundingClientRect();f.dispatchEvent(new PointerEvent('pointermove',{clientX:b.x+100+i*20,clientY:b.y+9,bubbles:true}))";
	const zoom = "document.getElementById('charts').dispatchEvent(new KeyboardEvent('keydown',{key:i%2?'+':'-',bubbles:true}))";
	result.idle = await cost("0");
	result.hover = await cost(move);
	result.zoom = await cost(zoom);
}
await browser.close();
console.log(JSON.stringify(result));
