#!/usr/bin/env python3
"""Records a session of the program in a terminal (tmux), as an animated SVG picture and as text for the documentation.

    tools/record_terminal.py [--bin PROGRAM] [--out FOLDER]       default: build/resource-tracker, docs/images

writes demo.svg (about 25 s: a run, its replay in `top`, the advice; for docs/index.md), top.svg (the live view of a
second job, for docs/top.md), demo-summary.txt (for docs/index.md), demo-line.txt (for docs/top.md) and demo-list.txt.
When the output of the program changes, copy the texts into the pages. Each frame is the actual screen of tmux at that
moment. Other work on the machine affects the figures; `chrt -r 5` (as root) avoids that.
"""

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, ROWS, LIVE_ROWS = 80, 22, 15
CELL_W, CELL_H, PAD = 8.4, 18, 14  # pixels at a font size of 14

# Background and foreground of the terminal, and the first 16 colours of its palette (the rest is that of xterm).
BACK, FORE = "#1b1f27", "#d8dce4"
PALETTE = ["#2b303b", "#f07178", "#9fd07a", "#f2c56b", "#79b8ff", "#d6a2f0", "#6fd3d3", "#d8dce4",
           "#8b93a3", "#ff8b92", "#b8e394", "#ffd98a", "#9ccaff", "#e5bdf9", "#93e4e4", "#ffffff"]

# The job of demo.svg: it loads data, computes on one core, and writes a file.
JOB = """\
resource-tracker mark load
python3 load.py
resource-tracker mark train
python3 train.py
resource-tracker mark save
dd if=/dev/zero of=model.bin bs=1M count=200 conv=fsync status=none
echo saved model.bin
"""
PARTS = {"load.py": """\
import time

rows = []
for part in range(13):
    rows.append(b"x" * (8 << 20))
    time.sleep(0.25)
""", "train.py": """\
import time

def step(model):
    return sum(range(10000))

model = b"x" * (300 << 20)
end = time.monotonic() + 6.5
while time.monotonic() < end:
    step(model)
"""}

# The job of top.svg: its memory grows towards its limit.
GROWING_JOB = """\
import time
blocks = []
for part in range(90):
    blocks.append(b"x" * (4 << 20))
    sum(range(2000000))
    time.sleep(0.4)
time.sleep(60)
"""



class Session:
    """A separate tmux server with one window that runs a shell. It records the frames that the window shows."""

    def __init__(self, folder, env):
        self.tmux = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self.env, self.frames, self.start = env, [], None
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS),
                        "bash --norc --noprofile"], env=env, cwd=folder, check=True)
        self.call("set-option", "-g", "status", "off")
        self.call("resize-window", "-x", str(COLUMNS), "-y", str(ROWS))
        self.call("send-keys", "PS1='$ '; clear", "Enter")
        self.until(lambda text: text.rstrip() == "$")

    def call(self, *words):
        return subprocess.run([*self.tmux, *words], env=self.env, check=True, stdout=subprocess.PIPE,
                              encoding="utf-8").stdout

    def text(self):
        return self.call("capture-pane", "-p")

    def look(self):
        """Record the screen as a frame if it differs from the last one."""
        now = time.monotonic()
        self.start = self.start or now
        cursor = self.call("display-message", "-p", "#{cursor_flag} #{cursor_x} #{cursor_y}").split()
        frame = (self.call("capture-pane", "-e", "-p").split("\n")[:ROWS], cursor)
        if not self.frames or self.frames[-1][1] != frame:
            self.frames.append((now - self.start, frame))

    def watch(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()
            time.sleep(0.08)

    def until(self, holds, limit_s=120):
        """Record until holds(text of the screen) is true; exit after limit_s seconds."""
        end = time.monotonic() + limit_s
        while not holds(self.text()):
            if time.monotonic() > end:
                sys.exit(f"record_terminal: the screen never came to this point:\n{self.text()}")
            if self.start:
                self.look()
            time.sleep(0.08)

    def type(self, line):
        for letter in line:
            self.call("send-keys", "-l", letter)
            self.look()
            time.sleep(0.01)
        self.watch(0.3)
        self.call("send-keys", "Enter")

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], env=self.env, check=False)


# ---- from a screen with escape sequences to SVG ----

