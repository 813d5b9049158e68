// The chart of stacks (an icicle chart): the width of a box is its CPU time, and callees are below their callers. A
// click on a box zooms in, a search highlights boxes, and keys move between them. If the timeline shows a part of the
// run, the chart shows the stacks of that part.

const ROW = 19; // px
const LEAST = 0.003; // share of the width: narrower boxes are not drawn
const DEPTH = 60; // rows: deeper ones are visible after zooming in

function seconds(ms) {
	return ms < 1000 ? `${Math.round(ms)} ms` : ms < 100000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60000)} m`;
}

function percent(share) {
	return share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(share * 100)} %`;
}

class Stacks {
	constructor(data, root) {
		this.data = data;
		this.chart = root.querySelector(".icicle");
		this.search = root.querySelector("input");
		this.status = root.querySelector("[role=status]");
		const all = { name: "all", file: "", line: 0, own: 0, ms: data.ms, bins: [], parent: null, depth: 0 };
		this.all = all;
		this.nodes = [all];
		for (const [parent, at, line, ms, bins] of data.nodes) {
			const [name, file, own] = data.functions[at];
			const caller = this.nodes[parent + 1];
			this.nodes.push({ name, file, line, own, ms, bins, parent: caller, depth: caller.depth + 1 });
		}
		this.window = null; // part of the run [from, to] in seconds; null: the whole run
		this.show(all);
		root.querySelector(".whole").addEventListener("click", () => this.show(all));
		this.search.addEventListener("input", () => this.show(this.top));
		this.chart.addEventListener("keydown", (e) => this.key(e));
		this.chart.addEventListener("click", (e) => {
			const box = e.target.closest("button");
			if (box) this.show(box.node, true);
		});
	}

	// Computes what each node used in the shown part of the run. A bin counts in proportion to its overlap with it.
	weigh() {
		const { bins } = this.data;
		const [from, to] = this.window ?? [0, 0];
		const parts = bins.slice(1).map((end, i) => {
			const length = end - bins[i];
			return length > 0 ? Math.max(0, Math.min(to, end) - Math.max(from, bins[i])) / length : 0;
		});
		for (const node of this.nodes) {
			node.children = [];
			node.now = node.ms;
			if (this.window && node !== this.all) {
				node.now = 0;
				for (let i = 0; i < node.bins.length; i += 2) node.now += node.bins[i + 1] * (parts[node.bins[i]] ?? 0);
			}
			if (node.parent && node.now > 0) node.parent.children.push(node);
		}
		if (this.window) this.all.now = this.all.children.reduce((sum, c) => sum + c.now, 0);
		for (const node of this.nodes) node.children.sort((a, b) => b.now - a.now);
	}

	found(node) {
		const text = this.search.value.trim().toLowerCase();
		return text !== "" && `${node.name} ${node.file}:${node.line}`.toLowerCase().includes(text);
	}

	// Shows the CPU time of the matches. Only the outermost match of a stack counts, so no time counts twice.
	tell() {
		const sum = (node) => (this.found(node) ? node.now : node.children.reduce((s, c) => s + sum(c), 0));
		const part = this.window ? `${seconds(this.window[0] * 1000)} to ${seconds(this.window[1] * 1000)}: ` : "";
		const used = this.search.value.trim() ? `${seconds(sum(this.all))} in matches` : part && `${seconds(this.all.now)} of CPU`;
		this.status.textContent = part + used;
	}

	show(top, focus) {
		this.weigh();
		this.top = top.now > 0 ? top : this.all;
		this.chart.textContent = "";
		this.rows = 0;
		for (let up = this.top.parent; up; up = up.parent) this.box(up, 0, 1, up.depth, "above");
		this.draw(this.top, 0, 1, this.top.depth);
		this.chart.style.height = `${this.rows * ROW}px`;
		this.tell();
		const box = this.top.box;
		box.tabIndex = 0;
		if (focus) box.focus({ preventScroll: true });
	}

	draw(node, from, width, row) {
		this.box(node, from, width, row, "");
		if (row - this.top.depth >= DEPTH) return;
		for (const child of node.children) {
			const part = (child.now / node.now) * width;
			if (part < LEAST) return;
			this.draw(child, from, part, row + 1);
			from += part;
		}
	}

	box(node, from, width, row, what) {
		const box = document.createElement("button");
		const place = node.line ? `${node.file}:${node.line}` : node.file;
		const words = `${node.name} ${place}, ${seconds(node.now)} of CPU, ${percent(node.now / this.all.now)}`;
		box.type = "button";
		box.tabIndex = -1;
		box.node = node;
		node.box = box;
		box.className = `${node.own ? "own " : ""}${what}${this.found(node) ? " found" : ""}`;
		box.textContent = place ? `${node.name} ` : node.name;
		if (place) box.appendChild(document.createElement("span")).textContent = place;
		box.title = words;
		box.setAttribute("role", "treeitem");
		box.setAttribute("aria-label", words);
		box.setAttribute("aria-level", node.depth + 1);
		box.style.left = `${from * 100}%`;
		box.style.width = `${width * 100}%`;
		box.style.top = `${row * ROW}px`;
		this.rows = Math.max(this.rows, row + 1);
		this.chart.append(box);
	}

	move(node) {
		if (!node?.box?.isConnected) return;
		for (const box of this.chart.querySelectorAll("[tabindex='0']")) box.tabIndex = -1;
		node.box.tabIndex = 0;
		node.box.focus();
	}

	key(e) {
		const node = document.activeElement?.node;
		if (!node || e.ctrlKey || e.metaKey || e.altKey) return;
		const beside = (step) => {
			const row = node.parent?.children ?? [];
			this.move(row[row.indexOf(node) + step]);
		};
		const keys = {
			ArrowUp: () => this.move(node.parent),
			ArrowDown: () => this.move(node.children[0]),
			ArrowLeft: () => beside(-1),
			ArrowRight: () => beside(1),
			Home: () => this.move(this.all),
			Enter: () => this.show(node, true),
			" ": () => this.show(node, true),
			Escape: () => this.show(this.all, true),
			"/": () => this.search.focus(),
		};
		if (!keys[e.key]) return;
		e.preventDefault();
		keys[e.key]();
	}

	look(from, to) {
		this.window = from === null || !this.data.bins.length ? null : [from, to];
		this.show(this.top);
	}
}

const data = document.getElementById("stacks-data");
const root = document.getElementById("stacks");
if (data && root) {
	root.hidden = false;
	const stacks = new Stacks(JSON.parse(data.textContent), root);
	document.getElementById("charts")?.addEventListener("view", ({ detail: [from, to] }) => stacks.look(from, to));
}
