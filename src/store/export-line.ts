import { KitbagError } from "../core/errors.ts";
import { showValue, type JsonValue } from "../core/json.ts";
import { readLines } from "../platform/lines.ts";

/** One line of an export, as JSON. */
export type ExportLine =
  | { readonly type: "store"; readonly version: number }
  | { readonly type: "value"; readonly key: string; readonly value: JsonValue; readonly expiresInMs?: number }
  | { readonly type: "entry"; readonly stream: string; readonly time: number; readonly value: JsonValue }
  | { readonly type: "blob"; readonly digest: string; readonly size: number }
  /** The next bytes of the blob before. */
  | { readonly type: "bytes"; readonly base64: string }
  | ({ readonly type: "end" } & ExportCounts);

/** How much an export has. */
export interface ExportCounts {
  readonly values: number;
  readonly entries: number;
  readonly blobs: number;
}

/** A value of 32 MiB may be six times as long as JSON. */
const longestLine = 256 * 1024 * 1024;

/** The version of the form of an export. */
export const exportVersion = 1;

const fields: Readonly<Record<ExportLine["type"], Readonly<Record<string, string>>>> = {
  store: { version: "number" },
  value: { key: "string" },
  entry: { stream: "string", time: "number" },
  blob: { digest: "string", size: "number" },
  bytes: { base64: "string" },
  end: { values: "number", entries: "number", blobs: "number" },
};

/** The lines of an export. */
export interface ExportLines {
  /**
   * The next line; `undefined` at the end.
   *
   * @throws {KitbagError} `store-value-invalid` if it is not a line of an export.
   */
  next(): Promise<ExportLine | undefined>;
  /** The error for the line that was read last. */
  wrong(expected: string, found: string): KitbagError;
}

/** Reads the lines of an export, whose bytes come in pieces of any size. */
export function createExportLines(source: AsyncIterable<Uint8Array>): ExportLines {
  const texts = readLines(source, { maxBytes: longestLine });
  let number = 0;

  function wrong(expected: string, found: string): KitbagError {
    const problems = [{ path: "", expected, found }];
    return new KitbagError("store-value-invalid", { where: `line ${number} of the export`, problems });
  }

  return {
    wrong,
    async next() {
      number += 1;
      const { done, value } = await texts.next().catch((cause: unknown) => {
        throw cause instanceof RangeError ? wrong(`a line of at most ${longestLine} bytes`, "a longer one") : cause;
      });
      if (done === true) return undefined;
      const line = parse(value);
      const problem = findProblem(line);
      if (problem) throw wrong(...problem);
      return line as ExportLine;
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What was expected of a line, and what was found. */
function findProblem(line: unknown): readonly [expected: string, found: string] | undefined {
  if (typeof line !== "object" || line === null) return ["a JSON object", showValue(line)];
  const type = fieldOf(line, "type");
  if (typeof type !== "string" || !Object.hasOwn(fields, type)) {
    return [`a "type" that is one of ${Object.keys(fields).join(", ")}`, showValue(type)];
  }
  for (const [name, kind] of Object.entries(fields[type as ExportLine["type"]])) {
    const found = fieldOf(line, name);
    if (typeof found !== kind) return [`a ${kind} as "${name}"`, showValue(found)];
  }
  return undefined;
}

function fieldOf(line: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(line, name)?.value;
}
