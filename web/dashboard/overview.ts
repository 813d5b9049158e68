// The page Overview: cost, waste, recommended changes, and jobs that are likely to fail.
import { data, dayFrom, dayOf, isFailure, isRunning, type Job, type Overview, runsOf, type Sum } from "./data.ts";
import { chart, folded, key, nice, path, spark, svg, table } from "./draw.ts";
import { FACETS, isFiltered, nameOf, period, picked, state, sumOf, url } from "./state.ts";
import { change, cores, count, counted, date, duration, html, type Markup, median, memory, percent, usd } from "./words.ts";

export const link = (job: Job): Markup => html`<a href="${url({ page: "job", job: nameOf(job) })}">${nameOf(job)}</a>`;
const jobNamed = (name: string): Job | undefined => data.jobs.find((j) => j.job === name);
const linkNamed = (name: string): Markup => {
	const job = jobNamed(name);

	return job ? link(job) : html`${name}`;
};
export const traits = (job: Job): string => FACETS.map((f) => job[f]).filter(Boolean).join(" · ");

const NUMBERS = ["runs", "failed", "out_of_memory", "priced", "estimated", "unpriced", "usd", "idle_cores_usd",
	"idle_memory_usd", "failed_usd", "waste_usd", "used_core_s", "asked_core_s", "used_mib_s", "asked_mib_s", "run_s"] as const;

// Adds the sums of several jobs. The result is exact, because the program adds them in the same way.
export function addUp(sums: Sum[]): Sum {
	const all = Object.fromEntries(NUMBERS.map((k) => [k, sums.reduce((n, s) => n + (s[k] ?? 0), 0)])) as unknown as Sum;

	if (all.priced + all.estimated === 0) {
		all.usd = all.waste_usd = all.idle_cores_usd = all.idle_memory_usd = all.failed_usd = null;
	}
	all.cores_share = all.asked_core_s > 0 ? all.used_core_s / all.asked_core_s : null;
	all.memory_share = all.asked_mib_s > 0 ? all.used_mib_s / all.asked_mib_s : null;
	return all;
}

interface View { o: Overview; jobs: Job[]; sum: Sum; before: Sum | null; filtered: boolean }

function view(): View {
	const o = data.overview[period()], jobs = picked(), filtered = isFiltered();

	return {
		o, jobs, filtered,
		sum: filtered ? addUp(jobs.map((j) => sumOf(j).sum)) : o.sum,
		before: !o.before ? null : filtered ? addUp(jobs.map((j) => sumOf(j).before)) : o.before,
	};
}

function lead(v: View): Markup {
	const waste = v.sum.usd ? (v.sum.waste_usd ?? 0) / v.sum.usd : NaN;
	const ran = v.jobs.filter((j) => sumOf(j).sum.runs).length;

	if (!v.filtered) {
		return html`<div class="lead"><p>${v.o.headline && html`<strong class="warn">▲ ${v.o.headline}</strong> `}${v.o.lead}${
			v.o.warning && html` <strong class="bad">◆ ${v.o.warning}</strong>`}</p><p class="basis">${v.o.basis}</p></div>`;
	}
	return html`<div class="lead"><p>${Number.isFinite(waste) && html`<strong class="warn">▲ ${percent(waste)} of the money was wasted.</strong> `}${
		counted(v.sum.runs, "run")} of ${counted(ran, "job")}${v.sum.usd !== null && html` cost <strong>${usd(v.sum.usd)}</strong>, ${usd(v.sum.waste_usd)} of it idle cores, idle memory and failed runs`} in ${v.o.period_days} days.</p><p class="basis">These jobs only. ${v.o.basis}</p></div>`;
}

const beside = (now: number | null, was: number | null | undefined, days: number): string =>
	now !== null && was ? `${change(now / was - 1)} on the ${days} days before` : "no earlier period";

// Sums per day. Without a filter they are exact; with a filter they are computed from the runs of the charts.
interface DaySum { day: number; usd: number; idleCores: number; idleMemory: number; failed: number; runs: number; bad: number; cores: number; memory: number }

