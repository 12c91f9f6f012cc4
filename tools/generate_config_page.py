#!/usr/bin/env python3
"""Writes docs/configuration.md from the tables of configuration keys: generate_config_page.py DOCS OUTPUT.

With --check before DOCS nothing is written: it fails when OUTPUT is not what it would write.
"""

import pathlib
import sys

import option_rows

HEAD = """# Configuration

This page is generated from `docs/spec/config.tsv`, `docs/strom-config.tsv` and `docs/config-kinds.tsv` by
`tools/generate_config_page.py`; change those and run it again.

A server reads `--config server.yaml` (keys as below, `key: value`), then `-D key=value` from the command line. A value that is not
allowed stops the start with key, value and what is allowed. An unknown key is named in a warning, with the nearest known one.

What a key does:

- **works**: it has the effect that is described.
- **no effect**: it is accepted with one warning line, because what it tunes is not built or not needed here.
- **refused**: what it turns on is not built, and you would rely on it: any other value than the default stops the start.

Durations are a number and a unit (`500ms`, `30s`, `5 min`, `7 d`); sizes are a number of bytes or a number and a unit of 1024
(`64kb`, `100mb`, `1gb`). Keys marked *dynamic* can also be changed while the cluster runs (`AlterClusterConfigs`).
"""

GROUPS = [
    ("Keys of Strom itself", ["strom"]),
    ("Both roles", ["common", "client+server"]),
    ("Coordinator", ["coordinator"]),
    ("Tablet server", ["tablet"]),
    ("Tables", ["table"]),
    ("The tiering service", ["tiering"]),
]

TABLE_HEAD = """
Set with `CREATE TABLE ... WITH` or a table descriptor's properties. Keys marked *alterable* can be changed later. *refused* means
that a table which asks for it is not created.
"""

KIND_TEXT = {"works": "works", "harmless": "no effect", "refused": "refused"}


def allowed_of(row):
    if row.choices:
        return ", ".join(f"`{choice}`" for choice in row.choices.split("|"))
    if not row.allowed:
        return ""
    low, high = row.allowed.split("..")
    return f"{low} or more" if not high else f"{low} to {high}"


def effect_of(row):
    text = KIND_TEXT[row.kind]
    if row.kind == "harmless" and row.scope == "table" and row.step == "2":
        text = "tables with a primary key"
    details = [part for part in (row.note, f"step {row.step}" if row.step else "") if part]
    return text + (f" ({'; '.join(details)})" if details else "")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def describe(row):
    marks = [name for name in ("dynamic", "alterable", "deprecated") if name in row.flags]
    text = cell(row.description)
    if marks:
        text += f" (*{', '.join(marks)}*)"
    if row.aliases:
        text += f"; older name: {', '.join(f'`{alias}`' for alias in row.aliases)}"
    if allowed := allowed_of(row):
        text += f"; allowed: {allowed}"
    return text


def line(row):
    default = "" if row.default is None else f"`{row.default}`" if row.default else "empty"
    kind = row.type.split("<")[0] if row.type.startswith(("List", "Map")) else row.type
    return f"| `{row.key}` | {kind} | {default} | {cell(effect_of(row))} | {describe(row)} |"


def main():
    check = sys.argv[1] == "--check"
    docs, output = sys.argv[2 if check else 1:]
    rows = option_rows.load(docs)
    lines = [HEAD]
    for title, scopes in GROUPS:
        lines += [f"## {title}", *([TABLE_HEAD] if title == "Tables" else [""])]
        lines += ["| key | type | default | effect | meaning |", "| --- | --- | --- | --- | --- |"]
        lines += [line(row) for row in rows if row.scope in scopes]
        lines.append("")
    page = "\n".join(lines)
    if not check:
        pathlib.Path(output).write_text(page, encoding="utf-8")
    elif pathlib.Path(output).read_text(encoding="utf-8") != page:
        raise SystemExit(f"{output} is not current: run tools/generate_config_page.py docs docs/configuration.md")


if __name__ == "__main__":
    main()
