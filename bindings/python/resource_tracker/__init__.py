"""What a process, its children and the machine really used.

    from resource_tracker import ResourceTracker

    tracker = ResourceTracker()      # tracks this process and its descendants, every second
    work()
    tracker.stop()
    print(tracker.get_combined_metrics())

A small separate program takes the samples: there is no thread and no fork in this process. Modules are loaded
when they are first used, so that importing the package takes almost no time.
"""

import os as _os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging
    from typing import Any as _Any, List as _List

    from ._alerts import alerts
    from ._version import __version__ as __version__
    from .cloud_info import get_cloud_info
    from .column_maps import default_schema, set_schema
    from .decorators import mark, track
    from .server_info import get_server_info
    from .tiny_data_frame import StatSpec, TinyDataFrame
    from .tracker import PidTracker, ProcessTracker, ResourceTracker, SystemTracker

    logger: logging.Logger

__all__ = [
    "ProcessTracker",
    "SystemTracker",
    "ResourceTracker",
    "get_cloud_info",
    "get_server_info",
    "TinyDataFrame",
    "StatSpec",
    "PidTracker",
    "track",
    "mark",
    "set_schema",
    "default_schema",
    "alerts",
]

# The extension module for this machine: a wheel may have those of several.
__path__.append(_os.path.join(__path__[0], "native", _os.uname().machine if hasattr(_os, "uname") else "AMD64"))

# Remote code of a Metaflow run gets the whole package, program included.
METAFLOW_PACKAGE_POLICY = "include"

# Public name -> the module that has it.
_HOMES = {
    "ProcessTracker": "tracker",
    "SystemTracker": "tracker",
    "ResourceTracker": "tracker",
    "PidTracker": "tracker",
    "TinyDataFrame": "tiny_data_frame",
    "StatSpec": "tiny_data_frame",
    "get_cloud_info": "cloud_info",
    "get_server_info": "server_info",
    "set_schema": "column_maps",
    "default_schema": "column_maps",
    "alerts": "_alerts",
    "track": "decorators",
    "mark": "decorators",
    "load_ipython_extension": "ipython",
    "unload_ipython_extension": "ipython",
    "logger": "_log",
    "__version__": "_version",
}

_MODULES = frozenset((
    "cloud_info", "column_maps", "dummy_workloads", "helpers", "keeper", "nvidia", "recording",
    "report", "server_info", "tiny_bars", "tiny_data_frame", "tracker", "tracker_procfs", "tracker_psutil",
))


def __getattr__(name: str) -> "_Any":
    from importlib import import_module

    if name in _HOMES:
        # `cloud_info` is a module and the home of `get_cloud_info`: the value is what is asked for.
        value = getattr(import_module("." + _HOMES[name], __name__), name)
    elif name in _MODULES:
        value = import_module("." + name, __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> "_List[str]":
    return sorted(set(globals()) | set(_HOMES) | _MODULES)
