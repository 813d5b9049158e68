"""The report: one HTML page that loads no other files. The C library writes it. Without the library this module
writes a shorter page."""

from __future__ import annotations

import time
from html import escape
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _engine
from ._figures import QUEUE_SHARE, queue_of, statistics_in_05
from ._tracked import Tracked
from .helpers import round_memory
from .tiny_data_frame import TinyDataFrame

__all__ = ["Report", "make_report", "round_memory"]

CHART_POINTS = 400
CHART_WIDTH, CHART_HEIGHT = 640, 140


class Report(str):
    """The report as HTML text.

    Examples:
        >>> Report("<!doctype html>…").save("/tmp/report.html")  # doctest: +SKIP
    """

    def save(self, filepath: str) -> "Report":
        """Write the page to a file. Returns self."""
        from ._trust import open_output

        with open_output(filepath, "w", encoding="utf-8", newline="\n") as file:
            file.write(self)
        return self

    def browse(self) -> "Report":
        """Open the page in a browser. It is written to a temporary file, which is not removed. Returns self."""
        import os
        import pathlib
        import tempfile
        import webbrowser

        descriptor, path = tempfile.mkstemp(prefix="resource-tracker-", suffix=".html")
        os.close(descriptor)
        self.save(path)
        webbrowser.open(pathlib.Path(path).as_uri())
        return self

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self, quote=True)}" width="100%" height="800"></iframe>'


# ---- figures ----

def _number(value: Any, digits: int = 2) -> str:
    if value is None:
        return "not known"
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:,.0f}"


def _rows(tracker: Tracked, historical: Sequence[Dict[str, Any]]
          ) -> List[Tuple[str, str]]:
    """The figures of the page as pairs (name, text)."""
    stats = statistics_in_05([tracker.stats()])
    recommended = tracker.recommend_resources(historical)

    def pair(column: str, unit: str) -> str:
        values = stats.get(column, {})
        return f"{_number(values.get('mean'))} mean, {_number(values.get('max'))} peak {unit}"

    duration = stats.get("timestamp", {}).get("duration")
    rows = [("Duration", f"{_number(duration)} s"),
            ("CPU", pair("process_cpu_usage", "cores")),
            ("Memory", pair("process_memory_mib", "MiB"))]
    share, queued = queue_of(tracker)
    if share >= QUEUE_SHARE:
        rows.insert(2, ("Waited for a CPU", f"{share:.0%} of its time, for a mean of {_number(queued)} more cores; "
                                            "the CPU request is not lowered"))
    if _engine.has_gpu():
        rows.append(("GPU", pair("process_gpu_usage", "GPUs")))
    net = [stats.get(f"system_net_{way}_bytes", {}).get("sum") for way in ("recv", "sent")]
    if None not in net:
        received, sent = (_number((amount or 0) / 1e9, 3) for amount in net)
        rows.append(("Traffic of the machine", f"{received} GB in, {sent} GB out"))
    request = f"{recommended['cpu']} vCPU, {recommended['memory']} MiB"
    if recommended["gpu"]:
        request += f", {recommended['gpu']} GPU"
    rows.append(("Request for the next run", request))
    rows.append(("Cheapest server", _server(tracker, historical)))
    return rows


def _server(tracker: Tracked, historical: Sequence[Dict[str, Any]]) -> str:
    try:
        server = tracker.recommend_server(historical_stats=historical)
    except (LookupError, ValueError, OSError):
        return "not known"
    return (f"{server.get('vendor_id')} {server.get('api_reference')}, "
            f"{server.get('vcpus')} vCPU, {_number(server.get('memory_amount'), 0)} MiB, "
            f"{server.get('min_price_ondemand')} USD/h")


def _machine(tracker: Tracked) -> List[Tuple[str, str]]:
    rows = []
    server = tracker.server_info or {}
    for key, name in (("os", "OS"), ("vcpus", "vCPUs"), ("memory_mib", "Memory, MiB"),
                      ("allocation", "Allocation"), ("gpu_count", "GPUs"), ("gpu_name", "GPU")):
        if server.get(key):
            rows.append((name, str(server[key])))
    cloud = tracker.cloud_info or {}
    for key, name in (("vendor", "Cloud"), ("region", "Region"), ("instance_type", "Instance")):
        if cloud.get(key, "unknown") != "unknown":
            rows.append((name, str(cloud[key])))
    return rows


