"""Reads how many cases passed out of what test programs leave behind."""

import re
import xml.etree.ElementTree as xml

from runner import Broken, Counts

SUM = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", re.MULTILINE)


def from_last_line(out):
    """The counts of a program that ends with "N passed, N failed[, N skipped]"; None when it did not."""
    found = SUM.findall(out)
    if not found:
        return None
    return Counts(*(int(n or 0) for n in found[-1]))


def from_junit(path):
    """The counts of a JUnit file, as ctest and GoogleTest write it (a test suite says its sums in attributes)."""
    try:
        root = xml.parse(path).getroot()
    except (OSError, xml.ParseError) as e:
        raise Broken(f"no test results in {path.name}: {e}") from None
    counts = Counts()
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            counts.failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def expect(job, counts, passed):
    """The counts, with one failure more when fewer (or more) cases passed than the project promises."""
    if counts.passed != passed:
        job.say(f"{counts.passed} cases passed where {passed} are expected")
        counts.failed = max(counts.failed, 1)
    return counts
