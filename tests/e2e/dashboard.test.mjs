// Tests the dashboard in a real browser: every page and state, in both colour schemes, wide and narrow; its figures
// against `fleet --json`; its filters, which must work without a request.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { axeSource, chromium, close, folder, frame, looksOf, open, picture, program, run } from "./lib.mjs";

const AS_OF = "1795334400"; // 22 Nov 2026, 08:00 UTC
const state = join(folder, "fleet"), file = join(folder, "fleet.html"), none = join(folder, "empty.html");
const single = join(folder, "single"), one = join(folder, "single.html");
const url = pathToFileURL(file).href;
const json = (...args) => JSON.parse(run("fleet", "--recording", state, "--as-of", AS_OF, "--json", ...args).toString());

before(() => {
	const maker = process.env.MAKE_HISTORY ?? join(dirname(program), "tests/e2e/make_history");

	execFileSync(maker, [state, "1", "1.1"]);
	writeAlerts(state, Number(AS_OF), "job-000");
	run("dashboard", "--recording", state, "--as-of", AS_OF, "--static", file);
	run("run", "--no-discovery", "--summary", "never", "--recording", single, "-n", "train", "--", "sleep", "0.3");
	run("dashboard", "--recording", single, "--static", one);
	run("dashboard", "--recording", join(folder, "nothing"), "--static", none);
});
after(close);

function writeAlerts(dir, now, job) {
	const entry = { job, scope: null, run: null, seen: now, ended: null, acked: null };
	const opened = now - 600;

	writeFileSync(join(dir, "alerts.json"), JSON.stringify({
		schema: "resource-tracker.alerts/1",
		alerts: [
			{ ...entry, id: "a1b2", rule: "oom-risk", severity: "critical", text: "at <its> limit in 11 min", fix: "ask for 96 GiB", opened, new: opened },
			{ ...entry, id: "c3d4", rule: "bigger", severity: "info", text: "the newest runs use more memory: +12 %", fix: null, opened: now - 60, new: now - 60 },
		],
		silences: [{ id: "s1", rule: "slower", job: null, made: opened, until: now + 9e5, reason: "known" }],
	}), { mode: 0o600 });
}

async function at(address, options = {}) {
	const page = await open(address, options);

	await page.waitForSelector("#app[data-ready]");
	return page;
}

// The data inside a page.
function held(html) {
	return JSON.parse(gunzipSync(Buffer.from(html.match(/id="data" data-as="gzip">([^<]*)</)[1], "base64")));
}

test("a page of 18,357 runs is small, and the runs of its charts are those of the history", () => {
	const html = readFileSync(file, "utf8"), data = held(html);
	const at = data.jobs.findIndex((job) => job.job === "job-001"), known = data.jobs[at].runs_known;
	const first = data.jobs.slice(0, at).reduce((sum, job) => sum + job.runs_known, 0);
	const near = (key, i, real) => assert.ok(Math.abs(data.charts[key][i] / real - 1) <= 0.005, `${key}: ${data.charts[key][i]}, ${real}`);
	let start = 0;

	assert.ok(html.length < 600000, `${html.length} bytes`);
	Object.values(data.charts).forEach((list) => assert.equal(list.length, data.count));
	const runs = json("--what", "runs", "--job", "job-001").runs.runs.reverse();

	for (let i = 0; i < known; i++) {
		const run = runs[i - (known - runs.length)];

		start += 60 * data.charts.start[first + i];
		if (!run) {
			continue;
		}
		assert.ok(Math.abs(start - run.start) <= 30);
		near("duration_s", first + i, run.duration_s);
		near("peak_mib", first + i, run.peak_mib);
		near("cores", first + i, run.cores);
		near("usd", first + i, run.usd);
	}
	assert.ok(runs.length > 50);
});