def colour(code):
    if code < 16:
        return PALETTE[code]
    if code < 232:
        levels = [0, 95, 135, 175, 215, 255]
        return "#%02x%02x%02x" % tuple(levels[(code - 16) // step % 6] for step in (36, 6, 1))
    return "#%02x%02x%02x" % ((8 + 10 * (code - 232),) * 3)


def apply_codes(style, codes):
    codes = [int(code or 0) for code in re.split("[;:]", codes)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code in (1, 2, 7):
            style = {**style, {1: "bold", 2: "dim", 7: "reverse"}[code]: True}
        elif code in (22, 27):
            style = {key: value for key, value in style.items()
                     if key not in (("bold", "dim") if code == 22 else ("reverse",))}
        elif code in (38, 48) and codes[:1] == [5]:
            style = {**style, "fore" if code == 38 else "back": colour(codes[1])}
            codes = codes[2:]
        elif code in (39, 49):
            style = {key: value for key, value in style.items() if key != ("fore" if code == 39 else "back")}
        elif code // 10 in (3, 9):
            style = {**style, "fore": PALETTE[code % 10 + (8 if code >= 90 else 0)]}
        elif code // 10 in (4, 10):
            style = {**style, "back": PALETTE[code % 10 + (8 if code >= 100 else 0)]}
    return style


def runs(line, style):
    """Split a line into parts of one style. Returns ([(column, text, style)], style at the start of the next line)."""
    found, column = [], 0
    for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
        codes = re.fullmatch(r"\x1b\[([0-9;:]*)m", part)
        if codes:
            style = apply_codes(style, codes[1])
        elif part:
            found.append((column, part, style))
            column += len(part)
    return found, style


def svg_line(stretches):
    """SVG of one line at y = 0. Each word is placed at its column, independent of the letter width of the font."""
    boxes, words = [], []
    for column, text, style in stretches:
        fore, back = style.get("fore", FORE), style.get("back")
        if style.get("reverse"):
            fore, back = back or BACK, fore
        if back:
            boxes.append(f'<rect x="{column * CELL_W:.1f}" width="{len(text) * CELL_W:.1f}" height="{CELL_H}" '
                         f'fill="{back}"/>')
        look = "".join([f' fill="{fore}"' if fore != FORE else "", ' class="b"' if style.get("bold") else "",
                        ' opacity=".65"' if style.get("dim") else ""])
        for word in re.finditer(r"\S+(?: \S+)*", text):
            long = len(word[0]) * CELL_W
            words.append(f'<text x="{(column + word.start()) * CELL_W:.1f}" y="13" textLength="{long:.1f}" '
                         f'lengthAdjust="spacingAndGlyphs"{look}>{html.escape(word[0], quote=False)}</text>')
    return "".join(boxes + words)


def svg(frames, seconds, title, rows=ROWS):
    """SVG of an animation: all frames are drawn below each other, and a clip window jumps from one to the next."""
    height, width = rows * CELL_H, COLUMNS * CELL_W
    step, lines, body, keys = height + 40, {}, [], []
    for number, (at, (screen, cursor)) in enumerate(frames):
        style, parts = {}, []
        for row, line in enumerate(screen):
            stretches, style = runs(line, style)
            drawn = svg_line(stretches)
            if drawn:
                name = lines.setdefault(drawn, f"l{len(lines)}")
                parts.append(f'<use href="#{name}" y="{row * CELL_H}"/>')
        if cursor[0] == "1":
            parts.append(f'<rect x="{int(cursor[1]) * CELL_W:.1f}" y="{int(cursor[2]) * CELL_H}" '
                         f'width="{CELL_W}" height="{CELL_H}" fill="{FORE}" opacity=".5"/>')
        body.append(f'<g transform="translate(0 {number * step})">{"".join(parts)}</g>')
        keys.append(f"{100 * at / seconds:.2f}%{{transform:translateY(-{number * step}px)}}")
    last = (len(frames) - 1) * step
    definitions = "".join(f'<g id="{name}">{drawn}</g>' for drawn, name in lines.items())
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 2 * PAD:.0f} {height + 2 * PAD}" \
width="{width + 2 * PAD:.0f}" height="{height + 2 * PAD}" role="img" aria-label="{html.escape(title)}">
<title>{html.escape(title)}</title>
<style>
text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}}
.b{{font-weight:bold}}
#film{{animation:play {seconds:.1f}s steps(1,end) infinite;fill:{FORE}}}
@keyframes play{{{"".join(keys)}100%{{transform:translateY(-{last}px)}}}}
@media (prefers-reduced-motion:reduce){{#film{{animation:none;transform:translateY(-{last}px)}}}}
</style>
<defs>{definitions}<clipPath id="glass"><rect width="{width:.1f}" height="{height}"/></clipPath></defs>
<rect width="100%" height="100%" rx="8" fill="{BACK}"/>
<g transform="translate({PAD} {PAD})" clip-path="url(#glass)"><g id="film">
{chr(10).join(body)}
</g></g>
</svg>
"""


def record(session):
    """Record the session of demo.svg. Returns {name: text for the documentation}."""
    texts = {}
    session.watch(0.5)
    session.type("resource-tracker run --job train -- sh train.sh")
    session.until(lambda text: "more:" in text and text.rstrip().endswith("$"))
    texts["summary"] = session.text()
    session.watch(3)
    session.type("resource-tracker top --at 0 @")
    session.until(lambda text: "phase" in text)
    session.call("send-keys", ">", ">")
    session.watch(1.5)
    session.until(lambda text: "train ▶" in text)
    session.until(lambda text: "save ▶" in text or "save ✓" in text)
    session.watch(1)
    session.call("send-keys", "q")
    session.until(lambda text: text.rstrip().endswith("$"))
    session.call("send-keys", "clear", "Enter")
    session.until(lambda text: text.rstrip() == "$")
    session.type("resource-tracker recommend train --for slurm --no-servers")
    session.until(lambda text: "--mem=" in text and text.rstrip().endswith("$"))
    session.watch(3)
    return texts


def look_at_a_running_job(session):
    """Run the job of top.svg. Returns ({name: text for the documentation}, frame)."""
    texts = {}
    session.start = None  # the picture is complete
    session.call("resize-window", "-x", str(COLUMNS), "-y", str(LIVE_ROWS))
    session.call("send-keys", "set +m; clear; resource-tracker run --summary never --job align "
                 "--limit mem=400MiB -- python3 align.py 2>stderr.txt & sleep 1; clear", "Enter")
    session.until(lambda text: text.rstrip() == "$")
    session.call("send-keys", "resource-tracker top @", "Enter")
    session.until(lambda text: "at limit in" in text)
    frame = (session.call("capture-pane", "-e", "-p").split("\n")[:LIVE_ROWS], ["0", "0", "0"])
    session.call("send-keys", "Escape")
    session.until(lambda text: "align" in text and "at limit in" not in text.split("\n")[0])
    time.sleep(1)
    texts["list"] = session.text()
    session.call("send-keys", "q")
    session.until(lambda text: text.rstrip().endswith("$"))
    session.call("send-keys", "kill -USR1 $!", "Enter")
    time.sleep(1)
    printed = (Path(session.env["HOME"]) / "stderr.txt").read_text(encoding="utf-8")
    texts["line"] = next(line for line in printed.splitlines() if " running " in line)
    return texts, frame  # the job ends with its terminal


def main():
    parser = argparse.ArgumentParser(prog="record_terminal")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/resource-tracker")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/images")
    asked = parser.parse_args()
    for name in ("tmux", "python3"):
        if not shutil.which(name):
            sys.exit(f"record_terminal: {name} is missing. Try: tools/setup.sh test")
    if not os.access(asked.bin, os.X_OK):
        sys.exit(f"record_terminal: {asked.bin} is no program. Try: make")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/resource-tracker").symlink_to(asked.bin.resolve())
        (folder / "bin/python3").symlink_to("/usr/bin/python3")
        (folder / "train.sh").write_text(JOB, encoding="utf-8")
        for part, text in PARTS.items():
            (folder / part).write_text(text, encoding="utf-8")
        (folder / "align.py").write_text(GROWING_JOB, encoding="utf-8")
        env = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": name, "TERM": "xterm-256color", "LANG": "C.UTF-8",
               "RESOURCE_TRACKER_DIR": f"{name}/runs", "TRACKER_NO_DISCOVERY": "1"}
        session = Session(folder, env)
        try:
            texts = record(session)
            more, frame = look_at_a_running_job(session)
        finally:
            session.close()
    seconds = session.frames[-1][0] + 3
    title = ("A terminal: resource-tracker runs a job and prints a summary, top replays the run, "
             "recommend prints lines for Slurm")
    (asked.out / "demo.svg").write_text(svg(session.frames, seconds, title), encoding="utf-8")
    (asked.out / "top.svg").write_text(svg([(0, frame)], 1, "The live view of a job whose memory grows to its limit",
                                           LIVE_ROWS), encoding="utf-8")
    for name, text in {**texts, **more}.items():
        (asked.out / f"demo-{name}.txt").write_text(text.rstrip() + "\n", encoding="utf-8")
    print(f"{len(session.frames)} frames, {seconds:.0f} s, {(asked.out / 'demo.svg').stat().st_size} bytes")


if __name__ == "__main__":
    main()
