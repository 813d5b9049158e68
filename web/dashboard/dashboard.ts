// Entry point of the dashboard: draws the header, the filters, and the page that the address selects.
import { alertsPage, openAlerts } from "./alerts.ts";
import { data, kind, load, PERIODS } from "./data.ts";
import { later, PATTERNS, widthOf } from "./draw.ts";
import { jobPage } from "./job.ts";
import { jobsPage, machinesPage } from "./jobs.ts";
import { overviewPage } from "./overview.ts";
import { type Late, type Page, runPage, runsPage } from "./runs.ts";
import { FACETS, isFiltered, read, type State, state, url } from "./state.ts";
import { counted, date, html, type Markup, when } from "./words.ts";

const still = (page: () => Markup) => (): Page => ({ now: page(), late: null });
const PAGES: [string, string, () => Page][] = [
	["overview", "Overview", still(overviewPage)], ["jobs", "Jobs", still(jobsPage)], ["job", "", still(jobPage)],
	["runs", "Runs", runsPage], ["run", "", runPage], ["machines", "Machines", still(machinesPage)],
	["alerts", "Alerts", still(alertsPage)],
];
const UNFILTERED = ["job", "run", "machines", "alerts"];

function head(): Markup {
	const at = state.page === "job" ? "jobs" : state.page === "run" ? "runs" : state.page, fires = openAlerts().length;
	const counts = data && html`${counted(data.jobs.length, "job")}, ${counted(data.count, "run")} since ${date(Math.floor(data.overview[1].first / 86400))} · as of ${when(data.as_of)}`;

	return html`<a class="skip" href="#main">Skip to the page</a><header class="top"><div><a class="brand" href="#/">resource-tracker <span>fleet</span></a><nav aria-label="Pages">${
		PAGES.filter((p) => p[1]).map(([id, title]) => html`<a href="${url({ page: id, job: "", run: "", verdict: "", end: "", before: "" })}"${id === at ? html` aria-current="page"` : ""}>${title}${id === "alerts" && fires > 0 && html` <b class="badge">${fires}<span class="off"> open</span></b>`}</a>`)}</nav><span class="src">${counts ?? ""}</span></div></header>`;
}

function filters(): Markup {
	const facets = FACETS.map((f) => [f, [...new Set(data.jobs.map((j) => j[f]).filter((v): v is string => !!v))].sort()] as const).filter((f) => f[1].length > 1);
	const clear: Partial<State> = { team: "", user: "", where: "", server: "", q: "" };

	if (state.page === "run" || state.page === "alerts") {
		return html``;
	}
	return html`<form class="filters" aria-label="Filters"><span class="seg" role="group" aria-label="Days">${PERIODS.map((n) => html`<a href="${url({ days: n })}"${state.days === n ? html` aria-current="true"` : ""}>${n} days</a>`)}</span>${
		UNFILTERED.includes(state.page) ? "" : html`${facets.map(([f, values]) => html`<select aria-label="${f}" data-f="${f}"><option value="">All: ${f}</option>${values.map((v) => html`<option${v === state[f] ? html` selected` : ""} value="${v}">${v}</option>`)}</select>`)}<input type="search" data-f="q" value="${state.q}" placeholder="Job, run, user=name" aria-label="Search">${
			isFiltered() && html`<a href="${url(clear)}">Clear</a>`}`}</form>`;
}

function empty(): Markup {
	return html`<main id="main"><h1>No runs yet</h1><p>Track the first one, then ${kind === "served" ? "load this page again" : "write this page again"}:</p><pre><code>resource-tracker run -- COMMAND${kind === "served" ? "" : "\nresource-tracker dashboard --static fleet.html"}</code></pre><p class="note">A team's runs: set <code>RESOURCE_TRACKER_HISTORY=postgresql://USER@HOST/DATABASE</code>. Tags such as <code>--tag team=NAME</code> divide the spend.</p></main>`;
}

