// The strip of phases above the charts. All boxes are one path, which zooms with the charts. The names are positioned
// with a CSS transform, which needs no layout.

const height = 24;

export class Strip {
	// svg: the strip in the page, in which each phase is an SVG element; units: width of the charts in chart units.
	constructor(svg, units) {
		this.units = units;
		const space = svg.namespaceURI;
		const phases = [...svg.querySelectorAll("svg")];
		this.element = document.createElement("div");
		this.element.className = "strip";
		this.element.setAttribute("role", "img");
		this.element.setAttribute("aria-label", svg.getAttribute("aria-label"));
		const make = (name) => document.createElementNS(svg.namespaceURI, name);
		this.boxes = this.element.appendChild(make("svg"));
		this.boxes.setAttribute("class", "boxes");
		this.boxes.setAttribute("preserveAspectRatio", "none");
		this.boxes.setAttribute("viewBox", `0 0 ${units} ${height}`);
		this.phases = phases.map((phase) => this.phaseOf(phase));
		const path = this.boxes.appendChild(make("path"));
		path.setAttribute("d", this.phases.map(({ from, to }) => `M${from * units} 0H${to * units}V${height}H${from * units}z`).join(""));
		svg.replaceWith(this.element);
		for (const phase of this.phases) {
			phase.nameWidth = phase.name.offsetWidth;
			phase.textWidth = phase.nameWidth + phase.long.offsetWidth;
		}
	}

	phaseOf(svg) {
		const [from, width] = ["x", "width"].map((name) => parseFloat(svg.getAttribute(name)) / 100);
		const label = this.element.appendChild(document.createElement("span"));
		const [name, long] = ["name", "long"].map((part) => {
			const piece = label.appendChild(document.createElement("span"));
			piece.className = part;
			piece.textContent = svg.querySelector(`.${part}`).textContent;
			return piece;
		});
		return { from, to: from + width, label, name, long, shown: "", at: 0 };
	}

	// Shows the run from the share `start`, `width` shares wide; wide: width of the strip in px.
	look(start, width, wide) {
		const box = this.boxes.viewBox.baseVal;
		box.x = start * this.units;
		box.width = width * this.units;
		for (const phase of this.phases) {
			// Place the name at the start of the visible part of the phase.
			const left = Math.max(phase.from, start);
			const room = ((Math.min(phase.to, start + width) - left) / width) * wide - 12;
			const shown = room < phase.nameWidth ? "bare" : room < phase.textWidth ? "brief" : "whole";
			if (phase.shown !== shown) {
				phase.shown = phase.label.className = shown;
			}
			const at = ((left - start) / width) * 100;
			if (shown !== "bare" && phase.at !== at) {
				phase.at = at;
				phase.label.style.transform = `translateX(${at}%)`;
			}
		}
	}
}
