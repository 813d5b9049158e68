// The data of the page: types, the views as JSON, and the runs in a packed binary form.

export interface Sum {
	runs: number; failed: number; out_of_memory: number; priced: number; estimated: number; unpriced: number;
	usd: number | null; idle_cores_usd: number | null; idle_memory_usd: number | null;
	failed_usd: number | null; waste_usd: number | null;
	used_core_s: number; asked_core_s: number; used_mib_s: number; asked_mib_s: number;
	cores_share: number | null; memory_share: number | null; run_s: number;
}
export interface Size { cores: number | null; memory_mib: number | null }
export interface Day extends Sum { day: string }
export interface Group extends Sum { name: string | null }
export interface Change {
	job: string; scope: string | null; why: string; asked: Size; ask: Size; runs: number;
	duration_s: number | null; saves_usd_month: number; saves_share: number;
}
export interface Finding { kind: string; head: string; text: string; jobs: string[]; usd_month: number | null }
export interface Forecast {
	first_day: string; usd: number[]; band_usd: number[]; month_usd: number; month_band_usd: number;
	month_usd_advised: number; days: number;
}
export interface Overview {
	as_of: number; since: number; first: number; period_days: number; jobs: number; running: number;
	sum: Sum; before: Sum | null; median_cores_share: number | null; median_memory_share: number | null;
	headline: string; lead: string; warning: string; basis: string; verdicts: Record<string, number>;
	changes: Change[]; changes_all: number; saves_usd_month: number; saves_all_usd_month: number;
	findings: Finding[]; days: Day[]; odd_days: { from: string; to: string; text: string; job: string | null }[];
	forecast: Forecast | null; by: Record<string, Group[]>;
}
export interface Run {
	id: string; start: number; end: string; duration_s: number | null; change: number | null; odd: boolean;
	cores: number | null; asked_cores: number | null; peak_mib: number | null; asked_mib: number | null;
	usd: number | null; waste_usd: number | null;
}
export interface Job {
	job: string; scope: string | null; verdict: string; runs_known: number; last: number; last_end: string;
	team: string | null; user: string | null; where: string | null; server: string | null;
	usual: {
		runs: number; duration_s: number | null; noise_share: number | null; cores: number | null;
		cores_p95: number | null; peak_mib: number | null; peak_p95_mib: number | null; usd: number | null;
	};
	asked: Size; stated: boolean; ask: Size; ask_usd: number | null; saves_usd_month: number | null;
	confidence: string | null; odd: number; failing_in_row: number;
	growth: { rising: boolean; share_a_day: number; now_mib: number; days_left: number | null; text: string | null } | null;
	drift: { change: number; from: number; before_s: number; since_s: number; text: string } | null;
	why: string; lead: string; basis: string; chance_now: number | null; chance_ask: number | null;
	reasons: string[]; runs: Run[]; command: string; first: number; sizes: (number | null)[][]; base: number[];
	p07: [Sum, Sum, number]; p30: [Sum, Sum, number]; p90: [Sum, Sum, number];
	at: number; // index of its first packed run
}
export interface Place extends Sum {
	name: string | null; size: Size; jobs: number; usd_hour: number | null; ratio: number | null;
	ratio_runs: number; ratio_jobs: number; slow: boolean;
}
export interface Data {
	as_of: number; utc_offset_s: number; count: number; overview: Overview[];
	machines: { unknown: number; servers: Place[]; machines: Place[] }[];
	jobs: Job[]; newest: (string | number | null)[][]; reported: string[]; alerts: Alerts | null;
}
// A run on the pages Runs and Run, with the field names of `fleet --json`.
export interface Listed extends Run { job: string; scope: string | null; [trait: string]: unknown }
export interface OneRun { run: Listed; previous: string | null; next: string | null; command: string; usual: Job["usual"] | null }
export interface RunPage { runs: Listed[]; matched: number; older: { before: number; id: string } | null }
export interface Alert {
	id: string; rule: string; severity: string; job: string; scope: string | null; run: string | null; text: string;
	fix: string | null; state: string; opened: number; ended: number | null; acked: number | null; held: string | null;
}
export interface Silence { id: string; rule: string | null; job: string | null; until: number; reason: string | null }
export interface Rule { rule: string; severity: string; evaluated: string; window_s: number | null; condition: string }
export interface Alerts { alerts: Alert[]; silences: Silence[]; rules: Rule[] }
// Origin of the page: a single file, a folder with reports, or the local server.
export type Kind = "file" | "folder" | "served";
// One packed run, with values of limited precision. It is used for charts only.
export interface Packed {
	start: number; seconds: number; mib: number; cores: number; end: number;
	askedCores: number; askedMib: number; usd: number; idleCores: number; idleMemory: number; failed: number;
}

