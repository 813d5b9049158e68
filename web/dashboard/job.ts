// The page of one job: its need of resources, its changes over time, and the reasons.
import { data, dayOf, isFailure, type Job, kind, type ChartRun, runsOf } from "./data.ts";
import { bar, chart, key, nice, path, svg, table } from "./draw.ts";
import { end, verdict } from "./jobs.ts";
import { traits } from "./overview.ts";
import { runLink } from "./runs.ts";
import { nameOf, state, sumOf, url } from "./state.ts";
import { ago, change, cores, counted, date, duration, html, type Markup, median, memory, percent, usd, when, shellWord } from "./words.ts";

const DAY = 86400, AHEAD = 14, H = 104, LEFT = 58;

interface Axis { job: Job; runs: ChartRun[]; from: number; to: number; w: number; x: (t: number) => number }

function axis(job: Job, w: number): Axis {
	const all = runsOf(job), runs = all.slice(-400);
	const from = runs[0]?.start ?? data.as_of, to = data.as_of + Math.max(DAY, Math.min(AHEAD * DAY, (data.as_of - from) / 6));

	return { job, runs, from, to, w, x: (t) => LEFT + (t - from) / (to - from || 1) * (w - LEFT - 8) };
}

function mark(a: Axis, run: ChartRun, y: number, odd = false): Markup {
	const x = a.x(run.start);

	if (isFailure(run.end)) {
		return html`<path class="x" d="M${(x - 3).toFixed(1)} ${(y - 3).toFixed(1)}l6 6m0 -6l-6 6"/>`;
	}
	return odd ? html`<path class="pt odd" d="M${x.toFixed(1)} ${(y - 5).toFixed(1)}l5 5l-5 5l-5 -5Z"/>`
		: html`<circle class="${run.end === 0 ? "pt" : "pt other"}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${a.runs.length > 150 ? 1.6 : 2.2}"/>`;
}

function frame(a: Axis, top: number, text: (v: number) => string, height = H, low = 0): { lines: Markup; y: (v: number) => number } {
	const y = (v: number): number => height - 8 - (v - low) / (top - low || 1) * (height - 28);
	const drift = a.job.drift && a.job.drift.from >= a.from ? html`<path class="now" d="M${a.x(a.job.drift.from).toFixed(1)} 16V${height - 4}"/>` : html``;

	return {
		y,
		lines: html`${[0, 0.5, 1].map((g) => {
			const v = low + (top - low) * g;

			return html`<path class="grid" d="M${LEFT} ${y(v).toFixed(1)}H${a.w - 8}"/><text x="${LEFT - 6}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end">${text(v)}</text>`;
		})}${drift}<path class="ax" d="M${a.x(data.as_of).toFixed(1)} 16V${height - 4}"/>`,
	};
}

const title = (name: string, more: string, w: number): Markup =>
	html`<text class="k strong" x="${LEFT}" y="11">${name}</text>${w >= 420 && html`<text x="${LEFT + name.length * 7.4 + 14}" y="11">${more}</text>`}`;

// Bands of the run-time noise, one before and one after a drift: the median ± 3 robust standard deviations of the
// logarithms.
function band(a: Axis, good: ChartRun[], y: (v: number) => number): Markup {
	const from = a.job.drift?.from ?? Infinity;

	return html`${[good.filter((r) => r.start < from - 60), good.filter((r) => r.start >= from - 60)].map((part) => {
		if (part.length < 5) {
			return html``;
		}
		const ln = part.map((r) => Math.log(r.seconds)), m = median(ln), u = Math.max(0.03, 1.4826 * median(ln.map((v) => Math.abs(v - m))));
		const x0 = a.x(part[0].start), x1 = a.x(part[part.length - 1].start), hi = y(Math.exp(m + 3 * u)), lo = y(Math.exp(m - 3 * u));

		return html`<rect class="bandf" x="${x0.toFixed(1)}" y="${hi.toFixed(1)}" width="${Math.max(2, x1 - x0).toFixed(1)}" height="${Math.max(1, lo - hi).toFixed(1)}"/>`;
	})}`;
}

