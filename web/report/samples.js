// Converts samples to the points of a view: one point per sample if they fit, else one per group of samples.
import { readRows } from "./recording.js";

// A value of a row in the unit of its chart. Amounts are converted to rates.
function valueOf(row, at, amount, factor, which) {
	const seconds = row.seconds / (which === "mean" ? 1 : row.count);
	const value = row[which][at] / factor / (amount ? seconds : 1);
	const mean = row.mean[at] / factor / (amount ? row.seconds : 1);
	if (which === "min") {
		return value <= mean ? value : mean;
	}
	return which === "max" && !(value >= mean) ? mean : value;
}

export class Samples {
	// data: the data of the page, in which each chart lists its columns.
	static async read(text, data) {
		const wanted = ["elapsed_s", "interval_s", ...new Set(data.charts.flatMap((chart) => chart.columns.map(([name]) => name)))];
		const samples = new Samples();
		samples.seconds = data.seconds;
		samples.interval = data.interval;
		samples.rows = (await readRows(text, wanted)).map((row) => {
			const to = row.mean[0];
			const seconds = row.mean[1] > 0 ? row.mean[1] : data.interval;
			return { ...row, to, seconds, from: Math.max(0, to - seconds) };
		});
		samples.rows = samples.rows.filter(({ from, to }) => to > from && to <= data.seconds + 1e-3);
		samples.charts = data.charts.map((chart) => chart.columns.map(([name, factor, amount]) => ({ at: wanted.indexOf(name), factor, amount })));
		return samples;
	}

	// Index of the first row that ends after `moment` (seconds since the start).
	find(moment) {
		let low = 0;
		let high = this.rows.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.rows[middle].to > moment) {
				high = middle;
			} else {
				low = middle + 1;
			}
		}
		return low;
	}

	points(from, to, most) {
		const first = Math.max(0, this.find(from * this.seconds) - 1);
		const end = Math.min(this.rows.length, this.find(to * this.seconds) + 2);
		const size = Math.max(1, Math.ceil((end - first) / most));
		const groups = [];
		let group = null;
		for (let i = first - (first % size); i < end; i++) {
			const row = this.rows[i];
			const before = this.rows[i - 1];
			const lost = before ? row.from - before.to : 0;
			if (group && lost > 0.5 * this.interval && lost > 0.05) {
				groups.push({ rows: [], place: (before.to + row.from) / 2 });
				group = null;
			}
			if (!group || group.rows.length === size) {
				group = { rows: [] };
				groups.push(group);
			}
			group.rows.push(row);
		}
		return {
			place: Float64Array.from(groups, ({ rows, place }) => (place ?? (rows[0].from + rows[rows.length - 1].to) / 2) / this.seconds),
			group: size,
			merged: groups.some(({ rows }) => rows.some((row) => row.count > 1)),
			charts: this.charts.map((chart) => chart.map((series) => this.series(groups, series))),
		};
	}

	series(groups, { at, factor, amount }) {
		const mean = new Float64Array(groups.length).fill(NaN);
		const min = mean.slice();
		const max = mean.slice();
		groups.forEach(({ rows }, i) => {
			const known = rows.filter((row) => !Number.isNaN(row.mean[at]));
			if (known.length) {
				const seconds = known.reduce((sum, row) => sum + row.seconds, 0);
				mean[i] = known.reduce((sum, row) => sum + valueOf(row, at, amount, factor, "mean") * row.seconds, 0) / seconds;
				min[i] = Math.min(...known.map((row) => valueOf(row, at, amount, factor, "min")));
				max[i] = Math.max(...known.map((row) => valueOf(row, at, amount, factor, "max")));
			}
		});
		return { mean, min, max };
	}
}
