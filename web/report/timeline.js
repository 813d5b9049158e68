// The view of the charts: a cursor line across all charts with their values, and a zoom of all charts at once. The
// mouse, keys and buttons control both.
//
// Moving the line and zooming must each finish within one frame on a slow machine. Moving the line changes only one
// layer and texts in boxes of fixed size; zooming changes only view boxes. Both are drawn in the event handler,
// because browsers deliver one event per frame, and requestAnimationFrame could delay drawing by another frame. The
// detailed points, the bars of short processes, the text of the range (which screen readers announce) and the address
// are updated once the pointer rests.
import { Axis } from "./axis.js";
import { measure, merge, pointsOfBuckets, unpack, unpackChart } from "./buckets.js";
import { Plot } from "./drawing.js";
import { Brief } from "./lanes.js";
import { Samples } from "./samples.js";
import { Strip } from "./strip.js";
import { dash, duration, moment, number } from "./words.js";

const pointsMost = 480;
const restMs = 120;

export class Timeline {
	constructor(data, root, raw) {
		this.data = data;
		this.root = root;
		this.raw = raw;
		this.frames = [...root.querySelectorAll(".frame")];
		this.plots = this.frames.map((frame, i) => new Plot(frame.querySelector(".plot"), data.charts[i], data));
		this.units = this.plots[0].units; // of the width of a drawing
		this.charts = data.charts.map((chart) => unpackChart(chart, data.steps));
		this.boxes = [...root.querySelectorAll(".read")];
		// The text has its own element, so that it covers only as much of the caption as it needs.
		this.reads = this.boxes.map((read) => read.appendChild(document.createElement("span")).appendChild(new Text()));
		this.captions = this.boxes.map((read) => read.parentElement);
		this.axis = new Axis(root.querySelector(".axis"), data);
		// The values of each program, the topmost area first, in the order of the legend.
		this.areas = data.charts.map((chart) => (chart.areas ?? []).map((text) => unpack(text, chart.top, data.steps)).reverse());
		const programs = this.captions.map((caption) => [...caption.querySelectorAll(".who > :not(.head)")]);
		this.nows = programs.map((rows) => rows.map((row) => row.querySelector(".now").appendChild(new Text())));
		this.figures = programs.map((rows) => rows.map((row) => [...row.querySelectorAll(".m")].map(({ firstChild }) => ({ shown: firstChild, whole: firstChild.data }))));
		this.stats = this.captions.map((caption) => [...caption.querySelectorAll(".stats")].map((shown) => ({ shown, whole: [...shown.childNodes] })));
		// The lanes of processes have the same time axis as the charts.
		const lanes = document.getElementById("lanes");
		this.bars = lanes ? [...lanes.querySelectorAll(".bars")] : [];
		this.briefs = this.bars
			.filter((bars) => bars.dataset.brief)
			.map((bars) => new Brief(bars, this.units));
		this.laneAxis = lanes && new Axis(lanes.querySelector(".axis"), data);
		this.limits = document.getElementById("limits");
		this.lines = document.getElementById("lines");
		this.clock = document.getElementById("clock");
		this.usualClock = data.clock;
		this.print = document.getElementById("print");
		const phases = root.querySelector(".phases");
		this.strip = phases && new Strip(phases, this.units);
		// All values are in one layer, so that changing a text does not repaint the page.
		this.layer = this.add("reads");
		this.layer.append(...this.boxes);
		this.cursor = this.add("cursor");
		this.when = this.cursor.appendChild(document.createElement("span"));
		this.when.className = "moment";
		this.whenText = this.when.appendChild(new Text());
		this.segments = this.frames.map(() => this.cursor.appendChild(document.createElement("div")));
		this.range = document.getElementById("range").appendChild(new Text());
		this.from = 0;
		this.to = 1;
		this.at = null; // position of the line as a share of the run; null: hidden
		this.pinned = false; // whether the line stays when the pointer moves
		this.points = null; // points of the zoomed view that is drawn
		this.resting = 0;
		this.fresh = false; // whether the view differs from the one in the address
		this.measure();
		this.listen();
	}

	add(name) {
		const element = document.createElement("div");
		element.className = name;
		element.hidden = true;
		this.root.append(element);
		return element;
	}