function timeChart(a: Axis): Markup {
	const good = a.runs.filter((r) => r.end === 0), s = good.map((r) => r.seconds);
	const top = Math.max(...s, 1) * 1.08, low = Math.max(0, Math.min(...s, top) * 0.85);
	const f = frame(a, top, (v) => duration(v).replace(/ \d+(\.\d)? s$/, (t) => (v < 600 ? t : "")), H, low), usual = a.job.usual;
	const oddAt = new Set(a.job.runs.map((r, i) => (r.odd ? a.runs.length - 1 - i : -1)));

	return svg(a.w, H, html`${band(a, good, f.y)}${f.lines}<path class="fc" d="M${a.x(data.as_of).toFixed(1)} ${f.y(a.job.drift?.since_s ?? usual.duration_s ?? low).toFixed(1)}H${a.w - 8}"/>${a.runs.map((r, i) => (r.seconds > 0 ? mark(a, r, f.y(Math.max(low, Math.min(top, r.seconds))), r.end === 0 && oddAt.has(i)) : html``))}${title("Run time", `median ${duration(usual.duration_s)}${usual.noise_share === null ? "" : `, usual ± ${percent(usual.noise_share)}`}; band: the job's own noise`, a.w)}`,
		`Run time of ${a.runs.length} runs, median ${duration(usual.duration_s)}`);
}

function peakChart(a: Axis): Markup {
	const job = a.job, asked = a.runs.map((r) => r.askedMib).filter(Number.isFinite), most = Math.max(...a.runs.map((r) => r.mib || 0), ...asked, job.ask.memory_mib ?? 0, 1);
	const top = nice(most / 1024) * 1024, f = frame(a, top, memory), g = job.growth?.rising ? job.growth : null;
	let d = "", last = NaN;

	for (const r of a.runs) {
		if (r.askedMib > 0 && r.askedMib !== last) {
			d += d ? `H${a.x(r.start).toFixed(1)}V${f.y(r.askedMib).toFixed(1)}` : `M${a.x(r.start).toFixed(1)} ${f.y(r.askedMib).toFixed(1)}`;
			last = r.askedMib;
		}
	}
	const ahead = g ? path([[a.x(data.as_of), f.y(g.now_mib)], [a.x(a.to), f.y(Math.min(top, g.now_mib * Math.exp(g.share_a_day * (a.to - data.as_of) / DAY)))]])
		: job.usual.peak_p95_mib !== null ? `M${a.x(data.as_of).toFixed(1)} ${f.y(job.usual.peak_p95_mib).toFixed(1)}H${a.w - 8}` : "";

	return svg(a.w, H, html`${f.lines}${d && html`<path class="lim" d="${d}H${a.w - 8}"/>`}${job.ask.memory_mib !== null && job.ask.memory_mib !== job.asked.memory_mib && html`<path class="adv" d="M${a.x(data.as_of).toFixed(1)} ${f.y(job.ask.memory_mib).toFixed(1)}H${a.w - 8}"/><text class="advt" x="${a.w - 8}" y="${(f.y(job.ask.memory_mib) - 4).toFixed(1)}" text-anchor="end">ask ${memory(job.ask.memory_mib)}</text>`}${ahead && html`<path class="fc" d="${ahead}"/>`}${a.runs.filter((r) => r.mib > 0).map((r) => mark(a, r, f.y(r.mib)))}${title("Peak memory", `largest of good runs ${memory(job.usual.peak_mib)}, ${g ? `growing ${percent(g.share_a_day * 7)} a week` : "no trend"}`, a.w)}`,
		`Peak memory of ${a.runs.length} runs, largest ${memory(job.usual.peak_mib)}`);
}

function coresChart(a: Axis): Markup {
	const job = a.job, top = nice(Math.max(job.asked.cores ?? 0, ...a.runs.map((r) => r.cores || 0), 1)), f = frame(a, top, (v) => cores(v));

	return svg(a.w, H, html`${f.lines}${job.asked.cores !== null && html`<path class="lim" d="M${LEFT} ${f.y(job.asked.cores).toFixed(1)}H${a.w - 8}"/>`}${job.ask.cores !== null && job.ask.cores !== job.asked.cores && html`<path class="adv" d="M${a.x(data.as_of).toFixed(1)} ${f.y(job.ask.cores).toFixed(1)}H${a.w - 8}"/><text class="advt" x="${a.w - 8}" y="${(f.y(job.ask.cores) - 4).toFixed(1)}" text-anchor="end">ask ${cores(job.ask.cores)}</text>`}${a.runs.filter((r) => r.cores > 0).map((r) => mark(a, r, f.y(r.cores)))}${title("Cores busy", `usually ${cores(job.usual.cores)}; dashed: ${cores(job.asked.cores)} asked for`, a.w)}`,
		`Cores busy, usually ${cores(job.usual.cores)} of ${cores(job.asked.cores)}`);
}

