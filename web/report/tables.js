// Sortable tables. A click on a heading sorts by that column, numbers in descending order; a second click reverses the
// order. On phones, sections can be folded.

function valueOf(row, column) {
	const cell = row.cells[column];
	return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
}

function compare(a, b) {
	if (typeof a === "number" && typeof b === "number") {
		return b - a;
	}
	// Unknown values are sorted last.
	return typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b);
}

function sort(table, heading) {
	const turned = heading.getAttribute("aria-sort") === heading.dataset.first;
	const body = table.tBodies[0];
	const rows = [...body.rows].sort((a, b) => compare(valueOf(a, heading.cellIndex), valueOf(b, heading.cellIndex)));
	const numbers = rows.some((row) => row.cells[heading.cellIndex].dataset.v !== undefined);
	heading.dataset.first = numbers ? "descending" : "ascending";
	const other = numbers ? "ascending" : "descending";
	for (const each of table.tHead.rows[0].cells) {
		each.removeAttribute("aria-sort");
	}
	heading.setAttribute("aria-sort", turned ? other : heading.dataset.first);
	body.append(...(turned ? rows.reverse() : rows));
}

export function prepareTables() {
	for (const table of document.querySelectorAll(".sortable")) {
		for (const heading of table.tHead.rows[0].cells) {
			const button = document.createElement("button");
			button.type = "button";
			button.append(...heading.childNodes);
			heading.append(button);
			button.addEventListener("click", () => sort(table, heading));
		}
	}
}

// ---- sections that fold on phones ----

const open = ["verdict", "timeline", "processes", "code"];

export function prepareFolds() {
	if (!matchMedia("(max-width: 640px)").matches) {
		return;
	}
	const show = (section, shown) => {
		section.classList.toggle("folded", !shown);
		section.querySelector(".fold").setAttribute("aria-expanded", shown);
	};
	for (const section of document.querySelectorAll("main > section:has(> h2), #stacks")) {
		const heading = section.querySelector("h2, h3");
		const button = document.createElement("button");
		button.type = "button";
		button.className = "fold";
		button.append(...heading.childNodes);
		heading.append(button);
		show(section, open.includes(section.id) || location.hash === `#${section.id}`);
		button.addEventListener("click", () => show(section, section.classList.contains("folded")));
	}
	for (const link of document.querySelectorAll(".contents a, #next a")) {
		link.addEventListener("click", () => show(document.querySelector(link.hash).closest("section"), true));
	}
	addEventListener("beforeprint", () => document.querySelectorAll(".folded").forEach((each) => show(each, true)));
}
