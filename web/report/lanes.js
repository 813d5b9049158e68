// A lane of a program that has too many processes for one bar each. The whole run shows the number of concurrent
// processes. A zoomed view shows the largest processes as bars, if they fit.

import { codes } from "./buckets.js";

const each = 8; // characters per process: 4 for the start, 3 for the length, 1 for the CPU use
const parts = 1 << 24;
const rowsMost = 7;
const barsMost = 300;

function number(text, from, to) {
	let value = 0;
	for (let i = from; i < to; i++) {
		value = value * 64 + codes[text[i]];
	}
	return value;
}

export function unpackBrief(text) {
	return Array.from({ length: text.length / each }, (_, i) => {
		const from = number(text, i * each, i * each + 4) / (parts - 1);
		const length = number(text, i * each + 4, i * each + 7) / parts;
		return { from, to: from + length, use: number(text, i * each + 7, i * each + 8) / 63 };
	});
}

// Assigns each process the first row that is free at its start; null if they need too many rows.
export function packRows(list) {
	const free = [];
	const bars = [...list].sort((a, b) => a.from - b.from);
	for (const bar of bars) {
		let row = free.findIndex((at) => at <= bar.from);
		row = row < 0 ? free.length : row;
		if (row === rowsMost) {
			return null;
		}
		free[row] = bar.to;
		bar.row = row;
	}
	return { bars, rows: free.length };
}

// Draws the lane. `many` is the path of the number of concurrent processes.
export class Brief {
	constructor(svg, units) {
		this.units = units;
		this.many = svg.querySelector(".many");
		this.base = svg.viewBox.baseVal.height - 1;
		this.height = Number(svg.dataset.high);
		this.text = svg.dataset.brief;
		this.of = Number(svg.dataset.of);
		this.full = svg.parentElement.querySelector(".full");
		this.words = this.full.textContent;
		const make = (name) => {
			const path = document.createElementNS(svg.namespaceURI, "path");
			path.setAttribute("class", name);
			svg.append(path);
			return path;
		};
		[this.whole, this.use] = ["whole", "use"].map(make);
		this.shown = true;
		this.show(null);
	}

	// from, to: the view as shares of the run (0 to 1); wide: its width in px.
	look(from, to, wide) {
		if (to - from > 0.9999) {
			this.show(null);
			return;
		}
		this.list ??= unpackBrief(this.text);
		const pixel = (to - from) / wide;
		const inside = this.list
			.filter((one) => one.to >= from && one.from <= to)
			.map((one) => ({ ...one, to: Math.max(one.to, one.from + 2 * pixel) }));
		this.show(inside.length && inside.length <= barsMost ? packRows(inside) : null);
	}

	show(packed) {
		if (!packed && !this.shown) {
			return;
		}
		this.shown = packed !== null;
		const { units, base } = this;
		const one = packed ? Math.floor(this.height / Math.max(2, packed.rows)) - 1 : 0;
		const draw = (bar, high) => {
			const y = base - (packed.rows - 1 - bar.row) * (one + 1);
			return `M${bar.from * units} ${y}v${-high}H${bar.to * units}v${high}z`;
		};
		const paths = (high) => (packed ? packed.bars.map((bar) => draw(bar, high(bar))).join("") : "");
		this.whole.setAttribute("d", paths(() => one));
		this.use.setAttribute("d", paths((bar) => one * bar.use));
		this.many.style.display = packed ? "none" : "";
		const most = this.list?.length < this.of ? `largest ${this.list.length}` : "each";
		this.full.textContent = packed ? most : this.words;
	}
}