function daysOf(v: View): DaySum[] {
	if (!v.filtered) {
		return v.o.days.map((d) => ({
			day: dayFrom(d.day), usd: d.usd ?? 0, idleCores: d.idle_cores_usd ?? 0, idleMemory: d.idle_memory_usd ?? 0,
			failed: d.failed_usd ?? 0, runs: d.runs, bad: d.failed, cores: d.cores_share ?? NaN, memory: d.memory_share ?? NaN,
		}));
	}
	const last = dayOf(data.as_of), first = last - v.o.days.length + 1;
	const days: DaySum[] = v.o.days.map((_, i) => ({ day: first + i, usd: 0, idleCores: 0, idleMemory: 0, failed: 0, runs: 0, bad: 0, cores: NaN, memory: NaN }));
	const used = days.map(() => [0, 0, 0, 0]);

	for (const job of v.jobs) {
		for (const run of runsOf(job)) {
			const d = days[dayOf(run.start) - first], u = used[dayOf(run.start) - first];

			if (!d || isRunning(run.end)) {
				continue;
			}
			d.runs++;
			d.bad += isFailure(run.end) ? 1 : 0;
			d.usd += run.usd;
			d.idleCores += run.idleCores;
			d.idleMemory += run.idleMemory;
			d.failed += run.failed;
			u[0] += run.cores * run.seconds || 0;
			u[1] += run.askedCores * run.seconds || 0;
			u[2] += run.mib * run.seconds || 0;
			u[3] += run.askedMib * run.seconds || 0;
		}
	}
	days.forEach((d, i) => {
		d.cores = used[i][0] / used[i][1];
		d.memory = used[i][2] / used[i][3];
	});
	return days;
}

function tiles(v: View, days: DaySum[]): Markup {
	const whole = days.slice(0, -1), priced = v.sum.usd === null ? [] : whole, n = v.o.period_days;
	const tile = (title: string, value: string, small: string, more: string, line: number[], cls = ""): Markup =>
		html`<a class="tile" href="${url({ page: "jobs" })}"><span class="h">${title}</span><span class="v ${cls}">${value} <small>${small}</small></span><span class="d">${more}</span>${spark(line, 190, 26)}</a>`;
	const share = (x: number | null, was: number | null | undefined, middle: number | null): string =>
		`${was ? `was ${percent(was)}; ` : ""}median job ${percent(middle)}`;
	const middle = (f: (j: Job) => number): number | null => v.filtered ? median(v.jobs.map(f)) : NaN;

	return html`<div class="tiles">${[
		tile("Spend", usd(v.sum.usd), "", beside(v.sum.usd, v.before?.usd, n), priced.map((d) => d.usd)),
		tile("Wasted", usd(v.sum.waste_usd), v.sum.usd ? percent((v.sum.waste_usd ?? 0) / v.sum.usd) : "",
			beside(v.sum.waste_usd, v.before?.waste_usd, n), priced.map((d) => d.idleCores + d.idleMemory + d.failed), priced.length ? "warn" : ""),
		tile("Cores used", percent(v.sum.cores_share), "of what they had", share(v.sum.cores_share, v.before?.cores_share,
			v.filtered ? middle((j) => (j.usual.cores ?? NaN) / (j.asked.cores ?? NaN)) : v.o.median_cores_share), whole.map((d) => d.cores)),
		tile("Memory used", percent(v.sum.memory_share), "of what they had", share(v.sum.memory_share, v.before?.memory_share,
			v.filtered ? middle((j) => (j.usual.peak_mib ?? NaN) / (j.asked.memory_mib ?? NaN)) : v.o.median_memory_share), whole.map((d) => d.memory)),
		tile("Failed runs", count(v.sum.failed), `of ${count(v.sum.runs)}${v.sum.runs ? `, ${percent(v.sum.failed / v.sum.runs)}` : ""}`,
			`${v.sum.out_of_memory} out of memory${v.before ? ` (${v.before.out_of_memory} before)` : ""}`, whole.map((d) => d.bad), v.sum.failed ? "bad" : ""),
	]}</div>`;
}