function costChart(a: Axis): Markup {
	const height = H + 18, top = nice(Math.max(...a.runs.map((r) => r.usd), 1e-6)), f = frame(a, top, usd, H), wide = Math.max(1.4, Math.min(6, (a.w - LEFT) / (a.runs.length || 1) * 0.7));
	const bars = a.runs.map((r) => {
		let base = 0;

		return ([["used", r.usd - r.idleCores - r.idleMemory - r.failed], ["icpu", r.idleCores], ["imem", r.idleMemory], ["fail", r.failed]] as [string, number][]).map(([cls, v]) => {
			const b = base;

			base += v;
			return v > 0 ? html`<rect class="${cls}" x="${(a.x(r.start) - wide / 2).toFixed(1)}" y="${f.y(b + v).toFixed(1)}" width="${wide.toFixed(1)}" height="${(f.y(b) - f.y(b + v)).toFixed(1)}"/>` : html``;
		});
	});
	const days = (a.to - a.from) / DAY, every = Math.max(1, Math.ceil(days / (a.w < 520 ? 4 : 8))), first = dayOf(a.from) + 1;
	const labels = Array.from({ length: Math.floor(days / every) + 1 }, (_, i) => first + i * every);

	return svg(a.w, height, html`${f.lines}${bars}${labels.map((d) => {
		const x = a.x(d * DAY - data.utc_offset_s);

		return x < a.w - 30 && Math.abs(x - a.x(data.as_of)) > 34 ? html`<text x="${x.toFixed(1)}" y="${height - 4}" text-anchor="middle">${date(d)}</text>` : html``;
	})}<text class="k" x="${(a.x(data.as_of) + 3).toFixed(1)}" y="${height - 4}">now</text>${title("Cost of a run", `${usd(a.job.periods[2].sum.usd)} in 90 days, ${usd(a.job.periods[2].sum.waste_usd)} of it idle or lost`, a.w)}`,
		`Cost of ${a.runs.length} runs, usually ${usd(a.job.usual.usd)}`);
}

function peaks(job: Job, w: number): Markup {
	const v = runsOf(job).filter((r) => r.end === 0 && r.mib > 0).map((r) => r.mib), h = 120, B = 20, n = 50;
	const top = Math.max(...v, job.asked.memory_mib ?? 0, job.ask.memory_mib ?? 0) * 1.04, x = (m: number): number => 6 + m / top * (w - 14);
	const bins = Array<number>(n).fill(0);

	v.forEach((m) => {
		bins[Math.min(n - 1, Math.floor(m / top * n))]++;
	});
	const most = Math.max(...bins, 1);

	return svg(w, h, html`${bins.map((c, i) => (c ? html`<rect class="used" x="${x(i * top / n).toFixed(1)}" y="${(h - B - c / most * (h - B - 34)).toFixed(1)}" width="${((w - 14) / n - 0.8).toFixed(1)}" height="${(c / most * (h - B - 34)).toFixed(1)}"/>` : html``))}<path class="ax" d="M6 ${h - B}H${w - 8}"/>${
		job.asked.memory_mib !== null && html`<path class="lim" d="M${x(job.asked.memory_mib).toFixed(1)} 14V${h - B}"/><text class="limt" x="${(x(job.asked.memory_mib) - 4).toFixed(1)}" y="12" text-anchor="end">now ${memory(job.asked.memory_mib)}</text>`}${
		job.ask.memory_mib !== null && job.ask.memory_mib !== job.asked.memory_mib && html`<path class="adv" d="M${x(job.ask.memory_mib).toFixed(1)} 28V${h - B}"/><text class="advt" x="${Math.min(w - 80, x(job.ask.memory_mib) + 4).toFixed(1)}" y="28">ask ${memory(job.ask.memory_mib)}</text>`}<text x="6" y="${h - 5}">0</text><text x="${w - 8}" y="${h - 5}" text-anchor="end">${memory(top)}</text>`,
		`${v.length} peaks, largest ${memory(job.usual.peak_mib)}`);
}

function request(job: Job): Markup {
	const rows: Markup[][] = [
		[html`CPU`, html`${cores(job.asked.cores)}`, html`${cores(job.usual.cores_p95)}`, html`<b>${cores(job.ask.cores)}</b>`],
		[html`Memory`, html`${memory(job.asked.memory_mib)}`, html`${memory(job.usual.peak_p95_mib)}`, html`<b>${memory(job.ask.memory_mib)}</b>`],
		[html`A run costs`, html`${usd(job.usual.usd)}`, html``, html`<b>${usd(job.ask_usd)}</b>`],
	];

	return html`<section><h2>Next request</h2>${table({ label: "Next request", head: ["What", "Now", "Used, p95", "Ask for"], right: [false, true, true, true], rows }, false)}<p class="note">Lines to paste: <code>resource-tracker recommend --for slurm ${shellWord(nameOf(job))}</code></p></section>
<section><h2>Peaks of memory <small>of good runs</small></h2>${chart("peaks", (w) => peaks(job, w))}<p class="note">Chance that the next run needs more than ${memory(job.ask.memory_mib)}: <b>${percent(job.chance_ask)}</b>${
		job.ask.memory_mib !== job.asked.memory_mib && html`; than ${memory(job.asked.memory_mib)}: ${percent(job.chance_now)}`}.</p></section>`;
}

