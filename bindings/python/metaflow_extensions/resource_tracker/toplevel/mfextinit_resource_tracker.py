"""Names that `from metaflow import …` has beside the decorators of steps."""

toplevel = "names"