function changes(v: View): Markup {
	const able = v.jobs.filter((j) => (j.saves_usd_month ?? 0) >= 1);
	const all = able.reduce((n, j) => n + (j.saves_usd_month ?? 0), 0);

	if (!able.length) {
		return html`<section><h2>Change these first</h2><p class="note">Nothing to save: no job requests much more than it uses.${
			v.sum.usd === null && html` No run has a known cost: request cores and memory, or name the server with <code>--instance</code>.`}</p></section>`;
	}
	return html`<section><h2>Change these first <small>by money saved a month; ${counted(able.length, "job")}, ${usd(all)} in all</small></h2>${table({
		label: "Change these first",
		head: ["Job", "Why", "Now", "Ask for", "Saves / month"],
		right: [false, false, false, false, true],
		rows: able.slice(0, 8).map((j) => [
			html`<span class="strong">${link(j)}</span><span class="sub">${traits(j)}</span>`,
			html`${j.why}<span class="sub">${counted(j.periods[1].sum.runs, "run")} in 30 days, ${duration(j.usual.duration_s)} each</span>`,
			html`${cores(j.asked.cores)} CPU<span class="sub">${memory(j.asked.memory_mib)}</span>`,
			html`<span class="${j.ask.cores === j.asked.cores ? "muted" : "strong"}">${cores(j.ask.cores)} CPU</span><span class="sub ${j.ask.memory_mib === j.asked.memory_mib ? "" : "loud"}">${memory(j.ask.memory_mib)}</span>`,
			html`<span class="strong">${usd(j.saves_usd_month)}</span><span class="sub">${percent((j.saves_usd_month ?? 0) / (j.periods[1].sum.usd || NaN))} of it</span>`,
		]),
	})}<p class="note"><a href="${url({ page: "jobs" })}">All ${counted(v.jobs.length, "job")}</a> · <code>resource-tracker recommend JOB --for slurm</code> prints the lines to paste</p></section>`;
}

const MARKS: Record<string, [string, string]> = {
	will_fail: ["◆", "bad"], failing: ["✖", "bad"], slower: ["▲", "warn"], faster: ["▼", "good"], slow_machine: ["▲", "warn"],
	gpu_unused: ["▲", "warn"], gpu_too_big: ["▲", "warn"],
};

function findings(v: View): Markup {
	const names = new Set(v.jobs.map((j) => j.job));
	const list = v.o.findings.filter((f) => !v.filtered || f.jobs.some((j) => names.has(j)));

	return html`<section><h2>Before it fails <small>and what has changed</small></h2>${list.length ? html`<ul class="list">${list.map((f) => {
		const [mark, cls] = MARKS[f.kind] ?? ["·", "muted"];

		return html`<li><span class="s ${cls}" aria-hidden="true">${mark}</span><b>${f.jobs.length === 1 && f.jobs[0] === f.head ? linkNamed(f.head) : f.head}</b> ${f.text}${
			f.jobs.length > 1 && html` <span class="sub">${f.jobs.map((j, i) => html`${i ? ", " : ""}${linkNamed(j)}`)}</span>`}</li>`;
	})}</ul>` : html`<p class="note">Nothing grows to its limit, no failures have something in common, and no job has changed.</p>`}</section>`;
}

const COLORS: [string, string][] = [["used", "used"], ["icpu", "idle cores"], ["imem", "idle memory"], ["fail", "failed runs"]];

function spenders(v: View): Markup {
	const facet = FACETS.find((f) => v.o.by[f]) ?? null;

	if (!facet || v.sum.usd === null) {
		return html``;
	}
	const sums = new Map<string, Sum[]>();

	v.jobs.forEach((j) => sums.set(j[facet] ?? "not known", [...(sums.get(j[facet] ?? "not known") ?? []), sumOf(j).sum]));
	const groups = v.filtered
		? [...sums].map(([name, all]) => ({ name, ...addUp(all) })).sort((a, b) => (b.usd ?? 0) - (a.usd ?? 0)).slice(0, 8)
		: v.o.by[facet];
	const rest = FACETS.filter((f) => f !== facet && v.o.by[f]);

	return html`<section><h2>Who spends it <small>by ${facet}: used, idle, failed</small></h2>${chart("spenders", (w) => {
		const most = Math.max(...groups.map((g) => g.usd ?? 0), 1e-9), L = w < 420 ? 92 : 110, k = (w - L - 190) / most;

		return svg(w, groups.length * 24 + 4, groups.map((g, i) => {
			const y = i * 24 + 4;
			let x = L;
			const parts: [string, number][] = [["used", (g.usd ?? 0) - (g.waste_usd ?? 0)], ["icpu", g.idle_cores_usd ?? 0], ["imem", g.idle_memory_usd ?? 0], ["fail", g.failed_usd ?? 0]];
			const name = g.name ?? "not known";

			return html`<text x="${L - 6}" y="${y + 13}" text-anchor="end" class="k">${name.length > 15 ? `${name.slice(0, 14)}…` : name}</text>${parts.map(([cls, usd_]) => {
				const r = html`<rect class="${cls}" x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, usd_ * k).toFixed(1)}" height="17"/>`;

				x += usd_ * k;
				return r;
			})}<text x="${(x + 6).toFixed(1)}" y="${y + 13}">${g.usd === null ? html`<tspan class="k">not known</tspan>` : html`<tspan class="k strong">${usd(g.usd)}</tspan> ${percent((g.waste_usd ?? 0) / (g.usd || NaN))} wasted`}</text>`;
		}), `Spend by ${facet}: ${groups.map((g) => `${g.name ?? "not known"} ${usd(g.usd)}`).join(", ")}`);
	})}${rest.map((f) => folded(`By ${f}`, table({
		label: `Spend by ${f}`, head: [f, "Spend", "Wasted", "Runs", "Failed"], right: [false, true, true, true, true],
		rows: v.o.by[f].map((g) => [g.name ?? "not known", usd(g.usd), percent((g.waste_usd ?? 0) / (g.usd || NaN)), count(g.runs), count(g.failed)]),
	}, false)))}</section>`;
}

