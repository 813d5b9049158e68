// Writes the reports of twelve jobs, pictures of each page at 1280 and 390 px, light and dark, and pictures of their
// first views for the documentation:
//
//     node tests/e2e/gallery.mjs [--again] [OUT [PICTURES]]        (make gallery)
//
// OUT (default: build/gallery) has an index.html with all pages. For each job, NAME.webp (wide, light) and
// NAME-phone.webp (narrow, dark) are written to PICTURES (default: not written). The recordings are kept in OUT/runs;
// --again uses the existing ones, for development of the page. Eleven jobs really run, which takes about two minutes.
// Each has a fixed amount of work, so load on the machine does not change them. The GPU job uses a simulated NVIDIA
// library (tests/gpu). The twelfth job, of a day, is a synthetic recording. The program prints for each page the
// figures that docs/report.md contains. It exits with 1 if a job does not end as its title says, or if a page breaks a
// promise of docs/report.md.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { axeSource, close, drawn, folder, frame, made, open, program, report, run, runFiles, runWith, shown, view } from "./lib.mjs";

const again = process.argv.includes("--again");
const [given, pictures] = process.argv.slice(2).filter((each) => each !== "--again");
const out = resolve(given ?? "build/gallery");
for (const each of [out, pictures].filter(Boolean)) {
	mkdirSync(each, { recursive: true });
}

const sources = {
	"matrix.py": `
import time
end = time.process_time() + 6
try:
    import numpy
    a = numpy.random.rand(900, 900)
    while time.process_time() < end:
        a = a @ a
        a /= a.max()
except ImportError:
    while time.process_time() < end:
        sum(i * i for i in range(100000))
`,
	"pipeline.py": `
import multiprocessing, subprocess, time
def mark(name):
    subprocess.run(["resource-tracker", "mark", name], check=True)
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(10000))
mark("extract"); work(1)
mark("sort"); subprocess.run("seq 1 400000 | sort -R | gzip > /dev/null", shell=True, check=True)
mark("join"); kept = [bytearray(4 << 20) for _ in range(40) if not time.sleep(0.05)]
mark("train")
workers = [multiprocessing.Process(target=work, args=(1,)) for _ in range(3)]
[each.start() for each in workers]; [each.join() for each in workers]
mark("publish"); del kept; time.sleep(1)
`,
	"grow.py": `
import sys, time
step, most = int(sys.argv[1]), int(sys.argv[2])
kept = []
while step * len(kept) < most:
    kept.append(bytearray(step << 20))
    time.sleep(0.1)
time.sleep(1)
`,
	"loopback.py": `
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    peer, _ = server.accept()
    while peer.recv(1 << 20):
        pass
threading.Thread(target=serve, daemon=True).start()
client = socket.create_connection(server.getsockname())
for _ in range(4000):
    client.sendall(bytes(1 << 20))
client.close()
`,
	"copy.sh": `
dd if=/dev/zero of=big bs=1M count=1500 conv=fsync 2>&1
cat big > /dev/null
rm big
`,
	"spin.sh": "while :; do :; done\n",
	"many.sh": "i=0; while [ $i -lt 10000 ]; do /bin/true; i=$((i + 1)); done\n",
	// What the stand-in plays is a script that the job writes: one GPU that it uses, one that idles.
	"train.py": `
import math, os, subprocess, time
path, pid, began = os.environ["TRK_STANDIN_NVML"], os.getpid(), time.time()
device = "device name=NVIDIA_H100 uuid=GPU-%s bus=00000000:0%d:00.0 minor=%d total=85899345920 used=%d util=%d temp=%d power=%d energy=5000 burn=%d clock=1980 sm=%d\\n"
def play(busy, gib):
    used, power = int(gib * 2**30), 70000 + 5000 * busy
    text = "driver 550.54.15\\n" + device % ("a", 1, 0, used + 2**29, busy, 35 + busy // 3, power, power, busy)
    text += device % ("b", 2, 1, 2**29, 0, 34, 70000, 70000, 0)
    text += "process device=0 pid=%d memory=%d lists=c\\n" % (pid, used)
    text += "sample device=0 pid=%d sm=%d age_ms=50\\n" % (pid, busy)
    with open(path + ".new", "w") as f:
        f.write(text)
    os.replace(path + ".new", path)
def phase(name, seconds, busy, gib):
    subprocess.run(["resource-tracker", "mark", name], check=True)
    start = time.time()
    while time.time() - start < seconds:
        share = (time.time() - start) / seconds
        play(int(busy(share)), gib(share))
        end = time.time() + 0.1
        while time.time() < end and share * 4 % 1 < 0.5:
            sum(range(1000))
        time.sleep(max(0, end - time.time()))
phase("load", 2, lambda at: 3, lambda at: 1 + 20 * at)
phase("train", 6, lambda at: 80 + 12 * math.sin(20 * at), lambda at: 38)
phase("evaluate", 2, lambda at: 35, lambda at: 30)
`,
	Makefile: `all: $(patsubst %,unit_%.o,$(shell seq 1 60))
unit_%.o:
	@echo "int f$*(int x) { return x * $*; }" > unit_$*.c
	@cc -O2 -c unit_$*.c -o $@
`,
};
for (const [name, text] of Object.entries(sources)) {
	writeFileSync(join(folder, name), text);
}
// With numpy where the tests' environment has been made (make setup).
const withNumpy = "build/venv-python/bin/python";
const path = `${dirname(program)}:${existsSync(withNumpy) ? `${join(process.cwd(), dirname(withNumpy))}:` : ""}/usr/bin:/bin`;
const standin = { LD_LIBRARY_PATH: join(dirname(program), "tests/gpu"), TRK_STANDIN_NVML: join(folder, "nvml.script") };

