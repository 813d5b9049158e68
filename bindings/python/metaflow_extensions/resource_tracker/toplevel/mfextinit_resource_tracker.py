"""Names the module whose names `from metaflow import …` exports, in addition to step decorators."""

toplevel = "names"
