import { setOwn, type ReadCalls } from "./call-draft.ts";
import { createReader, readAny, skipFiller, type Reader } from "./read-value.ts";
import { isOver, mostRunaways, needMore, type Source } from "./source.ts";
import { propertiesOf, singleProperty, type CallableTool } from "./tool-index.ts";

/** What is in the brackets of a call. */
interface Arguments {
  readonly positional: unknown[];
  readonly named: Record<string, unknown>;
}

/**
 * Reads `(…)` behind the name of a tool: values by position or by name, as Python and JavaScript write them. `undefined` if there
 * is anything in it that is no literal: then it is code or documentation.
 *
 * Contract: throws `needMore` and nothing else.
 */
export function readExpression(source: Source, open: number, tool: CallableTool, name: string): ReadCalls | undefined {
  if (source.runaways >= mostRunaways) return undefined;
  const reader = createReader(source, open + 1, true);
  try {
    const found = readArguments(reader);
    const isCut = found === undefined;
    if (isCut) source.runaways += 1;
    const repairs = [...reader.repairs].filter((repair) => repair !== "quotes were put around keys");
    const input = found === undefined ? {} : toInput(found, tool, repairs);
    if (input === undefined) return undefined;
    return { drafts: [{ name, input, style: "expression", repairs, isCut }], end: reader.at };
  } catch (cause) {
    if (cause === needMore) throw cause;
    return undefined;
  }
}

/** The arguments up to the closing bracket; `undefined` if the answer ends before it. */
function readArguments(reader: Reader): Arguments | undefined {
  const { source } = reader;
  const found: Arguments = { positional: [], named: {} };
  for (;;) {
    skipFiller(reader);
    if (isOver(source, reader.at)) return undefined;
    if (source.text.charAt(reader.at) === ")") {
      reader.at += 1;
      return found;
    }
    const key = readKeyword(reader);
    const value = readAny(reader, "argument");
    if (value === undefined || reader.incomplete.size > 0) return undefined;
    if (key === undefined) found.positional.push(value);
    else setOwn(found.named, key, value);
    skipFiller(reader);
    if (isOver(source, reader.at)) return undefined;
    const next = source.text.charAt(reader.at);
    if (next === ",") reader.at += 1;
    else if (next !== ")") throw needsBracket;
  }
}

const needsBracket = new Error("A comma or a bracket is missing");

function readKeyword(reader: Reader): string | undefined {
  const { source } = reader;
  let end = reader.at;
  while (!isOver(source, end) && /[\w$-]/u.test(source.text.charAt(end))) end += 1;
  const word = source.text.slice(reader.at, end);
  while (!isOver(source, end) && source.text.charAt(end) === " ") end += 1;
  source.steps += end - reader.at;
  if (word === "" || !/^[A-Za-z_$]/u.test(word)) return undefined;
  if (source.text.charAt(end) !== "=" && source.text.charAt(end) !== ":") return undefined;
  reader.at = end + 1;
  return word;
}

function toInput({ positional, named }: Arguments, tool: CallableTool, repairs: string[]): unknown {
  const names = propertiesOf(tool).map(([name]) => name);
  const [first] = positional;
  if (positional.length === 0) return named;
  if (positional.length === 1 && Object.keys(named).length === 0 && isInput(first, names)) return first;
  if (positional.length === 1 && Object.keys(named).length === 0) {
    const only = singleProperty(tool);
    if (only !== undefined) return { [only]: first };
  }
  if (positional.length > names.length) return undefined;
  const input: Record<string, unknown> = {};
  for (const [place, value] of positional.entries()) setOwn(input, String(names[place]), value);
  for (const key of Object.keys(named)) {
    if (Object.hasOwn(input, key)) return undefined;
    setOwn(input, key, named[key]);
  }
  if (positional.length > 1) repairs.push("values were taken in the order of the properties");
  return input;
}

/** `tool({ city: "Paris" })`: the object is the input itself, if it has the tool's properties. */
function isInput(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).every((key) => names.includes(key))
  );
}
