// Twelve jobs as pages, and each page as a picture at 1280 and 390 px, light and dark:
//
//     node tests/e2e/gallery.mjs [OUT]        (make gallery; OUT is build/gallery)
//
// Ten of the jobs run here and take about two minutes; a day and GPUs come from make_recordings. OUT/index.html
// shows all of them. Prints for each page its size, its height on a phone and where the chart of memory ends,
// and exits with 1 where a page is wider than its window or axe finds something.
import { mkdirSync, writeFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { axeSource, close, folder, made, open, report, run } from "./lib.mjs";

const out = process.argv[2] ?? "build/gallery";
mkdirSync(out, { recursive: true });

const numbers = `
import time
try:
    import numpy
    a = numpy.random.rand(900, 900)
    end = time.time() + 6
    while time.time() < end:
        a = a @ a
        a /= a.max()
except ImportError:
    end = time.time() + 6
    while time.time() < end:
        sum(i * i for i in range(100000))
`;
const pipeline = (mark) => `
import multiprocessing, subprocess, time
def mark(name):
    subprocess.run(["${mark}", "mark", name], check=True)
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
`;
const grow = (step, pause) => `
import time
kept = []
while True:
    kept.append(bytearray(${step} << 20))
    time.sleep(${pause})
`;
const network = `
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    peer, _ = server.accept()
    while peer.recv(1 << 20):
        pass
threading.Thread(target=serve, daemon=True).start()
client = socket.create_connection(server.getsockname())
for _ in range(2000):
    client.sendall(bytes(1 << 20))
client.close()
`;
const makefile = `all: $(patsubst %,unit_%.o,$(shell seq 1 60))
unit_%.o:
	@echo "int f$*(int x) { return x * $*; }" > unit_$*.c
	@cc -O2 -c unit_$*.c -o $@
`;
const python = "/usr/bin/python3";
const program = process.env.RESOURCE_TRACKER_BIN ?? join(process.cwd(), "build/resource-tracker");

function job(name, flags, ...command) {
	const state = join(folder, `runs-${name}`); // no folder that a job could import as a module
	run("run", "--recording", state, "-q", "-i", "0.2", "-n", name, "--no-discovery", ...flags, "--", ...command);
	return state;
}

function make() {
	const here = join(folder, "sources");
	mkdirSync(here, { recursive: true });
	writeFileSync(join(here, "Makefile"), makefile);
	return job("make", [], "make", "-s", "-j2", "-C", here);
}

const jobs = {
	numpy: () => job("numpy", [], python, "-c", numbers),
	make,
	pipeline: () => job("pipeline", ["--request", "cpu=4,mem=2GiB"], python, "-c", pipeline(program)),
	"input-output": () => job("input-output", [], "sh", "-c", `dd if=/dev/zero of=${folder}/big bs=1M count=1500 conv=fsync 2>&1; cat ${folder}/big > /dev/null; rm ${folder}/big`),
	network: () => job("network", [], python, "-c", network),
	"out-of-memory": () => job("out-of-memory", ["--limit", "mem=300MiB"], python, "-c", grow(8, 0.1)),
	timeout: () => job("timeout", ["--timeout", "4"], "sh", "-c", "while :; do :; done"),
	sleep: () => job("sleep", [], "sleep", "6"),
	"short-processes": () => job("short-processes", [], "sh", "-c", "i=0; while [ $i -lt 10000 ]; do /bin/true; i=$((i + 1)); done"),
	"growth-to-the-limit": () => job("growth-to-the-limit", ["--limit", "mem=400MiB", "--timeout", "8"], python, "-c", grow(4, 0.1)),
	day: () => made("steps", 86400),
	gpu: () => made("gpu"),
};

let wrong = 0;
const rows = [];
for (const [name, begin] of Object.entries(jobs)) {
	const { path, url, html } = report(begin());
	const told = [`${(html.length / 1000).toFixed(0)} kB`];
	copyFileSync(path, join(out, `${name}.html`));
	for (const width of [1280, 390]) {
		for (const scheme of ["light", "dark"]) {
			const page = await open(url, { width, scheme, bypassCSP: true });
			await page.screenshot({ path: join(out, `${name}-${width}-${scheme}.png`), fullPage: true });
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
			if (seen.wide > 0 || seen.found.length) {
				wrong++;
				told.push(`${width} ${scheme}: ${seen.wide > 0 ? `${seen.wide} px too wide ` : ""}${seen.found.join(" ")}`);
			}
			if (scheme === "light") {
				told.push(width === 1280 ? `charts end at ${seen.fold} px` : `${seen.high} px high on a phone`);
			}
			await page.context().close();
		}
	}
	console.log(`${name}: ${told.join(", ")}`);
	rows.push(`<h2><a href="${name}.html">${name}</a></h2><p>${["1280-light", "1280-dark", "390-light", "390-dark"].map((kind) => `<a href="${name}-${kind}.png"><img loading="lazy" alt="${name}, ${kind}" src="${name}-${kind}.png" height="400"></a>`).join(" ")}</p>`);
}
writeFileSync(join(out, "index.html"), `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gallery</title>${rows.join("\n")}</html>\n`);
await close();
process.exit(wrong ? 1 : 0);
