// Paths of a view's points, in the units of a chart: 2 a bucket of the drawn charts across, 160 down.

const height = 160;

function stretches(mean) {
	const found = [];
	for (let i = 0, start = -1; i <= mean.length; i++) {
		const known = i < mean.length && !Number.isNaN(mean[i]);
		if (known && start < 0) {
			start = i;
		} else if (!known && start >= 0) {
			found.push([start, i]);
			start = -1;
		}
	}
	return found;
}

export function linePath(x, values, top) {
	let path = "";
	for (const [start, end] of stretches(values)) {
		for (let i = start; i < end; i++) {
			path += `${i === start ? "M" : "L"}${x[i]} ${(height - (values[i] / top) * height).toFixed(1)}`;
		}
		if (end === start + 1) {
			path += "h.01"; // one point alone is a dot
		}
	}
	return path;
}

export function bandPath(x, { mean, min, max }, top) {
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

// A chart as C drew it, and the paths of a closer view that take the place of its lines.
export class Plot {
	constructor(svg, chart) {
		this.svg = svg;
		this.top = chart.top;
		const paths = [...svg.querySelectorAll(".band, .line")];
		this.drawn = paths.map((path) => ({
			path,
			whole: path.getAttribute("d"),
			series: path.matches(".job, .alone") ? 0 : 1,
			band: path.matches(".band"),
		}));
		this.close = false;
	}

	look(from, width, units) {
		const box = this.svg.viewBox.baseVal;
		box.x = from * units;
		box.width = width * units;
	}

	// The whole run as it came.
	drawWhole() {
		if (this.close) {
			this.drawn.forEach(({ path, whole }) => path.setAttribute("d", whole));
			this.close = false;
		}
	}

	drawClose(x, chart) {
		for (const { path, series, band } of this.drawn) {
			const of = chart[series] ?? chart[0];
			path.setAttribute("d", band ? bandPath(x, of, this.top) : linePath(x, of.mean, this.top));
		}
		this.close = true;
	}
}
