// Entry point of the report's script: a cursor line across all charts with their values, zooming, the visible range in
// the address, sortable tables, and copy buttons. The page is readable without it.
import { prepareCopying } from "./copying.js";
import { prepareFolds, prepareTables } from "./tables.js";
import { Timeline } from "./timeline.js";

function prepareCharts() {
	const source = document.getElementById("data");
	const root = document.getElementById("charts");
	if (!source || !root) {
		return;
	}
	document.querySelector(".tools").hidden = false;
	document.querySelector(".help").hidden = false;
	const timeline = new Timeline(JSON.parse(source.textContent), root, document.getElementById("raw"));
	if (location.hash) {
		timeline.recall();
	}
}

// Shows the button that saves the recording, if the page contains one.
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

// ---- live page ----

const quietAfterMs = 10000; // no reload while the user is interacting with the page
const staleAfterSeconds = 60;

// While the run continues, the program replaces the file of the page, so the page reloads itself. If the file is no
// longer replaced, the page reports that.
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
			`No news since ${new Date(1000 * last).toISOString().slice(0, 19).replace("T", " ")} UTC: ` +
			"the job, its machine or its tracker may be gone, " +
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
prepareTables();
prepareFolds();
prepareCharts();
prepareSaving();
keepUpToDate();
// Open all folded sections before printing, except the lines to paste.
addEventListener("beforeprint", () => {
	for (const fold of document.querySelectorAll("details:not(#snippets)")) {
		fold.open = true;
	}
});
