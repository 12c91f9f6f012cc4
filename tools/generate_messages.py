#!/usr/bin/env python3
"""Makes the C++ message structs and their codec from docs/spec/messages.tsv.

usage: generate_messages.py MESSAGES_TSV OUTPUT_DIRECTORY

Writes messages.h (structs, constants, declarations), messages_<n>.cc (decoding and encoding, split so that two cores compile
them in parallel) and message_registry_data.cc. The files say what they are made from; nobody edits them.
"""

import os
import re
import sys

PART_COUNT = 4

SCALARS = {
    "int32": ("int32_t", 0),
    "int64": ("int64_t", 0),
    "bool": ("bool", 0),
    "float": ("float", 5),
    "double": ("double", 1),
    "string": ("std::string_view", 2),
    "bytes": ("std::string_view", 2),
}

# Bytes of responses that may be file ranges: they are pieces, never copied.
PIECES_FIELDS = {
    ("PbFetchLogRespForBucket", "records"),
    ("LimitScanResponse", "records"),
    ("ScanKvResponse", "records"),
}

CPP_KEYWORDS = {"delete", "default", "new", "operator", "class", "namespace", "template", "union", "register"}

BANNER = "// Made by tools/generate_messages.py from docs/spec/messages.tsv. Do not edit.\n"


def snake_case(name):
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match.group(1).lower(), name)
    return name + "_" if name in CPP_KEYWORDS else name


def pascal_case(upper):
    return "".join(word.capitalize() for word in upper.lower().split("_"))


class Field:
    def __init__(self, message, name, number, label, type_name, packed):
        self.wire_name = name
        self.name = snake_case(name)
        self.number = int(number)
        self.label = label
        self.type_name = type_name
        self.packed = packed == "packed"
        self.pieces = (message, name) in PIECES_FIELDS
        self.of_incomplete = False  # set by declaration_order()

    @property
    def is_message(self):
        return self.type_name not in SCALARS

    @property
    def is_number(self):
        return not self.is_message and self.type_name not in ("string", "bytes")

    def cpp_element(self):
        if self.pieces:
            return "rt::Pieces"
        return self.type_name if self.is_message else SCALARS[self.type_name][0]

    def declaration(self):
        element = self.cpp_element()
        if self.label == "repeated":
            # Without an initializer where the element is incomplete here: clang would need it whole.
            return f"std::vector<{element}> {self.name}{'' if self.of_incomplete else '{}'};"
        if self.label == "optional":
            return f"std::optional<{element}> {self.name}{{}};"
        if self.is_number:
            return f"{element} {self.name} = {'false' if self.type_name == 'bool' else '0'};"
        return f"{element} {self.name}{{}};"

    def tag(self, wire_type=None):
        if wire_type is None:
            wire_type = 2 if self.is_message else SCALARS[self.type_name][1]
        return self.number << 3 | wire_type


class Message:
    def __init__(self, name):
        self.name = name
        self.fields = []

    @property
    def has_arena(self):
        # ErrorResponse is also a part of other messages, which copy it.
        return self.name.endswith("Response") and self.name != "ErrorResponse"

    def required(self):
        return [field for field in self.fields if field.label == "required"]


def read_definitions(path):
    """Messages and constants in file order, checked."""
    messages, constants = {}, {}
    with open(path, encoding="utf-8") as lines:
        header = lines.readline().rstrip("\n").split("\t")
        if header[:6] != ["message", "field", "number", "label", "type", "packed"]:
            sys.exit(f"{path}: unexpected columns {header}")
        for line_number, line in enumerate(lines, 2):
            columns = line.rstrip("\n").split("\t")
            if len(columns) < 7:
                sys.exit(f"{path}:{line_number}: {len(columns)} columns")
            owner, name, number, label, type_name, packed = columns[:6]
            if owner.startswith("CONST:"):
                constants.setdefault(owner[6:], []).append((name, int(number), type_name))
                continue
            message = messages.setdefault(owner, Message(owner))
            if name == "-":
                continue
            field = Field(owner, name, number, label, type_name, packed)
            if field.packed and field.type_name not in ("int32", "int64"):
                sys.exit(f"{path}:{line_number}: only packed int32 and int64 are read and written")
            message.fields.append(field)
    for message in messages.values():
        numbers = [field.number for field in message.fields]
        if len(set(numbers)) != len(numbers):
            sys.exit(f"{path}: {message.name} uses a field number twice")
        if len(message.required()) > 32:
            sys.exit(f"{path}: {message.name} has more than 32 required fields")
        for field in message.fields:
            if field.is_message and field.type_name not in messages:
                sys.exit(f"{path}: {message.name}.{field.wire_name}: unknown type {field.type_name}")
    return messages, constants


