"""Builds the wheel without machine code (py3-none-any), for systems without a wheel of their own. It needs no
compiler. Tools pack wheels with machine code that they have built.

    python bindings/python/pure.py FOLDER     writes the wheel into the folder and prints its path
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAME = "resource_tracker"
STAMP = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip file can store; a fixed time makes the wheel reproducible


def version():
    """The version in meson.build."""
    text = (ROOT / "meson.build").read_text(encoding="utf-8")
    return re.search(r"^  version: '(.*)',", text, re.M)[1]


def metadata():
    """The contents of METADATA, made from pyproject.toml, as bytes."""
    from pyproject_metadata import StandardMetadata

    try:
        import tomllib
    except ImportError:  # before CPython 3.11
        import tomli as tomllib
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)
    project["project"]["version"] = version()
    project["project"]["dynamic"].remove("version")
    return bytes(StandardMetadata.from_pyproject(project, ROOT).as_rfc822())


def sources():
    """Yield (name in the wheel, bytes) for each file of the package and of the Metaflow extension."""
    for package in (NAME, "metaflow_extensions"):
        for path in sorted((HERE / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(HERE).as_posix(), path.read_bytes()


def files(tag, native):
    info = f"{NAME}-{version()}.dist-info"
    yield from sources()
    yield from sorted(native.items())
    yield f"{info}/METADATA", metadata()
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: resource-tracker\n"
                            f"Root-Is-Purelib: {str(not native).lower()}\nTag: {tag}\n").encode()
    yield f"{info}/entry_points.txt", (
        b"[console_scripts]\nresource-tracker = resource_tracker.__main__:main\n\n"
        b"[pytest11]\nresource_tracker = resource_tracker.pytest_plugin\n")
    yield f"{info}/top_level.txt", (HERE / "top_level.txt").read_bytes()
    yield f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes()


def build(folder, tag="py3-none-any", native=()):
    """Write the wheel into `folder`.

    Args:
        tag: tag of the wheel
        native: files with machine code, {name in the wheel: bytes}

    Returns:
        the file name of the wheel
    """
    record = f"{NAME}-{version()}.dist-info/RECORD"
    name = f"{NAME}-{version()}-{tag}.whl"
    lines = []
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files(tag, dict(native)):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{path},sha256={digest},{len(data)}\n")
            add(wheel, path, data)
        add(wheel, record, "".join([*lines, f"{record},,\n"]).encode())
    return name


def add(wheel, path, data):
    entry = zipfile.ZipInfo(path, STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if path.endswith("-program") else 0o100644) << 16
    wheel.writestr(entry, data)


if __name__ == "__main__":
    print(os.path.join(sys.argv[1], build(sys.argv[1])))
