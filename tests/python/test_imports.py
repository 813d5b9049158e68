"""Tests that the modules of the package import each other in one direction only, at the top and inside of
functions."""

import ast
import pathlib

import resource_tracker

PACKAGE = pathlib.Path(resource_tracker.__file__).parent


def imported_by(path, names):
    """Modules of the package that a module imports, wherever in its text."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            inside = node.level == 1 or (node.module or "").split(".")[0] == "resource_tracker"
            words = (node.module or "").split(".")
            module = words[-1] if words[-1] not in ("", "resource_tracker") else None
            if inside:
                found |= {module} if module else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[-1] for alias in node.names if alias.name.startswith("resource_tracker.")}
    return found & names


def cycle_of(graph):
    """Modules that import each other in a circle: the names along it; [] where there is none."""
    done = set()

    def walk(name, trail):
        if name in trail:
            return [*trail[trail.index(name):], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            found = walk(other, [*trail, name])
            if found:
                return found
        done.add(name)
        return []

    return next(filter(None, (walk(name, []) for name in sorted(graph))), [])


def test_no_module_imports_itself_by_way_of_others():
    # __init__ hands out names of all modules when they are asked for, and is imported by all of them.
    paths = {path.stem: path for path in PACKAGE.glob("*.py") if path.stem not in ("__init__", "__main__")}
    graph = {name: imported_by(path, set(paths)) for name, path in paths.items()}
    assert {"_figures", "report"} <= graph["tracker"] and "helpers" in graph["_csv_trackers"]
    assert cycle_of(graph) == []


def test_a_circle_is_found():
    assert cycle_of({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c", "b"]
    assert cycle_of({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