const STATES = {
	overview: "", jobs: "#/jobs", job: "#/job/job-001", growing: "#/job/job-000", runs: "#/runs", machines: "#/machines",
	filtered: "#/?team=team-0&days=7", nothing: "#/jobs?q=no-such-job", alerts: "#/alerts", missing: "#/run/r-no-such-run", unknown: "#/job/no-such-job", failed: "#/runs?end=failed",
};

for (const [width, scheme] of looksOf(1400, 390)) {
	test(`every page is accessible, fits and asks for nothing: ${width} px, ${scheme}`, async () => {
		const newest = json("--what", "runs").runs.runs[0].id, only = pathToFileURL(one).href;
		const states = [
			...Object.entries({ ...STATES, run: `#/run/${newest}` }).map(([name, hash]) => [name, url + hash]),
			...["", "#/jobs", "#/job/train", "#/runs", "#/machines", "#/alerts"].map((hash) => [`single${hash.replaceAll(/[#/]+/g, "-")}`, only + hash]),
			["empty", pathToFileURL(none).href],
		];

		for (const [name, address] of states) {
			const page = await at(address, { width, scheme, bypassCSP: true });

			await frame(page);
			await picture(page, `dashboard-${name}-${width}-${scheme}`);
			assert.deepEqual(page.troubles, [], name);
			assert.equal(page.asked.filter((u) => !u.startsWith("file:")).length, 0, name);
			assert.equal(page.asked.length, 1, name);
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide`);
			await page.evaluate(axeSource);
			const found = await page.evaluate(() => globalThis.axe.run());

			assert.deepEqual(found.violations.map((v) => [v.id, v.nodes[0].html]), [], name);
			await page.close();
		}
	});
}

const text = (page, selector) => page.locator(selector).first().innerText();
const usd = (v) => (v >= 9.995 ? `$${Math.round(v).toLocaleString("en-US")}` : `$${v.toFixed(2)}`);

test("its figures are those of the program", async () => {
	const o = json().overview, page = await at(url);
	const main = (await text(page, "#main")).replace(/\s+/g, " ");

	for (const words of [o.headline, o.lead, o.warning, o.basis, o.odd_days[0].text, ...o.findings.map((f) => f.text)]) {
		assert.ok(main.includes(words), words);
	}
	const tiles = await page.locator(".tile .v").allInnerTexts();

	assert.ok(tiles[0].startsWith(usd(o.sum.usd)) && tiles[1].startsWith(usd(o.sum.waste_usd)), tiles.join());
	assert.ok(tiles[2].startsWith(`${Math.round(o.sum.cores_share * 100)} %`));
	assert.ok(tiles[4].startsWith(String(o.sum.failed)));
	assert.ok(main.includes(`${usd(o.forecast.month_usd)} ± ${usd(o.forecast.month_band_usd)}`));
	await page.context().close();

	const job = json("--job", "job-001").job, other = await at(`${url}#/job/job-001`);
	const words = (await text(other, "#main")).replace(/\s+/g, " ");

	for (const part of [job.lead, job.basis, job.drift.text, job.runs[0].id]) {
		assert.ok(words.includes(part), part);
	}
	await other.context().close();
});

test("a filter adds up the jobs that it leaves, and Back undoes it", async () => {
	const jobs = json("--what", "jobs").jobs.jobs.filter((j) => j.team === "team-3");
	const sum = jobs.reduce((n, j) => n + (j.period.usd ?? 0), 0), runs = jobs.reduce((n, j) => n + j.period.runs, 0);
	const page = await at(url), whole = await text(page, ".tile .v");

	await page.selectOption("select[data-f=team]", "team-3");
	await page.waitForFunction(() => location.hash.includes("team=team-3"));
	assert.equal((await text(page, ".tile .v")).trim(), usd(sum));
	assert.ok((await text(page, ".lead")).includes(`${runs.toLocaleString("en-US")} runs of ${jobs.length} jobs`));
	await page.goBack();
	await page.waitForFunction(() => !location.hash.includes("team="));
	assert.equal(await text(page, ".tile .v"), whole);
	await page.fill("input[type=search]", "job-006");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => location.hash.includes("q=job-006"));
	assert.match(await text(page, ".lead"), /of 1 job\b/);
	assert.equal(page.asked.length, 1);
	await page.context().close();
});

test("jobs are ordered, counted by verdict, and lead to their page", async () => {
	const verdicts = json().overview.verdicts, page = await at(`${url}#/jobs?sort=name`);
	const names = await page.locator("tbody th a").allInnerTexts();

	assert.deepEqual(names, [...names].sort());
	assert.equal(names.length, 200);
	assert.ok((await page.locator(".chips").first().innerText()).includes(`right-sized ${verdicts["right-sized"]}`));
	await page.locator(".chips a", { hasText: "over-provisioned" }).click();
	await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
	await page.locator("tbody th a").click();
	await page.waitForFunction(() => location.hash.startsWith("#/job/job-006"));
	await page.waitForFunction(() => document.querySelector("h1")?.innerText.includes("over-provisioned"));
	await page.context().close();
});

test("one run has no plural, no empty chart, and says that it is a first estimate", async () => {
	const page = await at(pathToFileURL(one).href);

	assert.match(await text(page, ".src"), /^1 job, 1 run since /);
	assert.equal(await page.locator(".tile", { hasText: "Spend" }).locator(".spark").count(), 0);
	await page.goto(`${pathToFileURL(one).href}#/job/train`);
	await page.waitForFunction(() => document.querySelector("h1")?.innerText.startsWith("train"));
	assert.ok((await text(page, "#main")).includes("One run so far: a first estimate."));
	assert.equal(await page.locator(".chart").count() <= 1, true);
	await page.context().close();
});

test("a spend of a fraction of a cent has an axis, and a team without a price has none", async () => {
	const tiny = join(folder, "tiny"), html = join(folder, "tiny.html");

	run("run", "--no-discovery", "--summary", "never", "--recording", tiny, "-n", "a", "--tag", "team=red", "--request", "cpu=1,mem=1GiB", "--", "sleep", "0.3");
	run("run", "--no-discovery", "--summary", "never", "--recording", tiny, "-n", "b", "--tag", "team=blue", "--", "sleep", "0.3");
	run("dashboard", "--recording", tiny, "--static", html);
	const page = await at(pathToFileURL(html).href);
	const labels = await page.evaluate(() => [...document.querySelectorAll("#spend text, [id=spend] text")].map((e) => e.textContent).filter((text) => text.startsWith("$")));
	const clipped = await page.evaluate(() => [...document.querySelectorAll("svg text")].filter((e) => {
		const own = e.getBoundingClientRect(), all = e.ownerSVGElement.getBoundingClientRect();

		return own.left < all.left - 1 || own.right > all.right + 1;
	}).map((e) => e.textContent));

	assert.deepEqual(labels, ["$0", "$0.010", "$0.020", "$0.030", "$0.040"]);
	assert.deepEqual(clipped, []);
	assert.match(await page.textContent("#spenders"), /blue\s*not known/);
	assert.deepEqual(page.troubles, []);
	await page.context().close();
});

test("the header and the lead are painted before the data are read", async () => {
	const o = json().overview;

	for (const [hash, words] of [["", o.lead], ["#/jobs", "Jobs"], ["#/job/job-001", "job-001"]]) {
		const page = await open("about:blank");

		// What stands there when the data are first asked for.
		await page.addInitScript(() => {
			const read = Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get;

			Object.defineProperty(HTMLScriptElement.prototype, "textContent", {
				get() {
					globalThis.before ??= document.getElementById("app").innerText;
					return read.call(this);
				},
			});
		});
		await page.goto(url + hash);
		await page.waitForSelector("#app[data-ready]");
		const before = await page.evaluate(() => globalThis.before);

		assert.ok(before.includes("Machines") && before.includes(words), before);
		assert.ok(!before.includes("Change these first"), before);
		await page.context().close();
	}
});

test("without a script the Overview is there", async () => {
	const page = await open(url, { script: false }), o = json().overview;
	const main = (await text(page, "#main")).replace(/\s+/g, " ");

	for (const words of [o.headline, o.lead, o.findings[0].text]) {
		assert.ok(main.includes(words), words);
	}
	await page.context().close();
});

// ---- served, and as a folder ----

const real = join(folder, "real"), site = join(folder, "site");
const WAIT_MS = 120000; // a bound for a server that hangs

// A dashboard that runs; its address.
async function serve(...args) {
	const process = spawn(program, ["dashboard", "--no-open", ...args], { stdio: ["ignore", "pipe", "ignore"] });
	const address = await new Promise((done, fail) => {
		setTimeout(() => fail(new Error("no address")), WAIT_MS).unref();
		process.stdout.once("data", (text) => done(String(text).trim()));
	});

	servers.push(process);
	return address;
}
const servers = [];

after(() => servers.forEach((s) => s.kill("SIGKILL")));

// Two jobs with recordings, and alerts.
function realRuns() {
	for (const name of ["one", "two", "one"]) {
		run("run", "--no-discovery", "--summary", "never", "--recording", real, "-n", name, "--", "sh", "-c", "sleep 0.3");
	}
	writeAlerts(real, Date.now() / 1000, "one");
}

for (const [width, scheme] of looksOf(1400, 390)) {
	test(`served pages are accessible and ask their server alone: ${width} px, ${scheme}`, async () => {
		if (!existsSync(real)) {
			realRuns();
		}
		const address = await serve("--recording", real), runs = JSON.parse(run("fleet", "--recording", real, "--json", "--what", "runs").toString()).runs.runs;
		const states = { overview: "", job: "#/job/one", runs: "#/runs", run: `#/run/${runs[0].id}`, alerts: "#/alerts", unknown: "#/run/r-none" };

		for (const [name, hash] of Object.entries(states)) {
			const page = await at(address + hash, { width, scheme, bypassCSP: true });

			await frame(page);
			await picture(page, `served-${name}-${width}-${scheme}`);
			assert.deepEqual(name === "unknown" ? [] : page.troubles, [], name);
			assert.ok(page.asked.every((u) => u.startsWith(address)), page.asked.join());
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide`);
			await page.evaluate(axeSource);
			const found = await page.evaluate(() => globalThis.axe.run({ iframes: false }));

			assert.deepEqual(found.violations.map((v) => [v.id, v.nodes[0].html]), [], name);
			await page.context().close();
		}
	});
}

test("a run stands with its report in a frame, between its neighbours", async () => {
	const address = await serve("--recording", real), list = JSON.parse(run("fleet", "--recording", real, "--json", "--what", "runs", "--job", "one").toString()).runs.runs;
	const page = await at(`${address}#/runs`);

	await page.locator("tbody th a", { hasText: list[0].id }).click();
	await page.waitForSelector("iframe.report");
	const report = page.frameLocator("iframe.report");

	await report.locator("h1", { hasText: "one" }).waitFor();
	assert.deepEqual(page.troubles, []);
	await page.locator("a[rel=prev]").click();
	await page.waitForFunction((id) => document.querySelector("h1")?.innerText.includes(id), list[1].id);
	await page.goBack();
	await page.waitForFunction((id) => document.querySelector("h1")?.innerText.includes(id), list[0].id);
	await report.locator("h1", { hasText: "one" }).waitFor();
	// The frame reaches neither the page around it nor the server.
	const inner = page.frames()[1];

	assert.equal(await inner.evaluate(() => { try { return String(parent.document.title); } catch { return "refused"; } }), "refused");
	assert.equal(await inner.evaluate((u) => fetch(u).then(() => "read", () => "refused"), `${address}json/overview`), "refused");
	await page.context().close();
});

test("open alerts are counted in the header, and their words are no markup", async () => {
	const page = await at(`${await serve("--recording", real)}#/alerts`);

	assert.equal((await text(page, ".badge")).split(/\s/)[0], "2");
	assert.deepEqual(await page.locator("table").first().locator("tbody td[data-k=Rule]").allInnerTexts(), ["oom-risk", "bigger"]);
	const main = (await text(page, "#main")).replace(/\s+/g, " ");

	for (const words of ["at <its> limit in 11 min", "ask for 96 GiB", "resource-tracker alerts ack a1b2", "known", "oom-killed"]) {
		assert.ok(main.includes(words), words);
	}
	await page.context().close();
});

test("a page of another site reads nothing of the dashboard", async () => {
	const address = await serve("--recording", real), page = await at(url);

	assert.equal(await page.evaluate((u) => fetch(u).then(() => "read", () => "refused"), address), "refused");
	const other = await open("about:blank");

	assert.equal(await other.evaluate((u) => fetch(u, { mode: "no-cors" }).then((r) => r.type, () => "refused"), `${address}json/overview`).catch(() => "refused"), "refused");
	await page.context().close();
	await other.context().close();
});

test("a page of another site gets nothing of the dashboard, also under a name that begins to point here", async () => {
	const address = await serve("--recording", real), { port } = new URL(address);
	const evil = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<title>evil</title><body>evil"));

	await new Promise((done) => evil.listen(0, "127.0.0.1", done));
	// No name is looked up: this one is 127.0.0.1 for the browser, whose own protection of local servers is off.
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.example 127.0.0.1", "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights"] });

	try {
		const page = await browser.newPage(), rebound = await page.goto(`http://evil.example:${port}${new URL(address).pathname}`);

		assert.equal(rebound.status(), 421);
		assert.equal((await rebound.text()).trim(), "This server answers for 127.0.0.1 only.");
		// Its own page came from elsewhere, before the name pointed here: the same site, as the browser sees
		// it.
		const own = `http://evil.example:${port}/own`;

		await page.route(own, (route) => route.fulfill({ contentType: "text/html", body: "<title>evil</title>" }));
		await page.goto(own);
		assert.deepEqual(await page.evaluate((path) => fetch(path).then(async (a) => [a.status, (await a.text()).trim()]), `${new URL(address).pathname}json/runs`),
			[421, "This server answers for 127.0.0.1 only."]);
		const statuses = [];

		await page.goto(`http://evil.example:${evil.address().port}/`);
		page.on("response", (answer) => answer.url().startsWith(address) && statuses.push(answer.status()));
		const read = await page.evaluate(async (u) => {
			const kinds = [{}, { mode: "no-cors" }, { mode: "no-cors", method: "POST", body: "x" }], got = [];

			for (const kind of kinds) {
				got.push(await fetch(`${u}json/runs`, kind).then((a) => a.text(), () => ""));
			}
			for (const [tag, key] of [["img", "src"], ["script", "src"], ["iframe", "src"], ["object", "data"]]) {
				await new Promise((done) => {
					const e = document.createElement(tag);

					e.onload = e.onerror = done;
					e[key] = u;
					document.body.append(e);
				});
			}
			return got;
		}, address);

		assert.deepEqual(read, ["", "", ""]);
		assert.ok(statuses.length >= 2 && statuses.every((s) => s === 403 || s === 405), statuses.join());
		for (const inner of page.frames().slice(1)) {
			assert.ok(!(await inner.content().catch(() => "")).includes("resource-tracker"));
		}
	} finally {
		await browser.close();
		evil.close();
	}
});

test("a folder shows reports without a server", async () => {
	run("dashboard", "--recording", real, "--static", site);
	const [newest] = JSON.parse(run("fleet", "--recording", real, "--json", "--what", "runs").toString()).runs.runs;
	const page = await at(`${pathToFileURL(join(site, "index.html")).href}#/run/${newest.id}`);

	await page.frameLocator("iframe.report").locator("h1").first().waitFor();
	assert.ok(page.asked.every((u) => u.startsWith("file:")));
	assert.deepEqual(page.troubles, []);
	await page.context().close();
});