	// Measures the positions of the charts. Called when the size of the window changes, not when the mouse moves.
	measure() {
		const all = this.root.getBoundingClientRect();
		const boxes = this.frames.map((frame) => frame.getBoundingClientRect());
		this.left = boxes[0].left;
		this.width = boxes[0].width;
		this.offset = this.left - all.left;
		const tops = this.captions.map((caption) => caption.getBoundingClientRect().top - all.top);
		this.boxes.forEach((box, i) => (box.style.top = `${tops[i]}px`));
		this.cursor.style.left = `${this.offset}px`;
		boxes.forEach(({ top, height }, i) => {
			this.segments[i].style.top = `${top - all.top}px`;
			this.segments[i].style.height = `${height}px`;
		});
		this.when.style.top = `${this.root.querySelector(".axis").getBoundingClientRect().top - all.top}px`;
		this.fitStrip();
		this.nameTicks();
	}

	// ---- the view ----

	// Width of the narrowest view as a share of the run: four buckets, or ten samples.
	least() {
		const samples = this.raw ? (10 * this.data.interval) / this.data.seconds : 1;
		return Math.min(1, 4 / this.data.drawn, samples);
	}

	view(from, to, keep) {
		const width = Math.min(1, Math.max(this.least(), to - from));
		const start = Math.min(1 - width, Math.max(0, from));
		this.from = start;
		this.to = start + width;
		this.fresh ||= !keep;
		this.paintView();
		this.paintCursor();
		clearTimeout(this.resting);
		this.resting = setTimeout(() => this.rest(), restMs);
	}

	isWhole() {
		return this.to - this.from > 0.9999;
	}

	// Writes the address: "#t=12.0,34.5&scale=limit&lines&clock", or "elapsed" if times of day are the default.
	remember() {
		const [from, to] = [this.from, this.to].map((share) => (share * this.data.seconds).toFixed(1));
		const parts = [
			!this.isWhole() && `t=${from},${to}`,
			isPressed(this.limits) && "scale=limit",
			isPressed(this.lines) && "lines",
			this.data.clock !== this.usualClock && (this.data.clock ? "clock" : "elapsed"),
		].filter(Boolean);
		history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
	}