function draw(): void {
	for (const [id, make] of later) {
		const at = document.getElementById(id);

		if (at) {
			at.innerHTML = make(widthOf(id)).text;
		}
	}
}

// Show the answer of the server, unless the user has opened another page in the meantime.
async function finish(late: Late, turn: number): Promise<void> {
	if (late) {
		const body = await late().catch((error: unknown) => html`<h1>No answer</h1><p class="note">The dashboard does not answer: ${error instanceof Error ? error.message : String(error)} Is <code>resource-tracker dashboard</code> still running?</p>`);
		const main = document.getElementById("main");

		if (turn !== turns || !main) {
			return;
		}
		main.innerHTML = body.text;
	}
	app.dataset.ready = "1";
}

const app = document.getElementById("app") as HTMLElement, plain = app.innerHTML;
const SOURCES = {
	file: "This page is one file. It sends no request.",
	folder: "This page and its reports are files. They send no request.",
	served: "Served on this machine, to the user who started it.",
};
let turns = 0;

function render(): void {
	read();
	const page = PAGES.find((p) => p[0] === state.page) ?? PAGES[0];
	const focus = (document.activeElement as HTMLElement | null)?.dataset?.f;

	turns++;
	later.length = 0;
	delete app.dataset.ready;
	const made = data.count ? page[2]() : null;

	app.innerHTML = made ? html`${PATTERNS}${head()}${filters()}<main id="main" tabindex="-1">${made.now}</main><footer>${SOURCES[kind]} The same figures: <code>resource-tracker fleet</code>. Charts of single runs are drawn to 0.6 %.</footer>`.text : empty().text;
	draw();
	document.title = `${state.job || state.run || page[1]} - resource-tracker fleet`;
	app.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[data-f]").forEach((e) => {
		e.addEventListener("change", () => {
			location.hash = url({ [e.dataset.f as string]: e.value });
		});
		if (e.dataset.f === focus) {
			e.focus();
		}
	});
	app.querySelector("form")?.addEventListener("submit", (e) => e.preventDefault());
	app.querySelector(".skip")?.addEventListener("click", (e) => {
		e.preventDefault();
		document.getElementById("main")?.focus();
	});
	void finish(made?.late ?? null, turns);
}

const place = (): string => `${state.page}/${state.job}${state.run}/${state.before}`;

function start(): void {
	let page = "", timer = 0;

	render();
	page = place();
	addEventListener("hashchange", () => {
		render();
		if (page !== place()) {
			scrollTo(0, 0);
		}
		page = place();
	});
	addEventListener("resize", () => {
		clearTimeout(timer);
		timer = setTimeout(draw, 120);
	});
	addEventListener("beforeprint", draw);
}

// Draws what needs no data: the header, and on the Overview the introduction that the program wrote as HTML.
function shell(): Promise<void> {
	read();
	const title = PAGES.find((p) => p[0] === state.page)?.[1] || state.job || state.run, lead = app.querySelector(".lead");

	app.innerHTML = html`${head()}<main id="main"><h1>${title}</h1></main>`.text;
	if (lead && state.page === "overview" && state.days === 30 && !isFiltered()) {
		app.querySelector("h1")?.replaceWith(lead);
	}
	// Browsers do not paint a background tab, so requestAnimationFrame would not fire.
	return document.hidden ? Promise.resolve() : new Promise((done) => {
		requestAnimationFrame(() => setTimeout(done));
		setTimeout(done, 1000);
	});
}

// In the HTML, the elements with the data follow the script.
const parsed = new Promise((done) => addEventListener("DOMContentLoaded", done));

shell().then(() => parsed).then(load).then(start, (error: unknown) => {
	app.innerHTML = plain;
	const note = document.createElement("p");

	note.className = "note";
	note.textContent = `The data of this page cannot be read: ${error instanceof Error ? error.message : String(error)}. A newer browser may help.`;
	app.prepend(note);
});
