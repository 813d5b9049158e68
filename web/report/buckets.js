// Decodes the values that the page contains: buckets of equal duration, two characters per value.

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
export const codes = Object.fromEntries([...digits].map((digit, i) => [digit, i]));

export function unpack(text, top, steps) {
	return Float64Array.from({ length: text.length / 2 }, (_, i) => {
		const code = codes[text[2 * i]] * 64 + codes[text[2 * i + 1]];
		return code > steps ? NaN : (code / steps) * top;
	});
}

// The series of a chart: mean, minimum and maximum of each bucket; NaN in a gap. The axis is scaled for the first
// series. A value of another series that reaches the end of the axis is Infinity, because it may be larger.
export function unpackChart(chart, steps) {
	return chart.series.map((packed, i) => {
		const above = (value) => (i && value >= chart.top ? Infinity : value);
		const [mean, min, max] = packed.map((text) => unpack(text, chart.top, steps).map(above));
		return { mean, min: min ?? mean, max: max ?? mean };
	});
}

// Merges the buckets [from, to) into one point. All buckets have the same duration.
export function merge(series, from, to) {
	let sum = 0;
	let n = 0;
	let min = Infinity;
	let max = -Infinity;
	for (let i = from; i < to; i++) {
		if (!Number.isNaN(series.mean[i])) {
			sum += series.mean[i];
			n++;
			min = Math.min(min, series.min[i]);
			max = Math.max(max, series.max[i]);
		}
	}
	return n ? { mean: sum / n, min, max } : { mean: NaN, min: NaN, max: NaN };
}

// Mean, 95th percentile and peak of a series between two shares of the run. Each bucket is weighted by its time in
// that window.
export function measure(series, n, from, to) {
	const parts = [];
	let sum = 0;
	let weight = 0;
	let peak = NaN;
	for (let i = Math.floor(from * n); i < Math.min(n, Math.ceil(to * n)); i++) {
		const part = Math.min(i + 1, to * n) - Math.max(i, from * n);
		if (!Number.isNaN(series.mean[i]) && part > 0) {
			parts.push([series.mean[i], part]);
			sum += series.mean[i] * part;
			weight += part;
			peak = peak >= series.max[i] ? peak : series.max[i];
		}
	}
	parts.sort((a, b) => a[0] - b[0]);
	let p95 = NaN;
	for (let i = 0, seen = 0; i < parts.length && Number.isNaN(p95); i++) {
		seen += parts[i][1];
		p95 = seen >= 0.95 * weight - 1e-9 ? parts[i][0] : NaN;
	}
	return { mean: weight ? sum / weight : NaN, p95, peak };
}

// The buckets between two shares of the run as at most `most` points: their positions (shares of the run), and the
// series of the charts.
export function pointsOfBuckets(charts, n, from, to, most) {
	const first = Math.max(0, Math.floor(from * n) - 1);
	const end = Math.min(n, Math.ceil(to * n) + 1);
	const group = Math.max(1, Math.ceil((end - first) / most));
	const start = first - (first % group);
	const count = Math.ceil((end - start) / group);
	const edge = (i) => Math.min(n, start + i * group);
	const all = (pick) => Float64Array.from({ length: count }, (_, i) => pick(i));
	return {
		place: all((i) => (edge(i) + edge(i + 1)) / 2 / n),
		group,
		charts: charts.map((chart) =>
			chart.map((series) => {
				if (group === 1) {
					const cut = (list) => list.subarray(start, start + count);
					return { mean: cut(series.mean), min: cut(series.min), max: cut(series.max) };
				}
				const merged = Array.from({ length: count }, (_, i) => merge(series, edge(i), edge(i + 1)));
				return { mean: all((i) => merged[i].mean), min: all((i) => merged[i].min), max: all((i) => merged[i].max) };
			}),
		),
	};
}