export const PERIODS = [7, 30, 90];
export const ENDS = ["ok", "failed", "out of memory", "time limit", "stopped", "running"];
export const isFailure = (end: number): boolean => end >= 1 && end <= 3;
const PLANES = 9, OCTAVE = 64, MIDDLE = 32768, CORE = 0.0373, GIB = 0.00433, STEP = 1800;

// Decodes text in which two characters contain 13 bits, the lowest bits first. The characters are printable ASCII
// without &, < and >.
function bytesOf(text: string, size: number): Uint8Array<ArrayBuffer> {
	const value = new Uint8Array(128), bytes = new Uint8Array(size);
	let bits = 0, v = 0, at = 0, digits = 0;

	for (let c = 33; c < 127; c++) {
		value[c] = [38, 60, 62].includes(c) ? 0 : digits++;
	}
	for (let i = 0; i < text.length; i += 2) {
		v |= (value[text.charCodeAt(i)] + 91 * value[text.charCodeAt(i + 1)]) << bits;
		for (bits += 13; bits >= 8; bits -= 8, v >>>= 8) {
			bytes[at++] = v;
		}
	}
	return bytes;
}

async function unpack(id: string): Promise<Uint8Array> {
	const at = document.getElementById(id) as HTMLElement;
	const bytes = bytesOf(at.textContent ?? "", Number(at.dataset.bytes));

	if (at.dataset.as !== "gzip") {
		return bytes;
	}
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

export let data: Data; // undefined before load()
export let kind: Kind = "file";
let planes: Uint8Array;

// Makes a Sum from the list of numbers that the page contains.
function sumFrom(v: number[]): Sum {
	const money = v[3] + v[4] > 0, usd = (i: number): number | null => (money ? v[i] : null);

	return {
		runs: v[0], failed: v[1], out_of_memory: v[2], priced: v[3], estimated: v[4], unpriced: v[5], usd: usd(6),
		idle_cores_usd: usd(7), idle_memory_usd: usd(8), failed_usd: usd(9), waste_usd: money ? v[7] + v[8] + v[9] : null,
		used_core_s: v[10] * 3600, asked_core_s: v[11] * 3600, used_mib_s: v[12] * 3600 * 1024, asked_mib_s: v[13] * 3600 * 1024,
		run_s: v[14] * 3600,
		cores_share: v[11] > 0 ? v[10] / v[11] : null, memory_share: v[13] > 0 ? v[12] / v[13] : null,
	};
}

function sumBefore([oom, money, usd, waste, usedCores, askedCores, usedMib, askedMib]: number[]): Sum {
	const sum = sumFrom([0, 0, oom, money, 0, 0, usd, waste, 0, 0, usedCores, askedCores, usedMib, askedMib, 0]);

	return sum;
}

function runFrom(r: (string | number | null)[]): Run {
	const num = (i: number): number | null => r[i] as number | null;

	return {
		id: String(r[0]), start: Number(r[1]), end: ENDS[Number(r[2])], duration_s: num(3), change: num(4), odd: r[5] === 1,
		cores: num(6), asked_cores: num(7), peak_mib: num(8), asked_mib: num(9), usd: num(10), waste_usd: num(11),
	};
}

// Converts columns (lists of values by name) to a list of objects.
function rowsOf(columns: Record<string, unknown[]>): Record<string, unknown>[] {
	const keys = Object.keys(columns);

	return (columns[keys[0]] ?? []).map((_, i) => Object.fromEntries(keys.map((key) => [key, columns[key][i]])));
}

export async function load(): Promise<void> {
	let at = 0;

	data = JSON.parse(new TextDecoder().decode(await unpack("data")));
	data.jobs = rowsOf(data.jobs as unknown as Record<string, unknown[]>) as unknown as Job[];
	planes = await unpack("runs");
	kind = (document.getElementById("app")?.dataset.kind ?? "file") as Kind;
	for (const job of data.jobs) {
		job.at = at;
		at += job.runs_known;
		for (const key of ["p07", "p30", "p90"] as const) {
			const [now, before, odd] = job[key] as unknown as [number[], number[], number];

			job[key] = [sumFrom(now), sumBefore(before), odd];
		}
		job.runs = (job as unknown as { newest: (string | number | null)[][] }).newest.map(runFrom);
	}
}

const unknown = (x: number | null | undefined): number => x ?? NaN;
const kept = new Map<Job, Packed[]>();

// The packed runs of a job, oldest first.
export function runsOf(job: Job): Packed[] {
	const known = kept.get(job), n = data.count;

	if (known) {
		return known;
	}
	// A 16-bit value: the difference from the job's median, where 0, 1, 2, 3, … encode 0, -1, 1, -2, …
	const two = (plane: number, i: number): number => {
		const v = planes[plane * n + i] | (planes[(plane + 1) * n + i] << 8);

		return (job.base[plane / 2] + (v & 1 ? -(v + 1) / 2 : v / 2)) & 65535;
	};
	const octaves = (plane: number, i: number, part: number): number => {
		const v = two(plane, i);

		return v ? 2 ** ((v - MIDDLE) / part) : NaN;
	};
	const runs: Packed[] = [];
	let start = job.first;

	for (let i = job.at; i < job.at + job.runs_known; i++) {
		const tail = planes[(PLANES - 1) * n + i], size = job.sizes[tail >> 3] ?? [];

		start += two(0, i) * STEP;
		const run: Packed = {
			start, seconds: octaves(2, i, OCTAVE), mib: octaves(4, i, OCTAVE / 2), cores: octaves(6, i, OCTAVE / 2), end: tail & 7,
			askedCores: unknown(size[0]), askedMib: unknown(size[1]), usd: 0, idleCores: 0, idleMemory: 0, failed: 0,
		};

		run.usd = run.seconds / 3600 * unknown(size[2]) || 0;
		if (run.end === 0) {
			const c = CORE * (run.askedCores || 0), m = GIB * (run.askedMib || 0) / 1024;

			run.idleCores = run.usd * c / (c + m) * Math.max(0, 1 - run.cores / run.askedCores) || 0;
			run.idleMemory = run.usd * m / (c + m) * Math.max(0, 1 - run.mib / run.askedMib) || 0;
		} else if (isFailure(run.end)) {
			run.failed = run.usd;
		}
		runs.push(run);
	}
	kept.set(job, runs);
	return runs;
}

export const dayOf = (seconds: number): number => Math.floor((seconds + data.utc_offset_s) / 86400);
export const dayFrom = (iso: string): number => Math.round(Date.parse(`${iso}T00:00:00Z`) / 86400000);

// Requests a view from the local server; its names are those of `fleet --json`.
export async function ask<T>(view: string, query: Record<string, string>): Promise<T> {
	const answer = await fetch(`json/${view}?${new URLSearchParams(query)}`);

	if (!answer.ok) {
		throw new Error((await answer.text()).trim());
	}
	return (await answer.json())[view] as T;
}

const TRAITS = ["team", "user", "where", "server", "machine", "image", "code"];

// The newest runs in the data of the page, newest first.
export function newest(): Listed[] {
	return data.newest.map((r) => {
		const run = Object.fromEntries(TRAITS.map((t, i) => [t, r[10 + i] || null]));

		return {
			...run, id: String(r[0]), job: String(r[1]), start: Number(r[2]), end: String(r[3]), duration_s: r[4], cores: r[5],
			asked_cores: r[6], peak_mib: r[7], asked_mib: r[8], usd: r[9], scope: (r[17] as string) || null,
			change: null, odd: false, waste_usd: null,
		} as Listed;
	});
}

// A run from the data of the page, with the ids of the runs of its job before and after it; null if it is not there.
export function held(id: string): OneRun | null {
	const all = new Map(newest().map((r) => [r.id, r]));

	for (const job of data.jobs) {
		for (const run of job.runs) {
			all.set(run.id, { ...all.get(run.id), ...run, job: job.job, scope: job.scope });
		}
	}
	const run = all.get(id);

	if (!run) {
		return null;
	}
	const job = data.jobs.find((j) => j.job === run.job && (j.scope ?? "") === (run.scope ?? ""));
	const near = [...all.values()].filter((r) => r.job === run.job && (r.scope ?? "") === (run.scope ?? "")).sort((a, b) => a.start - b.start);
	const at = near.findIndex((r) => r.id === id);

	return { run, previous: near[at - 1]?.id ?? null, next: near[at + 1]?.id ?? null, command: job?.command ?? "", usual: job?.usual ?? null };
}
