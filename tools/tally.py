#!/usr/bin/python3
"""Counts the cases of one test run, and prints the failures.

    tools/tally.py meson LOG.json [AGAIN.json]   a run of `meson test`: each TAP case counts, any other test counts as
                                                 one case
    tools/tally.py junit REPORT.xml [AGAIN.xml]  a run of pytest
    tools/tally.py failed LOG.json               prints only the names of the tests that failed

AGAIN is the log of a second attempt: it replaces the results of the tests that it contains. The program prints the
failures and, as its last line, three numbers: passed, failed, skipped.
"""

import itertools
import json
import re
import sys
import xml.etree.ElementTree

CASE = re.compile(r"^(not )?ok\b(.*)$", re.MULTILINE)
PLAN = re.compile(r"^1\.\.(\d+)", re.MULTILINE)
SKIP = re.compile(r"#\s*skip", re.IGNORECASE)
SHOWN_LINES = 80


def tail(text):
    lines = text.rstrip().splitlines()
    cut = ["[…]"] if len(lines) > SHOWN_LINES else []
    return "\n".join(cut + lines[-SHOWN_LINES:])


def count_tap(text):
    """Count the cases of a TAP stream: (passed, failed, skipped, planned)."""
    passed = failed = skipped = 0
    for negative, rest in CASE.findall(text):
        if SKIP.search(rest):
            skipped += 1
        elif negative:
            failed += 1
        else:
            passed += 1
    return passed, failed, skipped, sum(int(n) for n in PLAN.findall(text))


def count_meson_test(test):
    good = test["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
    passed, failed, skipped, planned = count_tap(test.get("stdout", ""))
    if planned == 0:
        skip = test["result"] == "SKIP"
        return int(good and not skip), int(not good), int(skip)
    # If a program crashed, its remaining planned cases failed. If it exits with an error after its last case, for
    # example because of a leak, that is one failure.
    failed += max(0, planned - passed - failed - skipped)
    if not good and failed == 0:
        failed = 1
    return passed, failed, skipped


def read_meson(path):
    with open(path, encoding="utf-8", errors="replace") as log:
        return {test["name"]: test for test in map(json.loads, log)}


def tally_meson(first, again=None):
    total = [0, 0, 0]
    tests = {**read_meson(first), **(read_meson(again) if again else {})}
    for test in tests.values():
        counts = count_meson_test(test)
        total = [a + b for a, b in zip(total, counts)]
        if counts[1]:
            print(f"--- {test['name']}: {test['result']}")
            print(tail(test.get("stdout", "")))
            print(tail(test.get("stderr", "")))
    return total


def list_failed(path):
    """Names of the failed tests in the form that `meson test` accepts, without project and suites."""
    return [name.split(" / ")[-1] for name, test in read_meson(path).items() if count_meson_test(test)[1]]


def read_junit(path):
    cases = {}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        cases.setdefault((case.get("classname"), case.get("name")), []).append(case)
    return cases


def tally_junit(first, again=None):
    total = [0, 0, 0]
    cases = {**read_junit(first), **(read_junit(again) if again else {})}
    for case in itertools.chain.from_iterable(cases.values()):
        bad = [child for child in case if child.tag in ("failure", "error")]
        skipped = case.find("skipped") is not None
        index = 1 if bad else 2 if skipped else 0
        total[index] += 1
        for child in bad:
            print(f"--- {case.get('classname')}::{case.get('name')}")
            print(tail(child.text or child.get("message", "")))
    return total


def main(arguments):
    readers = {"meson": tally_meson, "junit": tally_junit, "failed": list_failed}
    if not 2 <= len(arguments) <= 3 or arguments[0] not in readers:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print(*readers[arguments[0]](*arguments[1:]))
    except (OSError, ValueError, xml.etree.ElementTree.ParseError) as error:
        print(f"{arguments[-1]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
