import type { JsonValue } from "../../../core/json.ts";
import type { FlagPart } from "../argv-mapping.ts";
import type { ValueFacts } from "../value-schema.ts";
import type { PythonValue } from "./python-facts.ts";

/** What a Python type or converter says about a value. */
export interface TypeFacts extends Pick<ValueFacts, "type" | "choices" | "minimum" | "maximum"> {
  readonly booleans?: FlagPart["booleans"];
  /** The value is given as JSON text. */
  readonly json?: true;
}

/** Reads the `type` of an argument: `int`, `Path`, a function, an enumeration. */
export function fromType(value: PythonValue | undefined): TypeFacts {
  if (value?.name === undefined) return {};
  if (value.enum !== undefined) return { choices: value.enum };
  const name = value.name.split(".").at(-1) ?? "";
  if (value.returns === "int" || name === "int") return { type: "integer", ...limitsOf(value) };
  if (value.returns === "float" || name === "float" || name === "Decimal")
    return { type: "number", ...limitsOf(value) };
  // `type=bool` takes every text but the empty one for true.
  if (name === "bool") return { type: "boolean", booleans: ["true", ""] };
  if (
    value.returns === "bool" ||
    /^(?:_?str(?:ing)?_?(?:2|to)_?bool|_?parse_?bool(?:ean)?|boolean|strtobool)$/iu.test(name)
  )
    return { type: "boolean" };
  return name === "loads" ? { json: true } : {};
}

function limitsOf({ minimum, maximum }: PythonValue): TypeFacts {
  return { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
}

/** Choices; a row of whole numbers is told by its ends. */
export function fromChoices(value: PythonValue | undefined, type: ValueFacts["type"]): TypeFacts {
  const list = value?.enum ?? (isList(value?.value) ? value.value : keysOf(value?.value));
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
