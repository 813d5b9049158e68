// Tests that the committed scripts and styles are those that web/build.mjs builds from web/.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");

for (const [what, committed] of [
	["report", "web/built/report.c"],
	["lines", "web/built/lines.c"],
	["dashboard", "web/built/dashboard.c"],
]) {
	test(`the committed page of the ${what} is generated from today's sources (make page)`, () => {
		const folder = mkdtempSync(join(tmpdir(), "page-"));
		try {
			const fresh = join(folder, "page.c");
			execFileSync(process.execPath, [join(root, "web/build.mjs"), fresh, what]);
			assert.equal(readFileSync(join(root, committed), "utf8"), readFileSync(fresh, "utf8"));
		} finally {
			rmSync(folder, { recursive: true });
		}
	});
}