def declaration_order(messages):
    """Parts before wholes. A cycle (predicates) is cut at a repeated field: a vector's element may be incomplete there."""
    order, state = [], {}

    def visit(message, cut_allowed):
        if state.get(message.name) == "done":
            return
        if state.get(message.name) == "open":
            if not cut_allowed:
                sys.exit(f"{message.name} contains itself other than by a repeated field")
            return
        state[message.name] = "open"
        for field in message.fields:
            if field.is_message:
                field.of_incomplete = state.get(field.type_name) == "open"
                visit(messages[field.type_name], field.label == "repeated")
        state[message.name] = "done"
        order.append(message)

    # Singular edges first from every start: so a cycle is entered at the side that needs the other whole.
    for message in messages.values():
        visit(message, False)
    return order


def write_constants(out, constants):
    for group, entries in constants.items():
        if group == "ErrorCode":  # base/error_code.h
            continue
        values = [value for _, value, _ in entries]
        if len(entries) > 1 and len(set(values)) == len(values):
            types = {"int8": "int8_t", "int16": "int16_t", "int32": "int32_t"}
            out.append(f"enum class {group} : {types[entries[0][2]]} {{")
            out += [f"  k{pascal_case(name)} = {value}," for name, value, _ in entries]
            out.append("};\n")
        else:
            for name, value, _ in entries:
                suffix = pascal_case(name)
                constant = "NoLeaderId" if suffix == "NoLeader" else group + suffix
                out.append(f"inline constexpr int32_t k{constant} = {value};")
            out.append("")
    out.append('/// "PRODUCE_LOG"; empty for a key that the protocol does not have.')
    out.append("std::string_view ApiKeyName(ApiKey key);\n")


def write_header(messages, constants):
    out = [
        "#pragma once\n",
        BANNER,
        "#include <cstdint>\n#include <optional>\n#include <string_view>\n#include <vector>\n",
        '#include "rpc/message_codec.h"\n#include "rpc/string_arena.h"\n#include "rt/pieces.h"\n',
        "// One struct per message. Texts and bytes are views: decoded ones into the request's buffer, those of a response under\n"
        "// construction into what the handler holds or into `arena`. Decode(), Encode() and EncodedSize(): rpc/message_codec.h.\n",
        "namespace strom::rpc {\n",
    ]
    write_constants(out, constants)
    out += [f"struct {name};" for name in messages]
    out.append("")
    for message in declaration_order(messages):
        out.append(f"struct {message.name} {{")
        out.append(f'  static constexpr std::string_view kMessageName = "{message.name}";')
        out += ["  " + field.declaration() for field in message.fields]
        if message.has_arena:
            out.append("  StringArena arena{};  // owns texts made for this response; not sent")
        out.append("};\n")
    out.append("// The codec's way into each message.")
    for name in messages:
        out.append(f"bool DecodeFields(FieldReader& in, {name}* message);")
        out.append(f"void EncodeFields(const {name}& message, SizeCounter& out);")
        out.append(f"void EncodeFields(const {name}& message, BackwardWriter& out);")
    out.append("\n}  // namespace strom::rpc")
    return "\n".join(out) + "\n"


def decode_cases(field, required_index):
    """The cases of a switch over the whole tag; another wire type of a known field is skipped like an unknown field."""
    seen = "" if required_index is None else f" seen |= 1u << {required_index};"
    target = f"&message->{field.name}"
    if field.label == "repeated" and field.is_number:
        packed = f"case {field.tag(2)}: in.ReadPacked({target}); break;"
        return [f"case {field.tag()}: in.ReadElement({target}); break;", packed]
    verb = "ReadMessage" if field.is_message else "Read"
    return [f"case {field.tag()}: in.{verb}({target});{seen} break;"]


