// What the page can do beyond being read: a line across all charts with their values, a zoom over all of
// them, the range in the address, and copy buttons. The charts are drawn already; a zoom is another
// view box, and nothing is drawn anew.

const dash = "\u2014";

// ---- copying ----

function copyText(text) {
	if (navigator.clipboard) {
		return navigator.clipboard.writeText(text).catch(() => copyBySelection(text));
	}
	return copyBySelection(text);
}

function copyBySelection(text) {
	const area = document.createElement("textarea");
	area.value = text;
	document.body.append(area);
	area.select();
	const done = document.execCommand("copy");
	area.remove();
	return done ? Promise.resolve() : Promise.reject(new Error("not allowed"));
}

function prepareCopying() {
	for (const box of document.querySelectorAll(".copy")) {
		const said = box.querySelector(".copied");
		box.hidden = false;
		box.addEventListener("click", (event) => {
			const button = event.target.closest("button");
			const source = button && document.getElementById(button.dataset.copy);
			if (!source) {
				return;
			}
			copyText(source.textContent).then(
				() => (said.textContent = `copied for ${button.textContent}`),
				() => {
					source.closest("details").open = true;
					getSelection().selectAllChildren(source);
					said.textContent = "selected below: copy it by hand";
				},
			);
		});
	}
}

// ---- words ----

// As the C side writes numbers.
function number(value) {
	const size = Math.abs(value);
	if (value === 0) {
		return "0";
	}
	if (size < 0.01) {
		return "< 0.01";
	}
	if (size >= 99.95) {
		return value.toFixed(0);
	}
	return value.toFixed(size < 0.995 ? 2 : 1);
}

function timeOfDay(data, at, span) {
	const text = new Date((data.start + at) * 1000).toISOString();
	return span >= 600 ? text.slice(11, 16) : text.slice(11, 19);
}

