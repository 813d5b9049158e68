// Shared helpers of the tests in a browser: the program, recordings of every kind, and a real Chromium.
//
// Environment: RESOURCE_TRACKER_BIN and MAKE_RECORDINGS are the programs under test, E2E_PICTURES is a folder for
// screenshots (default: none are saved), CHROMIUM is the browser (default: /usr/bin/chromium).
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const { unpack, unpackChart } = await import(new URL("../../web/report/buckets.js", import.meta.url));
const require = createRequire(new URL("../../web/package.json", import.meta.url));
export const { chromium } = require("playwright-core");
export const { marked } = await import(pathToFileURL(require.resolve("marked")));
// The rules of axe whose findings depend on colours and width.
export const BY_LOOK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];
export const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const root = fileURLToPath(new URL("../..", import.meta.url));
export const program = process.env.RESOURCE_TRACKER_BIN ?? join(root, "build/resource-tracker");
const maker = process.env.MAKE_RECORDINGS ?? join(root, "build/tests/e2e/make_recordings");
export const pictures = process.env.E2E_PICTURES;
// Widths and colour schemes, in two pairs that have each of them. Pictures are of all pairs.
export function looksOf(wide, narrow) {
	const pairs = [[wide, "light"], [narrow, "dark"]];

	return pictures ? [...pairs, [wide, "dark"], [narrow, "light"]] : pairs;
}

export const folder = mkdtempSync(join(tmpdir(), "trk-e2e-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const environment = {
	...Object.fromEntries(
		Object.entries(process.env).filter(([name]) => !/^(RESOURCE_TRACKER_|TRACKER_|SLURM_)/.test(name)),
	),
	HOME: folder,
	XDG_CONFIG_HOME: join(folder, "config"),
	LC_ALL: "C.UTF-8",
};

// The program to its end, whatever its exit code.
export function run(...args) {
	return runWith({}, ...args);
}

// The same with more variables in its environment.
export function runWith(more, ...args) {
	try {
		const env = { ...environment, ...more };
		return execFileSync(program, args, { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
	} catch (error) {
		if (error.status === undefined) {
			throw error;
		}
		return error.stdout;
	}
}

export function start(...args) {
	return spawn(program, args, { env: environment, cwd: folder, stdio: "ignore", detached: true });
}

export function runFiles(state) {
	try {
		return readdirSync(join(state, "runs")).map((name) => join(state, "runs", name));
	} catch {
		return [];
	}
}

// A state folder with a made-up recording of this kind.
export function made(kind, seconds = 7200) {
	const state = join(folder, `made-${kind}-${seconds}`);
	if (!runFiles(state).length) {
		execFileSync(maker, [state, kind, String(seconds)]);
	}
	return state;
}

// The page of the newest run there, and the values of its charts.
export function report(state, ...args) {
	const path = `${state}.html`;
	run("report", "--recording", state, "-o", path, ...args);
	const html = readFileSync(path, "utf8");
	return { path, url: pathToFileURL(path).href, html, values: values(html) };
}

// The values of a page: {seconds, drawn, charts: [{title, top, series: [{mean, min, max}], areas: [[height of a bucket]]}]}.
function values(html) {
	const found = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html);
	if (!found) {
		return { charts: [] };
	}
	const data = JSON.parse(found[1]);
	const titles = [...html.matchAll(/<figure class="chart[^>]*><figcaption><strong>(.*?)<\/strong>/g)].map((each) => each[1]);
	const charts = data.charts.map((chart, i) => ({
		...chart,
		title: titles[i],
		series: unpackChart(chart, data.steps),
		areas: (chart.areas ?? []).map((text) => unpack(text, chart.top, data.steps)),
	}));
	return { ...data, charts };
}

// The mean of each drawn bucket, of values that are finer.
export function drawn(list, buckets) {
	const each = list.length / buckets;
	return Array.from({ length: buckets }, (_, i) => list.slice(i * each, (i + 1) * each).reduce((sum, value) => sum + value, 0) / each);
}

// What `show` prints about the newest run there.
export function shown(state) {
	return JSON.parse(run("show", "--recording", state, "--json").toString());
}

export function damage(file) {
	const bytes = readFileSync(file);
	bytes[Math.floor(bytes.length / 2)] ^= 0x55;
	writeFileSync(file, bytes);
}

let browser;
const windows = new Map();

// A window with these options. The report keeps nothing in the browser, so its pages share one: to open a window
// takes longer than to open and draw a page.
async function windowFor(options, shared) {
	const key = JSON.stringify(options);
	if (!shared || !windows.has(key)) {
		const context = await browser.newContext(options);
		if (!shared) {
			return context;
		}
		windows.set(key, context);
		context.on("close", () => windows.delete(key));
	}
	return windows.get(key);
}

export async function open(url, { script = true, width = 1280, scheme = "light", ...more } = {}) {
	browser ??= await chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-gpu"],
	});
	const options = { javaScriptEnabled: script, colorScheme: scheme, bypassCSP: more.bypassCSP, permissions: more.permissions };
	const context = await windowFor(options, url.startsWith("file:"));
	const page = await context.newPage();
	await page.setViewportSize({ width, height: 800 });
	page.troubles = [];
	page.asked = [];
	page.on("pageerror", (error) => page.troubles.push(error.message));
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type())) {
			page.troubles.push(message.text());
		}
	});
	page.on("request", (request) => page.asked.push(request.url()));
	await page.goto(url);
	return page;
}

export async function picture(page, name) {
	if (pictures) {
		await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
	}
}

// A view as a WebP picture, of a fifth of the size of a PNG.
export async function view(page, width, height, to) {
	const png = (await page.screenshot({ clip: { x: 0, y: 0, width, height } })).toString("base64");
	const url = await page.evaluate(async (data) => {
		const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
		const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
		canvas.getContext("2d").drawImage(image, 0, 0);
		return canvas.toDataURL("image/webp", 0.7);
	}, png);
	writeFileSync(to, Buffer.from(url.split(",")[1], "base64"));
}

export async function close() {
	await browser?.close();
	browser = undefined;
}

// Until the next frame has been painted.
export function frame(page) {
	return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
