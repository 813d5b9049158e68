// Draws bars, sparklines, tables and charts as SVG and HTML, without a library. CSS sets colours and patterns.
import { html, Markup } from "./words.ts";

export const PATTERNS = html`<svg width="0" height="0" aria-hidden="true" class="defs"><defs>
<pattern id="hC" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" class="idle2"/><rect width="2.6" height="6" class="idle1"/></pattern>
<pattern id="hM" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" class="idle3"/><circle cx="2" cy="2" r="1" class="idle1"/></pattern>
<pattern id="hF" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" class="ground"/><path d="M0 0L5 5M5 0L0 5" class="cross"/></pattern></defs></svg>`;

export function svg(width: number, height: number, body: Markup | Markup[], label: string, role = "img"): Markup {
	return html`<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="${role}" aria-label="${label}">${body}</svg>`;
}

export const path = (points: [number, number][]): string =>
	points.map((p, i) => `${i ? "L" : "M"}${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("");

export function bar(share: number): Markup {
	const w = 52, x = Number.isFinite(share) ? Math.max(0, Math.min(1, share)) : 0;

	return html`<svg class="bar" width="${w}" height="11" viewBox="0 0 ${w} 11" aria-hidden="true"><rect class="used" x=".5" y=".5" width="${(x * (w - 1)).toFixed(1)}" height="10"/><rect class="box" x=".5" y=".5" width="${w - 1}" height="10"/></svg>`;
}

export function spark(values: number[], w = 96, h = 22): Markup {
	const v = values.map((x) => (Number.isFinite(x) ? x : NaN)).filter((x) => !Number.isNaN(x));

	if (v.length < 2) {
		return html``;
	}
	const a = Math.min(...v), k = Math.max(...v) - a || 1;
	const points = v.map((y, i): [number, number] => [1 + i * (w - 2) / (v.length - 1), h - 2 - (y - a) / k * (h - 4)]);

	return html`<svg class="spark" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" preserveAspectRatio="none" aria-hidden="true"><path class="thin" d="${path(points)}"/></svg>`;
}

export function nice(most: number): number {
	const e = 10 ** Math.floor(Math.log10(most || 1));

	return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((k) => k * e).find((v) => v >= most * 1.02) ?? most;
}

export interface Table { head: string[]; right: boolean[]; rows: (Markup | string)[][]; label: string }

// A table. In a narrow window each row is shown as a card, and each cell with the title of its column.
export function table(t: Table, cards = true): Markup {
	return html`<div class="scroll" tabindex="0" role="region" aria-label="${t.label}"><table${cards ? html` class="cards"` : ""}><thead><tr>${
		t.head.map((h, i) => html`<th scope="col"${t.right[i] ? html` class="n"` : ""}>${h}</th>`)}</tr></thead><tbody>${
		t.rows.map((row) => html`<tr>${row.map((c, i) => (i === 0
			? html`<th scope="row">${c}</th>`
			: html`<td data-k="${t.head[i]}"${t.right[i] ? html` class="n"` : ""}>${c}</td>`))}</tr>`)}</tbody></table></div>`;
}

export const folded = (title: string, body: Markup): Markup => html`<details><summary>${title}</summary>${body}</details>`;
export const key = (cls: string, text: string | Markup): Markup =>
	html`<span><svg width="13" height="11" aria-hidden="true"><rect class="${cls}" width="13" height="11"/></svg>${text}</span>`;

// Width in px of the element that contains a chart.
export function widthOf(id: string): number {
	return Math.max(240, Math.floor(document.getElementById(id)?.clientWidth ?? 600));
}

// Charts to draw once the page is laid out, and again whenever the size of the window changes.
export const later: [string, (width: number) => Markup][] = [];
export function chart(id: string, draw: (width: number) => Markup): Markup {
	later.push([id, draw]);
	return html`<div class="chart" id="${id}"></div>`;
}