function sinceStart(at, span) {
	if (span < 20) {
		return `${at.toFixed(span < 2 ? 2 : 1)} s`;
	}
	const whole = Math.round(at);
	if (whole < 60) {
		return `${whole} s`;
	}
	if (whole < 3600) {
		return `${Math.floor(whole / 60)} m ${whole % 60} s`;
	}
	return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} m`;
}

function moment(data, at, span) {
	return data.clock ? timeOfDay(data, at, span) : sinceStart(at, span);
}

// ---- data ----

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// The value of bucket `at` of a packed series; NaN in a gap.
function valueAt(packed, at, chart, steps) {
	const code = digits.indexOf(packed[2 * at]) * 64 + digits.indexOf(packed[2 * at + 1]);
	return code > steps ? NaN : (code / steps) * chart.top;
}

function reading(chart, at, steps) {
	const [mean, min, max] = chart.series[0];
	const middle = valueAt(mean, at, chart, steps);
	if (Number.isNaN(middle)) {
		return dash;
	}
	if (!min) {
		return `${number(middle)} ${chart.unit}`;
	}
	const low = number(valueAt(min, at, chart, steps));
	const high = number(valueAt(max, at, chart, steps));
	return `${number(middle)} (${low}\u2013${high}) ${chart.unit}`;
}

// ---- the charts ----

class Timeline {
	constructor(data, root) {
		this.data = data;
		this.root = root;
		this.frames = [...root.querySelectorAll(".frame")];
		this.plots = [...root.querySelectorAll(".plot")];
		this.reads = [...root.querySelectorAll(".read")];
		this.ticks = [...root.querySelectorAll(".axis span")];
		this.strip = [...root.querySelectorAll(".phases > svg")].map((svg) => ({
			svg,
			from: parseFloat(svg.getAttribute("x")) / 100,
			width: parseFloat(svg.getAttribute("width")) / 100,
		}));
		this.staticTicks = this.ticks.map((tick) => tick.textContent);
		this.cursors = this.frames.map((frame) => this.add(frame, "cursor"));
		this.lines = this.cursors.map((cursor) => cursor.appendChild(document.createElement("div")));
		this.range = document.getElementById("range");
		this.from = 0;
		this.to = 1;
		this.at = null; // the line, as a share of the run
		this.pending = 0;
		this.listen();
	}

	add(frame, name) {
		const element = document.createElement("div");
		element.className = name;
		element.hidden = true;
		frame.append(element);
		return element;
	}

	// The narrowest view: four buckets.
	least() {
		return Math.min(1, 4 / this.data.n);
	}

	view(from, to, keep) {
		const width = Math.min(1, Math.max(this.least(), to - from));
		const start = Math.min(1 - width, Math.max(0, from));
		this.from = start;
		this.to = start + width;
		if (!keep) {
			this.remember();
		}
		this.draw();
	}

	isWhole() {
		return this.to - this.from > 0.9999;
	}

	remember() {
		const hash = this.isWhole()
			? " "
			: `#t=${(this.from * this.data.seconds).toFixed(1)},${(
					this.to * this.data.seconds
				).toFixed(1)}`;
		history.replaceState(null, "", hash === " " ? location.pathname + location.search : hash);
	}

	recall() {
		const found = /^#t=([\d.]+),([\d.]+)$/.exec(location.hash);
		if (found && +found[2] > +found[1]) {
			this.view(found[1] / this.data.seconds, found[2] / this.data.seconds, true);
		} else if (!location.hash || found) {
			this.view(0, 1, true);
		}
	}

	draw() {
		if (!this.pending) {
			this.pending = requestAnimationFrame(() => {
				this.pending = 0;
				this.paint();
			});
		}
	}

	paint() {
		const units = 2 * this.data.n;
		const width = this.to - this.from;
		for (const plot of this.plots) {
			const box = plot.viewBox.baseVal;
			box.x = this.from * units;
			box.width = width * units;
		}
		for (const { svg, from, width: wide } of this.strip) {
			// What lies in view of the phase, so that its name stays in view too.
			const left = Math.max(from, this.from);
			const right = Math.min(from + wide, this.to);
			svg.setAttribute("x", `${((left - this.from) / width) * 100}%`);
			svg.setAttribute("width", `${(Math.max(0, right - left) / width) * 100}%`);
		}
		this.paintTicks();
		this.paintCursor();
	}

	paintTicks() {
		const { data, from, to } = this;
		const span = (to - from) * data.seconds;
		this.ticks.forEach((tick, i) => {
			const at = (from + ((to - from) * i) / (this.ticks.length - 1)) * data.seconds;
			tick.textContent = this.isWhole() ? this.staticTicks[i] : moment(data, at, span);
		});
		this.range.textContent = this.isWhole()
			? ""
			: `${moment(data, from * data.seconds, span)} to ${moment(data, to * data.seconds, span)}`;
	}

	paintCursor() {
		const { data, at } = this;
		const shown = at !== null && at >= this.from && at <= this.to;
		const bucket = Math.min(data.n - 1, Math.floor((at ?? 0) * data.n));
		const left = `${((at - this.from) / (this.to - this.from)) * 100}%`;
		this.cursors.forEach((cursor, i) => {
			cursor.hidden = !shown;
			this.lines[i].style.transform = `translateX(${left})`;
			this.reads[i].textContent = shown
				? `${moment(data, at * data.seconds, 0)} ${reading(data.charts[i], bucket, data.steps)}`
				: "";
		});
	}

	shareOf(event, frame) {
		const box = frame.getBoundingClientRect();
		const across = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
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
		}
		this.draw();
	}

	drag(event, frame) {
		const from = this.shareOf(event, frame);
		const marks = this.frames.map((each) => this.add(each, "select"));
		const show = (to) => {
			const width = this.to - this.from;
			for (const mark of marks) {
				mark.hidden = false;
				mark.style.left = `${((Math.min(from, to) - this.from) / width) * 100}%`;
				mark.style.width = `${(Math.abs(to - from) / width) * 100}%`;
			}
		};
		const follow = (next) => show(this.shareOf(next, frame));
		const stop = (last) => {
			const to = this.shareOf(last, frame);
			frame.removeEventListener("pointermove", follow);
			frame.removeEventListener("pointerup", stop);
			frame.removeEventListener("pointercancel", stop);
			marks.forEach((mark) => mark.remove());
			if (last.type === "pointerup" && Math.abs(to - from) > (this.to - this.from) / 100) {
				this.view(Math.min(from, to), Math.max(from, to));
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
			Escape: () => {
				this.at = null;
				this.draw();
			},
		};
		if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			keys[event.key]();
		}
	}

	listen() {
		this.root.tabIndex = 0;
		this.root.setAttribute("role", "group");
		this.root.setAttribute(
			"aria-label",
			"Charts. Arrow keys move the line, plus and minus zoom, zero shows the whole run.",
		);
		this.root.classList.add("live");
		this.root.addEventListener("keydown", (event) => this.key(event));
		this.root.addEventListener("dblclick", () => this.view(0, 1));
		this.root.addEventListener("pointerleave", () => {
			this.at = null;
			this.draw();
		});
		for (const frame of this.frames) {
			frame.addEventListener("pointermove", (event) => {
				this.at = this.shareOf(event, frame);
				this.draw();
			});
			frame.addEventListener("pointerdown", (event) => {
				if (event.button === 0 && event.pointerType !== "touch") {
					this.drag(event, frame);
				}
			});
		}
		document.getElementById("zoom-in").addEventListener("click", () => this.zoom(0.5));
		document.getElementById("zoom-out").addEventListener("click", () => this.zoom(2));
		document.getElementById("reset").addEventListener("click", () => this.view(0, 1));
		addEventListener("hashchange", () => this.recall());
	}
}

function prepareCharts() {
	const source = document.getElementById("data");
	const root = document.getElementById("charts");
	if (!source || !root) {
		return;
	}
	const timeline = new Timeline(JSON.parse(source.textContent), root);
	document.querySelector(".tools").hidden = false;
	document.querySelector(".help").hidden = false;
	if (location.hash) {
		timeline.recall();
	}
}

// ---- the recording, where it is embedded ----

function prepareSaving() {
	const raw = document.getElementById("raw");
	const button = document.getElementById("save");
	if (!raw || !button) {
		return;
	}
	button.parentElement.hidden = false;
	button.addEventListener("click", () => {
		const bytes = Uint8Array.from(atob(raw.textContent), (c) => c.charCodeAt(0));
		const link = document.createElement("a");
		link.href = URL.createObjectURL(new Blob([bytes]));
		link.download = "recording.rtrk";
		link.click();
		URL.revokeObjectURL(link.href);
	});
}

// ---- a run that goes on ----

const quietAfterMs = 10000; // whoever works with the page is not disturbed
const staleAfterSeconds = 60;

// The page is made anew in its place while the run goes on: load it again. One that stays as it was says so.
function keepUpToDate() {
	const { live, last } = document.documentElement.dataset;
	if (!live) {
		return;
	}
	const silence = Date.now() / 1000 - Number(last);
	const stale = silence > Math.max(staleAfterSeconds, 20 * live);
	let touched = -Infinity;
	if (stale) {
		const said = document.createElement("p");
		said.className = "trouble stale";
		said.textContent =
			`No news for ${sinceStart(silence, silence)}: the job, its machine or its tracker may be gone, ` +
			"or this is a copy of the page.";
		document.querySelector("#verdict").append(said);
	}
	for (const kind of ["pointerdown", "pointermove", "keydown", "wheel"]) {
		addEventListener(kind, () => (touched = performance.now()), { passive: true });
	}
	setInterval(
		() => {
			if (!document.hidden && performance.now() - touched > quietAfterMs) {
				location.reload();
			}
		},
		1000 * (stale ? staleAfterSeconds : Math.max(2, live)),
	);
}

prepareCopying();
prepareCharts();
prepareSaving();
keepUpToDate();
// Folds are open on paper.
addEventListener("beforeprint", () => {
	for (const fold of document.querySelectorAll("details")) {
		fold.open = true;
	}
});
