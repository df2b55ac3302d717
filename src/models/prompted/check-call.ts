import { KitbagError, quote, toFailure, type Problem } from "../../core/errors.ts";
import { copyJson, isRecord, maxJsonDepth, type JsonCopy, type JsonObject, type JsonValue } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Coercion } from "../../core/schema/coerce.ts";
import { checkSchema } from "../../core/schema/check-schema.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import { checkLeniently, type Checked } from "../../core/schema/validator.ts";
import type { CallDraft, CallStyle } from "./call-draft.ts";
import { foldName, propertiesOf, type CallableTool, type ToolIndex } from "./tool-index.ts";

/** A call that was found in a text, and fits its tool. */
export interface FoundCall {
  /** The tool's own name, however the model spelt it. */
  readonly name: string;
  /** With defaults filled in, and what models get wrong put right, as when the tool is called. */
  readonly input: JsonObject;
  readonly style: CallStyle;
  /** What was changed to make it a call, in words; empty if it was right as it stood. */
  readonly repairs: readonly string[];
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
}

/** Something that was meant as a call and cannot be made. */
export interface CallProblem {
  /** `unknown-tool`: no tool has that name. `input`: the input does not fit. `cut-off`: the text ended inside. `unreadable`: the rest. */
  readonly kind: "unknown-tool" | "input" | "cut-off" | "unreadable";
  /** As the model wrote it, or the tool's own if there is such a tool; none if not even that could be read. */
  readonly name?: string;
  /** The input as JSON if it could be read, otherwise the raw text of the whole call, which cannot be mistaken for an input. */
  readonly input: string;
  /** For the model: what is wrong and what to do. */
  readonly message: string;
  /** What is wrong and what to do, if the input cannot be read: `cut-off`, `unreadable`. */
  readonly reason?: string;
  readonly start: number;
  readonly end: number;
}

/** Where something stands, and the text there. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly raw: string;
}

/** What a draft turned out to be: a piece of the answer. */
export type CheckedDraft =
  | { readonly type: "call"; readonly call: FoundCall }
  | { readonly type: "problem"; readonly problem: CallProblem; readonly raw: string };

/** The largest input of a call. */
const limits = { maxBytes: 8_000_000, maxDepth: maxJsonDepth };

/** Turns a draft into a call of one of the tools, or says why that is not possible. */
export function checkDraft(draft: CallDraft, index: ToolIndex, { start, end, raw }: Span): CheckedDraft {
  const tool = index.find(draft.name);
  const refuse = (kind: CallProblem["kind"], told: Pick<CallProblem, "message" | "reason">): CheckedDraft => {
    // An input that was cut off must not look complete.
    const copy = kind === "cut-off" ? undefined : copyJson(draft.input, limits);
    const input = copy?.ok === true ? JSON.stringify(copy.value) : raw;
    return { type: "problem", problem: { kind, name: tool?.name ?? draft.name, input, ...told, start, end }, raw };
  };
  if (tool === undefined) return refuse("unknown-tool", { message: describeUnknown(draft.name, index) });
  const { name } = tool;
  if (draft.isCut) {
    const reason = `the answer ended inside the call, behind ${quote(endOf(raw))}; write the whole call again`;
    return refuse("cut-off", { message: toFailure("call-unreadable", { tool: name, reason }).message, reason });
  }
  const checked = checkInput(tool, draft.input);
  if (!checked.ok) return refuse("input", { message: checked.message });
  const renamed = draft.name === name ? [] : [`the name ${quote(draft.name)} was read as ${quote(name)}`];
  const repairs = [...new Set([...renamed, ...draft.repairs, ...checked.repairs])];
  return { type: "call", call: { name, input: checked.input, style: draft.style, repairs, start, end } };
}

