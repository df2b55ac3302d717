import { putIn, toPython, type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

interface CsvReport {
  readonly groupBy: string;
  readonly sumOf: string;
  readonly delimiter: string;
  readonly folder: string;
}

/** A tool that groups the rows of a table and adds up a column. */
export const csvReport: ToolTemplate = {
  name: "csv-report",
  makes: "tool",
  description:
    "A report of a CSV table or spreadsheet export: groups rows by a column, counts them, and gives sum, average, minimum and maximum of a column of numbers",
  parameters: closed({
    groupBy: {
      type: "string",
      minLength: 1,
      maxLength: 200,
      default: "category",
      description: "The column to group by",
    },
    sumOf: { type: "string", minLength: 1, maxLength: 200, default: "amount", description: "The column with numbers" },
    delimiter: { enum: [",", ";", "\t", "|"], default: ",", description: "What stands between two cells" },
    folder: {
      type: "string",
      maxLength: 200,
      default: "",
      description: "A folder whose files it may read, such as ./data; empty: it gets the table as text",
    },
  }),
  toDraft({ name, description, values }) {
    const report = values as unknown as CsvReport;
    const { groupBy, sumOf, delimiter, folder } = report;
    const path = { type: "string", description: `A CSV file below ${folder}, instead of csv` };
    const table = [
      [groupBy, sumOf],
      ["a", "1.5"],
      ["b", "4"],
      ["a", "2"],
    ];
    return {
      name,
      description: description ?? `Groups a CSV table by ${groupBy} and adds up ${sumOf}.`,
      language: "python",
      code: putIn(program, toPython({ groupBy, sumOf, delimiter })),
      input: closed({
        csv: { type: "string", description: "The table, with a line of column names" },
        ...(folder !== "" && { path }),
        groupBy: { type: "string", default: groupBy },
        sumOf: { type: "string", default: sumOf },
      }),
      output,
      annotations: { readOnly: true, idempotent: true },
      ...(folder !== "" && { permissions: { read: [folder] } }),
      examples: [
        {
          input: { csv: table.map((row) => row.map(toCell).join(delimiter)).join("\n") },
          output: {
            rows: 3,
            skipped: 0,
            groups: [
              { group: "a", count: 2, sum: 3.5, average: 1.75, minimum: 1.5, maximum: 2 },
              { group: "b", count: 1, sum: 4, average: 4, minimum: 4, maximum: 4 },
            ],
          },
        },
        {
          description: "A row without a number is counted as skipped",
          input: { csv: [[groupBy, sumOf].map(toCell).join(delimiter), `a${delimiter}?`].join("\n") },
          output: { rows: 1, skipped: 1, groups: [] },
        },
      ],
    };
  },
};

const number = { type: "number" };

const groupSchema = {
  type: "object",
  properties: {
    group: { type: "string" },
    count: { type: "integer" },
    sum: number,
    average: number,
    minimum: number,
    maximum: number,
  },
  required: ["group", "count", "sum", "average", "minimum", "maximum"],
};

const output = {
  type: "object",
  properties: {
    rows: { type: "integer" },
    skipped: { type: "integer", description: "Rows without a number" },
    groups: { type: "array", items: groupSchema },
  },
  required: ["rows", "skipped", "groups"],
};

function toCell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

const program = String.raw`import csv
import io
import json
import math
import sys

SETTINGS = @VALUES@


def read_table(arguments):
    if "path" in arguments:
        try:
            with open(arguments["path"], encoding="utf-8-sig", newline="") as file:
                return file.read()
        except OSError as error:
            sys.exit("Cannot read " + arguments["path"] + ": " + str(error.strerror))
    if "csv" not in arguments:
        sys.exit("csv: give the table")
    return arguments["csv"]


def to_number(text):
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


arguments = json.load(sys.stdin)
group_by = arguments.get("groupBy", SETTINGS["groupBy"])
sum_of = arguments.get("sumOf", SETTINGS["sumOf"])
table = csv.DictReader(io.StringIO(read_table(arguments), newline=""), delimiter=SETTINGS["delimiter"])
names = table.fieldnames or []
for name in (group_by, sum_of):
    if name not in names:
        sys.exit("There is no column " + json.dumps(name) + "; the columns are " + ", ".join(names))

rows = 0
skipped = 0
groups = {}
for row in table:
    rows += 1
    number = to_number(row[sum_of])
    if number is None:
        skipped += 1
    else:
        groups.setdefault(row[group_by] or "", []).append(number)

report = []
for group, numbers in sorted(groups.items()):
    total = math.fsum(numbers)
    report.append({
        "group": group,
        "count": len(numbers),
        "sum": total,
        "average": total / len(numbers),
        "minimum": min(numbers),
        "maximum": max(numbers),
    })
print(json.dumps({"rows": rows, "skipped": skipped, "groups": report}))
`;