	recall() {
		const found = /[#&]t=([\d.]+),([\d.]+)(&|$)/.exec(location.hash);
		this.reach(/[#&]scale=limit(&|$)/.test(location.hash), true);
		this.showLines(/[#&]lines(&|$)/.test(location.hash), true);
		this.showClock(this.usualClock !== /[#&](clock|elapsed)(&|$)/.test(location.hash), true);
		if (found && +found[2] > +found[1]) {
			this.view(found[1] / this.data.seconds, found[2] / this.data.seconds, true);
		} else {
			this.view(0, 1, true);
		}
	}

	// The pointer rests: draw as many details as available, and update the address.
	rest() {
		if (this.fresh) {
			this.fresh = false;
			this.remember();
		}
		this.refine();
		this.tell();
		this.rescale();
		this.briefs.forEach((brief) => brief.look(this.from, this.to, this.width));
		if (this.raw && !this.samples && !this.isWhole()) {
			this.readSamples();
		}
	}

	// Sends the visible part of the run in seconds to other parts of the page, as the event "view"; null: the whole run.
	tell() {
		const detail = [this.from, this.to].map((share) => (this.isWhole() ? null : share * this.data.seconds));
		this.root.dispatchEvent(new CustomEvent("view", { detail }));
	}

	async readSamples() {
		const { raw } = this;
		this.raw = null;
		this.reading = true;
		this.nameRange();
		this.samples = await Samples.read(raw.textContent, this.data);
		this.raw = raw;
		this.reading = false;
		this.refine();
	}

	// Adjusts the axes and the figures to the visible part of the run.
	rescale() {
		const { data, from, to } = this;
		const whole = this.isWhole();
		const limit = isPressed(this.limits);
		this.root.classList.toggle("window", !whole);
		this.print.hidden = whole;
		this.plots.forEach((plot, i) => {
			const found = whole ? [] : this.charts[i].map((series) => measure(series, data.n, from, to));
			plot.reach(plot.topFor(whole ? NaN : found[0].peak, limit));
			this.stats[i].forEach(({ shown, whole: words }, k) => {
				if (!found[k]) {
					shown.replaceChildren(...words);
				} else {
					const { mean, p95, peak } = found[k];
					const machine = shown.matches(".machine");
					const name = machine ? "whole machine" : "window:";
					const middle = machine ? "" : `p95 ${number(p95)}, `;
					const { unit } = data.charts[i];
					const words = `mean ${number(mean)}, ${middle}peak ${number(peak)} ${unit}`;
					shown.textContent = `${name} ${Number.isFinite(peak) ? words : "above the scale here"}`;
				}
			});
			this.figures[i].forEach((figures, k) => {
				const area = this.areas[i][k];
				const { mean, peak } = whole ? {} : measure({ mean: area, max: area }, data.drawn, from, to);
				[mean, peak].forEach((value, at) => say(figures[at].shown, whole ? figures[at].whole : areaWords(value)));
			});
		});
	}

	// Draws the view from the most detailed data available: samples, else buckets.
	refine() {
		const { data, from, to } = this;
		if (this.isWhole()) {
			this.nameRange();
			return;
		}
		const margin = (to - from) * 0.02;
		this.points = this.samples
			? this.samples.points(from - margin, to + margin, pointsMost)
			: pointsOfBuckets(this.charts, data.n, from, to, pointsMost);
		const x = Array.from(this.points.place, (place) => (place * this.units).toFixed(3));
		this.plots.forEach((plot, i) => plot.drawClose(x, this.points.charts[i]));
		this.nameRange();
		this.paintCursor();
	}

	// ---- painting ----

	paintView() {
		const width = this.to - this.from;
		this.points = null;
		for (const plot of this.plots) {
			plot.drawWhole();
			plot.look(this.from, width);
		}
		for (const bars of this.bars) {
			bars.viewBox.baseVal.x = this.from * this.units;
			bars.viewBox.baseVal.width = width * this.units;
		}
		this.fitStrip();
		this.nameTicks();
	}

	fitStrip() {
		this.strip?.look(this.from, this.to - this.from, this.width);
	}

	nameTicks() {
		this.axis.look(this.from, this.to, this.width);
		this.laneAxis?.look(this.from, this.to, this.width);
	}

	// ---- scale and kind ----

	reach(limit, keep) {
		press(this.limits, limit);
		this.root.classList.toggle("to-limit", limit);
		this.rescale();
		if (!keep) {
			this.remember();
		}
	}

	showLines(lines, keep) {
		press(this.lines, lines);
		this.root.classList.toggle("plain", lines);
		if (!keep) {
			this.remember();
		}
	}

	// Labels the axis with times of day, or with the time since the start.
	showClock(clock, keep) {
		press(this.clock, clock);
		this.data.clock = clock;
		this.nameTicks();
		this.nameRange();
		this.paintCursor();
		if (!keep) {
			this.remember();
		}
	}

	// Prints the whole run. The visible part is printed only if the user chose that with the print button.
	preparePrinting() {
		let part = false;
		let seen = null;
		const show = (from, to) => {
			this.view(from, to, true);
			this.rest();
		};
		this.print.addEventListener("click", () => {
			part = true;
			print();
		});
		addEventListener("beforeprint", () => {
			if (!part && !this.isWhole()) {
				seen = [this.from, this.to];
				show(0, 1);
			}
		});
		addEventListener("afterprint", () => {
			if (seen) {
				show(...seen);
			}
			part = false;
			seen = null;
		});
	}

	nameRange() {
		const { data, from, to } = this;
		const span = (to - from) * data.seconds;
		say(
			this.range,
			this.isWhole() ? "" : `${moment(data, from * data.seconds, span)} to ${moment(data, to * data.seconds, span)}; ${this.nameStep()}`,
		);
	}

	// Describes what one point of the drawing is.
	nameStep() {
		const { data, points } = this;
		if (this.reading) {
			return "reading all samples \u2026";
		}
		if (points && this.samples) {
			const one = points.merged ? "row of merged samples" : "sample";
			return points.group === 1 ? `every ${one} is shown` : `a point is ${points.group} ${one}s`;
		}
		return `a point is ${duration((data.seconds / (points ? data.n : data.drawn)) * (points ? points.group : 1))}`;
	}

	paintCursor() {
		const { data, at } = this;
		const shown = at !== null && at >= this.from && at <= this.to;
		if (!shown) {
			if (!this.cursor.hidden) {
				this.cursor.hidden = this.layer.hidden = true;
				this.reads.forEach((read) => say(read, ""));
				this.nows.flat().forEach((now) => say(now, ""));
			}
			return;
		}
		if (this.cursor.hidden) {
			this.cursor.hidden = this.layer.hidden = false;
		}
		this.cursor.style.transform = `translateX(${((at - this.from) / (this.to - this.from)) * this.width}px)`;
		// Shift the label gradually from the right side of the line (left edge) to its left side (right edge), so that it
		// is never cut off.
		this.when.style.transform = `translateX(${-100 * ((at - this.from) / (this.to - this.from))}%)`;
		say(this.whenText, this.whenWords());
		this.reads.forEach((read, i) => say(read, this.valueWords(i)));
		const bucket = Math.min(data.drawn - 1, Math.floor(at * data.drawn));
		this.nows.forEach((nows, i) => nows.forEach((now, k) => say(now, areaWords(this.areas[i][k][bucket]))));
	}

	// The time at the line, and the name of the phase, which may not fit into the strip.
	whenWords() {
		const { at, data } = this;
		const phase = this.strip?.phases.find(({ from, to }) => at >= from && at < to);
		return `${moment(data, at * data.seconds, 0)}${phase ? ` \u00b7 ${phase.name.textContent}` : ""}`;
	}

	// The value of a chart at the line, taken from the point that is drawn there.
	valueWords(chart) {
		const { at, data, points } = this;
		let value;
		if (points) {
			const series = points.charts[chart][0];
			const i = nearest(points.place, at);
			value = { mean: series.mean[i], min: series.min[i], max: series.max[i] };
		} else {
			const each = data.n / data.drawn;
			const bucket = Math.min(data.drawn - 1, Math.floor(at * data.drawn)) * each;
			value = merge(this.charts[chart][0], bucket, bucket + each);
		}
		const { unit } = data.charts[chart];
		if (Number.isNaN(value.mean)) {
			return dash;
		}
		const [mean, min, max] = [value.mean, value.min, value.max].map(number);
		return min === max ? `${mean} ${unit}` : `${mean} (${min}\u2013${max}) ${unit}`;
	}

	// ---- actions ----

	shareOf(event) {
		const across = Math.min(1, Math.max(0, (event.clientX - this.left) / this.width));
		return this.from + across * (this.to - this.from);
	}

	zoom(factor) {
		const middle = this.at ?? (this.from + this.to) / 2;
		const left = (middle - this.from) * factor;
		const right = (this.to - middle) * factor;
		this.view(middle - left, middle + right);
	}

	move(step) {
		const width = this.to - this.from;
		const start = this.at ?? (this.from + this.to) / 2;
		this.at = Math.min(1, Math.max(0, start + step * Math.max(width / 100, 1 / this.data.n)));
		if (this.at < this.from || this.at > this.to) {
			this.view(this.at - width / 2, this.at + width / 2);
		} else {
			this.paintCursor();
		}
	}

	free() {
		this.pinned = false;
		this.at = null;
		this.paintCursor();
	}

	// Shows the phase before or after the one in the middle of the view.
	phase(step) {
		const phases = this.strip?.phases ?? [];
		const middle = (this.from + this.to) / 2;
		const now = this.isWhole() ? (step > 0 ? -1 : phases.length) : phases.findIndex(({ from, to }) => middle >= from && middle < to);
		const next = phases[now + step];
		if (next) {
			this.view(next.from, next.to);
		}
	}

	// A click or a tap fixes the line; a second one releases it.
	pin(event) {
		if (this.pinned) {
			this.pinned = false;
			this.at = event.pointerType === "touch" ? null : this.shareOf(event);
		} else {
			this.pinned = true;
			this.at = this.shareOf(event);
		}
		this.paintCursor();
	}

	drag(event, frame) {
		const from = this.shareOf(event);
		const mark = this.add("select");
		const follow = (next) => {
			const to = this.shareOf(next);
			const scale = this.width / (this.to - this.from);
			mark.hidden = false;
			mark.style.left = `${this.offset + (Math.min(from, to) - this.from) * scale}px`;
			mark.style.width = `${Math.abs(to - from) * scale}px`;
		};
		const stop = (last) => {
			const to = this.shareOf(last);
			frame.removeEventListener("pointermove", follow);
			frame.removeEventListener("pointerup", stop);
			frame.removeEventListener("pointercancel", stop);
			mark.remove();
			if (last.type === "pointerup" && Math.abs(to - from) > (this.to - this.from) / 100) {
				this.view(Math.min(from, to), Math.max(from, to));
			} else if (last.type === "pointerup") {
				this.pin(last);
			}
		};
		frame.setPointerCapture(event.pointerId);
		frame.addEventListener("pointermove", follow);
		frame.addEventListener("pointerup", stop);
		frame.addEventListener("pointercancel", stop);
	}

	key(event) {
		const keys = {
			ArrowLeft: () => this.move(event.shiftKey ? -10 : -1),
			ArrowRight: () => this.move(event.shiftKey ? 10 : 1),
			"+": () => this.zoom(0.5),
			"=": () => this.zoom(0.5),
			"-": () => this.zoom(2),
			0: () => this.view(0, 1),
			Home: () => this.move(-1e9),
			End: () => this.move(1e9),
			Enter: () => (this.pinned = this.at !== null),
			"[": () => this.phase(-1),
			"]": () => this.phase(1),
			Escape: () => this.free(),
		};
		if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			keys[event.key]();
		}
	}

	listen() {
		const { root } = this;
		root.tabIndex = 0;
		root.setAttribute("role", "group");
		root.setAttribute("aria-label", "Charts. Arrow keys move the line, plus and minus zoom, brackets go from phase to phase, Enter holds the line, zero shows the whole run.");
		root.classList.add("live");
		root.addEventListener("keydown", (event) => this.key(event));
		root.addEventListener("dblclick", () => this.view(0, 1));
		root.addEventListener("pointerleave", () => {
			if (!this.pinned) {
				this.free();
			}
		});
		for (const frame of this.frames) {
			frame.addEventListener("pointermove", (event) => {
				if (!this.pinned) {
					this.at = this.shareOf(event);
					this.paintCursor();
				}
			});
			frame.addEventListener("click", (event) => {
				if (event.pointerType === "touch") {
					this.pin(event);
				}
			});
			frame.addEventListener("pointerdown", (event) => {
				if (event.button === 0 && event.pointerType !== "touch") {
					this.drag(event, frame);
				}
			});
		}
		this.limits.hidden = !this.data.charts.some((chart) => chart.limit > chart.top);
		this.limits.addEventListener("click", () => this.reach(!isPressed(this.limits)));
		this.lines?.addEventListener("click", () => this.showLines(!isPressed(this.lines)));
		this.clock.addEventListener("click", () => this.showClock(!isPressed(this.clock)));
		this.preparePrinting();
		for (const tag of root.querySelectorAll(".tag")) {
			tag.disabled = false;
			tag.addEventListener("click", () => this.reach(true));
		}
		document.getElementById("zoom-in").addEventListener("click", () => this.zoom(0.5));
		document.getElementById("zoom-out").addEventListener("click", () => this.zoom(2));
		document.getElementById("reset").addEventListener("click", () => this.view(0, 1));
		addEventListener("hashchange", () => document.getElementById(location.hash.slice(1)) ?? this.recall());
		addEventListener("resize", () => this.measure());
		new ResizeObserver(() => this.measure()).observe(root);
	}
}

function isPressed(button) {
	return button?.getAttribute("aria-pressed") === "true";
}

function press(button, pressed) {
	button?.setAttribute("aria-pressed", pressed);
}

function areaWords(value) {
	return Number.isNaN(value) ? dash : number(value);
}

// Changes a text only if it differs, because any change costs a layout.
function say(text, words) {
	if (text.data !== words) {
		text.data = words;
	}
}

// Index of the position that is closest to `at`. Positions are in ascending order.
function nearest(places, at) {
	let low = 0;
	let high = places.length - 1;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (places[middle + 1] + places[middle] < 2 * at) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}
