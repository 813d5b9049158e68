// Labels of the axes: round times below the charts, round values at their left, chosen by the same rules and steps as in C.
import { clockTime } from "./words.js";

const tickRoom = 95; // px
const tickRoomNarrow = 70;
const endRoom = 120;
const ticksMost = 24;

function timeStep(timeSteps, seconds, most) {
	let step = timeSteps.find((each) => seconds / each <= most);
	for (let days = 2; !step; days *= 2) {
		step = seconds / (days * 86400) <= most ? days * 86400 : 0;
	}
	return step;
}

function tickText(data, at, step) {
	if (data.clock) {
		return clockTime(data, at, step);
	}
	if (step < 0.1 && data.seconds <= 120) {
		return `${Math.round(at * 1000)} ms`;
	}
	const digits = step < 1 ? 1 : 0;
	if (data.seconds <= 120) {
		return `${at.toFixed(digits)} s`;
	}
	const whole = Math.floor(at + 1e-6);
	const two = (count) => String(count).padStart(2, "0");
	const fraction = digits ? (at - whole).toFixed(1).slice(1) : "";
	const hours = Math.floor(whole / 3600);
	if (data.seconds <= 7200) {
		return `${Math.floor(whole / 60)}:${two(whole % 60)}${fraction}`;
	}
	if (step >= 60) {
		return `${hours}${step >= 3600 ? "" : `:${two(Math.floor(whole / 60) % 60)}`} h`;
	}
	return `${hours}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${fraction}`;
}

export class Axis {
	constructor(svg, data) {
		this.svg = svg;
		this.data = data;
		this.pool = [...svg.children];
		while (this.pool.length && this.pool.length < ticksMost) {
			this.pool.push(svg.appendChild(svg.lastElementChild.cloneNode(true)));
		}
		svg.classList.add("fitted");
	}

	// Shows the run between two shares (0 to 1); wide: width of the axis in px.
	look(from, to, wide) {
		const { data } = this;
		const span = (to - from) * data.seconds;
		const step = timeStep(data.timeSteps, span, Math.max(1, Math.floor(wide / (wide < 600 ? tickRoomNarrow : tickRoom))));
		const start = data.clock ? data.start : 0;
		let used = 0;
		for (let i = Math.ceil((start + from * data.seconds) / step - 1e-9); used < this.pool.length; i++) {
			const at = i * step - start;
			const share = (at / data.seconds - from) / (to - from);
			// The last label is right-aligned at the edge. It is left out if it would overlap the one before it.
			if (share > 1 + 1e-9 || (share > 0.97 && (step / span) * wide < endRoom)) {
				break;
			}
			this.place(used++, share, tickText(data, at, step));
		}
		for (; used < this.pool.length; used++) {
			this.pool[used].setAttribute("display", "none");
		}
	}

	place(i, share, words) {
		const tick = this.pool[i];
		const text = tick.lastElementChild;
		tick.removeAttribute("display");
		tick.setAttribute("x", `${100 * share}%`);
		text.setAttribute("text-anchor", share < 0.02 ? "start" : share > 0.97 ? "end" : "middle");
		if (text.firstChild.data !== words) {
			text.firstChild.data = words;
		}
	}
}

function levelStep(top, steps, most) {
	for (let power = 10 ** (Math.floor(Math.log10(top)) - 1); ; power *= 10) {
		const found = steps.find((step) => top / (step * power) < most + 1 - 1e-9);
		if (found) {
			return found * power;
		}
	}
}

export function levels(top, unit, most) {
	const step = levelStep(top, unit.endsWith("iB") ? [1, 2, 4, 5] : [1, 2, 5], most);
	const found = [];
	for (let i = 1; i * step <= top * (1 + 1e-9); i++) {
		found.push(+(i * step).toPrecision(6));
	}
	return found;
}
