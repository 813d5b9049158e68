// Formats numbers and times like src/fleet/words.c, and creates markup in which values are escaped.
import { data } from "./data.ts";

// Markup that is safe to insert. Only html`` creates it.
export class Markup {
	constructor(readonly text: string) {}
	toString(): string {
		return this.text;
	}
}
type Value = Markup | string | number | null | undefined | false | Value[];

function safe(value: Value): string {
	if (value instanceof Markup) {
		return value.text;
	}
	if (Array.isArray(value)) {
		return value.map(safe).join("");
	}
	return value === null || value === undefined || value === false
		? "" : String(value).replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
}

export function html(strings: TemplateStringsArray, ...values: Value[]): Markup {
	return new Markup(strings.reduce((all, s, i) => all + s + (i < values.length ? safe(values[i]) : ""), ""));
}

const group = (v: number): string => Math.round(v).toLocaleString("en-US");
const known = (v: number | null | undefined): v is number => v !== null && v !== undefined && Number.isFinite(v);

export function usd(v: number | null | undefined): string {
	if (!known(v)) {
		return "–";
	}
	const sign = v < 0 ? "-" : "", a = Math.abs(v);

	if (a >= 9.995) {
		return `${sign}$${group(a)}`;
	}
	if (a >= 0.0995) {
		return `${sign}$${a.toFixed(2)}`;
	}
	if (a >= 0.000995) {
		return `${sign}$${a.toFixed(a >= 0.00995 ? 3 : 4)}`;
	}
	return a > 0 ? `${sign}under $0.001` : "$0";
}

export function memory(mib: number | null | undefined): string {
	if (!known(mib)) {
		return "–";
	}
	if (mib > 0 && mib < 0.005) {
		return "under 0.01 MiB";
	}
	if (mib < 999.5) {
		return `${mib.toFixed(mib === 0 || mib >= 9.95 ? 0 : mib >= 0.995 ? 1 : 2)} MiB`;
	}
	const gib = mib / 1024, text = gib.toFixed(gib >= 99.95 ? 0 : gib >= 9.995 ? 1 : 2);

	return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text} GiB`;
}

export function cores(v: number | null | undefined): string {
	if (!known(v)) {
		return "–";
	}
	if (v > 0 && v < 0.005) {
		return "< 0.01";
	}
	return Math.abs(v - Math.round(v)) < 0.005 || v >= 99.95 ? String(Math.round(v)) : v.toFixed(v < 0.095 ? 2 : 1);
}

export function percent(v: number | null | undefined): string {
	if (!known(v)) {
		return "–";
	}
	return v > 0 && v < 0.001 ? "under 0.1 %" : `${(v * 100).toFixed(v > 0 && v < 0.0995 ? 1 : 0)} %`;
}

export function change(v: number | null | undefined): string {
	if (!known(v)) {
		return "–";
	}
	if (Math.abs(v) < 0.0005) {
		return "0 %";
	}
	return `${v > 0 ? "+" : "−"}${Math.abs(v * 100).toFixed(Math.abs(v) < 0.0995 ? 1 : 0)} %`;
}

export function duration(s: number | null | undefined): string {
	if (!known(s)) {
		return "–";
	}
	if (s > 0 && s < 0.0005) {
		return "under 1 ms";
	}
	if (s < 0.9995) {
		return `${(s * 1000).toFixed(0)} ms`;
	}
	if (s < 59.95) {
		return `${s.toFixed(1)} s`;
	}
	const whole = Math.round(s), two = (x: number): string => String(Math.floor(x)).padStart(2, "0");

	return whole < 3600 ? `${Math.floor(whole / 60)} m ${two(whole % 60)} s`
		: `${Math.floor(whole / 3600)} h ${two(whole % 3600 / 60)} m`;
}

/* Quotes a word for a shell command that the user can paste, like trk__shell_word() in C. */
export function shellWord(text: string): string {
	return `${text.startsWith("-") ? "-- " : ""}'${text.replaceAll("'", "'\\''")}'`;
}

export const count = (v: number): string => group(v);
export const counted = (v: number, word: string): string => `${group(v)} ${word}${v === 1 ? "" : "s"}`;

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

export function date(day: number): string {
	const d = new Date(day * 86400000);

	return `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]}`;
}

export function when(seconds: number): string {
	const local = seconds + data.utc_offset_s;

	return `${date(Math.floor(local / 86400))} ${new Date(local * 1000).toISOString().slice(11, 16)}`;
}

export function ago(seconds: number): string {
	const s = data.as_of - seconds;

	return s < 5400 ? `${Math.max(0, Math.round(s / 60))} min ago` : s < 172800 ? `${Math.round(s / 3600)} h ago`
		: `${Math.round(s / 86400)} days ago`;
}

export function median(values: number[]): number {
	const v = values.filter(Number.isFinite).sort((a, b) => a - b), n = v.length;

	return n ? (v[(n - 1) >> 1] + v[n >> 1]) / 2 : NaN;
}