def write_codec(message):
    name = message.name
    out = []
    required = message.required()
    fields = ", ".join(f'{{{field.number}, "{field.wire_name}"}}' for field in message.fields)
    if message.fields:
        out.append(f"constexpr FieldInfo k{name}Fields[] = {{{fields}}};")
    if required:
        names = ", ".join(f'"{field.wire_name}"' for field in required)
        out.append(f"constexpr std::string_view k{name}Required[] = {{{names}}};")
    out.append(
        f'constexpr MessageInfo k{name}{{"{name}", {f"k{name}Fields" if message.fields else "{}"}, '
        f'{f"k{name}Required" if required else "{}"}}};'
    )
    parameter = "message" if message.fields else "/*message*/"
    out.append(f"bool DecodeFields(FieldReader& in, {name}* {parameter}) {{")
    out.append("  uint32_t seen = 0;" if required else "  constexpr uint32_t seen = 0;")
    out.append("  while (in.NextTag()) {")
    if message.fields:
        out.append("    switch (in.tag()) {")
        for field in message.fields:
            index = required.index(field) if field in required else None
            out += ["      " + case for case in decode_cases(field, index)]
        out.append("      default: in.Skip();")
        out.append("    }")
    else:
        out.append("    in.Skip();")
    out.append("  }")
    out.append(f"  return in.Finish(k{name}, seen);")
    out.append("}")
    out.append("template <typename Sink>")
    sink = "out" if message.fields else "/*out*/"
    out.append(f"void EncodeBackwards(const {name}& {parameter}, Sink& {sink}) {{")
    for field in reversed(message.fields):
        verb = "PutMessage" if field.is_message else "PutPacked" if field.packed else "Put"
        if field.wire_name == "error_code":  # in the words of the caller's release: rpc/known_codes.h
            verb = "PutErrorCode"
        tag = field.tag(2) if field.packed else field.tag()
        out.append(f"  out.{verb}({tag}u, message.{field.name});")
    out.append("}")
    for sink in ("SizeCounter", "BackwardWriter"):
        out.append(f"void EncodeFields(const {name}& message, {sink}& out) {{ EncodeBackwards(message, out); }}")
    out.append("")
    return "\n".join(out)


def write_part(messages):
    # Tables have internal linkage by constexpr; only the declared functions are seen outside.
    out = [BANNER, '#include "rpc/messages.h"\n', "namespace strom::rpc {\n"]
    out += [write_codec(message) for message in messages]
    out.append("}  // namespace strom::rpc")
    return "\n".join(out) + "\n"


def write_registry(messages, constants):
    out = [BANNER, '#include "rpc/message_registry.h"\n#include "rpc/messages.h"\n', "namespace strom::rpc {\n", "namespace {\n"]
    out.append(
        "template <Message T>\n"
        "Result<rt::Pieces> Reencode(const Buffer& bytes) {\n"
        "  T message;\n"
        "  STROM_TRY(Decode(bytes, &message));\n"
        "  return Encode(message);\n"
        "}\n"
    )
    for message in messages.values():
        fields = ", ".join(f'{{{field.number}, "{field.wire_name}"}}' for field in message.fields)
        if message.fields:
            out.append(f"constexpr FieldInfo k{message.name}Fields[] = {{{fields}}};")
        required = ", ".join(f'"{field.wire_name}"' for field in message.required())
        if required:
            out.append(f"constexpr std::string_view k{message.name}Required[] = {{{required}}};")
        out.append(
            f'constexpr MessageInfo k{message.name}{{"{message.name}", '
            f'{f"k{message.name}Fields" if message.fields else "{}"}, {f"k{message.name}Required" if required else "{}"}}};'
        )
    out.append("\nconstexpr RegisteredMessage kMessages[] = {")
    out += [f"    {{&k{name}, &Reencode<{name}>}}," for name in messages]
    out.append("};\n\n}  // namespace\n")
    out.append("std::span<const RegisteredMessage> RegisteredMessages() { return kMessages; }\n")
    out.append("std::string_view ApiKeyName(ApiKey key) {\n  switch (key) {")
    out += [f'    case ApiKey::k{pascal_case(name)}: return "{name}";' for name, _, _ in constants["ApiKey"]]
    out.append("  }\n  return {};\n}\n\n}  // namespace strom::rpc")
    return "\n".join(out) + "\n"


def write_file(directory, name, text):
    """Leaves an unchanged file alone, so that nothing is compiled again for it."""
    path = os.path.join(directory, name)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as old:
            if old.read() == text:
                return
    with open(path, "w", encoding="utf-8") as new:
        new.write(text)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    messages, constants = read_definitions(sys.argv[1])
    directory = sys.argv[2]
    os.makedirs(directory, exist_ok=True)
    write_file(directory, "messages.h", write_header(messages, constants))
    everything = list(messages.values())
    for part in range(PART_COUNT):
        write_file(directory, f"messages_{part + 1}.cc", write_part(everything[part::PART_COUNT]))
    write_file(directory, "message_registry_data.cc", write_registry(messages, constants))


if __name__ == "__main__":
    main()
