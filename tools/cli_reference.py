"""Generates the page of the documentation about the command line, from the output of `resource-tracker help`. mkdocs
calls on_files() when it builds the site. The page is not stored, so it cannot be out of date.

    tools/cli_reference.py PROGRAM      prints the page
"""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def ask(program, *words):
    return subprocess.run([program, "help", *words], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def verbs(program):
    return re.findall(r"^  ([a-z][a-z -]*?)  ", ask(program, "all").split("\n\n")[0], re.M)


def cell(text):
    return html.escape(text, quote=False).replace("|", "&#124;")


def options_table(lines):
    """Rows of a table of options. In a line of the help, the option and the name of its value end before the first
    lower-case word."""
    rows = ["| option | what it does |", "|---|---|"]
    for line in lines:
        found = re.match(r"\s+((?:-\w, )?--\S+(?: [^ a-z]\S*| \w+\|\S+| \w+=\S+)?)\s+(.*)$", line)
        if found:
            rows.append(f"| <code>{cell(found[1])}</code> | {cell(found[2])} |")
        elif line.strip():
            rows.append(f"| | {cell(line.strip())} |")
    return rows


def page(program):
    text = ["# The command line", "", "Made from the program's own table of options when the site is built; "
            "`resource-tracker help all` prints the same.", ""]
    for verb in verbs(program):
        body, _, options = re.sub(r"\n\n(common )?options:\n", "\0", ask(program, "all", *verb.split())).partition("\0")
        usage, _, rest = body.partition("\n\n")
        text += [f"## {verb}", "", "```", usage.replace("usage: ", "").replace("       resource", "resource"), "```", "", html.escape(rest.strip(), quote=False), ""]
        if options:
            text += [*options_table(options.splitlines()), ""]
    return "\n".join(text)


def program_of_this_tree():
    named = os.environ.get("RESOURCE_TRACKER_BIN")
    return Path(named) if named else ROOT / os.environ.get("BUILD", "build") / "resource-tracker"


def on_files(files, config):
    """Hook of mkdocs that adds the page.

    Raises:
        PluginError: the program is not built
    """
    from mkdocs.exceptions import PluginError
    from mkdocs.structure.files import File

    if not program_of_this_tree().exists():
        raise PluginError(f"{program_of_this_tree()} is not there, which prints the command line. Try: make")
    files.append(File.generated(config, "cli.md", content=page(program_of_this_tree())))
    return files


if __name__ == "__main__":
    print(page(sys.argv[1]))
