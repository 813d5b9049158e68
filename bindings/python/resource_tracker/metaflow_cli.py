"""resource-tracker metaflow recommend FLOW: what each step of a flow should request, based on earlier runs of
the step with @track_resources."""

from __future__ import annotations

import argparse
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .helpers import aggregate_stats, round_memory


def _figure(stats: Dict[str, Dict[str, Any]], column: str, name: str) -> float:
    return stats.get(column, {}).get(name) or 0


def request_of(stats: Dict[str, Dict[str, Any]], margin: float = 1.2,
               min_memory: int = 128) -> Dict[str, int]:
    """Arguments of @resources computed from statistics: the mean of the cores, and the largest memory with a
    margin."""
    peak_mib = _figure(stats, "process_memory_mib", "max")
    request = {
        "cpu": max(1, round(_figure(stats, "process_cpu_usage", "mean"))),
        "memory": max(int(min_memory), round_memory(peak_mib * margin)),
    }
    if _figure(stats, "process_gpu_usage", "mean") > 0:
        request["gpu"] = max(1, round(_figure(stats, "process_gpu_usage", "max")))
    return request


def recommend(flow: str, runs: Optional[int] = None, margin: Optional[float] = None,
              min_memory: int = 128) -> Iterator[Tuple[str, int, Dict[str, int]]]:
    """Return (step, number of runs, arguments of @resources) in alphabetical order. The arguments are the
    advice on the card of the step's last run. With a number of runs or a margin, they are what request_of()
    computes from the statistics of these runs."""
    from metaflow_extensions.resource_tracker.plugins.track_resources import history

    for step, figures in sorted(history.by_step(flow, runs or history.RUNS).items()):
        request = figures[0].get("request") if runs is None and margin is None else None
        if request:
            request = {"cpu": request["cpu"], "memory": max(int(min_memory), request["memory"]),
                       **({"gpu": request["gpu"]} if request["gpu"] else {})}
        else:
            stats = aggregate_stats([run["stats"] for run in figures])
            request = request_of(stats, 1.2 if margin is None else margin, min_memory)
        yield step, len(figures), request


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="resource-tracker metaflow", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("recommend", help="@resources lines for each step")
    command.add_argument("flow")
    command.add_argument("--last", type=int, metavar="N",
                         help="use N runs: the mean of their cores, and their largest memory with a margin (default: the advice on the card of the last run)")
    command.add_argument("--margin", type=float, help="margin on the largest memory (1.2)")
    command.add_argument("--json", action="store_true", help="as JSON")
    options = parser.parse_args(arguments)
    try:
        found = list(recommend(options.flow, options.last, options.margin))
    except ImportError:
        parser.exit(1, "resource-tracker: metaflow: Metaflow is not installed\n")
    except Exception as error:  # Metaflow's own: no such flow, no access
        parser.exit(1, f"resource-tracker: metaflow: {error}\n")
    if not found:
        parser.exit(1, f"resource-tracker: metaflow: no successful run of {options.flow} has a "
                       "step with @track_resources\n")
    if options.json:
        import json

        print(json.dumps({step: request for step, _, request in found}, indent=1))
        return 0
    for step, runs, request in found:
        words = ", ".join(f"{name}={value}" for name, value in request.items())
        print(f"{step}: @resources({words})  # {runs} run{'s' if runs != 1 else ''}")
    return 0
