// The data of the page: types, the views as JSON, and lists of figures of all runs for the charts.

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
	reasons: string[]; runs: Run[]; command: string;
	periods: { sum: Sum; before: Sum; odd: number }[]; // as PERIODS
	at: number; // index of its first run in the charts
}
export interface Place extends Sum {
	name: string | null; size: Size; jobs: number; usd_hour: number | null; ratio: number | null;
	ratio_runs: number; ratio_jobs: number; slow: boolean;
}
export interface Data {
	ends: { name: string; is_failure: boolean }[]; as_of: number; utc_offset_s: number; count: number; overview: Overview[];
	machines: { unknown: number; servers: Place[]; machines: Place[] }[];
	jobs: Job[]; newest: RunPage; reported: string[]; alerts: Alerts | null; charts: Record<string, (number | null)[]>;
}
// A run on the pages Runs and Run, with the field names of `fleet --json`.
export interface Listed extends Run { job: string; scope: string | null; [trait: string]: unknown }
export interface OneRun { run: Listed; previous: string | null; next: string | null; command: string; usual: Job["usual"] | null }
export interface RunPage { runs: Listed[]; matched: number; older: { before: number; id: string } | null }
export interface Alert {
	id: string; rule: string; severity: string; job: string; scope: string | null; run: string | null; text: string;
	fix: string | null; state: string; opened: number; ended: number | null; acked: number | null;
}
export interface Silence { id: string; rule: string | null; job: string | null; until: number; reason: string | null }
export interface Rule { rule: string; severity: string; evaluated: string; window_s: number | null; condition: string }
export interface Alerts { alerts: Alert[]; silences: Silence[]; rules: Rule[] }
// Origin of the page: a single file, a folder with reports, or the local server.
export type Kind = "file" | "folder" | "served";
// A run with values of limited precision. It is used for charts only.
export interface ChartRun {
	start: number; seconds: number; mib: number; cores: number; end: number;
	askedCores: number; askedMib: number; usd: number; idleCores: number; idleMemory: number; failed: number;
}

export const PERIODS = [7, 30, 90];
export const isFailure = (end: number): boolean => data.ends[end]?.is_failure ?? false;
export const isRunning = (end: number): boolean => data.ends[end]?.name === "running";

async function unpack(): Promise<string> {
	const at = document.getElementById("data") as HTMLElement;
	const bytes = Uint8Array.from(atob(at.textContent ?? ""), (c) => c.charCodeAt(0));
	const stream = new Blob([bytes]).stream();

	return new Response(at.dataset.as === "gzip" ? stream.pipeThrough(new DecompressionStream("gzip")) : stream).text();
}

export let data: Data; // undefined before load()
export let kind: Kind = "file";

export async function load(): Promise<void> {
	let at = 0;

	data = JSON.parse(await unpack());
	kind = (document.getElementById("app")?.dataset.kind ?? "file") as Kind;
	for (const job of data.jobs) {
		job.at = at;
		at += job.runs_known;
	}
}

const unknown = (x: number | null | undefined): number => x ?? NaN;
const kept = new Map<Job, ChartRun[]>();

// The runs of a job, oldest first.
export function runsOf(job: Job): ChartRun[] {
	const known = kept.get(job), of = data.charts;
	let start = 0;

	if (known) {
		return known;
	}
	const runs = Array.from({ length: job.runs_known }, (_, n): ChartRun => {
		const i = job.at + n, end = Number(of.end[i]), usd = of.usd[i] ?? 0;

		start += 60 * Number(of.start[i]);
		return {
			start, end, seconds: unknown(of.duration_s[i]), mib: unknown(of.peak_mib[i]), cores: unknown(of.cores[i]),
			askedCores: unknown(of.asked_cores[i]), askedMib: unknown(of.asked_mib[i]), usd, failed: of.failed_usd[i] ?? 0,
			idleCores: of.idle_cores_usd[i] ?? 0, idleMemory: of.idle_memory_usd[i] ?? 0,
		};
	});

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

// The newest runs in the data of the page, newest first.
export const newest = (): Listed[] => data.newest.runs;

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
