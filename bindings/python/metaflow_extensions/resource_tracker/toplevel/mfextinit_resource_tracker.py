"""Names that `from metaflow import …` provides in addition to the decorators of steps."""

toplevel = "names"