function job(name, flags, ...command) {
	const state = join(out, "runs", name);
	if (again && runFiles(state).length) {
		return state;
	}
	rmSync(state, { recursive: true, force: true });
	const more = name === "gpu" ? standin : {};
	const all = ["--recording", state, "-q", "-i", "0.2", "-n", name, "--no-discovery", ...flags];
	runWith({ PATH: path, ...more }, "run", ...all, "--", ...command);
	return state;
}

const grow = (mib, most) => ["python3", "grow.py", `${mib}`, `${most}`];
const jobs = {
	numpy: () => job("numpy", [], "python", "matrix.py"),
	make: () => job("make", [], "make", "-s", "-j2"),
	pipeline: () => job("pipeline", ["--request", "cpu=4,mem=2GiB"], "python3", "pipeline.py"),
	"input-output": () => job("input-output", [], "sh", "copy.sh"),
	network: () => job("network", [], "python3", "loopback.py"),
	"out-of-memory": () => job("out-of-memory", ["--limit", "mem=300MiB"], ...grow(8, 4000)),
	timeout: () => job("timeout", ["--timeout", "4"], "sh", "spin.sh"),
	sleep: () => job("sleep", [], "sleep", "12"),
	"short-processes": () => job("short-processes", [], "sh", "many.sh"),
	"growth-to-the-limit": () => job("growth-to-the-limit", ["--limit", "mem=400MiB"], ...grow(5, 360)),
	day: () => made("steps", 86400),
	gpu: () => {
		const idle = "total=85899345920 used=536870912 util=0 temp=34 power=70000 burn=70000 sm=0";
		const devices = ["a", "b"].map((id, i) => `device name=NVIDIA_H100 uuid=GPU-${id} bus=00000000:0${i + 1}:00.0 minor=${i} ${idle}\n`);
		writeFileSync(standin.TRK_STANDIN_NVML, `driver 550.54.15\n${devices.join("")}`);
		return job("gpu", ["--gpu", "always", "--request", "cpu=2,mem=4GiB,gpu=2"], "python3", "train.py");
	},
};

// What the title of a job says: how it ends, and what is to be seen in its summary and on its page.
const said = {
	"out-of-memory": { ends: "memory_limit" },
	timeout: { ends: "timeout" },
	"growth-to-the-limit": { shows: ({ limit, peak }) => limit === 400 && peak > 340 && peak < 400 },
	sleep: { shows: ({ cpu, html }) => cpu < 0.1 && /<section id="verdict".*?slept/is.test(html) },
	make: { shows: ({ programs }) => programs.some((name) => /^(cc1|as|gcc|cc)$|short processes of/.test(name)) },
	pipeline: { shows: ({ marks }) => marks === 5 },
	"input-output": { shows: ({ drawn }) => drawn.includes("Disk write") },
	network: { shows: ({ drawn }) => !drawn.includes("Network out") },
	gpu: { shows: ({ drawn }) => drawn.includes("Video memory") },
};

// The rows of a table of the page: the texts of their cells.
function tableRows(html, name) {
	const [, body = ""] = new RegExp(`<table class="[^"]*\\b${name}">.*?<tbody>(.*?)</tbody>`, "s").exec(html) ?? [];
	const text = (cell) => cell.replace(/<[^>]*>/g, "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
	return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => text(cell)));
}