const LEAST_USD = 0.039; // so that the axis ends at $0.04 or more: labels of smaller amounts would not fit

// Positions of the days and of the forecast days on the axis.
function spendChart(v: View, days: DaySum[], w: number): Markup {
	const f = v.filtered ? null : v.o.forecast, H = 190, L = 46, B = 20, ahead = f ? f.usd.length : 0;
	const most = Math.max(...days.map((d) => d.usd), ...(f ? f.usd.map((u, i) => u + f.band_usd[i]) : []), LEAST_USD), top = nice(most);
	const step = (w - L - 4) / (days.length + ahead), x = (i: number): number => L + i * step, y = (u: number): number => H - B - u / top * (H - B - 18);
	const every = Math.max(1, Math.ceil((days.length + ahead) / (w < 560 ? 5 : 14)));
	const labels = Array.from({ length: days.length + ahead }, (_, i) => i).filter((i) => i % every === 0 && x(i) < w - 44);

	return svg(w, H, [
		...[0, 0.25, 0.5, 0.75, 1].map((g) => html`<path class="grid" d="M${L} ${y(top * g).toFixed(1)}H${w}"/><text x="${L - 5}" y="${(y(top * g) + 4).toFixed(1)}" text-anchor="end">${usd(top * g)}</text>`),
		...days.map((d, i) => {
			let base = 0;
			const parts: [string, number][] = [["used", Math.max(0, d.usd - d.idleCores - d.idleMemory - d.failed)], ["icpu", d.idleCores], ["imem", d.idleMemory], ["fail", d.failed]];

			return html`<g class="${i === days.length - 1 ? "today" : ""}">${parts.map(([cls, u]) => {
				const r = html`<rect class="${cls}" x="${(x(i) + step * 0.08).toFixed(1)}" y="${y(base + u).toFixed(1)}" width="${(step * 0.84).toFixed(1)}" height="${Math.max(0, y(base) - y(base + u)).toFixed(1)}"/>`;

				base += u;
				return r;
			})}</g>`;
		}),
		...(v.filtered ? [] : v.o.odd_days).map((o, i) => {
			const at = days.findIndex((d) => d.day === dayFrom(o.from));

			return at < 0 ? html`` : html`<circle class="mark" cx="${x(at + 0.5).toFixed(1)}" cy="${(y(days[at].usd) - 10).toFixed(1)}" r="8"/><text class="k strong" x="${x(at + 0.5).toFixed(1)}" y="${(y(days[at].usd) - 6).toFixed(1)}" text-anchor="middle">${i + 1}</text>`;
		}),
		...labels.map((i) => html`<text x="${x(i).toFixed(1)}" y="${H - 5}">${date(days[0].day + i)}</text>`),
		f ? html`<path class="now" d="M${x(days.length).toFixed(1)} 4V${H - B}"/><text x="${(x(days.length) + 4).toFixed(1)}" y="12" class="k">expected</text><path class="bandf" d="${path([
			...f.usd.map((u, i): [number, number] => [x(days.length + i + 0.5), y(u + f.band_usd[i])]),
			...f.usd.map((u, i): [number, number] => [x(days.length + i + 0.5), y(Math.max(0, u - f.band_usd[i]))]).reverse()])}Z"/><path class="fc" d="${path(f.usd.map((u, i): [number, number] => [x(days.length + i + 0.5), y(u)]))}"/>` : html``,
	], `Spend of ${days.length} days, most ${usd(Math.max(...days.map((d) => d.usd)))} a day${f ? `; ${usd(f.month_usd)} expected in 30 days` : ""}`);
}

