"""Reads `report --format md`: head, and the sections with their tables, as plain text."""

import re


def plain(markdown):
    """Without escapes, bold text, and bars of text."""
    return re.sub(r"\\(.)", r"\1", markdown.replace("**", "")).lstrip("\u2588\u2591 ").strip()


class Section:
    """One part of the report."""

    def __init__(self, markdown):
        self.text = plain(markdown)
        # A list of rows for each table; a row is a dict by the titles of the columns, without those of a dash.
        self.tables = [self._rows(table) for table in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)]

    @staticmethod
    def _rows(table):
        lines = [[plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()]
        return [{title: cell for title, cell in zip(lines[0], line, strict=True) if cell != "\u2014"}
                for line in lines[2:]]


class Page:
    """The report about a run. state: "✓ exit 0"; sections: by title."""

    def __init__(self, rt, *arguments):
        self._read(rt.run("report", "--format", "md", "-o", "-", *arguments).stdout)

    @classmethod
    def of(cls, markdown):
        page = cls.__new__(cls)
        page._read(markdown)
        return page

    def _read(self, markdown):
        self.markdown = markdown
        head, *sections = re.split(r"^## ", self.markdown, flags=re.MULTILINE)
        self.state = plain(head.splitlines()[0].rpartition(": ")[2])
        self.id = re.search(r"^Run (\S+) ", head, re.MULTILINE)[1]
        # The lead, and the sentence about trouble.
        self.verdict = plain("\n".join(line[2:] for line in head.splitlines() if line.startswith(">")))
        self.lead = self.verdict.partition("\n")[0].split(" ", 1)[1]
        self.sections = {title: Section(text) for title, _, text in (each.partition("\n") for each in sections)}

    def rows(self, title, table=0):
        """The rows of a table of a section."""
        return self.sections[title].tables[table]
