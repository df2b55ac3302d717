import type { JsonValue } from "../../../core/json.ts";
import type { FlagPart } from "../argv-mapping.ts";
import type { ValueFacts } from "../value-schema.ts";
import type { PythonValue } from "./python-facts.ts";

/** What a Python type or converter says about a value. */
export interface TypeFacts extends Pick<ValueFacts, "type" | "choices" | "minimum" | "maximum" | "file"> {
  readonly booleans?: FlagPart["booleans"];
  /** The value is given as JSON text. */
  readonly json?: true;
}

const booleanMaker = /^(?:_?str(?:ing)?_?(?:2|to)_?bool|_?parse_?bool(?:ean)?|boolean|strtobool)$/iu;

/** What the names of types and of converters say. `type=bool` takes every text but the empty one for true. */
const namedTypes: Readonly<Record<string, TypeFacts>> = {
  int: { type: "integer" },
  long: { type: "integer" },
  float: { type: "number" },
  Decimal: { type: "number" },
  bool: { type: "boolean", booleans: ["true", ""] },
  loads: { json: true },
};

/** Reads the `type` of an argument: `int`, `Path`, a function, an enumeration; optparse writes it as text. */
export function fromType(value: PythonValue | undefined): TypeFacts {
  if (value === undefined) return {};
  if (value.enum !== undefined) return { choices: value.enum };
  if (value.returns === "int") return { type: "integer", ...limitsOf(value) };
  if (value.returns === "float") return { type: "number", ...limitsOf(value) };
  const name = value.name?.split(".").at(-1) ?? text(value) ?? "";
  if (value.returns === "bool" || booleanMaker.test(name)) return { type: "boolean" };
  return (Object.hasOwn(namedTypes, name) ? namedTypes[name] : undefined) ?? fileFrom(name, value);
}

/** `FileType("w")` of argparse; `File("w")` and `Path(writable=True)` of click. */
function fileFrom(name: string, { values, keywords = {} }: PythonValue): TypeFacts {
  if (name === "Path" || name === "PurePath") return { file: known(keywords["writable"]) === true ? "write" : "path" };
  if (name !== "FileType" && name !== "File") return {};
  return { file: /[wax+]/u.test(text(values?.[0] ?? keywords["mode"]) ?? "") ? "write" : "read" };
}

function limitsOf({ minimum, maximum }: PythonValue): TypeFacts {
  return { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
}

/** Choices; a row of whole numbers is told by its ends. */
export function fromChoices(value: PythonValue | undefined, type: ValueFacts["type"]): TypeFacts {
  const list = value?.enum ?? (isList(value?.value) ? value.value : keysOf(value?.value));
  if (list === undefined && value?.minimum !== undefined) return { type: "integer", ...limitsOf(value) };
  if (list === undefined || list.length === 0) return {};
  const isRow =
    list.length > 3 && list.every((item, index) => Number.isInteger(item) && item === Number(list[0]) + index);
  if (isRow && type !== "number") return { type: "integer", minimum: Number(list[0]), maximum: Number(list.at(-1)) };
  return { choices: list };
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function keysOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return typeof value === "object" && value !== null && !isList(value) ? Object.keys(value) : undefined;
}

/** The known value of a keyword. */
export function known(value: PythonValue | undefined): JsonValue | undefined {
  return value?.value;
}

/** The text of a keyword. */
export function text(value: PythonValue | undefined): string | undefined {
  return typeof value?.value === "string" ? value.value : undefined;
}
