// Makes the script and the style of the report small, and writes them as C: web/build.mjs OUT.c.
// Called by the build; needs the packages of web/package-lock.json (tools/setup.sh).
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

async function load() {
	try {
		return await import("esbuild");
	} catch {
		console.error("web: esbuild is missing. Try: make setup");
		process.exit(1);
	}
}

const { build } = await load();

async function bundle(name, options) {
	const { outputFiles } = await build({
		entryPoints: [join(here, "report", name)],
		bundle: true,
		minify: true,
		write: false,
		charset: "ascii",
		legalComments: "none",
		target: ["chrome100", "firefox100", "safari15"],
		...options,
	});
	return outputFiles[0].text.trim();
}

// The page holds both inline: neither may end its element.
function check(text) {
	if (/<\/(script|style)|<!--|[^\x20-\x7e\n]/i.test(text)) {
		console.error("web: a text that cannot stand inside a page");
		process.exit(1);
	}
	return text;
}

function hashOf(text) {
	return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

// As string literals of moderate length.
function literal(text) {
	const pieces = text.match(/[\s\S]{1,90}/g) ?? [""];
	return pieces
		.map((piece) => `\t"${piece.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\?\?/g, '?\\?')}"`)
		.join("\n");
}

const css = check(await bundle("report.css", {}));
const js = check(await bundle("report.js", { format: "iife" }));
writeFileSync(
	process.argv[2],
	`/* Made by web/build.mjs. */\n#include "report/report_private.h"\n\n` +
		`const char trk__report_css[] =\n${literal(css)};\n` +
		`const char trk__report_js[] =\n${literal(js)};\n` +
		`const char trk__report_css_hash[] = "${hashOf(css)}";\n` +
		`const char trk__report_js_hash[] = "${hashOf(js)}";\n`,
);
