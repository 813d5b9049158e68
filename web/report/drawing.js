import { levels } from "./axis.js";

// SVG paths of the points in view, in the units of the chart that C has drawn.

const aboveLimit = 1.04;

function stretches(mean) {
	const found = [];
	for (let i = 0, start = -1; i <= mean.length; i++) {
		const known = i < mean.length && Number.isFinite(mean[i]);
		if (known && start < 0) {
			start = i;
		} else if (!known && start >= 0) {
			found.push([start, i]);
			start = -1;
		}
	}
	return found;
}

function linePath(x, values, top, height) {
	let path = "";
	for (const [start, end] of stretches(values)) {
		for (let i = start; i < end; i++) {
			path += `${i === start ? "M" : "L"}${x[i]} ${(height - (values[i] / top) * height).toFixed(1)}`;
		}
		if (end === start + 1) {
			path += "h.01"; // draw a single point as a dot
		}
	}
	return path;
}

function bandPath(x, { mean, min, max }, top, height) {
	const y = (value) => (height - (value / top) * height).toFixed(1);
	let path = "";
	for (const [start, end] of stretches(mean)) {
		for (let i = start; i < end; i++) {
			path += `${i === start ? "M" : "L"}${x[i]} ${y(max[i])}`;
		}
		for (let i = end; i-- > start; ) {
			path += `L${x[i]} ${y(min[i])}`;
		}
		path += "z";
	}
	return path;
}

function unitOf(unit, level) {
	return level === 1 ? unit.replace(/^(core|GPU)s$/, "$1") : unit;
}

// A chart that C has drawn. A zoomed view replaces its paths by more detailed ones.
export class Plot {
	constructor(svg, chart, data) {
		const box = svg.viewBox.baseVal;
		this.svg = svg;
		this.chart = chart;
		this.data = data;
		this.room = -box.y;
		this.height = box.height - 2 * this.room;
		this.top = chart.top;
		this.shown = chart.top;
		this.units = box.width;
		this.grid = svg.querySelector(".grid");
		this.names = svg.nextElementSibling;
		this.usual = { grid: this.grid.getAttribute("d"), names: [...this.names.childNodes] };
		const paths = [...svg.querySelectorAll(".band, .line")];
		this.drawn = paths.map((path) => ({
			path,
			whole: path.getAttribute("d"),
			series: path.matches(".job, .alone") ? 0 : 1,
			band: path.matches(".band"),
		}));
		this.close = false;
	}

	look(from, width) {
		const box = this.svg.viewBox.baseVal;
		box.x = from * this.units;
		box.width = width * this.units;
	}

	// Scales the axis to end at `top`: the value from C, the job's peak in the window, or the limit.
	reach(top) {
		const { chart, names, usual, height, room } = this;
		const factor = top / chart.top;
		const box = this.svg.viewBox.baseVal;
		if (this.shown === top) {
			return;
		}
		this.shown = top;
		box.y = height - (height + room) * factor;
		box.height = (height + 2 * room) * factor;
		if (factor === 1) {
			this.grid.setAttribute("d", usual.grid);
			names.replaceChildren(...usual.names);
			return;
		}
		const lines = levels(top, chart.unit, this.data.levels);
		this.grid.setAttribute("d", lines.map((level) => `M0 ${height - (level / chart.top) * height}H${this.units}`).join(""));
		names.replaceChildren(...lines.map((level, i) => this.nameOf(level, top, i === lines.length - 1)));
	}

	// The end of the axis if the visible peak of the job is `most`; with `limit`, the axis includes the limit.
	topFor(most, limit) {
		const { chart } = this;
		if (limit && chart.limit > chart.top) {
			return aboveLimit * chart.limit;
		}
		return most > 0 && most < chart.top ? Math.min(chart.top, this.data.above * most) : chart.top;
	}

	nameOf(level, top, last) {
		const { height, room } = this;
		const text = document.createElementNS(this.svg.namespaceURI, "text");
		text.setAttribute("x", "-7");
		text.setAttribute("dy", ".35em");
		text.setAttribute("y", `${((room + height * (1 - level / top)) / (height + 2 * room)) * 100}%`);
		text.textContent = last ? `${level} ${unitOf(this.chart.unit, level)}` : level;
		return text;
	}

	// Restores the paths of the whole run, as C has drawn them.
	drawWhole() {
		if (this.close) {
			this.drawn.forEach(({ path, whole }) => path.setAttribute("d", whole));
			this.close = false;
		}
	}

	drawClose(x, chart) {
		for (const { path, series, band } of this.drawn) {
			const of = chart[series] ?? chart[0];
			path.setAttribute("d", band ? bandPath(x, of, this.top, this.height) : linePath(x, of.mean, this.top, this.height));
		}
		this.close = true;
	}
}
