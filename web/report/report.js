// What the page can do beyond being read: a line across all charts with their values, a zoom over all of
// them, the range in the address, and copy buttons.
import { prepareCopying } from "./copying.js";
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

// The recording, where it is embedded.
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

prepareCopying();
prepareCharts();
prepareSaving();
// Folds are open on paper.
addEventListener("beforeprint", () => {
	for (const fold of document.querySelectorAll("details")) {
		fold.open = true;
	}
});
