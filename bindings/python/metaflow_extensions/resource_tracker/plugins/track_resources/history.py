"""What earlier runs used, from the metadata of their tasks: a few kilobytes of the newest run, which list the
runs before it. No artifact is loaded."""

import json

FIELD = "resource-usage"
RUNS = 5
LOOKED_AT = 20  # runs, successful or not
TASKS = 100  # of a foreach

_TOTALS = ("cpu_s", "peak_memory_mib", "disk_read_bytes", "disk_write_bytes")


def of_task(task):
    """The figures that were registered for this task, or None. Artifacts and metadata of other tasks contain
    another pathspec."""
    try:
        value = json.loads(task.metadata_dict.get(FIELD) or "null")
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("pathspec") != task.pathspec:
        return None
    return None if value.get("failed") or "stats" not in value else value


def of_step(step):
    """The figures of a step: the largest of all its tasks. None: it was not tracked."""
    from resource_tracker.helpers import aggregate_stats

    found = []
    for i, task in enumerate(step.tasks()):
        if i >= TASKS:
            break
        value = of_task(task)
        if value:
            found.append(value)
    if not found:
        return None
    longest = max(found, key=lambda value: value.get("duration_s") or 0)
    totals: dict = {}
    for value in found:
        for key, figure in (value.get("totals") or {}).items():
            if figure is not None and figure > totals.get(key, -1):
                totals[key] = figure
    return {"run": step.parent.id, "start_s": longest.get("start_s"),
            "duration_s": longest.get("duration_s"), "totals": totals,
            "stats": aggregate_stats([value["stats"] for value in found]),
            "request": _largest([value.get("request") for value in found]),
            "earlier": longest.get("earlier")}


def _largest(requests):
    """One request for all tasks of a step; None where a task has none."""
    if not all(isinstance(request, dict) for request in requests):
        return None
    return {key: max(request.get(key, 0) for request in requests)
            for key in ("cpu", "memory", "gpu", "vram")}


def earlier_runs(flow_name, but_not=None, limit=RUNS):
    """Successful runs, the newest first. The namespace of the user is not changed."""
    from metaflow import Flow

    try:
        flow = Flow(flow_name, _namespace_check=False)
    except TypeError:  # older Metaflow
        flow = Flow(flow_name)
    count = 0
    for looked_at, run in enumerate(flow.runs()):
        if count >= limit or looked_at >= LOOKED_AT:
            return
        if run.id != str(but_not) and run.successful:
            count += 1
            yield run


def runs_of_step(flow_name, step_name, but_not=None, limit=RUNS):
    """Figures of a step in the last successful runs, the newest first. The newest tracked run lists the runs
    before it."""
    found = []
    for run in earlier_runs(flow_name, but_not, limit):
        try:
            figures = of_step(run[step_name])
        except KeyError:  # a step that this run did not have
            continue
        if not figures:
            continue
        earlier = figures.pop("earlier")
        found.append(figures)
        if isinstance(earlier, list) and limit <= RUNS:
            found += [run for run in earlier if isinstance(run, dict) and "stats" in run]
            break
    return found[:limit]


def by_step(flow_name, limit=RUNS):
    """{step: figures of its last runs, the newest first}, as runs_of_step, for all steps that were
    tracked."""
    found: dict = {}
    complete = set()
    for run in earlier_runs(flow_name, limit=limit):
        for step in run.steps():
            figures = of_step(step) if step.id not in complete else None
            if not figures:
                continue
            earlier = figures.pop("earlier")
            runs = found.setdefault(step.id, [])
            runs.append(figures)
            if isinstance(earlier, list) and limit <= RUNS:
                runs += [run for run in earlier if isinstance(run, dict) and "stats" in run]
                complete.add(step.id)
    return {step: runs[:limit] for step, runs in found.items()}


def earlier_of(pathspec, warn):
    """As runs_of_step(), for a task that begins. None, with a warning, if they cannot be read."""
    from metaflow.exception import MetaflowNotFound

    flow_name, run_id, step_name, _ = pathspec.split("/")
    try:
        return runs_of_step(flow_name, step_name, run_id)
    except MetaflowNotFound:  # the first run ever
        return []
    except Exception as error:
        warn("no history: %s: %s" % (type(error).__name__, error))
        return None


def for_program(runs):
    """The runs in the form that the program's report reads: JSON, the oldest first."""
    from resource_tracker._advice import earlier_run

    rows = []
    for run in reversed(runs):
        row = {**earlier_run(run["stats"]), "start_s": run.get("start_s"),
               "duration_s": run.get("duration_s")}
        for name in _TOTALS:
            if run.get("totals", {}).get(name) is not None:
                row[name] = run["totals"][name]
        rows.append(row)
    return json.dumps(rows)
