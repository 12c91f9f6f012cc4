"""The rows of docs/spec/config.tsv, docs/strom-config.tsv and docs/config-kinds.tsv, joined and checked.

Used by the generators of the option table and of the configuration page.
"""

import dataclasses
import pathlib

TYPES = {
    "Boolean": "kBoolean", "Integer": "kInteger", "Long": "kLong", "Double": "kDouble", "String": "kString",
    "Password": "kPassword", "Duration": "kDuration", "MemorySize": "kMemorySize", "Map<String,String>": "kMap",
}
SCOPES = {
    "common": "kCommon", "coordinator": "kCoordinator", "tablet": "kTablet", "table": "kTable", "client": "kClient",
    "client+server": "kCommon", "tiering": "kTiering", "strom": "kStrom",
}
KINDS = {"works": "kWorks", "harmless": "kHarmless", "refused": "kRefused"}
UNITS = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "ms": 1, "s": 1000, "min": 60000}
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


@dataclasses.dataclass
class Row:
    key: str
    type: str            # of the table of keys: "List<String>"
    default: str | None
    scope: str
    flags: list
    description: str
    kind: str
    step: str
    choices: str         # "A|B|C" or ""
    minimum: int
    maximum: int
    allowed: str         # as the data file writes it
    note: str

    @property
    def is_pattern(self):
        return "<" in self.key

    @property
    def enum_type(self):
        kinds = {"kList": "kList", "kMap": "kMap"}
        if self.type.startswith("List<"):
            return kinds["kList"]
        if self.type in TYPES:
            return TYPES[self.type]
        return "kEnum" if self.choices else "kString"

    @property
    def aliases(self):
        return [flag.split(":", 1)[1] for flag in self.flags if flag.startswith("also:")]


def read_table(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    names = lines[0].split("\t")
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) > len(names):
            raise SystemExit(f"{path}:{number}: {len(cells)} cells, {len(names)} are expected")
        yield dict(zip(names, cells + [""] * (len(names) - len(cells))))


def default_of(text):
    if text in ("(none)", "<system zone>", "(JVM prefixes)"):
        return None
    if text in ("(empty)", "[]", "{}"):
        return ""
    return text.replace("Long.MAXVALUE", str(INT64_MAX)).replace(";", ",")


def bound_of(text, fallback):
    if not text:
        return fallback
    digits = len(text) - len(text.lstrip("-0123456789"))
    return int(text[:digits]) * UNITS[text[digits:]]


def natural_bounds(type_name):
    if type_name == "Integer":
        return -INT32_MAX - 1, INT32_MAX
    if type_name in ("Duration", "MemorySize"):
        return 0, INT64_MAX
    return -INT64_MAX - 1, INT64_MAX


def make_row(cells, key, kind):
    minimum, maximum = natural_bounds(cells["type"])
    allowed = kind["allowed"]
    choices = ""
    if ".." in allowed:
        low, high = allowed.split("..")
        minimum, maximum = bound_of(low, minimum), bound_of(high, maximum)
    else:
        choices = allowed
    if kind["kind"] not in KINDS:
        raise SystemExit(f"config-kinds.tsv: {key}: unknown kind {kind['kind']!r}")
    return Row(key, cells["type"], default_of(cells["default"]), cells["scope"],
               [flag for flag in cells["flags"].split(",") if flag], cells["description"], kind["kind"], kind["step"],
               choices, minimum, maximum, allowed, kind["note"])


def load(docs):
    docs = pathlib.Path(docs)
    kinds = {cells["key"]: cells for cells in read_table(docs / "config-kinds.tsv")}
    client = {"kind": "harmless", "step": "", "allowed": "", "note": "read by clients"}
    rows = []
    for name in ("spec/config.tsv", "strom-config.tsv"):
        for cells in read_table(docs / name):
            for key in cells["key"].split(" / "):
                key = key.replace("<scheme option>", "<option>")
                kind = client if cells["scope"] == "client" else kinds.pop(key, None)
                if kind is None:
                    raise SystemExit(f"config-kinds.tsv has no row for {key}")
                rows.append(make_row(cells, key, kind))
    if kinds:
        raise SystemExit(f"config-kinds.tsv has rows for unknown keys: {', '.join(kinds)}")
    return sorted(rows, key=lambda row: row.key)
