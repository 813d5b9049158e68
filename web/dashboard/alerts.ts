// The page Alerts: open alerts, silences, and the rules.
import { type Alert, data, type Rule } from "./data.ts";
import { table } from "./draw.ts";
import { runLink } from "./runs.ts";
import { url } from "./state.ts";
import { ago, count, html, type Markup, when } from "./words.ts";

const SEVERITIES: Record<string, [string, string]> = { critical: ["✖", "bad"], warning: ["▲", "warn"], info: ["·", "muted"] };
const EVALUATED: Record<string, string> = { while_running: "while it runs", after_run: "after a run", by_check: "by alerts check" };
const MONTH_S = 30 * 86400;

const rank = (a: Alert): number => Object.keys(SEVERITIES).indexOf(a.severity);
// Open alerts, by severity (most severe first) and then by time (newest first).
export const openAlerts = (): Alert[] => (data?.alerts?.alerts ?? []).filter((a) => a.state === "firing")
	.sort((a, b) => rank(a) - rank(b) || b.opened - a.opened);

function severity(text: string): Markup {
	const [mark, cls] = SEVERITIES[text] ?? ["·", "muted"];

	return html`<span class="strong whole ${cls}"><span aria-hidden="true">${mark}</span> ${text}</span>`;
}

function stateOf(a: Alert): Markup {
	const silence = data.alerts?.silences.find((s) => s.until > data.as_of && (!s.rule || s.rule === a.rule) && (!s.job || s.job === a.job));

	if (a.acked !== null) {
		return html`acknowledged ${ago(a.acked)}`;
	}
	return silence ? html`silenced until ${when(silence.until)}` : html`firing`;
}

function open(list: Alert[]): Markup {
	const job = (a: Alert): Markup => (a.job === "" ? html`all jobs` : data.jobs.some((j) => j.job === a.job) ? html`<a href="${url({ page: "job", job: a.job, run: "" })}">${a.job}</a>` : html`${a.job}`);

	return table({
		label: "Open alerts", head: ["Severity", "Rule", "Job", "What, and what to do", "Since", "State", "Acknowledge"],
		right: [false, false, false, false, true, false, false],
		rows: list.map((a) => [
			severity(a.severity), html`<code>${a.rule}</code>`, html`${job(a)}${a.run && html`<span class="sub">${runLink(a.run)}</span>`}`,
			html`${a.text}${a.fix && html`<span class="sub">${a.fix}</span>`}`, when(a.opened), stateOf(a),
			a.acked === null ? html`<code>resource-tracker alerts ack ${a.id}</code>` : html`–`,
		]),
	});
}

function rules(list: Rule[]): Markup {
	const recent = (data.alerts?.alerts ?? []).filter((a) => a.opened > data.as_of - MONTH_S);

	return html`<section><h2>Rules</h2>${table({
		label: "Rules", head: ["Rule", "Severity", "Looked at", "Condition", "Holds for", "30 days"], right: [false, false, false, false, true, true],
		rows: list.map((r) => [
			html`<code>${r.rule}</code>`, severity(r.severity), EVALUATED[r.evaluated] ?? r.evaluated, html`<span class="wrap">${r.condition}</span>`,
			r.window_s ? `${r.window_s} s` : "–", count(recent.filter((a) => a.rule === r.rule).length),
		]),
	})}</section>`;
}

export function alertsPage(): Markup {
	const list = openAlerts(), known = data.alerts?.alerts ?? [], silences = (data.alerts?.silences ?? []).filter((s) => s.until > data.as_of);
	const month = known.filter((a) => a.opened > data.as_of - MONTH_S).length;

	return html`<h1>Alerts <small>${list.length} open, ${month} in 30 days</small></h1>
<section><h2>Open</h2>${list.length ? open(list) : html`<p class="note"><span class="good" aria-hidden="true">✓</span> No alert is open.${known.length ? "" : " None has been so far. A job sends its alerts to the sinks of its command line:"}</p>${known.length ? "" : html`<pre><code>resource-tracker run --alert mail:you@example.com -- COMMAND
resource-tracker alerts test mail:you@example.com</code></pre>`}`}</section>${
		silences.length > 0 && html`<section><h2>Silences</h2>${table({
			label: "Silences", head: ["Silence", "Rule", "Job", "Until", "Reason"], right: [false, false, false, true, false],
			rows: silences.map((s) => [html`<code>${s.id}</code>`, s.rule ?? "all", s.job ?? "all", when(s.until), s.reason ?? "–"]),
		})}</section>`}${(data.alerts?.rules.length ?? 0) > 0 && rules(data.alerts?.rules ?? [])}`;
}
