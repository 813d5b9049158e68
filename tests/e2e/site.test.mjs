// Tests the site of the documentation in a real browser. axe must find no problem: in light colours on a desktop, and in
// dark colours on a phone, with only the rules that depend on colours and width. No page may be wider than the window of a
// phone, the search must find pages, and no request may leave the machine.
//
// Environment: SITE is an existing site; by default, mkdocs of build/venv-python builds one. With EVERY_PAGE, axe examines
// every page, else a few that have all elements of the theme.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createReadStream, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { axeSource, BY_LOOK, close, folder, frame, open, picture } from "./lib.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const site = process.env.SITE ?? join(folder, "site");
const types = {
	".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json",
	".svg": "image/svg+xml", ".png": "image/png",
};
let server;
let home;

before(async () => {
	if (!process.env.SITE) {
		execFileSync(join(root, "build/venv-python/bin/python"),
			["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site],
			{ cwd: root, env: { ...process.env, NO_MKDOCS_2_WARNING: "1" }, stdio: ["ignore", "ignore", "inherit"] });
	}
	server = createServer((request, response) => {
		const path = join(site, normalize(decodeURIComponent(new URL(request.url, home).pathname)));
		const there = statSync(path, { throwIfNoEntry: false })?.isFile();
		response.writeHead(there ? 200 : 404, { "content-type": types[extname(path)] ?? "application/octet-stream" });
		if (there) {
			createReadStream(path).pipe(response);
		} else {
			response.end();
		}
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	home = `http://127.0.0.1:${server.address().port}`;
});

after(async () => {
	await close();
	server?.close();
});

const pages = () => readdirSync(site, { recursive: true })
	.filter((name) => name.endsWith(".html") && name !== "404.html").sort();

async function findings(page, rules) {
	await page.evaluate(axeSource);
	const found = await page.evaluate((only) => globalThis.axe.run(only ? { runOnly: only } : {}), rules);
	return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html).join(" ")}`);
}

const FEW = ["index.html", "install.html", "cli.html", "performance.html", "api/tracker.html"];
const every = Boolean(process.env.EVERY_PAGE);
for (const [scheme, width, rules] of [["light", 1280], ["dark", 390, BY_LOOK]]) {
	test(`axe finds nothing on ${every ? "any page" : "a few pages"}, ${scheme}, ${width} pixels wide`, async () => {
		const page = await open(`${home}/index.html`, { scheme, width });
		const found = {};
		for (const name of every || width < 400 ? pages() : FEW) {
			await page.goto(`${home}/${name}`);
			await frame(page);
			assert.equal(await page.locator("body").getAttribute("data-md-color-scheme"),
				scheme === "dark" ? "slate" : "default");
			const wide = await page.evaluate(() => document.documentElement.scrollWidth);
			const list = [...(every || FEW.includes(name) ? await findings(page, rules) : []), ...(wide > width ? [`${wide} pixels wide`] : [])];
			if (list.length) {
				found[name] = list;
			}
			await picture(page, `site-${name.replaceAll("/", "-")}-${scheme}-${width}`);
		}
		assert.deepEqual(found, {});
		assert.deepEqual(page.troubles, []);
		assert.deepEqual(page.asked.filter((url) => !url.startsWith(home) && !url.startsWith("data:")), []);
		await page.context().close();
	});
}

test("the search finds the page that has the words", async () => {
	const page = await open(`${home}/index.html`);
	for (const [words, wanted] of [["out of memory", "killed.html"], ["init container", "install.html"],
		["process_cpu_queue", "columns.html"]]) {
		await page.locator(".md-search__input").fill("");
		await page.locator(".md-search__input").pressSequentially(words);
		const found = page.locator(`.md-search-result__link[href*="${wanted}"]`).first();
		await found.waitFor({ state: "attached", timeout: 120_000 });
	}
	assert.deepEqual(page.troubles, []);
	await page.context().close();
});

test("the home page shows a report and a recording of a terminal", async () => {
	const page = await open(`${home}/index.html`);
	for (const name of ["demo.svg", "gallery/pipeline.webp"]) {
		const loaded = await page.locator(`img[src$="${name}"]`)
			.evaluate(async (image) => (await image.decode(), image.naturalWidth));
		assert.ok(loaded > 300, name);
	}
	await page.context().close();
});