function spend(v: View, days: DaySum[]): Markup {
	const f = v.filtered ? null : v.o.forecast, about = v.filtered ? "about " : "";

	if (v.sum.usd === null) {
		return html``;
	}
	return html`<section><h2>Spend a day <small>${v.filtered ? "of these jobs, drawn from rounded figures" : f ? "with 14 days ahead; today is not over" : "today is not over"}</small></h2>${chart("spend", (w) => spendChart(v, days, w))}<p class="key">${COLORS.map(([c, t]) => key(c, t))}${
		f ? key("bandf", html`expected, 9 days of 10 within: <strong>${usd(f.month_usd)}</strong> ± ${usd(f.month_band_usd)} in the next 30 days if nothing changes, ${usd(f.month_usd_advised)} with the advice`) : !v.filtered && html`<span>A forecast needs 4 weeks of spend.</span>`}</p>${
		!v.filtered && v.o.odd_days.length > 0 && html`<ol class="odd">${v.o.odd_days.map((o) => html`<li>${o.text}</li>`)}</ol>`}${folded("Spend as a table", table({
		label: "Spend a day", head: ["Day", "Spend", "Idle cores", "Idle memory", "Failed runs", "Runs"], right: [false, true, true, true, true, true],
		rows: [...days].reverse().map((d, i) => [date(d.day) + (i ? "" : " so far"), about + usd(d.usd), about + usd(d.idleCores), about + usd(d.idleMemory), about + usd(d.failed), count(d.runs)]),
	}, false))}</section>`;
}

const LEAST_SHOWN = 0.005; // cores or MiB: smaller values are drawn at the lower edge; labels have no smaller number

