// The pages Jobs, Runs and Machines: tables with filters.
import { data, type Job, type Place, runsOf } from "./data.ts";
import { bar, spark, table } from "./draw.ts";
import { link, traits } from "./overview.ts";
import { nameOf, period, picked, state, sumOf, url } from "./state.ts";
import { ago, change, cores, count, counted, duration, html, type Markup, memory, percent, usd } from "./words.ts";

export const VERDICTS: Record<string, [string, string]> = {
	"over-provisioned": ["▲", "warn"], "under-provisioned": ["✖", "bad"], "will fail soon": ["◆", "bad"],
	"right-sized": ["✓", "good"], "not enough data": ["·", "muted"], "nothing requested": ["·", "muted"],
};
const SHOWN = 200;

export function verdict(v: string): Markup {
	const [mark, cls] = VERDICTS[v] ?? ["·", "muted"];

	return html`<span class="strong ${cls}"><span aria-hidden="true">${mark}</span> ${v}</span>`;
}

export function end(text: string): Markup {
	const bad = data.ends.some((e) => e.name === text && e.is_failure);

	return html`<span class="${bad ? "bad" : text === "ok" ? "good" : "muted"}"><span aria-hidden="true">${bad ? "✖" : text === "ok" ? "✓" : "·"}</span> ${text}</span>`;
}

const ORDERS: Record<string, [string, (j: Job) => number | string]> = {
	save: ["Saves / month", (j) => -(j.saves_usd_month ?? -1)],
	spend: ["Spend", (j) => -(sumOf(j).sum.usd ?? -1)],
	failed: ["Failed", (j) => -sumOf(j).sum.failed],
	mem: ["Memory used", (j) => (j.usual.peak_mib ?? Infinity) / (j.asked.memory_mib ?? 1)],
	cores: ["Cores used", (j) => (j.usual.cores ?? Infinity) / (j.asked.cores ?? 1)],
	change: ["Change", (j) => -Math.abs(j.drift?.change ?? 0)],
	name: ["Name", (j) => nameOf(j).toLowerCase()],
	last: ["Last run", (j) => -j.last],
};

export function jobsPage(): Markup {
	const all = picked(), of = (v: string): number => all.filter((j) => j.verdict === v).length;
	const [, rank] = ORDERS[state.sort] ?? ORDERS.save;
	const list = all.filter((j) => !state.verdict || j.verdict === state.verdict)
		.sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));

	return html`<h1>Jobs <small>${list.length} of ${data.jobs.length}</small></h1>
<p class="chips" role="group" aria-label="Verdict">${Object.keys(VERDICTS).map((v) => html`<a href="${url({ verdict: state.verdict === v ? "" : v })}"${state.verdict === v ? html` aria-current="true"` : ""}><span class="${VERDICTS[v][1]}" aria-hidden="true">${VERDICTS[v][0]}</span> ${v} ${of(v)}</a>`)}</p>
<p class="chips" role="group" aria-label="Order"><span class="muted">by</span>${Object.entries(ORDERS).map(([key, [title]]) => html`<a href="${url({ sort: key === "save" ? "" : key })}"${(state.sort || "save") === key ? html` aria-current="true"` : ""}>${title}</a>`)}</p>
${list.length ? table({
		label: "Jobs",
		head: ["Job", "Verdict, last run", "Run time", "Change", "Memory peak", "Cores used", "Failed", `Spend / ${state.days} d`, "Saves / month"],
		right: [false, false, false, true, false, false, true, true, true],
		rows: list.slice(0, SHOWN).map((j) => [
			html`<span class="strong">${link(j)}</span><span class="sub">${traits(j)}</span>`,
			html`${verdict(j.verdict)}<span class="sub">${end(j.last_end)}, ${ago(j.last)}</span>`,
			html`${spark(runsOf(j).filter((r) => r.end === 0).slice(-40).map((r) => r.seconds))}<span class="sub">${duration(j.usual.duration_s)}</span>`,
			j.drift ? html`<span class="strong warn">${change(j.drift.change)}</span>` : html`<span class="muted">usual</span>`,
			html`${bar((j.usual.peak_mib ?? NaN) / (j.asked.memory_mib ?? NaN))} ${percent((j.usual.peak_mib ?? NaN) / (j.asked.memory_mib ?? NaN))}<span class="sub">${memory(j.usual.peak_mib)} of ${memory(j.asked.memory_mib)}</span>`,
			html`${bar((j.usual.cores ?? NaN) / (j.asked.cores ?? NaN))} ${percent((j.usual.cores ?? NaN) / (j.asked.cores ?? NaN))}<span class="sub">${cores(j.usual.cores)} of ${cores(j.asked.cores)}</span>`,
			html`${sumOf(j).sum.failed} of ${sumOf(j).sum.runs}`,
			usd(sumOf(j).sum.usd),
			html`<span class="strong">${usd(j.saves_usd_month)}</span>`,
		]),
	}) : html`<p class="note">No job matches. <a href="${url({ team: "", user: "", where: "", server: "", q: "", verdict: "" })}">Show all</a></p>`}
${list.length > SHOWN && html`<p class="note">The first ${SHOWN} of ${list.length}: search or filter for the others.</p>`}`;
}

// ---- machines ----

const placeName = (p: Place): string => p.name ?? `${cores(p.size.cores)} cores, ${memory(p.size.memory_mib)}`;

function places(title: string, list: Place[]): Markup {
	return html`<section><h2>${title}</h2>${table({
		label: title, head: [title === "Server types" ? "Server" : "Machine", "Runs", "Jobs", "Hours", "An hour", "Cores busy", "Memory used", "Idle", "Failed of 1,000", "Run time"],
		right: [false, true, true, true, true, true, true, true, true, true],
		rows: list.map((p) => [
			html`<span class="strong">${placeName(p)}</span>`, count(p.runs), count(p.jobs), count(p.run_s / 3600), usd(p.usd_hour), percent(p.cores_share), percent(p.memory_share),
			usd(p.usd === null ? null : (p.idle_cores_usd ?? 0) + (p.idle_memory_usd ?? 0)), (1000 * p.failed / (p.runs || 1)).toFixed(0),
			html`<span class="${p.slow ? "strong warn" : "muted"}"${p.ratio === null ? "" : html` title="${p.ratio_runs} runs of ${p.ratio_jobs} jobs"`}>${p.ratio === null ? "–" : change(p.ratio - 1)}${p.slow ? " slow" : ""}</span>`,
		]),
	})}</section>`;
}

export function machinesPage(): Markup {
	const m = data.machines[period()];

	return html`<h1>Machines <small>in ${state.days} days, of all jobs</small></h1>${
		!m.servers.length && !m.machines.length && html`<p class="note">No run says where it ran. Try <code>resource-tracker run --tag server=TYPE --tag node=NAME</code>.</p>`}${
		m.servers.length > 0 && places("Server types", m.servers)}${m.machines.length > 0 && places("Machines", m.machines)}${
		m.unknown > 0 && html`<p class="note">The server of ${counted(m.unknown, "run")} is not known.</p>`}
<p class="note">“Run time” is the median difference to the same job on other machines; it needs 10 runs of 3 jobs.</p>`;
}
