// Tests the report in a real Chromium: its contents, its functions, and its accessibility.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { axeSource, close, damage, drawn, folder, frame, looksOf, made, marked, open, picture, program, report, run, runFiles, runWith, start } from "./lib.mjs";

after(close);

// ---- states ----

function tracked(name, flags, command) {
	const state = join(folder, name);
	run("run", "--recording", state, "-q", "-i", "0.1", "-n", name, ...flags, "--", ...command);
	return state;
}

async function until(condition) {
	for (let i = 0; i < 200 && !condition(); i++) {
		await new Promise((done) => setTimeout(done, 50));
	}
	assert.ok(condition(), "it did not come about");
}

async function startedRun(name) {
	const state = join(folder, name);
	const tracker = start("run", "--recording", state, "-q", "-i", "0.1", "-n", name, "--", "sleep", "60");
	await until(() => {
		const [file] = runFiles(state);
		return file && readFileSync(file).length > 3000;
	});
	return { state, tracker };
}

// A group that is gone already is no trouble.
function end(tracker) {
	try {
		process.kill(-tracker.pid, "SIGKILL");
	} catch {
		// gone
	}
}

const states = {
	finished: [() => tracked("finished", [], ["sleep", "0.5"]), "\u2713 exit 0", "Not enough data"],
	failed: [() => tracked("failed", [], ["sh", "-c", "sleep 0.5; exit 3"]), "\u2717 exit 3", "never lowers it"],
	killed: [() => tracked("killed", [], ["sh", "-c", "sleep 0.5; kill -9 $$"]), "signal 9 (KILL)", "ended the job"],
	timeout: [() => tracked("timeout", ["--timeout", "0.5s"], ["sleep", "9"]), "timeout", "was still running when"],
	oom: [() => made("oom"), "out of memory", "The kernel killed the job because it ran out of memory, at a limit of 32 GiB"],
	none: [() => made("none"), "exit 0", "No sample was taken, so there is nothing to draw."],
	one: [() => made("one"), "exit 0", "it shows a moment, not a course"],
	gpu: [() => made("gpu"), "exit 0", "Video memory"],
	"no-gpu": [() => made("steps"), "exit 0", "Not measured in this run: GPU use, Video memory, GPUs in use."],
	"unknown-cloud": [() => made("steps"), "exit 0", "does not describe its server or cloud"],
	gaps: [() => made("gaps"), "exit 0", "2 gaps, 24 m 0 s in all"],
	clock: [() => made("clock"), "exit 0", "The wall clock was set back 1 time"],
	many: [() => made("many"), "exit 0", "within noise"],
	hostile: [() => made("hostile"), "exit 0", "<img src=x onerror=alert(1)>"],
	recovered: [
		() => {
			const state = tracked("recovered", [], ["sleep", "1"]);
			damage(runFiles(state)[0]);
			return state;
		},
		"exit 0",
		"This recording was damaged: 1 place in it could not be read",
	],
};

async function looksRight(page) {
	assert.deepEqual(page.troubles, []);
	assert.equal(page.asked.length, 1, "one request: itself");
	const { wide, scrolled } = await page.evaluate(() => ({
		wide: document.documentElement.scrollWidth - innerWidth,
		scrolled: [...document.querySelectorAll(".scroll")]
			.map((box) => box.firstChild)
			.filter((table) => table.offsetWidth > table.parentNode.clientWidth && table.className !== "slices")
			.map((table) => table.className),
	}));
	assert.ok(wide <= 0, `the page is ${wide} px wider than the window`);
	assert.deepEqual(scrolled, [], "no table is wider than its place");
}

async function pictures(url, name, judge = () => {}) {
	const page = await open(url);
	for (const [width, scheme] of looksOf(1280, 390)) {
		page.troubles.length = page.asked.length = 0;
		await page.setViewportSize({ width, height: 800 });
		await page.emulateMedia({ colorScheme: scheme });
		await page.goto(url);
		await judge(page);
		await looksRight(page);
		await picture(page, `${name}-${width}-${scheme}`);
	}
	await page.close();
}

describe("each state has words of its own", () => {
	for (const [name, [make, chip, words]] of Object.entries(states)) {
		test(name, async () => {
			const { url } = report(make());
			await pictures(url, name, async (page) => {
				assert.match(await page.locator(".state").innerText(), new RegExp(chip.replace(/[()]/g, "\\$&")));
				// On phones sections are folded: their text is there, and shown on demand.
				assert.ok((await page.locator("body").textContent()).replace(/\s+/g, " ").includes(words), words);
			});
		});
	}

	test("a live page that is written no more says since when", async () => {
		const { state, tracker } = await startedRun("stale");
		try {
			const { path, html } = report(state);
			const shown = async (secondsAgo, options) => {
				const last = Math.floor(Date.now() / 1000) - secondsAgo;
				writeFileSync(path, html.replace("<html", `<html data-live="2.000" data-last="${last}.000"`));
				const page = await open(pathToFileURL(path).href, options);
				assert.deepEqual(page.troubles, []);
				return { page, since: new Date(1000 * last).toISOString().slice(0, 19).replace("T", " ") };
			};
			let { page } = await shown(50);
			assert.equal(await page.locator(".stale").count(), 0);
			let since;
			({ page, since } = await shown(70));
			assert.match(await page.locator(".stale").innerText(), new RegExp(`^No news since ${since} UTC: the job,`));
			await looksRight(page);
			await picture(page, "stale");
			({ page } = await shown(70, { script: false }));
			assert.match(await page.locator(".trouble").innerText(), /, as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, and/);
		} finally {
			end(tracker);
		}
	});

	test("still running, and then its tracker dies", async () => {
		const { state, tracker } = await startedRun("interrupted");
		try {
			let page = await open(report(state).url);
			assert.match(await page.locator(".state").innerText(), /still running/);
			assert.match(await page.locator(".trouble").innerText(), /they will change/);
			await pictures(page.url(), "running");
			process.kill(tracker.pid, "SIGKILL");
			await until(() => tracker.signalCode !== null);
			page = await open(report(state).url);
			assert.match(await page.locator(".state").innerText(), /no end recorded/);
			assert.match(await page.locator(".trouble").innerText(), /how the job ended is not known/);
			await pictures(page.url(), "tracker-died");
		} finally {
			end(tracker);
		}
	});
});

// ---- reading ----