def _quality(tracker: Tracked) -> List[Tuple[str, str]]:
    """The totals with their quality, their source and the reason why they are not exact, as pairs (name, text)."""
    rows = []
    for name, total in tracker.totals().items():
        value = total.get("value")
        said = ("not known" if value is None
                else f"{_number(value)} ({total['quality'].replace('_', ' ')}; {total['source']})")
        if total.get("reason"):
            said += f": {total['reason']}"
        rows.append((name, said))
    return rows


# ---- charts ----

def _thin(values: Sequence[Any]) -> List[Optional[float]]:
    """Reduce to at most CHART_POINTS values: the largest of each group, so that peaks stay visible."""
    step = max(1, -(-len(values) // CHART_POINTS))
    groups = (values[i:i + step] for i in range(0, len(values), step))
    return [max((v for v in group if v is not None), default=None) for group in groups]


def _path(values: List[Optional[float]], top: float) -> str:
    parts = []
    pen = "M"
    last = max(1, len(values) - 1)
    for i, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        x = i * CHART_WIDTH / last
        y = CHART_HEIGHT * (1 - value / top)
        parts.append(f"{pen}{x:.1f},{y:.1f}")
        pen = "L"
    return "".join(parts)


def chart(title: str, series: Dict[str, Sequence[Any]]) -> str:
    """A line chart as SVG; "" if all values are unknown."""
    thin = {name: _thin(values) for name, values in series.items()}
    known = [v for values in thin.values() for v in values if v is not None]
    if not known:
        return ""
    top = max(known) or 1.0
    lines = "".join(
        f'<path class="{escape(name)}" d="{_path(values, top)}"><title>{escape(name)}</title></path>'
        for name, values in thin.items())
    return (f"<figure><figcaption>{escape(title)}, at most {_number(top)}</figcaption>"
            f'<svg viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" role="img" '
            f'aria-label="{escape(title)}" preserveAspectRatio="none">{lines}</svg></figure>')


def _column(frame: TinyDataFrame, name: str) -> Sequence[Any]:
    try:
        return frame[name]
    except KeyError:
        return []


def charts(tracker: Tracked) -> str:
    """The charts of a tracker's samples."""
    process, system = tracker.process_metrics, tracker.system_metrics
    plans = [
        ("CPU, cores", "cpu_usage", "cpu_usage"),
        ("Memory, MiB", "memory_mib", "memory_used_mib"),
        ("Read from disks, bytes per sample", "disk_read_bytes", "disk_read_bytes"),
        ("Written to disks, bytes per sample", "disk_write_bytes", "disk_write_bytes"),
        ("Received, bytes per sample", "", "net_recv_bytes"),
        ("Sent, bytes per sample", "", "net_sent_bytes"),
    ]
    return "".join(chart(title, {"process": _column(process, a), "machine": _column(system, b)})
                   for title, a, b in plans)


# ---- pages ----

STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:52rem;padding:0 1rem;
color:#1f2933;background:#fff}h1{font-size:1.3rem}table{border-collapse:collapse}
th{text-align:left;font-weight:600;padding:.15rem 1rem .15rem 0;vertical-align:top}td{padding:.15rem 0}
figure{margin:1.2rem 0}figcaption{font-size:.85rem}svg{width:100%;height:140px;background:#f4f6f8}
path{fill:none;stroke-width:1.5;vector-effect:non-scaling-stroke}path.process{stroke:#0b7a53}
path.machine{stroke:#2563a8;stroke-dasharray:4 3}.failed{color:#a11}small{color:#52606d}
@media(prefers-color-scheme:dark){body{background:#14181d;color:#e4e7eb}svg{background:#1f2933}
path.process{stroke:#34d399}path.machine{stroke:#38bdf8}small{color:#9aa5b1}.failed{color:#f88}}"""

# For output in a notebook: the selectors match only inside the element of class resource-tracker.
NOTEBOOK_STYLE = """.resource-tracker figure{margin:.6rem 0;max-width:40rem}
.resource-tracker svg{width:100%;height:80px}.resource-tracker path{fill:none;stroke:#0b7a53;
stroke-width:1.5;vector-effect:non-scaling-stroke}"""


def table(rows: Sequence[Tuple[str, str]]) -> str:
    return "<table>" + "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>"
                               for a, b in rows) + "</table>"


def page(title: str, body: str) -> str:
    """A complete HTML document with this title and body."""
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
            f"<body>{body}</body></html>")


def summary_html(tracker: Tracked) -> str:
    """A tracker's figures as a table with two charts, for notebooks."""
    if not tracker.n_samples:
        return "<p>No samples yet.</p>"
    process = tracker.process_metrics
    drawn = "".join(chart(title, {"process": _column(process, name)})
                    for title, name in (("CPU, cores", "cpu_usage"), ("Memory, MiB", "memory_mib")))
    return (f"<div class=\"resource-tracker\"><style>{NOTEBOOK_STYLE}</style>"
            f"{table(_rows(tracker, []))}{drawn}</div>")


# ---- the library's page ----

def _by_library(tracker: Tracked, integration: str, historical: List[Dict[str, Any]],
                failed: bool) -> Optional[str]:
    """The page that the C library writes; None if it cannot write one for this tracker."""
    import os
    import tempfile

    from ._advice import earlier_of, recording_of, runs_options

    try:
        with tempfile.TemporaryDirectory(prefix="resource-tracker-") as folder:
            recording = recording_of(tracker, folder)
            if not recording:
                return None
            path = os.path.join(folder, "report.html")
            _engine.library().report(recording, path, {
                "failed": failed, "integration": integration or None,
                **runs_options(tracker, recording, folder, earlier_of(historical))})
            with open(path, encoding="utf-8") as file:
                return file.read()
    except (OSError, RuntimeError):
        return None


def make_report(tracker: Tracked, integration: str,
                historical: List[Dict[str, Any]], failed: bool,
                integration_version: Optional[str]) -> Report:
    """The report of a tracker, written by the C library, or by this module if the library cannot be loaded.

    Args:
        integration: "standalone", "Metaflow" or "R"
        historical: stats() of earlier runs
        failed: whether the job has failed
        integration_version: version of the framework

    Raises:
        RuntimeError: there is no sample yet
    """
    if not tracker.n_samples:
        raise RuntimeError("No metrics collected (yet)")
    failed = failed or tracker.run_status == "failed"
    named = "" if integration == "standalone" else " ".join(
        filter(None, (integration, integration_version)))
    made = _by_library(tracker, named, historical, failed)
    if made:
        return Report(made)
    from ._version import __version__

    status = "failed" if failed else "running" if tracker.running else "finished"
    start = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(tracker.start_time))
    request = ""
    if integration == "Metaflow":
        needs = tracker.recommend_resources(historical)
        gpu = f", gpu={needs['gpu']}" if needs["gpu"] else ""
        request = (f"<pre>@resources(cpu={needs['cpu']}, memory={needs['memory']}{gpu})</pre>")
    made_by = " ".join(filter(None, ("resource-tracker", __version__, "·", integration,
                                     integration_version)))
    body = (f"<h1>What the job used</h1><p class=\"{status}\">Started {escape(start)}, {status}, "
            f"{tracker.n_samples} samples.</p>{table(_rows(tracker, historical))}{request}"
            f"<h2>Totals</h2>{table(_quality(tracker))}"
            f"<h2>Machine</h2>{table(_machine(tracker))}<h2>Samples</h2>"
            "<p><small>Solid: the process tree. Dashed: the whole machine.</small></p>"
            f"{charts(tracker)}<p><small>{escape(made_by)}</small></p>")
    return Report(page("resource-tracker report", body))