// What is wrong with a job by its title.
function brokenPromise(name, summary, html, values) {
	const { ends = "exited", shows = () => true } = said[name] ?? {};
	const { verdict } = summary.run.exit;
	if (verdict !== ends) {
		return [`it ended as ${verdict}, not ${ends}`];
	}
	const seen = {
		html,
		cpu: summary.stats.process_cpu_usage.max,
		limit: summary.limits.memory_mib.value,
		peak: summary.totals.peak_memory_mib.value,
		marks: summary.marks.length,
		programs: tableRows(html, "programs").map(([program]) => program),
		drawn: values.charts.map((chart) => chart.title),
	};
	return shows(seen) ? [] : ["it does not show what its title says"];
}

// The programs' areas add up to the job's line, and one of both lines reaches near to the top of its chart.
function wrongCharts(html, values) {
	const wrong = [];
	const levels = [...html.matchAll(/<svg class="levels".*?<\/svg>/gs)].map(([each]) => each.match(/<text x="-7"[^>]* dy="\.35em"/g)?.length ?? 0);
	let full = 0;
	let used = false;
	values.charts.forEach(({ title, top, series: [{ mean, max }], areas }, at) => {
		const limits = { CPU: { share: 0.01, use: 0.1 }, Memory: { share: 0.02, use: 10 } }[title];
		if (!limits) {
			return;
		}
		const means = drawn(mean, values.drawn);
		const most = Math.max(...means);
		const off = areas.length ? Math.max(...means.map((value, i) => Math.abs(areas.reduce((sum, area) => sum + area[i], 0) - value))) / most : 0;
		full = Math.max(full, Math.max(...max) / top);
		used ||= most > limits.use;
		if (off > limits.share) {
			wrong.push(`${title} of programs is ${(100 * off).toFixed(1)} % off`);
		}
		if (levels[at] < 1 || levels[at] > 3) {
			wrong.push(`${title} has ${levels[at]} levels`);
		}
	});
	if (used && full < 0.7) {
		wrong.push(`CPU and memory fill ${(100 * full).toFixed(0)} % of their charts`);
	}
	return wrong;
}

