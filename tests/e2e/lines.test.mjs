// Tests the chart of stacks in a real Chromium: boxes, zoom, search, keys, and a zoomed timeline.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { join } from "node:path";
import { axeSource, close, folder, open, picture, report, run } from "./lib.mjs";

after(close);

const PROGRAM = `
import time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
def early():
    spin(0.9)
def late():
    spin(0.9)
early()
time.sleep(4)
late()
`;

let page_made;

function made() {
	return (page_made ??= make());
}

function make() {
	const state = join(folder, "stacks");
	const script = join(folder, "stacks.py");
	writeFileSync(script, PROGRAM);
	run("run", "--recording", state, "-q", "-i", "0.2", "--lines", "100", "--", "/usr/bin/python3", script);
	return report(state);
}

test("the section of lines has no barrier, dark and narrow too", async () => {
	const { url } = made();
	for (const [scheme, width] of [["light", 1280], ["dark", 390]]) {
		const page = await open(url, { bypassCSP: true, scheme, width });
		await page.evaluate(axeSource);
		const found = await page.evaluate(() => axe.run("#code"));
		assert.deepEqual(found.violations.map((v) => [v.id, v.nodes[0].html]), []);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		await page.close();
	}
});

test("the chart of stacks zooms, searches, takes keys and follows the timeline", async () => {
	const page = await open(made().url);
	const box = (name) => page.locator(`.icicle button[aria-label^="${name} "]`).first();
	const label = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));

	assert.ok(await page.locator("#stacks").isVisible());
	assert.ok((await box("early").count()) && (await box("late").count()));
	await box("early").click();
	assert.equal(await page.locator('.icicle button[aria-label^="late "]').count(), 0);
	assert.match(await label(), /^early stacks\.py:\d+, .* of CPU, \d+ %$/);
	await page.keyboard.press("ArrowDown");
	assert.match(await label(), /^spin /);
	await page.keyboard.press("Escape");
	assert.match(await label(), /^all /);
	assert.equal(await page.locator('.icicle button[aria-label^="late "]').count(), 1);
	await page.keyboard.press("/");
	await page.keyboard.type("early");
	assert.ok(await page.locator(".icicle .found").count());
	assert.match(await page.locator("#stacks [role=status]").textContent(), / in matches$/);
	await page.fill("#stacks input", "");
	await page.evaluate(() => document.getElementById("charts").dispatchEvent(
		new CustomEvent("view", { detail: [0, 1.5] })));
	assert.match(await page.locator("#stacks [role=status]").textContent(), /^0 ms to 1\.5 s: /);
	await page.evaluate(() => document.getElementById("charts").dispatchEvent(
		new CustomEvent("view", { detail: [null, null] })));
	assert.equal(await page.locator("#stacks [role=status]").textContent(), "");
	assert.deepEqual(page.troubles, []);
	await picture(page, "stacks");
	await page.close();
});