// A chart with one dot per job. Both axes are logarithmic (base 2).
function scatter(v: View, id: string, title: string, asked: (j: Job) => number, used: (j: Job) => number, text: (x: number) => string): Markup {
	const list = v.jobs.filter((j) => asked(j) > 0 && used(j) > 0);
	const low = list.filter((j) => used(j) < asked(j) / 2).length;
	const largest = [...list].sort((a, b) => (sumOf(b).sum.usd ?? 0) - (sumOf(a).sum.usd ?? 0));

	if (!list.length) {
		return html``;
	}
	return html`<section><h2>Asked for and used: ${title} <small>a dot a job, its size the spend</small></h2>${chart(id, (w) => {
		const H = 220, L = 56, B = 30, lg = Math.log2;
		const ax = list.map((j) => lg(asked(j))), uy = list.map((j) => lg(Math.max(used(j), LEAST_SHOWN)));
		const x0 = Math.min(...ax) - 0.4, x1 = Math.max(...ax) + 0.4, y0 = Math.min(...uy, x0) - 0.3, y1 = Math.max(...uy, x1) + 0.2;
		const x = (a: number): number => L + (lg(a) - x0) / (x1 - x0) * (w - L - 8), y = (u: number): number => H - B - (lg(Math.max(u, LEAST_SHOWN)) - y0) / (y1 - y0) * (H - B - 8);
		const most = Math.max(...list.map((j) => sumOf(j).sum.usd ?? 0), 1e-9), ticks = (a: number, b: number, n: number): number[] => {
			const s = Math.max(1, Math.ceil((b - a) / n));

			return Array.from({ length: Math.floor((b - Math.ceil(a)) / s) + 1 }, (_, i) => 2 ** (Math.ceil(a) + i * s));
		};
		const bottom = 2 ** y0;

		return svg(w, H, [
			html`<path class="lowzone" d="M${x(2 ** x0).toFixed(1)} ${y(Math.max(bottom, 2 ** x0 / 2)).toFixed(1)}L${x(2 ** x1).toFixed(1)} ${y(2 ** x1 / 2).toFixed(1)}V${H - B}H${L}Z"/>`,
			...ticks(y0, y1, 5).map((t) => html`<path class="grid" d="M${L} ${y(t).toFixed(1)}H${w - 8}"/><text x="${L - 5}" y="${(y(t) + 4).toFixed(1)}" text-anchor="end">${text(t)}</text>`),
			...ticks(x0, x1, w < 420 ? 4 : 7).map((t) => html`<text x="${x(t).toFixed(1)}" y="${H - 14}" text-anchor="middle">${text(t)}</text>`),
			html`<path class="lim" d="M${x(2 ** x0).toFixed(1)} ${y(2 ** x0).toFixed(1)}L${x(2 ** x1).toFixed(1)} ${y(2 ** x1).toFixed(1)}"/><text x="${w - 10}" y="${H - B - 6}" text-anchor="end" class="k">less than half used</text><text x="${((w + L) / 2).toFixed(0)}" y="${H - 2}" text-anchor="middle">asked for →</text>`,
			...[...list].sort((a, b) => (sumOf(b).sum.usd ?? 0) - (sumOf(a).sum.usd ?? 0)).map((j) => {
				const r = 2.5 + 8 * Math.sqrt((sumOf(j).sum.usd ?? 0) / most), cx = x(asked(j)), cy = y(used(j));
				const bad = j.verdict === "under-provisioned" || j.verdict === "will fail soon", over = j.verdict === "over-provisioned";
				const d = r * 1.2;

				return html`<a href="${url({ page: "job", job: nameOf(j) })}" tabindex="-1">${bad ? html`<path class="dot bad" d="M${cx.toFixed(1)} ${(cy - d).toFixed(1)}l${d.toFixed(1)} ${d.toFixed(1)}l${(-d).toFixed(1)} ${d.toFixed(1)}l${(-d).toFixed(1)} ${(-d).toFixed(1)}Z"/>` : html`<circle class="dot ${over ? "over" : ""}" cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="${r.toFixed(1)}"/>`}<title>${nameOf(j)}: ${text(used(j))} of ${text(asked(j))}</title></a>`;
			}),
		], `${list.length} jobs, ${low} use less than half of the ${title} that they ask for`, "group");
	})}<p class="key"><span><svg width="13" height="12" aria-hidden="true"><circle class="dot over" cx="6" cy="6" r="4.500"/></svg>over-provisioned</span><span><svg width="13" height="12" aria-hidden="true"><circle class="dot" cx="6" cy="6" r="3.500"/></svg>other</span><span><svg width="13" height="12" aria-hidden="true"><path class="dot bad" d="M6 1l5 5l-5 5l-5 -5Z"/></svg>under-provisioned or soon</span></p><p class="note"><strong>${low} of ${list.length}</strong> use less than half.</p>${folded("The 20 largest as a table", table({
		label: `Largest jobs by ${title}`, head: ["Job", "Asked for", "Used", "Share", "Spend"], right: [false, true, true, true, true],
		rows: largest.slice(0, 20).map((j) => [link(j), text(asked(j)), text(used(j)), percent(used(j) / asked(j)), usd(sumOf(j).sum.usd)]),
	}, false))}</section>`;
}

export function overviewPage(): Markup {
	const v = view(), days = daysOf(v);

	if (!v.jobs.length) {
		return html`<h1 class="off">Overview</h1><p class="note">No job matches the filter. <a href="${url({ team: "", user: "", where: "", server: "", q: "" })}">Show all ${data.jobs.length} jobs</a></p>`;
	}
	return html`<h1 class="off">Overview</h1>${lead(v)}${tiles(v, days)}<div class="cols">${changes(v)}<div>${findings(v)}${spenders(v)}</div></div>${spend(v, days)}<div class="cols even">${
		scatter(v, "memory", "memory", (j) => j.asked.memory_mib ?? NaN, (j) => j.usual.peak_mib ?? NaN, memory)}${
		scatter(v, "cores", "cores", (j) => j.asked.cores ?? NaN, (j) => j.usual.cores ?? NaN, cores)}</div>${running(v)}`;
}

function running(v: View): Markup {
	const list = v.jobs.filter((j) => j.last_end === "running");

	if (!list.length) {
		return html``;
	}
	return html`<section><h2>Running now <small>${counted(list.length, "job")}, as the history has them</small></h2>${table({
		label: "Running now", head: ["Job", "Run", "Memory so far", "Of", "Since"], right: [false, false, true, true, true],
		rows: list.map((j) => [link(j), j.runs[0]?.id ?? "–", memory(j.runs[0]?.peak_mib), memory(j.runs[0]?.asked_mib), duration(data.as_of - j.last)]),
	})}</section>`;
}
