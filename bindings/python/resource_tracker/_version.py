"""The version of the package, which is that of its library."""


def _find() -> str:
    try:
        from ._core import version
    except ImportError:  # another platform's package: the Python fallback is at work
        from importlib.metadata import PackageNotFoundError, version as installed

        try:
            return installed("resource-tracker")
        except PackageNotFoundError:
            return "unknown"
    return version()


__version__: str = _find()