describe("reading", () => {
	const plain = (text) => text.replace(/\s+/g, " ").trim();
	// Tables without those of the timeline and of the next request, whose contents Markdown has in other forms.
	const tables = (page) =>
		page.evaluate(() =>
			[...document.querySelectorAll("table")].filter((table) => !table.closest("#timeline, #next")).map((table) =>
				[...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.replace(/\s+/g, " ").trim())),
			),
		);
	const texts = (page, selector) => page.locator(selector).allTextContents().then((list) => list.map(plain));

	for (const kind of ["many", "gpu", "oom", "hostile", "one", "none"]) {
		test(`page and Markdown say the same, cell by cell: ${kind}`, async () => {
			const state = made(kind);
			const { url } = report(state);
			const page = await open(url, { script: false });
			const cells = await tables(page);
			assert.ok(cells.flat(2).length > 20, `${cells.flat(2).length} cells`);
			const sentences = await texts(page, "main section:not(#timeline) > p:not(.help):not(.lead)");
			const figures = await texts(page, ".chart .stats.job");
			const [[title], [end], [lead]] = await Promise.all(["h1", ".state", "#verdict .lead"].map((each) => texts(page, each)));
			// The bars are as long as they say.
			const bars = await page.evaluate(() =>
				[...document.querySelectorAll("table.resources .bar")].map((bar) => {
					const tick = bar.querySelector(".tick");
					return [tick ? tick.x.baseVal.value / 102 : bar.querySelector(".fill").width.baseVal.value / 104, bar.closest("td").textContent];
				}),
			);
			for (const [at, text] of bars) {
				assert.ok(Math.abs(at - Math.min(1, parseFloat(text.replace("<", "")) / 100)) < (text.includes("<") ? 0.012 : 0.007), `bar of ${text}: ${at}`);
			}

			const markdown = run("report", "--recording", state, "--format", "md").toString();
			assert.ok(markdown.length < 1 << 20);
			const rendered = marked.parse(markdown, { gfm: true });
			await page.setContent(`<!doctype html><html lang="en"><title>x</title><body>${rendered}`);
			const odd = await page.evaluate(() => [...document.querySelectorAll("body *")].filter((each) => !/^(H[12]|P|UL|LI|STRONG|BLOCKQUOTE|PRE|CODE|TABLE|THEAD|TBODY|TR|TH|TD)$/.test(each.tagName)).map((each) => each.outerHTML));
			assert.deepEqual(odd, [], "neither HTML nor a link came in");
			const found = (await tables(page)).map((rows) => rows.map((row) => row.map((cell) => cell.replace(/^[\u2588\u2591]+ /, ""))));
			assert.deepEqual(found, cells.map((rows) => rows.slice(0, 40)));
			const said = plain(await page.locator("body").textContent());
			for (const sentence of [...sentences, ...figures, lead.replace(/^\S /, "")]) {
				assert.ok(said.includes(sentence), sentence);
			}
			assert.equal(plain(await page.locator("h1").textContent()), `${title}: ${end}`);
			assert.equal(await page.locator("h2").count(), 8);
			await picture(page, `markdown-${kind}`);
		});
	}

	test("the charts' figures are those of the table", async () => {
		const page = await open(report(made("many")).url, { script: false });
		const rows = await page.locator("table.resources tbody tr").evaluateAll((list) => list.slice(0, 2).map((row) => [...row.cells].map((cell) => cell.textContent)));
		const titles = await page.locator("table.resources thead th").allTextContents();
		const charts = await page.locator(".chart .stats.job").allTextContents();
		rows.forEach((row, i) => {
			const [, mean, p95, peak, unit] = /mean (\S+), p95 (\S+), peak (\S+) (\S+)/.exec(charts[i]);
			for (const [column, figure] of [["Mean", mean], ["p95", p95], ["Peak", peak]]) {
				const [value, of = unit] = row[titles.indexOf(column)].split(" ");
				const factor = of === unit ? 1 : 1 / 1024; // MiB in a chart of GiB
				assert.ok(Math.abs(value * factor - figure) <= 0.01 + figure / 100, `${row[0]} ${column}: ${value} ${of} is not ${figure} ${unit}`);
			}
		});
	});

	test("all of it can be read without the script", async () => {
		const page = await open(report(made("steps")).url, { script: false });
		assert.equal(await page.locator("figure .line.job").count(), 4);
		assert.equal(await page.locator(".tools").isVisible(), false);
		assert.equal(await page.locator("#sizing .copy").isVisible(), false);
		await page.getByText("Lines to paste").click();
		assert.match(await page.locator("#snippet-slurm").innerText(), /#SBATCH --mem=/);
		await page.getByText("The charts as a table").click();
		assert.equal(await page.locator("table.slices tbody tr").count(), 24);
		await picture(page, "without-script");
	});

	test("the parts stand in their order, with every chart", async () => {
		const { url } = report(made("gpu"));
		const parts = ["timeline", "processes", "sizing", "wall_time", "changed", "servers", "machine", "measured"];
		const page = await open(url, { script: false });
		assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("main section")].map((part) => part.id)), ["verdict", "next", ...parts]);
		const charts = ["CPU", "Memory", "Disk read", "Disk write", "Disk space", "Network in", "Network out", "GPU use", "Video memory", "GPUs in use"];
		assert.deepEqual(await page.locator("figcaption > strong").allTextContents(), charts);
	});

	test("the next request stands beside the verdict, as in the table", async () => {
		const page = await open(report(made("steps")).url);
		const rows = (table) => page.locator(`${table} tbody tr`).evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)));
		const next = (await page.locator("table.resources thead th").allTextContents()).indexOf("Next request");
		const asked = (await rows("table.resources")).map((row) => [row[0], row[1], row[next]]).filter((row) => row[2] !== "\u2014");
		assert.ok(asked.length >= 2);
		assert.deepEqual(await rows("#next"), asked);
		assert.equal(await page.locator("#next button").count(), 2);
		const [verdict, box] = await Promise.all(["#verdict", "#next"].map((part) => page.locator(part).boundingBox()));
		assert.ok(box.x >= verdict.x + verdict.width && box.y === verdict.y);
	});

	test("no page with a request and a limit of different kinds is wider than a narrow phone", async () => {
		const state = join(folder, "narrow");
		run("run", "--recording", state, "-q", "-i", "0.1", "--limit", "mem=400MiB", "--", "sleep", "0.5");
		for (const width of [320, 360]) {
			const page = await open(report(state).url, { width });
			assert.match(await page.locator("#next").innerText(), /400 MiB limit/);
			assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width}`);
		}
	});

	test("a name stands in each area that has room, and not in a closer view", async () => {
		const state = join(folder, "names");
		run("run", "--recording", state, "-q", "-i", "0.1", "--", "sh", "-c", "for i in 1 2 3 4 5 6; do head -c 200000000 /dev/zero | sort -S 100M | tail -c 1 > /dev/null; done");
		const page = await open(report(state).url);
		const names = page.locator(".levels .program");
		assert.ok((await names.allTextContents()).includes("sort"));
		const outside = await names.evaluateAll((all) => all.filter((name) => {
			const [a, b] = [name, name.closest(".frame")].map((each) => each.getBoundingClientRect());
			return a.width === 0 || a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom;
		}).length);
		assert.equal(outside, 0);
		await page.locator("#zoom-in").click();
		await page.waitForFunction(() => document.querySelector(".window"));
		assert.equal(await names.evaluateAll((all) => all.filter((name) => name.getBoundingClientRect().width).length), 0);
	});

	test("64 MiB of address space suffice for a day", () => {
		const state = made("steps", 86400);
		const page = execFileSync("prlimit", ["--as=67108864", program, "report", "--recording", state, "-o", "-"], { stdio: ["ignore", "pipe", "pipe"] });
		assert.ok(page.length > 50000);
	});

	test("a page of a day, and of ten days, is no larger than 150 kB", () => {
		const day = report(made("many", 86400)).html.length;
		const ten = report(made("gpu", 864000)).html.length;
		assert.ok(day <= 150000, `${day} bytes`);
		assert.ok(ten <= 150000, `${ten} bytes`);
	});
});

// ---- doing ----

const shownTicks = (page) => page.evaluate(() => [...document.querySelectorAll(".axis text")].filter((tick) => tick.getBoundingClientRect().width).map((tick) => tick.textContent));

const boxes = (page) => page.evaluate(() => [...document.querySelectorAll(".plot")].map((plot) => plot.getAttribute("viewBox") && `${plot.viewBox.baseVal.x.toFixed(2)} ${plot.viewBox.baseVal.width.toFixed(2)}`));

async function view(page) {
	await frame(page);
	const all = new Set(await boxes(page));
	assert.equal(all.size, 1, "all charts show the same range");
	const [x, width] = [...all][0].split(" ").map(Number);
	return { from: x / 720, to: (x + width) / 720 };
}

const near = (a, b) => assert.ok(Math.abs(a - b) < 0.01, `${a} is not ${b}`);

async function drag(page, from, to) {
	const box = await page.locator(".frame").nth(2).boundingBox();
	const y = box.y + box.height / 2;
	await page.mouse.move(box.x + box.width * from, y);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * ((from + to) / 2), y);
	await page.mouse.move(box.x + box.width * to, y);
	await page.mouse.up();
}

describe("doing", () => {
	const steps = () => report(made("steps"));

	test("a drag zooms all charts at once, a double click shows all again", async () => {
		const page = await open(steps().url);
		await page.locator(".frame").nth(2).scrollIntoViewIfNeeded();
		await drag(page, 0.25, 0.5);
		let range = await view(page);
		near(range.from, 0.25);
		near(range.to, 0.5);
		await page.getByText("02:30 to 03:00; a point is").waitFor();
		const ticks = await shownTicks(page);
		assert.ok(ticks.includes("02:35") && ticks.includes("02:55"), ticks.join(" "));
		assert.ok(ticks.every((tick) => /^0[23]:[0-5][05]$/.test(tick)), ticks.join(" "));
		await picture(page, "zoomed");
		await page.locator(".frame").nth(2).dblclick();
		range = await view(page);
		near(range.to - range.from, 1);
		await page.waitForFunction(() => document.getElementById("range").textContent === "");
	});

	test("the range stands in the address and comes back from it", async () => {
		const { url } = steps();
		const page = await open(url);
		await page.locator(".frame").nth(2).scrollIntoViewIfNeeded();
		await drag(page, 0.25, 0.5);
		await page.waitForURL(/#t=/);
		const address = page.url();
		assert.match(address, /#t=\d+\.\d,\d+\.\d$/);
		const again = await open(address);
		const range = await view(again);
		near(range.from, 0.25);
		near(range.to, 0.5);
		for (const odd of ["#t=5,1", "#t=x", "#sizing", "#t=1e9,2e9"]) {
			const other = await open(url + odd);
			const { from, to } = await view(other);
			assert.ok(from >= 0 && to <= 1.001 && to > from, odd);
			assert.deepEqual(other.troubles, []);
		}
	});

	test("the line shows the value of every chart at that moment", async () => {
		const { url, values } = steps();
		const page = await open(url);
		await page.locator("#charts").scrollIntoViewIfNeeded();
		const box = await page.locator(".frame").nth(0).boundingBox();
		await page.mouse.move(box.x + box.width * 0.5 + 1, box.y + 20);
		await frame(page);
		const reads = await page.locator(".read").allInnerTexts();
		assert.equal(reads.length, values.charts.length);
		assert.match(await page.locator(".moment").innerText(), /^03:00:0\d \u00b7 \S+$/, "the time once, and the phase");
		values.charts.forEach((chart, i) => {
			const shown = Number(/^(?:< )?([\d.]+)/.exec(reads[i])[1]);
			const value = drawn(chart.series[0].mean, values.drawn)[180];
			assert.ok(Math.abs(shown - value) <= Math.max(0.06, value * 0.01), `${chart.title}: ${shown} is not ${value}`);
		});
		assert.equal(await page.locator(".cursor > div:visible").count(), reads.length);
		await picture(page, "crosshair");
		await page.mouse.move(2, 2);
		await frame(page);
		assert.equal(await page.locator(".cursor > div:visible").count(), 0);
	});

	test("the keyboard does all of it", async () => {
		const page = await open(steps().url);
		for (let i = 0; i < 60 && (await page.evaluate(() => document.activeElement.id)) !== "charts"; i++) {
			await page.keyboard.press("Tab");
		}
		assert.equal(await page.evaluate(() => document.activeElement.id), "charts");
		await page.keyboard.press("ArrowRight");
		await frame(page);
		const first = await page.locator(".read").first().innerText();
		await page.keyboard.press("Shift+ArrowRight");
		await frame(page);
		assert.notEqual(await page.locator(".read").first().innerText(), first);
		await page.keyboard.press("+");
		await page.keyboard.press("+");
		let range = await view(page);
		near(range.to - range.from, 0.25);
		await page.keyboard.press("-");
		range = await view(page);
		near(range.to - range.from, 0.5);
		await page.keyboard.press("0");
		range = await view(page);
		near(range.to - range.from, 1);
		for (let i = 0; i < 20; i++) {
			await page.keyboard.press("+");
		}
		range = await view(page);
		assert.ok(range.to - range.from > 0.01, "four buckets are the narrowest view");
		await page.keyboard.press("Home");
		range = await view(page);
		near(range.from, 0);
	});

	test("what follows the hand is drawn while its event is handled, and touches little", async () => {
		const page = await open(steps().url);
		const session = await page.context().newCDPSession(page);
		await session.send("Performance.enable");
		const layouts = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "LayoutCount").value;
		const seen = await page.evaluate(() => {
			const { left, top, width } = document.querySelector(".frame").getBoundingClientRect();
			const observer = new MutationObserver(() => {});
			const touched = () => [...new Set(observer.takeRecords().map(({ target, type }) => (type === "characterData" ? `text of ${target.parentElement.getAttribute("class") || target.parentElement.parentElement.getAttribute("class")}` : `${type} of ${target.getAttribute("class")}`)))].sort();
			const move = (share) => document.querySelector(".frame").dispatchEvent(new PointerEvent("pointermove", { clientX: left + share * width, clientY: top + 9, bubbles: true }));
			const line = () => new DOMMatrix(document.querySelector(".cursor").style.transform).e / width;
			move(0.1);
			observer.observe(document, { subtree: true, attributes: true, characterData: true, childList: true });
			move(0.4);
			const hover = { at: line(), text: document.querySelector(".moment").textContent, touched: touched() };
			document.getElementById("charts").dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
			const zoom = { width: document.querySelector(".plot").viewBox.baseVal.width / 720, touched: touched() };
			return { hover, zoom };
		});
		near(seen.hover.at, 0.4);
		assert.match(seen.hover.text, /^02:48:\d\d /);
		assert.deepEqual(seen.hover.touched, ["attributes of cursor", "attributes of moment", "text of moment", "text of read"]);
		near(seen.zoom.width, 0.5);
		const few = /^(attributes of (plot|cursor|boxes|whole|brief|bare|tick|when|moment)|text of when)$/;
		assert.deepEqual(seen.zoom.touched.filter((each) => !few.test(each)), []);
		// Neither asks for a layout of its own.
		const before = await layouts();
		await page.evaluate(() => {
			const frame = document.querySelector(".frame");
			for (let i = 0; i < 100; i++) {
				frame.dispatchEvent(new PointerEvent("pointermove", { clientX: 100 + 7 * i, clientY: 9, bubbles: true }));
				document.getElementById("charts").dispatchEvent(new KeyboardEvent("keydown", { key: i % 2 ? "-" : "+", bubbles: true }));
			}
		});
		const forced = (await layouts()) - before;
		assert.ok(forced < 10, `${forced} layouts`);
	});

	test("a closer view is drawn from finer values, and says how fine", async () => {
		const { url } = report(made("many", 86400));
		const page = await open(url);
		const points = () => page.evaluate(() => document.querySelector(".plot .line.job").getAttribute("d").match(/[MLlh]/g).length);
		const whole = await page.locator(".plot .line.job").first().getAttribute("d");
		await page.goto(`${url}#t=43200,50400`);
		await page.waitForFunction(() => document.getElementById("range").textContent.endsWith("a point is 1 m 20 s"));
		assert.ok((await points()) >= 90, "two hours of 80 seconds");
		await page.locator("#reset").click();
		await page.waitForFunction((path) => document.querySelector(".plot .line.job").getAttribute("d") === path, whole);
		await page.waitForFunction(() => document.getElementById("range").textContent === "");
	});

	for (const kind of ["steps", "gaps", "gpu"]) {
		test(`with the recording in the page a closer view shows every sample: ${kind}`, async () => {
			const state = made(kind, 7200);
			const page = await open(report(state, "--embed-raw").url);
			run("export", "--recording", state, "--format", "jsonl", "-o", join(folder, "samples"));
			const samples = readFileSync(join(folder, "samples"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
			const data = JSON.parse(await page.locator("#data").textContent());
			// The gap is from 2400 to 3120 s.
			const [from, to] = kind === "gaps" ? [2370, 3150] : [2400, 2460];
			await page.goto(`${page.url()}#t=${from},${to}`);
			await page.waitForFunction(() => document.getElementById("range").textContent.endsWith("every sample is shown"));
			// Each sample is a vertex of the line, at its place and height.
			const lines = await page.evaluate(() => [...document.querySelectorAll(".plot")].map((plot) => plot.querySelector(".line.job, .line.alone").getAttribute("d")));
			let seen = 0;
			data.charts.forEach((chart, i) => {
				const [name, factor, amount] = chart.columns[0];
				const vertices = [...lines[i].matchAll(/[ML]([\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [(x / 720) * data.seconds, y]);
				for (const sample of samples) {
					const place = sample.elapsed_s - sample.interval_s / 2;
					if (place < from || place > to) {
						continue;
					}
					const value = sample[name] / factor / (amount ? sample.interval_s : 1);
					const y = 160 - (value / chart.top) * 160;
					assert.ok(vertices.some(([x, h]) => Math.abs(x - place) < 0.1 && Math.abs(h - y) < 0.2), `${chart.unit} ${name} at ${place}: ${value}`);
					seen++;
				}
				assert.equal(lines[i].match(/M/g).length, kind === "gaps" ? 2 : 1, "a gap is open");
			});
			assert.ok(seen >= 59 * data.charts.length, `${seen} samples`);
			assert.deepEqual(page.troubles, []);
			await picture(page, `every-sample-${kind}`);
		});
	}

	test("a window has figures and an axis of its own", async () => {
		const { url, values } = steps();
		const page = await open(url);
		const whole = await page.locator(".chart .stats.job").allTextContents();
		const levels = () => page.evaluate(() => [...document.querySelectorAll(".levels")].map((each) => each.textContent));
		const before = await levels();
		await page.evaluate(() => (location.hash = "#t=0,900"));
		await page.waitForFunction(() => document.querySelector(".stats.job").textContent.startsWith("window: "));
		const { series, top } = values.charts[0];
		const end = Math.round((900 / values.seconds) * series[0].mean.length);
		const most = Math.max(...series[0].max.slice(0, end));
		const mean = series[0].mean.slice(0, end).reduce((sum, each) => sum + each, 0) / end;
		const shown = /mean ([\d.]+), p95 ([\d.]+), peak ([\d.]+) cores/.exec(await page.locator(".stats.job").first().textContent()).map(Number);
		assert.ok(Math.abs(shown[1] - mean) < 0.06 && Math.abs(shown[3] - most) < 0.06, `${shown} is not ${mean}, ${most}`);
		assert.ok(shown[2] >= shown[1] && shown[2] <= shown[3]);
		const seen = await page.evaluate(() => document.querySelector(".plot").viewBox.baseVal.height / 166);
		near(seen * top, Math.min(top, 1.15 * most));
		assert.notDeepEqual(await levels(), before);
		// The same part in the terminal.
		const { stats } = JSON.parse(run("stats", "--recording", made("steps"), "--until", "900", "--json").toString());
		["mean", "p95", "max"].forEach((key, i) => assert.ok(Math.abs(stats.process_cpu_usage[key] - shown[i + 1]) < 0.06, `${key}: ${stats.process_cpu_usage[key]} is not ${shown[i + 1]}`));
		const memory = /mean ([\d.]+), p95 ([\d.]+), peak ([\d.]+) GiB/.exec(await page.locator(".stats.job").nth(1).textContent()).map(Number);
		["mean", "p95", "max"].forEach((key, i) => assert.ok(Math.abs(stats.process_memory_mib[key] / 1024 - memory[i + 1]) <= 0.01 + memory[i + 1] / 100, `${key}: ${stats.process_memory_mib[key]} is not ${memory[i + 1]}`));
		await page.keyboard.press("Tab");
		await page.locator("#reset").click();
		await page.waitForFunction(() => !document.querySelector(".stats.job").textContent.startsWith("window: "));
		assert.deepEqual(await page.locator(".chart .stats.job").allTextContents(), whole);
		assert.deepEqual(await levels(), before);
	});

	test("a click or a tap holds the line, another one frees it", async () => {
		const page = await open(steps().url);
		const moment = () => page.locator(".moment").textContent();
		const box = await page.locator(".frame").nth(0).boundingBox();
		await page.mouse.click(box.x + box.width * 0.5, box.y + 20);
		const held = await moment();
		assert.notEqual(held, "");
		await page.mouse.move(box.x + box.width * 0.7, box.y + 20);
		assert.equal(await moment(), held);
		await page.mouse.move(2, 2);
		assert.equal(await page.locator(".cursor > div:visible").count(), await page.locator(".frame").count());
		await page.mouse.click(box.x + box.width * 0.7, box.y + 20);
		assert.notEqual(await moment(), held);
		await page.mouse.move(2, 2);
		await frame(page);
		assert.equal(await page.locator(".cursor > div:visible").count(), 0);
		const tap = (share) => page.evaluate(([at]) => {
			const frame = document.querySelector(".frame");
			const { left, top, width } = frame.getBoundingClientRect();
			frame.dispatchEvent(new PointerEvent("click", { pointerType: "touch", clientX: left + at * width, clientY: top + 9, bubbles: true }));
		}, [share]);
		await tap(0.4);
		assert.ok(await page.locator(".moment").isVisible());
		await tap(0.4);
		assert.equal(await page.locator(".moment").isVisible(), false);
	});

	test("on paper stands the whole run; a part only where that was asked for", async () => {
		const page = await open(`${steps().url}#t=0,900`);
		const width = () => page.evaluate(() => document.querySelector(".plot").viewBox.baseVal.width / 720);
		const event = (name) => page.evaluate((kind) => dispatchEvent(new Event(kind)), name);
		near(await width(), 0.125);
		await event("beforeprint");
		near(await width(), 1);
		assert.doesNotMatch(await page.locator(".stats.job").first().textContent(), /window:/);
		await event("afterprint");
		near(await width(), 0.125);
		assert.match(page.url(), /#t=0,900$/);
		await page.evaluate(() => (window.print = () => dispatchEvent(new Event("beforeprint"))));
		await page.locator("#print").click();
		near(await width(), 0.125);
		await page.emulateMedia({ media: "print" });
		assert.match(await page.locator("#range").innerText(), /^02:00:?0?0? to 02:15/);
		assert.equal(await page.locator("#print").isVisible(), false);
		await page.emulateMedia({ media: "screen" });
		await event("afterprint");
		await page.locator("#reset").click();
		await page.locator("#print").waitFor({ state: "hidden" });
	});

	test("the axis has times of day or the time since the start, and the address keeps which", async () => {
		const page = await open(steps().url);
		assert.ok((await shownTicks(page)).every((tick) => /^0\d:\d\d$/.test(tick)));
		await page.locator("#clock").click();
		const ticks = await shownTicks(page);
		assert.ok(ticks.length >= 4 && ticks.every((tick) => /^\d+:00$/.test(tick)), ticks.join(" "));
		assert.match(page.url(), /#elapsed$/);
		const again = await open(page.url());
		assert.deepEqual(await shownTicks(again), ticks);
		const short = await open(report(tracked("clock-time", [], ["sleep", "0.5"])).url);
		assert.ok((await shownTicks(short)).every((tick) => / m?s$/.test(tick)));
		await short.locator("#clock").click();
		assert.ok((await shownTicks(short)).every((tick) => /^\d\d:\d\d:\d\d/.test(tick)), (await shownTicks(short)).join(" "));
		assert.match(short.url(), /#clock$/);
	});

	test("the line and a window name what each program has, in its row", async () => {
		const state = join(folder, "by-program");
		run("run", "--recording", state, "-q", "-i", "0.1", "--", "sh", "-c", "head -c 300000000 /dev/zero | sort -S 100M | tail -c 1 > /dev/null; sleep 1");
		const { url, values } = report(state);
		const page = await open(url);
		const { left, top, width, height } = await page.evaluate(() => document.querySelector(".frame").getBoundingClientRect().toJSON());
		const isNear = (text, value) => /^< 0.01$/.test(text) ? value < 0.01 : Math.abs(Number(text) - value) <= 0.006 + value / 20;
		const rows = (figure, part) => page.locator("figure").nth(figure).locator(`.who > :not(.head) ${part}`).allTextContents();
		const buckets = values.charts[0].areas[0].length;
		for (const bucket of [0.2, 0.5, 0.9].map((share) => Math.floor(share * buckets))) {
			await page.mouse.move(left + ((bucket + 0.5) / buckets) * width, top + height / 2); // clear of the limit's tag
			await frame(page);
			for (const [figure, title] of [[0, "CPU"], [1, "Memory"]]) {
				const { areas } = values.charts.find((chart) => chart.title === title);
				// A bucket is some pixels wide, and the pointer may stand on its edge.
				const wanted = [bucket - 1, bucket, bucket + 1].map((i) => areas.map((each) => each[i]).reverse());
				const shown = await rows(figure, ".now");
				assert.equal(shown.length, areas.length);
				assert.ok(wanted.some((of) => shown.every((text, i) => isNear(text, of[i]))), `${title} in bucket ${bucket}: ${shown} is none of ${JSON.stringify(wanted)}`);
			}
		}
		assert.deepEqual(page.troubles, []);
		// The last second of the run sleeps.
		const whole = await rows(0, ".m");
		await page.goto(`${url}#t=${(values.seconds - 0.7).toFixed(1)},${(values.seconds - 0.2).toFixed(1)}`);
		await page.waitForFunction(() => document.querySelector(".stats.job").textContent.startsWith("window: "));
		const part = await rows(0, ".m");
		assert.ok(part.every((text) => text === "0" || text === "< 0.01"), part.join(" "));
		// The axis is the job's: what the machine uses above it is not known to the page.
		assert.match(await page.locator("figure").nth(1).locator(".stats.machine").textContent(), /^whole machine above the scale here$/);
		await page.locator("#reset").click();
		await page.waitForFunction(() => !document.querySelector(".stats.job").textContent.startsWith("window: "));
		assert.deepEqual(await rows(0, ".m"), whole);
	});

	test("at both edges nothing that the line shows is cut off, wide and on a phone", async () => {
		for (const width of [1280, 390, 320]) {
			const page = await open(report(made("gpu")).url, { width });
			await page.locator(".frame").first().scrollIntoViewIfNeeded();
			for (const share of [0.002, 0.998]) {
				const cut = await page.evaluate((at) => {
					const { left, width: wide } = document.querySelector(".frame").getBoundingClientRect();
					document.querySelector(".frame").dispatchEvent(new PointerEvent("pointermove", { clientX: left + at * wide, clientY: 9, bubbles: true }));
					const shown = [...document.querySelectorAll(".moment, .read > span, .now")].filter((each) => each.textContent);
					const out = shown.filter((each) => {
						const box = each.getBoundingClientRect();
						return box.left < 0 || box.right > innerWidth || each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0;
					});
					return { shown: shown.length, out: out.map((each) => `${each.className} ${each.textContent}`) };
				}, share);
				assert.ok(cut.shown > 5, `${cut.shown} values`);
				assert.deepEqual(cut.out, [], `${width} px at ${share}`);
			}
			await picture(page, `edge-${width}`);
		}
	});

	test("a phase without room for its name says it at the line, and in the table", async () => {
		const command = "sleep 1.2; resource-tracker mark narrow-one; sleep 0.02; resource-tracker mark after; sleep 1";
		const state = join(folder, "narrow-phase");
		runWith({ PATH: `${dirname(program)}:/usr/bin:/bin` }, "run", "--recording", state, "-q", "-i", "0.1", "--", "sh", "-c", command);
		const page = await open(report(state).url);
		const name = page.locator(".strip .name", { hasText: "narrow-one" });
		assert.equal(await name.evaluate((each) => each.getBoundingClientRect().width), 0);
		const { left, width } = await page.evaluate(() => {
			const boxes = document.querySelector(".strip .boxes");
			const [at] = [...boxes.firstChild.getAttribute("d").matchAll(/M([\d.]+) 0H([\d.]+)/g)].filter(([, from, to]) => to - from < 0.1 * boxes.viewBox.baseVal.width).slice(-1);
			const frame = document.querySelector(".frame").getBoundingClientRect();
			return { left: frame.left + ((+at[1] + +at[2]) / 2 / boxes.viewBox.baseVal.width) * frame.width, width: frame.width };
		});
		assert.ok(width > 0);
		await page.mouse.move(left, (await page.locator(".frame").first().boundingBox()).y + 20);
		await frame(page);
		assert.match(await page.locator(".moment").innerText(), /narrow-one$/);
		assert.ok((await page.locator("table.by_phase tbody th").allTextContents()).includes("narrow-one"));
	});

	test("on a phone tables of little use are folded, and open on demand", async () => {
		const page = await open(steps().url, { width: 390 });
		assert.equal(await page.locator("#measured .fold").getAttribute("aria-expanded"), "false");
		assert.ok(await page.locator("#charts").isVisible());
		assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) < 4500);
		assert.equal(await page.evaluate(() => document.querySelector("#next a").hash), "#snippets");
		await page.locator("#next a").click();
		assert.ok(await page.locator("#snippet-slurm").isVisible(), "the lines for the other systems");
		await page.locator("#measured .fold").click();
		assert.ok(await page.locator("#measured > p").first().isVisible());
		await page.locator(".contents a[href='#sizing']").click();
		assert.ok(await page.locator("table.resources").isVisible());
	});

	test("programs can be sorted, and their processes stand on the axis of time", async () => {
		const state = join(folder, "programs");
		run("run", "--recording", state, "-q", "-i", "0.1", "--", "sh", "-c", "sleep 1.5 & head -c 300000000 /dev/zero | sort -S 1M | cat > /dev/null; wait");
		const page = await open(report(state).url);
		assert.ok(await page.locator(".lane", { hasText: "sort" }).locator(".bars :is(rect, path)").count());
		const names = () => page.locator("table.programs tbody th").allTextContents();
		const [first] = await names();
		const cpu = await page.locator("table.programs tbody tr").evaluateAll((rows) => rows.map((row) => Number(row.cells[2].dataset.v)));
		assert.deepEqual(cpu, [...cpu].sort((a, b) => b - a), "largest first");
		await page.locator("table.programs thead button").first().click();
		assert.deepEqual(await names(), [...(await names())].sort((a, b) => a.localeCompare(b)));
		await page.locator("table.programs thead button").nth(2).click();
		assert.equal((await names())[0], first);
		await page.locator("table.programs thead button").nth(2).click();
		assert.equal((await names()).at(-1), first);
		const width = () => page.evaluate(() => document.querySelector(".bars").viewBox.baseVal.width);
		const before = await width();
		await page.locator("#zoom-in").click();
		near((await width()) / before, 0.5);
		await looksRight(page);
	});

	test("many short processes are a density, and bars in a closer view", async () => {
		const state = join(folder, "shorts");
		const shorts = "i=0; while [ $i -lt 60 ]; do sleep 0.05; i=$((i + 1)); done";
		run("run", "--recording", state, "-q", "-i", "0.02", "--", "sh", "-c", shorts);
		const { url } = report(state);
		const page = await open(url);
		const lane = page.locator(".row:has(svg[data-brief])").first();
		const bars = () => lane.locator(".whole").last().evaluate((path) => (path.getAttribute("d") ?? "").split("M").length - 1);
		assert.equal(await bars(), 0);
		assert.match(await lane.locator(".full").innerText(), /^up to \d+$/);
		for (let i = 0; i < 3; i++) {
			await page.locator("#zoom-in").click();
		}
		await page.waitForFunction(() => document.querySelector("svg[data-brief] .many").style.display === "none");
		assert.ok((await bars()) > 0 && (await bars()) <= 60, `${await bars()} bars`);
		await page.locator("#reset").click();
		await page.waitForFunction(() => document.querySelector("svg[data-brief] .many").style.display === "");
		assert.equal(await bars(), 0);
	});

	test("a run of days has dates on its axis, in its range and at its line", async () => {
		const page = await open(`${report(made("gpu", 864000)).url}#t=432000,518400`);
		assert.match(await page.locator(".facts").innerText(), /10 d 0 h/);
		await page.getByText("11-25 02:00 to 11-26 02:00; a point is").waitFor();
		assert.ok((await shownTicks(page)).every((tick) => /^11-2[56] \d\d:00$/.test(tick)));
		await page.locator("#reset").click();
		assert.ok((await shownTicks(page)).every((tick) => /^11-(2\d|30) 00:00$/.test(tick)));
		// None lies over its neighbour, or outside of the page.
		const places = await page.evaluate(() =>
			[...document.querySelectorAll(".axis text")].map((tick) => tick.getBoundingClientRect()).filter(({ width }) => width).map(({ left, right }) => [left, right]));
		assert.ok(places.length >= 4);
		places.forEach(([left, right], i) => assert.ok(left >= 0 && (i === 0 || left > places[i - 1][1]), `${places}`));
		await page.locator("#charts").focus();
		await page.keyboard.press("Home");
		assert.match(await page.locator(".moment").innerText(), /^11-20 02:00:00/);
		await picture(page, "ten-days");
	});

	test("the buttons zoom as well", async () => {
		const page = await open(steps().url);
		await page.getByRole("button", { name: "Zoom in" }).click();
		let range = await view(page);
		near(range.to - range.from, 0.5);
		await page.getByRole("button", { name: "Zoom out" }).click();
		range = await view(page);
		near(range.to - range.from, 1);
	});

	test("lines to paste are copied, the detected system's first", async () => {
		const page = await open(steps().url, { permissions: ["clipboard-read", "clipboard-write"] });
		const buttons = page.locator("#sizing .copy button");
		assert.equal(await buttons.first().innerText(), "Slurm");
		for (const [name, kind] of [["Slurm", "slurm"], ["Kubernetes", "k8s"], ["Metaflow", "metaflow"]]) {
			await page.locator("#sizing").getByRole("button", { name, exact: true }).click();
			await page.getByText(`copied for ${name}`).waitFor();
			assert.equal(await page.evaluate(() => navigator.clipboard.readText()), run("recommend", "--recording", made("steps"), "--for", kind).toString());
		}
	});

	test("an embedded recording comes out as it went in", async () => {
		const state = made("one");
		const page = await open(report(state, "--embed-raw").url);
		const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save the recording" }).click()]);
		assert.deepEqual(readFileSync(await download.path()), readFileSync(runFiles(state)[0]));
	});

	test("a hostile name does nothing", async () => {
		const page = await open(report(made("hostile")).url);
		let dialogs = 0;
		page.on("dialog", () => dialogs++);
		await frame(page);
		assert.equal(dialogs, 0);
		assert.equal(await page.locator("img").count(), 0);
		assert.match(await page.locator("h1").innerText(), /onerror=alert\(1\)/);
		assert.equal(await page.evaluate(() => document.body.textContent.includes("\u202e")), false);
	});
});

// ---- for whom ----

async function violations(page) {
	await page.evaluate(axeSource);
	const result = await page.evaluate(() => window.axe.run(document));
	return result.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(" | ")}`);
}

// As one text: a list of pixels takes the browser's protocol seconds to carry.
async function pixelsOf(page, png) {
	const text = await page.evaluate(async (data) => {
		const image = new Image();
		image.src = `data:image/png;base64,${data}`;
		await image.decode();
		const canvas = document.createElement("canvas");
		canvas.width = image.width;
		canvas.height = image.height;
		const context = canvas.getContext("2d");
		context.drawImage(image, 0, 0);
		const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
		let text = "";
		for (let at = 0; at < bytes.length; at += 32768) {
			text += String.fromCharCode(...bytes.subarray(at, at + 32768));
		}
		return btoa(text);
	}, png.toString("base64"));
	const bytes = Buffer.from(text, "base64");
	return Array.from({ length: bytes.length / 4 }, (_, i) => [...bytes.subarray(4 * i, 4 * i + 3)]);
}

// The colours of a picture, by how often they are in it.
async function coloursOf(page, png) {
	const counts = new Map();
	for (const rgb of await pixelsOf(page, png)) {
		counts.set(rgb.join(), (counts.get(rgb.join()) ?? 0) + 1);
	}
	return [...counts].sort((a, b) => b[1] - a[1]).map(([key, count]) => ({ rgb: key.split(",").map(Number), count }));
}

// The colour that a line of the first chart has on the screen, under a deficiency of sight: of all that is
// in the chart while that line alone is in it, what is farthest from the ground.
async function seenLine(page, line) {
	await page.evaluate((wanted) => {
		for (const path of document.querySelector(".plot").querySelectorAll("path")) {
			path.style.visibility = path.matches(wanted) ? "visible" : "hidden";
		}
		for (const text of document.querySelector(".frame").querySelectorAll(".levels")) {
			text.style.visibility = "hidden";
		}
	}, line);
	const colours = await coloursOf(page, await page.locator(".frame").first().screenshot());
	const ground = colours[0].rgb;
	const drawn = colours.filter((each) => each.count >= 40).sort((a, b) => contrast(b.rgb, ground) - contrast(a.rgb, ground));
	return { rgb: drawn[0].rgb, ground, pixels: colours.slice(1).reduce((sum, each) => sum + each.count, 0) };
}

function luminance(rgb) {
	const [r, g, b] = rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

// Of sight. All of them in light colours; dark ones have the same strokes and patterns.
const deficiencies = (scheme) => (scheme === "light" ? ["achromatopsia", "deuteranopia", "protanopia", "tritanopia"] : ["achromatopsia"]);

describe("for everyone", () => {
	for (const [width, scheme] of [...looksOf(1280, 390), [1280, "print"]]) {
		test(`axe finds nothing at ${width} px, ${scheme}`, async () => {
			for (const kind of ["many", "gpu", "oom", "none"]) {
				const page = await open(report(made(kind)).url, {
					width,
					scheme: scheme === "dark" ? "dark" : "light",
					bypassCSP: true,
				});
				if (scheme === "print") {
					await page.emulateMedia({ media: "print" });
				}
				await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
				assert.deepEqual(await violations(page), [], kind);
				await picture(page, `${kind}-open-${width}-${scheme}`);
				await page.close();
			}
		});
	}

	for (const scheme of ["light", "dark"]) {
		test(`the series stay apart without colour, ${scheme}`, async () => {
			const { url } = report(made("steps"));
			const page = await open(`${url}#scale=limit`, { scheme, bypassCSP: true });
			const session = await page.context().newCDPSession(page);
			for (const type of ["none", ...deficiencies(scheme)]) {
				await session.send("Emulation.setEmulatedVisionDeficiency", { type });
				const [job, machine, limit] = [await seenLine(page, ".line.job"), await seenLine(page, ".line.machine"), await seenLine(page, ".limit")];
				for (const [name, seen] of Object.entries({ job, machine, limit })) {
					assert.ok(contrast(seen.rgb, seen.ground) >= 3, `${type}: ${name} ${seen.rgb} on ${seen.ground}`);
				}
				assert.ok(contrast(job.rgb, machine.rgb) > 1.5, `${type}: job and machine ${contrast(job.rgb, machine.rgb)}`);
				// What colour cannot tell, the stroke does: dots cover less than dashes, dashes less
				// than a line.
				assert.ok(job.pixels > 1.25 * limit.pixels, `${job.pixels} pixels of the job's, ${limit.pixels} of the limit`);
				assert.ok(limit.pixels > 1.25 * machine.pixels, `${limit.pixels} pixels of the limit, ${machine.pixels} of the machine's`);
			}
		});
	}

	for (const scheme of ["light", "dark"]) {
		test(`the parts of the wall time stay apart without colour, ${scheme}`, async () => {
			const page = await open(report(made("steps")).url, { scheme, bypassCSP: true });
			const session = await page.context().newCDPSession(page);
			const names = ["on_cpu", "gpu", "disk", "memory_stall", "cpu_wait", "other"];
			await page.evaluate((all) => {
				const key = document.querySelector(".key");
				const rows = all.map((name) => {
					const copy = key.cloneNode(true);
					copy.id = `key-${name}`;
					copy.firstChild.setAttribute("class", `item ${name}`);
					return copy;
				});
				document.querySelector("#wall_time").append(...rows);
			}, names);
			for (const type of deficiencies(scheme)) {
				await session.send("Emulation.setEmulatedVisionDeficiency", { type });
				const seen = {};
				for (const name of names) {
					seen[name] = await pixelsOf(page, await page.locator(`#key-${name}`).screenshot());
				}
				names.forEach((one, i) =>
					names.slice(i + 1).forEach((other) => {
						const apart = seen[one].filter((rgb, at) => contrast(rgb, seen[other][at]) >= 1.5).length;
						assert.ok(apart >= seen[one].length / 5, `${type}: ${one} and ${other} differ in ${apart} of ${seen[one].length} pixels`);
					}),
				);
			}
		});
	}

	test("Tab reaches all that can be used, in the order of the page, and shows where it is", async () => {
		const page = await open(report(made("many"), "--embed-raw").url);
		const wanted = await page.evaluate(() =>
			[...document.querySelectorAll("a, button, summary, [tabindex='0']")]
				.filter((each) => each.checkVisibility({ contentVisibilityAuto: true }))
				.map((each, i) => {
					each.dataset.stop = i;
					return i;
				}),
		);
		assert.ok(wanted.length > 18, `${wanted.length} stops`);
		const reached = [];
		for (const _ of wanted) {
			await page.keyboard.press("Tab");
			const { stop, outline } = await page.evaluate(() => ({ stop: Number(document.activeElement.dataset.stop), outline: getComputedStyle(document.activeElement).outlineStyle }));
			assert.notEqual(outline, "none");
			reached.push(stop);
		}
		assert.deepEqual(reached, wanted);
		await page.getByText("Lines to paste").focus();
		await page.keyboard.press("Enter");
		assert.ok(await page.locator("#snippet-slurm").isVisible());
	});

	test("on paper the dark page is light, and no table is cut", async () => {
		const page = await open(report(made("many")).url, { scheme: "dark", width: 720 });
		await page.emulateMedia({ media: "print" });
		assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
		assert.equal(await page.locator("#sizing .copy").isVisible(), false);
		const cut = await page.evaluate(() => [...document.querySelectorAll("main > section .scroll")].filter((box) => getComputedStyle(box).overflowX !== "visible").length);
		assert.equal(cut, 0);
		await picture(page, "print");
		assert.ok((await page.pdf()).length > 10000);
	});

	test("forced colours leave every line visible", async () => {
		const page = await open(report(made("steps")).url);
		await page.emulateMedia({ forcedColors: "active" });
		const same = await page.evaluate(() => getComputedStyle(document.querySelector(".line.job")).stroke === getComputedStyle(document.body).backgroundColor);
		assert.equal(same, false);
		await picture(page, "forced-colours");
	});
});
