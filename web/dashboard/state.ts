// The state of the page is kept in the address, for example #/jobs?days=7&team=risk.
import { data, type Job, PERIODS } from "./data.ts";

export const FACETS = ["team", "user", "where", "server"] as const;
export type Facet = (typeof FACETS)[number];
export interface State {
	page: string; job: string; run: string; before: string; days: number; q: string; sort: string; verdict: string; end: string;
	team: string; user: string; where: string; server: string;
}

export let state: State;

export function read(): void {
	const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
	const o = new URLSearchParams(query ?? ""), [page, ...rest] = path.split("/");
	const days = Number(o.get("days") ?? 30);
	const text = (key: string): string => o.get(key) ?? "";
	let name = rest.join("/");

	try {
		name = decodeURIComponent(name);
	} catch {
		// Invalid percent-encoding: use the text as it is.
	}
	state = {
		page: page || "overview", job: page === "job" ? name : "", run: page === "run" ? name : "", before: text("before"), days: PERIODS.includes(days) ? days : 30, q: text("q"), sort: text("sort"),
		verdict: text("verdict"), end: text("end"), team: text("team"), user: text("user"), where: text("where"),
		server: text("server"),
	};
}

export function url(to: Partial<State>): string {
	const s = { ...state, ...to }, q = new URLSearchParams();

	if (s.days !== 30) {
		q.set("days", String(s.days));
	}
	for (const key of [...FACETS, "q", "sort", "verdict", "end", "before"] as const) {
		if (s[key] && !(key === "sort" && s.page !== "jobs") && !(key === "verdict" && s.page !== "jobs")
			&& !((key === "end" || key === "before") && s.page !== "runs")) {
			q.set(key, s[key]);
		}
	}
	const path = s.page === "job" ? `job/${encodeURIComponent(s.job)}` : s.page === "run" ? `run/${encodeURIComponent(s.run)}` : s.page === "overview" ? "" : s.page;

	return `#/${path}${q.size ? `?${q}` : ""}`;
}

export const period = (): number => PERIODS.indexOf(state.days);
export const isFiltered = (): boolean => FACETS.some((f) => state[f]) || state.q !== "";
export const nameOf = (job: Job): string =>
	data.jobs.filter((j) => j.job === job.job).length > 1 && job.scope ? `${job.job} in ${job.scope}` : job.job;

// Whether a job matches one word of the search: a part of its name, or key=value of a trait.
function matches(job: Job, word: string): boolean {
	const [key, value] = word.split("=");

	if (value !== undefined && (FACETS as readonly string[]).includes(key)) {
		return job[key as Facet] === value;
	}
	return nameOf(job).toLowerCase().includes(word.toLowerCase());
}

export function picked(): Job[] {
	const words = state.q.split(/\s+/).filter(Boolean);

	return data.jobs.filter((job) => FACETS.every((f) => !state[f] || job[f] === state[f])
		&& words.every((word) => matches(job, word)));
}

export const sumOf = (job: Job): Job["periods"][0] => job.periods[period()];
