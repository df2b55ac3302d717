import { KitbagError, quote, toFailure } from "../../core/errors.ts";
import { isRecord, copyJson, maxJsonDepth, type JsonObject, type JsonValue } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Coercion } from "../../core/schema/coerce.ts";
import { checkSchema } from "../../core/schema/check-schema.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import { checkLeniently, type Checked } from "../../core/schema/validator.ts";
import { type CallDraft, type CallStyle } from "./call-draft.ts";
import { propertiesOf, type CallableTool, type ToolIndex } from "./tool-index.ts";

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
  /** What is wrong and what to do, if it is not the input that can be looked at: `cut-off`, `unreadable`. */
  readonly reason?: string;
  readonly start: number;
  readonly end: number;
}

/** Where something stands. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** The text there. */
  readonly raw: string;
}

/** What a draft turned out to be. */
export type CheckedDraft =
  | { readonly ok: true; readonly call: FoundCall }
  | { readonly ok: false; readonly problem: CallProblem };

/** The largest input of a call. */
const maxBytes = 8_000_000;

/** Turns a draft into a call of one of the tools, or says why that is not possible. */
export function checkDraft(draft: CallDraft, index: ToolIndex, span: Span): CheckedDraft {
  const tool = index.find(draft.name);
  if (tool === undefined) return refuse(draft, "unknown-tool", { message: describeUnknown(draft.name, index) }, span);
  const named = { ...draft, name: tool.name };
  if (draft.isCut) {
    const reason = `the answer ended inside the call, behind ${quote(endOf(span.raw))}; write the whole call again`;
    const { message } = toFailure("call-unreadable", { tool: tool.name, reason });
    return refuse(named, "cut-off", { message, reason }, span);
  }
  const repairs = draft.name === tool.name ? [] : [`the name ${quote(draft.name)} was read as ${quote(tool.name)}`];
  const checked = checkInput(tool, draft.input);
  if (!checked.ok) return refuse(named, "input", checked, span);
  const all = [...new Set([...repairs, ...draft.repairs, ...checked.repairs])];
  return {
    ok: true,
    call: { name: tool.name, input: checked.input, style: draft.style, repairs: all, start: span.start, end: span.end },
  };
}

const mostEnd = 40;

/** The last words of what was written, from which a model sees where it was. */
function endOf(raw: string): string {
  const line = raw.trimEnd().split("\n").at(-1) ?? "";
  return line.length > mostEnd ? `…${line.slice(-mostEnd).toWellFormed()}` : line;
}

function refuse(
  draft: CallDraft,
  kind: CallProblem["kind"],
  { message, reason }: Pick<CallProblem, "message" | "reason">,
  { start, end, raw }: Span,
): CheckedDraft {
  // An input that was cut off must not look complete.
  const copy = kind === "cut-off" ? undefined : copyJson(draft.input, { maxBytes, maxDepth: maxJsonDepth });
  const input = copy?.ok === true ? JSON.stringify(copy.value) : raw;
  const told = reason === undefined ? { message } : { message, reason };
  return { ok: false, problem: { kind, name: draft.name, input, ...told, start, end } };
}

function describeUnknown(name: string, { names }: ToolIndex): string {
  const nearest = nearestNames(name, names);
  const shown = nearest.length > 0 ? nearest : names.slice(0, 20);
  const cure = nearest.length > 0 ? "did you mean" : "the tools are";
  const list = shown.map(quote).join(nearest.length > 0 ? " or " : ", ");
  return `Cannot call ${quote(name)}: there is no such tool; ${names.length === 0 ? "there are no tools" : `${cure} ${list}`}`;
}

/** An input that fits, or the reason why it does not. */
export type CheckedInput =
  | { readonly ok: true; readonly input: JsonObject; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Checks what was written as the input of a tool against its schema, as leniently as a call does. */
export function checkInput(tool: CallableTool, input: unknown): CheckedInput {
  const copy = copyJson(input, { maxBytes, maxDepth: maxJsonDepth });
  if (!copy.ok) {
    const problem = copy.reason === "not-json" ? copy.problem : { path: "", expected: "less", found: "too much" };
    return { ok: false, message: new KitbagError("input-invalid", { tool: tool.name, problems: [problem] }).message };
  }
  const checked = check(tool.inputSchema as JsonSchema, copy.value);
  if (checked.ok) return { ok: true, input: checked.value as JsonObject, repairs: checked.coerced.map(describe) };
  const renamed = renameKeys(tool, input);
  if (renamed !== undefined) {
    const again = check(tool.inputSchema as JsonSchema, renamed.input);
    if (again.ok) {
      return {
        ok: true,
        input: again.value as JsonObject,
        repairs: [...renamed.repairs, ...again.coerced.map(describe)],
      };
    }
  }
  return {
    ok: false,
    message: new KitbagError("input-invalid", { tool: tool.name, problems: checked.problems }).message,
  };
}

function describe({ path, from, to }: Coercion): string {
  return `${path === "" ? "the input" : path}: ${from} was read as ${to}`;
}

/** Schemas that can be checked against; what is wrong with the others is said where the tool is called. */
const usable = new WeakMap<JsonSchema, boolean>();

function check(schema: JsonSchema, value: JsonValue): Checked {
  if (!isRecord(value)) return { ok: false, problems: [{ path: "", expected: "an object", found: "something else" }] };
  return isUsable(schema) ? checkLeniently(schema, value) : { ok: true, value, coerced: [] };
}

function isUsable(schema: JsonSchema): boolean {
  if (!isSchemaObject(schema)) return false;
  let answer = usable.get(schema);
  if (answer === undefined) {
    answer = checkSchema(schema).length === 0;
    usable.set(schema, answer);
  }
  return answer;
}

/** Renames unknown properties to the tool's own if they differ only in case and separators. */
function renameKeys(tool: CallableTool, input: unknown): { input: JsonValue; repairs: string[] } | undefined {
  const copy = copyJson(input, { maxBytes, maxDepth: maxJsonDepth });
  if (!copy.ok || !isRecord(copy.value)) return undefined;
  const names = propertiesOf(tool).map(([name]) => name);
  const renamed: Record<string, JsonValue> = {};
  const repairs: string[] = [];
  for (const key of Object.keys(copy.value)) {
    const meant = names.filter((name) => fold(name) === fold(key));
    const target = names.includes(key) || meant.length !== 1 ? key : String(meant[0]);
    if (Object.hasOwn(renamed, target) || (target !== key && Object.hasOwn(copy.value, target))) return undefined;
    if (target !== key) repairs.push(`the property ${quote(key)} was read as ${quote(target)}`);
    renamed[target] = copy.value[key] as JsonValue;
  }
  return repairs.length === 0 ? undefined : { input: renamed, repairs };
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
}
