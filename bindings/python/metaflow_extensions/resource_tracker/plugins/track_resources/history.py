"""What earlier runs used, from the metadata of their tasks: a kilobyte each, no series is loaded."""

import json

FIELD = "resource-usage"
RUNS = 5
LOOKED_AT = 20  # runs, successful or not
TASKS = 100  # of a foreach


def of_task(task):
    """The figures that were registered for just this task, or None. Artifacts and metadata of
    others have another pathspec inside."""
    try:
        value = json.loads(task.metadata_dict.get(FIELD) or "null")
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("pathspec") != task.pathspec:
        return None
    return None if value.get("failed") else value


def of_step(step):
    """One dict of statistics for all tasks of a step: the largest task counts."""
    from resource_tracker.helpers import aggregate_stats

    found = []
    for i, task in enumerate(step.tasks()):
        if i >= TASKS:
            break
        value = of_task(task)
        if value:
            found.append(value["stats"])
    return aggregate_stats(found) if found else None


def earlier_runs(flow_name, but_not=None, limit=RUNS):
    """Successful runs, the newest first. The user's namespace is left as it is."""
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


def stats_of_earlier_runs(pathspec, warn):
    """Statistics of the same step in the last runs, one dict a run."""
    flow_name, run_id, step_name, _ = pathspec.split("/")
    found = []
    try:
        for run in earlier_runs(flow_name, run_id):
            try:
                stats = of_step(run[step_name])
            except KeyError:  # a step that this run did not have
                continue
            if stats:
                found.append(stats)
    except Exception as error:
        warn("no history: %s: %s" % (type(error).__name__, error))
    return found
