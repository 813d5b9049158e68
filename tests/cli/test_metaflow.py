"""Tests that the verb `metaflow` calls the Python package. tests/python/test_metaflow.py tests the package."""

import stat


def interpreter(rt, text):
    """A program in the place of python3."""
    path = rt.home / "python"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"RESOURCE_TRACKER_PYTHON": str(path)}


def test_becomes_python_with_all_arguments(rt):
    env = interpreter(rt, '#!/bin/sh\n[ "$1" = -c ] || exit 9\nshift 2\necho "$@"\nexit 7\n')
    result = rt.run("metaflow", "recommend", "--last", "3", "A Flow", env=env)
    assert result.stdout == "recommend --last 3 A Flow\n" and result.rc == 7


def test_says_what_python_lacks(rt):
    env = interpreter(rt, '#!/bin/sh\nexec /usr/bin/python3 -I "$@"\n')
    result = rt.run("metaflow", "recommend", "F", env=env)
    assert result.rc == 1 and "install its wheel" in result.stderr
    result = rt.run("metaflow", "recommend", "F",
                    env={"RESOURCE_TRACKER_PYTHON": "/nonexistent/python"})
    assert result.rc == 127 and "/nonexistent/python: No such file" in result.stderr


def test_help(rt):
    assert "metaflow recommend" in rt.run("metaflow", "--help").stdout
    assert rt.run("metaflow").rc == 2
