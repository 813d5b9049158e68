// The pages Runs and Run. With the local server, they load older runs, and the report of a run in a frame.
import { ask, data, held, type Job, kind, type Listed, newest, type OneRun, type RunPage } from "./data.ts";
import { table } from "./draw.ts";
import { end } from "./jobs.ts";
import { link } from "./overview.ts";
import { isFiltered, nameOf, picked, state, url } from "./state.ts";
import { change, cores, count, duration, html, type Markup, memory, percent, usd, when } from "./words.ts";

// Loads the part of a page that needs an answer of the server; null if the page is complete.
export type Late = (() => Promise<Markup>) | null;
export interface Page { now: Markup; late: Late }

export const runLink = (id: string): Markup => html`<a href="${url({ page: "run", run: id, job: "" })}"><code>${id}</code></a>`;
const jobOf = (r: Listed): Job | undefined => data.jobs.find((j) => j.job === r.job && (j.scope ?? "") === (r.scope ?? ""));

// ---- runs ----

function rows(list: Listed[]): Markup {
	return list.length ? table({
		label: "Runs", head: ["Run", "Job", "Started", "End", "Time", "Memory", "Cores", "Cost"],
		right: [false, false, false, false, true, true, true, true],
		rows: list.map((r) => {
			const job = jobOf(r);

			return [runLink(r.id), job ? link(job) : html`${r.job}`, when(r.start), end(r.end), duration(r.duration_s),
				`${memory(r.peak_mib)} of ${memory(r.asked_mib)}`, `${cores(r.cores)} of ${cores(r.asked_cores)}`, usd(r.usd)];
		}),
	}) : html`<p class="note">No run matches. <a href="${url({ team: "", user: "", where: "", server: "", q: "", end: "", before: "" })}">Show all</a></p>`;
}

function frameOf(title: string, body: Markup | string, older: Markup | false): Markup {
	return html`<h1>Runs <small>${title}</small></h1>
<p class="chips" role="group" aria-label="End"><a href="${url({ end: "", before: "" })}"${state.end ? "" : html` aria-current="true"`}>all</a>${data.ends.map(({ name: e }) => html`<a href="${url({ end: e, before: "" })}"${state.end === e ? html` aria-current="true"` : ""}>${e}</a>`)}</p>
${body}<p class="pages">${state.before && html`<a href="${url({ before: "" })}">Newest runs</a>`}${older}</p>`;
}

const olderThan = (start: number, id: string): Markup => html`<a href="${url({ before: `${start},${id}` })}" rel="next">Older runs</a>`;

// Requests runs from the server: those of all jobs, of the one selected job, or those whose id starts with the
// search text.
async function asked(): Promise<Markup> {
	const jobs = picked(), [before, id] = state.before.split(","), query: Record<string, string> = {};

	if (state.before) {
		query.before = before;
		query.before_id = id ?? "";
	}
	if (state.end) {
		query.end = state.end;
	}
	if (isFiltered() && jobs.length === 1) {
		query.job = jobs[0].job;
		query.scope = jobs[0].scope ?? "";
	} else if (state.q && jobs.length === 0) {
		query.id = state.q;
	}
	const page = await ask<RunPage>("runs", query), among = new Set(jobs);
	const list = isFiltered() && !query.id ? page.runs.filter((r) => among.has(jobOf(r) as Job)) : page.runs;

	return frameOf(`${count(list.length)} shown of ${count(page.matched)}`, rows(list), page.older !== null && olderThan(page.older.before, page.older.id));
}

export function runsPage(): Page {
	const jobs = new Set(picked()), all = newest();
	const list = all.filter((r) => {
		const job = jobOf(r);

		return job && (state.q && r.id.includes(state.q) || !isFiltered() || jobs.has(job)) && (!state.end || r.end === state.end);
	});
	const note = kind === "served" || all.length === data.count ? "" : html`<p class="note">Older runs: <code>resource-tracker history -n 0 JOB</code>, or <code>resource-tracker dashboard</code>.</p>`;
	const now = html`${frameOf(`the newest ${all.length} of ${count(data.count)}; ${list.length} shown`, state.before && kind === "served" ? "" : rows(list), false)}${note}`;

	return { now, late: kind === "served" ? asked : null };
}

// ---- one run ----

function beside(one: OneRun): Markup {
	const r = one.run, usual = one.usual;
	const to = (a: number | null | undefined, b: number | null | undefined): string => change((a ?? NaN) / (b ?? NaN) - 1);

	return table({
		label: "This run and the usual one", head: ["What", "This run", "Usual", "Change", "Of the request"], right: [false, true, true, true, true],
		rows: [
			[html`Run time`, duration(r.duration_s), duration(usual?.duration_s), html`<span class="${r.odd ? "strong warn" : ""}">${to(r.duration_s, usual?.duration_s)}${r.odd && " odd"}</span>`, "–"],
			[html`Peak memory`, memory(r.peak_mib), memory(usual?.peak_p95_mib), to(r.peak_mib, usual?.peak_p95_mib), html`${percent((r.peak_mib ?? NaN) / (r.asked_mib ?? NaN))} of ${memory(r.asked_mib)}`],
			[html`Cores busy`, cores(r.cores), cores(usual?.cores), to(r.cores, usual?.cores), html`${percent((r.cores ?? NaN) / (r.asked_cores ?? NaN))} of ${cores(r.asked_cores)}`],
			[html`Cost`, usd(r.usd), usd(usual?.usd), to(r.usd, usual?.usd), "–"],
		],
	});
}

function report(id: string): Markup {
	if (kind === "file" || (kind === "folder" && !data.reported.includes(id))) {
		return html`<section><h2>Its report</h2><p class="note">Samples, phases and where the time went are in its own report, which is not part of this page:</p><pre><code>resource-tracker report ${id}</code></pre></section>`;
	}
	const address = kind === "folder" ? `runs/${id}.html` : `run/${id}`;

	return html`<section><h2>Its report <small><a href="${address}" target="_blank" rel="noopener">alone in a tab</a> · <a href="${kind === "served" ? `${address}?download=1` : address}" download="${id}.html">download</a></small></h2><iframe class="report" title="Report of ${id}" src="${address}" sandbox="allow-scripts allow-downloads"></iframe></section>`;
}

function shown(one: OneRun): Markup {
	const r = one.run, job = jobOf(r);
	const near = (id: string | null, text: string, rel: string): Markup => (id ? html`<a href="${url({ page: "run", run: id })}" rel="${rel}">${text}</a>` : html`<span class="muted">${text}</span>`);

	return html`<p class="crumb"><a href="${url({ page: "jobs", run: "" })}">Jobs</a> / ${job ? link(job) : r.job} / ${r.id}</p><h1>${r.id} <small>${end(r.end)} · ${when(r.start)}</small></h1>
<p class="pages">${near(one.previous, "← Run before", "prev")}${near(one.next, "Run after →", "next")}</p>
${one.command && html`<p class="muted"><code>${one.command}</code></p>`}${beside(one)}${report(r.id)}`;
}

const missing = (): Markup => html`<h1>${state.run || "No run"}</h1><p class="note">This page does not have this run. <a href="${url({ page: "runs", run: "" })}">All runs</a></p>`;

export function runPage(): Page {
	const one = held(state.run);

	if (kind !== "served") {
		return { now: one ? shown(one) : missing(), late: null };
	}
	return {
		now: html`<h1>${state.run}</h1><p class="note">Reading …</p>`,
		late: () => ask<OneRun>("run", { id: state.run }).then(shown, () => missing()),
	};
}