/** The problem of what was meant as a call and cannot be read; `written` is the name that it may have. */
export function toUnreadable(written: string | undefined, index: ToolIndex, { start, end, raw }: Span): CheckedDraft {
  const name = written === undefined ? undefined : (index.find(written)?.name ?? written);
  const reason = `it is not JSON; write it again as {"name": …, "arguments": {…}} with every text in double quotes`;
  const message = `Cannot read the call${name === undefined ? "" : ` of ${quote(name)}`}: ${reason}`;
  const named = name === undefined ? {} : { name };
  return { type: "problem", problem: { kind: "unreadable", ...named, input: raw, message, reason, start, end }, raw };
}

const mostEnd = 40;

/** The last words of what was written, from which a model sees where it was. */
function endOf(raw: string): string {
  const line = raw.trimEnd().split("\n").at(-1) ?? "";
  return line.length > mostEnd ? `…${line.slice(-mostEnd).toWellFormed()}` : line;
}

function describeUnknown(name: string, { names }: ToolIndex): string {
  const nearest = nearestNames(name, names).map(quote).join(" or ");
  const known =
    nearest === "" ? `the tools are ${names.slice(0, 20).map(quote).join(", ")}` : `did you mean ${nearest}`;
  return `Cannot call ${quote(name)}: there is no such tool; ${names.length === 0 ? "there are no tools" : known}`;
}

/** An input that fits, or the reason why it does not. */
export type CheckedInput =
  | { readonly ok: true; readonly input: JsonObject; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Checks what was written as the input of a tool against its schema, as leniently as a call does. */
export function checkInput(tool: CallableTool, input: unknown): CheckedInput {
  const fail = (problems: readonly Problem[]): CheckedInput => {
    return { ok: false, message: new KitbagError("input-invalid", { tool: tool.name, problems }).message };
  };
  const copy = copyJson(input, limits);
  if (!copy.ok)
    return fail([copy.reason === "not-json" ? copy.problem : { path: "", expected: "less", found: "too much" }]);
  const schema = tool.inputSchema as JsonSchema;
  const first = check(schema, copy.value);
  // The check may have changed what it was given: the names are changed in another copy.
  const renamed = first.ok ? undefined : renameKeys(tool, copyJson(input, limits));
  const last = renamed === undefined ? first : check(schema, renamed.input);
  if (!last.ok) return fail(first.ok ? [] : first.problems);
  const repairs = [...(renamed?.repairs ?? []), ...last.coerced.map(describe)];
  return { ok: true, input: last.value as JsonObject, repairs };
}

function describe({ path, from, to }: Coercion): string {
  return `${path === "" ? "the input" : path}: ${from} was read as ${to}`;
}

/** Whether a schema can be checked against; what is wrong with the others is said where the tool is called. */
const usable = new WeakMap<JsonSchema, boolean>();

function check(schema: JsonSchema, value: JsonValue): Checked {
  if (!isRecord(value)) return { ok: false, problems: [{ path: "", expected: "an object", found: "something else" }] };
  if (!isSchemaObject(schema)) return { ok: true, value, coerced: [] };
  const isUsable = usable.get(schema) ?? checkSchema(schema).length === 0;
  usable.set(schema, isUsable);
  return isUsable ? checkLeniently(schema, value) : { ok: true, value, coerced: [] };
}

/** Renames unknown properties to the tool's own if they differ only in case and separators. */
function renameKeys(tool: CallableTool, copy: JsonCopy): { input: JsonValue; repairs: string[] } | undefined {
  if (!copy.ok || !isRecord(copy.value)) return undefined;
  const input = copy.value;
  const names = propertiesOf(tool).map(([name]) => name);
  const renamed: Record<string, JsonValue> = {};
  const repairs: string[] = [];
  for (const [key, value] of Object.entries(input)) {
    const meant = names.filter((name) => foldName(name) === foldName(key));
    const target = names.includes(key) || meant.length !== 1 ? key : String(meant[0]);
    if (Object.hasOwn(renamed, target) || (target !== key && Object.hasOwn(input, target))) return undefined;
    if (target !== key) repairs.push(`the property ${quote(key)} was read as ${quote(target)}`);
    renamed[target] = value;
  }
  return repairs.length === 0 ? undefined : { input: renamed, repairs };
}