// The table of programs and the sentence of those left out name every process of the recording.
function wrongCounts(state, html) {
	const listed = tableRows(html, "programs").reduce((sum, [, count]) => sum + (Number(count) || 0), 0);
	const sentence = /<p class="note">([^<]* left out: .*?)<\/p>/s.exec(html)?.[1] ?? "";
	const left = [...sentence.matchAll(/\u00d7 (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
	const known = run("export", "--recording", state, "--what", "processes", "--format", "jsonl").toString().trim().split("\n").filter(Boolean);
	const recorded = known.filter((line) => !JSON.parse(line).program.startsWith("short processes of ")).length;
	return listed + left === recorded ? [] : [`${listed} processes listed and ${left} left out of ${recorded}`];
}

// Labels of axes that lie over one another or outside of the page.
function wrongLabels() {
	const boxes = [...document.querySelectorAll(".axis, .levels")].flatMap((axis) => {
		const texts = [...axis.querySelectorAll("text:not(.program)")].map((text) => text.getBoundingClientRect()).filter(({ width }) => width);
		return texts.map((box, i) => ({ box, others: texts.slice(i + 1) }));
	});
	const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
	return boxes.filter(({ box, others }) => box.left < 0 || box.right > innerWidth || others.some((other) => meet(box, other))).length;
}

// What programs and processes take of a recording (src/recording/format.h): bytes a row of samples.
function programBytes(state) {
	const data = readFileSync(runFiles(state)[0]);
	let rows = 0;
	let bytes = 0;
	for (let at = 8; at + 14 <= data.length; ) {
		const size = 14 + data.readUInt32LE(at + 6);
		rows += data[at + 4] === 2;
		bytes += data[at + 4] === 16 ? size : 0;
		at += size;
	}
	return `${bytes} bytes of programs in ${rows} rows`;
}

// Lines of the terminal that are wider than it, and a mean of the summary that is not the page's.
function wrongTerminal(state, summary, html) {
	const wrong = [];
	for (const width of [40, 60, 80, 120, 200]) {
		for (const verb of ["show", "stats", "history", "recommend", "fleet"]) {
			const lines = runWith({ COLUMNS: `${width}`, PATH: path }, verb, "--recording", state).toString().split("\n");
			const wide = lines.filter((line) => [...line].length > width).length;
			if (wide || lines.length < 2) {
				wrong.push(wide ? `${verb} has ${wide} lines above ${width} columns` : `${verb} is empty`);
			}
		}
	}
	for (const [title, column] of [["CPU", "process_cpu_usage"], ["Memory", "process_memory_mib"]]) {
		const caption = new RegExp(`<strong>${title}</strong><span class="stats job">(.*?)</span>`).exec(html)?.[1] ?? "";
		const [, mean, p95, unit] = /^mean (?:&lt; )?([\d.]+), p95 (?:&lt; )?([\d.]+), peak (?:&lt; )?[\d.]+ (\w+)/.exec(caption.replace(/<[^>]*>/g, "")) ?? [];
		const { [column]: stats } = summary.stats;
		const factor = unit === "GiB" ? 1024 : 1;
		if (mean && [[mean, stats.mean], [p95, stats.p95]].some(([text, value]) => Math.abs(text * factor - value) > 0.01 * factor + value / 20)) {
			wrong.push(`${title} of show is not that of the page`);
		}
	}
	return wrong;
}

const most = { bytes: 150000, fold: 800, phone: 4500 };

// One view of a page, with its picture; what is wrong with it.
async function look(name, url, width, scheme, told) {
	const page = await open(url, { width, scheme, bypassCSP: true });
	await page.screenshot({ path: join(out, `${name}-${width}-${scheme}.png`), fullPage: true });
	if (pictures && width === 1280 && scheme === "light") {
		await view(page, width, 800, join(pictures, `${name}.webp`));
	} else if (pictures && width === 390 && scheme === "dark") {
		await view(page, width, 844, join(pictures, `${name}-phone.webp`));
	}
	await page.addScriptTag({ content: axeSource });
	const seen = await page.evaluate(async () => {
		const large = [...document.querySelectorAll(".large .frame")].at(-1);
		return {
			wide: document.documentElement.scrollWidth - innerWidth,
			high: document.documentElement.scrollHeight,
			fold: large && Math.round(large.getBoundingClientRect().bottom),
			found: (await axe.run()).violations.map(({ id }) => id),
		};
	});
	const labels = [];
	for (const other of scheme === "light" && width === 1280 ? [320, 360, 390, 640, 900, 1280, 1920] : []) {
		await page.setViewportSize({ width: other, height: 800 });
		await frame(page);
		if (await page.evaluate(wrongLabels)) {
			labels.push(`labels meet at ${other} px`);
		}
		if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) {
			labels.push(`it scrolls sideways at ${other} px`);
		}
	}
	await page.context().close();
	if (scheme === "light") {
		told.push(width === 1280 ? `charts end at ${seen.fold} px` : `${seen.high} px high on a phone`);
	}
	return [
		seen.wide > 0 && `${seen.wide} px too wide`,
		width === 1280 && seen.fold > most.fold && "the charts end below the fold",
		width === 390 && seen.high > most.phone && `${seen.high} px high`,
		...seen.found,
		...labels,
	].filter(Boolean);
}

let wrong = 0;
const rows = [];
for (const [name, begin] of Object.entries(jobs)) {
	const state = begin();
	const { path: file, url, html, values } = report(state);
	const summary = shown(state);
	const told = [`${(html.length / 1000).toFixed(0)} kB`, programBytes(state)];
	const broken = [...brokenPromise(name, summary, html, values), ...wrongCharts(html, values), ...wrongCounts(state, html), ...wrongTerminal(state, summary, html)];
	if (html.length > most.bytes) {
		broken.push(`${html.length} bytes`);
	}
	copyFileSync(file, join(out, `${name}.html`));
	for (const width of [1280, 390]) {
		for (const scheme of ["light", "dark"]) {
			broken.push(...(await look(name, url, width, scheme, told)).map((each) => `${width} ${scheme}: ${each}`));
		}
	}
	wrong += broken.length;
	console.log(`${name}: ${told.join(", ")}${broken.map((each) => `\n  WRONG: ${each}`).join("")}`);
	rows.push(`<h2><a href="${name}.html">${name}</a></h2><p>${["1280-light", "1280-dark", "390-light", "390-dark"].map((kind) => `<a href="${name}-${kind}.png"><img loading="lazy" alt="${name}, ${kind}" src="${name}-${kind}.png" height="400"></a>`).join(" ")}</p>`);
}
writeFileSync(join(out, "index.html"), `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gallery</title>${rows.join("\n")}</html>\n`);
await close();
process.exit(wrong ? 1 : 0);
