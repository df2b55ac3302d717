import { putIn, toPython, type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

const formats = ["json", "csv", "yaml"];

/** A tool that turns a text of one format into another. */
export const fileConverter: ToolTemplate = {
  name: "file-converter",
  makes: "tool",
  description:
    "A converter of file formats: JSON to CSV, CSV to JSON, and to and from simple YAML (no anchors, tags or block texts)",
  parameters: closed({
    from: { enum: formats, default: "json", description: "The format that is read when a call does not say" },
    to: { enum: formats, default: "csv", description: "The format that is written when a call does not say" },
    delimiter: { enum: [",", ";", "\t", "|"], default: ",", description: "What stands between two cells of CSV" },
  }),
  toDraft({ name, description, values }) {
    const { from, to, delimiter } = values as { from: string; to: string; delimiter: string };
    return {
      name,
      description: description ?? "Converts a text between JSON, CSV and simple YAML.",
      language: "python",
      code: putIn(program, toPython(delimiter)),
      input: closed(
        {
          text: { type: "string", description: "What to convert" },
          from: { enum: formats, default: from },
          to: { enum: formats, default: to },
        },
        ["text"],
      ),
      output: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      annotations: { readOnly: true, idempotent: true },
      examples: [
        {
          input: { text: '[{"name": "a b", "n": 1}, {"name": "c"}]', from: "json", to: "csv" },
          output: { text: `name${delimiter}n\na b${delimiter}1\nc${delimiter}\n` },
        },
        {
          input: { text: `name${delimiter}n\na${delimiter}1\n`, from: "csv", to: "json" },
          output: { text: '[\n  {\n    "name": "a",\n    "n": "1"\n  }\n]\n' },
        },
        {
          input: { text: 'title: "x: y"\nlist:\n  - 1\n  - true\nmap:\n  a: text # why\n', from: "yaml", to: "json" },
          output: {
            text: '{\n  "title": "x: y",\n  "list": [\n    1,\n    true\n  ],\n  "map": {\n    "a": "text"\n  }\n}\n',
          },
        },
        {
          input: { text: '{"a": [{"b": "1", "c": []}]}', from: "json", to: "yaml" },
          output: { text: 'a:\n  -\n    b: "1"\n    c: []\n' },
        },
      ],
    };
  },
};

const program = String.raw`import csv
import io
import json
import re
import sys

DELIMITER = @VALUES@
DEEPEST = 64


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=DELIMITER))


def write_csv(value):
    rows = value if isinstance(value, list) else [value]
    if not all(isinstance(row, dict) for row in rows):
        sys.exit("Only a list of objects can become CSV")
    names = list(dict.fromkeys(name for row in rows for name in row))
    output = io.StringIO()
    writer = csv.writer(output, delimiter=DELIMITER, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([to_cell(row.get(name)) for name in names])
    return output.getvalue()


def to_cell(value):
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_scalar(text):
    if text in ("", "~", "null"):
        return None
    if text[0] in "\"[{":
        return json.loads(text)
    if text[0] == "'" and text[-1] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if text[0] in "&*!|>%@":
        sys.exit("This kind of YAML is not read here: " + text[:40])
    if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", text) or text in ("true", "false"):
        return json.loads(text)
    return text


def read_lines(text):
    for line in text.replace("\r\n", "\n").split("\n"):
        bare = re.sub(r"^((?:[^\"'#]|\"(?:[^\"\\]|\\.)*\"|'[^']*'|(?<=\S)#)*?)\s+#.*$", r"\1", " " + line)[1:].rstrip()
        if bare.strip() and not bare.lstrip().startswith("#") and bare.strip() != "---":
            if "\t" in bare[: len(bare) - len(bare.lstrip())]:
                sys.exit("YAML is not indented with tabs")
            yield len(bare) - len(bare.lstrip()), bare.strip()


PAIR = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\"'#:\s][^#]*?)\s*:(?:\s+(.*))?$")


def read_block(lines, at, indent, depth):
    if depth > DEEPEST:
        sys.exit("It is too deep")
    if lines[at][1] == "-" or lines[at][1].startswith("- "):
        return read_list(lines, at, indent, depth)
    if PAIR.match(lines[at][1]):
        return read_map(lines, at, indent, depth)
    return read_scalar(lines[at][1]), at + 1


def read_inner(lines, at, indent, depth):
    if at < len(lines) and lines[at][0] > indent:
        return read_block(lines, at, lines[at][0], depth + 1)
    return None, at


def read_list(lines, at, indent, depth):
    items = []
    while at < len(lines) and lines[at][0] == indent and (lines[at][1] == "-" or lines[at][1].startswith("- ")):
        rest = lines[at][1][1:].strip()
        if not rest:
            item, at = read_inner(lines, at + 1, indent, depth)
        elif PAIR.match(rest) or rest == "-" or rest.startswith("- "):
            inner = indent + lines[at][1].index(rest)
            lines[at] = (inner, rest)
            item, at = read_block(lines, at, inner, depth + 1)
        else:
            item, at = read_scalar(rest), at + 1
        items.append(item)
    return items, at


def read_map(lines, at, indent, depth):
    pairs = {}
    while at < len(lines) and lines[at][0] == indent and PAIR.match(lines[at][1]):
        name, rest = PAIR.match(lines[at][1]).groups()
        at += 1
        if rest:
            value = read_scalar(rest)
        elif at < len(lines) and lines[at][0] == indent and lines[at][1].startswith("-"):
            value, at = read_list(lines, at, indent, depth)
        else:
            value, at = read_inner(lines, at, indent, depth)
        pairs[str(read_scalar(name)) if name[0] in "\"'" else name] = value
    return pairs, at


def read_yaml(text):
    lines = list(read_lines(text))
    if not lines:
        return None
    value, at = read_block(lines, 0, lines[0][0], 0)
    if at < len(lines):
        sys.exit("Cannot read this line of YAML: " + lines[at][1][:80])
    return value


def write_yaml(value, indent=0):
    space = " " * indent
    if isinstance(value, dict) and value:
        return "".join(space + to_key(name) + ":" + to_rest(inner, indent) for name, inner in value.items())
    if isinstance(value, list) and value:
        return "".join(space + "-" + to_rest(inner, indent) for inner in value)
    return space + json.dumps(value, ensure_ascii=False) + "\n"


def to_key(name):
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name) else json.dumps(name, ensure_ascii=False)


def to_rest(value, indent):
    if isinstance(value, (dict, list)) and value:
        return "\n" + write_yaml(value, indent + 2)
    return " " + json.dumps(value, ensure_ascii=False) + "\n"


arguments = json.load(sys.stdin)
readers = {"json": json.loads, "csv": read_csv, "yaml": read_yaml}
writers = {
    "json": lambda value: json.dumps(value, indent=2, ensure_ascii=False) + "\n",
    "csv": write_csv,
    "yaml": write_yaml,
}
try:
    value = readers[arguments["from"]](arguments["text"])
except (ValueError, csv.Error, RecursionError) as error:
    sys.exit("Cannot read it as " + arguments["from"] + ": " + str(error))
print(json.dumps({"text": writers[arguments["to"]](value)}))
`;