function happened(job: Job): Markup {
	const { sum, odd } = sumOf(job), list: Markup[] = [];

	if (job.growth?.text) {
		list.push(html`<span class="s bad" aria-hidden="true">◆</span>The job ${job.growth.text}`);
	}
	if (job.drift) {
		list.push(html`<span class="s warn" aria-hidden="true">▲</span>The job ${job.drift.text}`);
	}
	if (job.failing_in_row > 1) {
		list.push(html`<span class="s bad" aria-hidden="true">✖</span>Its newest ${job.failing_in_row} runs failed: ${job.last_end}.`);
	}
	list.push(html`<span class="s" aria-hidden="true">◇</span>${odd} odd run${odd === 1 ? "" : "s"} and ${sum.failed} failed of ${sum.runs} in ${state.days} days.`);
	return html`<section><h2>What has happened</h2><ul class="list">${list.map((l) => html`<li>${l}</li>`)}</ul>${job.reasons.length > 0 && html`<details><summary>Why this much memory</summary><ul>${job.reasons.map((r) => html`<li>${r}</li>`)}</ul></details>`}</section>`;
}

export function jobPage(): Markup {
	const job = data.jobs.find((j) => nameOf(j) === state.job) ?? data.jobs.find((j) => j.job === state.job);

	if (!job) {
		return html`<h1>${state.job || "No job"}</h1><p class="note">This page has no run of this job. <a href="${url({ page: "jobs", job: "" })}">All jobs</a></p>`;
	}
	const draw = (f: (a: Axis) => Markup) => (w: number): Markup => f(axis(job, w));

	return html`<p class="crumb"><a href="${url({ page: "jobs", job: "" })}">Jobs</a> / ${job.job}</p><h1>${job.job} <small>${verdict(job.verdict)}</small></h1>
<p class="muted">${traits(job)}${traits(job) && " · "}${counted(job.runs_known, "run")}, ${job.periods[1].sum.runs} in 30 days · last ${end(job.last_end)} ${ago(job.last)} · <code>${job.command}</code>${job.scope && html` in <code>${job.scope}</code>`}</p>
<div class="lead"><p>${job.lead}</p><p class="basis">${job.basis}</p></div>
<div class="cols"><div><section><h2>Every run, on one axis</h2>${job.runs_known < 2 ? html`<p class="note">One run so far: a first estimate. Charts begin with the second.</p>` : html`${chart("c-time", draw(timeChart))}${chart("c-peak", draw(peakChart))}${chart("c-cores", draw(coresChart))}${chart("c-cost", draw(costChart))}<p class="key"><span><svg width="12" height="11" aria-hidden="true"><circle class="pt" cx="6" cy="5.500" r="3"/></svg>run</span><span><svg width="13" height="12" aria-hidden="true"><path class="pt odd" d="M6.500 1l5 5l-5 5l-5 -5Z"/></svg>odd</span><span><svg width="12" height="11" aria-hidden="true"><path class="x" d="M2 1l8 8m0 -8l-8 8"/></svg>failed</span>${key("used", "used")}${key("icpu", "idle cores")}${key("imem", "idle memory")}<span><svg width="20" height="11" aria-hidden="true"><path class="fc" d="M0 5.500H20"/></svg>expected</span></p>`}</section>
<section><h2>Newest runs <small>${job.runs.length} of ${job.runs_known}</small></h2>${table({
		label: "Newest runs", head: ["Run", "Started", "End", "Time", "To usual", "Memory", "Cores", "Cost", "Wasted"],
		right: [false, false, false, true, true, false, false, true, true],
		rows: job.runs.map((r) => [
			runLink(r.id), when(r.start), end(r.end), duration(r.duration_s), html`<span class="${r.odd ? "strong warn" : "muted"}">${change(r.change)}${r.odd ? " odd" : ""}</span>`,
			html`${bar((r.peak_mib ?? NaN) / (r.asked_mib ?? NaN))} ${percent((r.peak_mib ?? NaN) / (r.asked_mib ?? NaN))}`,
			html`${bar((r.cores ?? NaN) / (r.asked_cores ?? NaN))} ${cores(r.cores)}`, usd(r.usd), percent((r.waste_usd ?? NaN) / (r.usd || NaN)),
		]),
	})}<p class="note">${kind === "served" ? html`<a href="${url({ page: "runs", q: nameOf(job), job: "" })}">All runs of this job</a>` : html`More: <code>resource-tracker history ${shellWord(nameOf(job))}</code>`}</p></section></div><div>${request(job)}${happened(job)}</div></div>`;
}
