// Compares how the page and the program read the same recording.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readRows } from "../../web/report/recording.js";
import { Samples } from "../../web/report/samples.js";
import { damage, folder, made, run, runFiles } from "./lib.mjs";

const columns = ["elapsed_s", "interval_s", "process_cpu_usage", "process_memory_mib", "process_disk_read_bytes", "system_disk_space_used_gb", "system_gpu_usage"];

function exported(path) {
	const out = join(folder, "rows.jsonl");
	run("export", path, "--format", "jsonl", "-o", out);
	return readFileSync(out, "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

const read = (path) => readRows(readFileSync(path).toString("base64"), columns);

function agree(rows, lines) {
	assert.equal(rows.length, lines.length);
	rows.forEach((row, i) => {
		columns.forEach((name, c) => {
			const wanted = lines[i][name] ?? NaN;
			assert.ok(Object.is(wanted, row.mean[c]) || Math.abs(wanted - row.mean[c]) <= 0.0051 + 1e-9 * Math.abs(wanted), `${name} of row ${i}: ${row.mean[c]} is not ${wanted}`);
		});
	});
}

describe("rows of a recording in the page", () => {
	for (const kind of ["steps", "gpu", "merged", "hostile", "one", "none"]) {
		test(`are those of the program: ${kind}`, async () => {
			const [path] = runFiles(made(kind));
			const rows = await read(path);
			const lines = kind === "none" ? [] : exported(path);
			agree(rows, lines);
			if (kind === "merged") {
				assert.ok(rows[0].count > 1 && rows.at(-1).count === 1, "old rows stand for several, new ones for themselves");
				assert.ok(rows.some((row) => row.max[2] > row.mean[2] && row.min[2] < row.mean[2]));
				assert.equal(rows.reduce((sum, row) => sum + row.count, 0), 7200);
			}
		});
	}

	test("a damaged or cut recording costs what is damaged alone", async () => {
		const [path] = runFiles(made("steps"));
		const whole = readFileSync(path);
		const copy = join(folder, "odd.rtrk");
		writeFileSync(copy, whole);
		damage(copy);
		agree(await read(copy), exported(copy));
		assert.equal((await read(copy)).length, 7199);
		for (const cut of [whole.length - 5, Math.floor(whole.length / 3)]) {
			writeFileSync(copy, whole.subarray(0, cut));
			agree(await read(copy), exported(copy));
		}
		for (const bytes of [Buffer.alloc(0), Buffer.alloc(100, 0xb5), whole.subarray(0, 9)]) {
			writeFileSync(copy, bytes);
			assert.deepEqual(await read(copy), []);
		}
	});
});

describe("points of a view", () => {
	const data = { seconds: 7200, interval: 1, charts: [{ columns: [["process_cpu_usage", 1, false]] }, { columns: [["process_disk_read_bytes", 1e6, true]] }] };
	const load = (kind) => Samples.read(readFileSync(runFiles(made(kind))[0]).toString("base64"), data);

	test("groups keep the mean, the least and the greatest of their samples", async () => {
		const samples = await load("steps");
		const points = samples.points(0.25, 0.75, 480);
		assert.equal(points.group, 8);
		assert.ok(points.place.length <= 481);
		const [cpu] = points.charts[0];
		const [read] = points.charts[1];
		points.place.forEach((place, i) => {
			const middle = place * 7200;
			const rows = samples.rows.filter((row) => row.to > middle - 4 + 0.01 && row.to < middle + 4 + 0.01);
			const values = rows.map((row) => row.mean[samples.charts[0][0].at]);
			// The last group is cut at the end of the view.
			if (i < points.place.length - 1) {
				assert.equal(rows.length, 8);
				assert.ok(Math.abs(cpu.mean[i] - values.reduce((a, b) => a + b) / 8) < 1e-9);
				assert.equal(cpu.min[i], Math.min(...values));
				assert.equal(cpu.max[i], Math.max(...values));
				const rates = rows.map((row) => row.mean[samples.charts[1][0].at] / 1e6);
				assert.ok(Math.abs(read.mean[i] - rates.reduce((a, b) => a + b) / 8) < 1e-9);
			}
		});
	});

	test("of merged rows an amount is a rate still", async () => {
		const samples = await load("merged");
		const points = samples.points(0, 0.1, 480);
		assert.equal(points.merged, true);
		const [read] = points.charts[1];
		for (let i = 0; i < points.place.length; i++) {
			assert.ok(read.mean[i] > 50 && read.mean[i] < 400, `${read.mean[i]} MB/s`);
			assert.ok(read.min[i] <= read.mean[i] && read.max[i] >= read.mean[i] && read.max[i] < 360);
		}
	});
});
