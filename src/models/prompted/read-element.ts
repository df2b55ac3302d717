import { wantedTypes } from "../../core/schema/json-schema.ts";
import { convertTo } from "../../core/schema/coerce.ts";
import { maxJsonDepth, type JsonValue } from "../../core/json.ts";
import { setOwn, type CallDraft, type CallStyle, type ReadCalls } from "./call-draft.ts";
import { toInput } from "./json-calls.ts";
import { readJson } from "./read-json.ts";
import { findToken, isOver, matchTag, skipSpace, startsWith, type Source } from "./source.ts";
import { propertiesOf, type CallableTool, type ToolIndex } from "./tool-index.ts";

const space = "(?:[a-z]+:|｜DSML｜)?";
const invokeTag = new RegExp(
  `<${space}(?:invoke|(?:tool|function)(?:_call)?)\\s{1,8}name\\s{0,8}=\\s{0,8}["']?([^"'<>\\n]{1,160})["']?[^<>]{0,80}>`,
  "iuy",
);
const functionTag = /<function\s{0,8}=\s{0,8}["']?([^"'<>\n]{1,160}?)["']?\s{0,8}>/iuy;
const plainTag = /<([A-Za-z][\w.-]{0,159})((?:\s[^<>]{0,300})?\/?)>/uy;
const parameterTag = new RegExp(
  `<${space}(parameter|param|argument|arg)(?:\\s{0,8}=\\s{0,8}["']?([^"'<>\\n]{1,160}?)["']?|\\s{1,8}name\\s{0,8}=\\s{0,8}["']?([^"'<>\\n]{1,160}?)["']?)(?:\\s[^<>]{0,80})?>`,
  "iuy",
);
const closingTag = /<\/([^<>\s]{1,160})\s*>/uy;

/** Reads a call that is written with tags, at a `<`; `undefined` if no call begins there. */
export function readElement(source: Source, at: number, index: ToolIndex): ReadCalls | undefined {
  const invoke = matchTag(source, at, invokeTag);
  if (invoke !== null)
    return readNamed(source, at + invoke[0].length, { name: String(invoke[1]), style: "invoke", index });
  const called = matchTag(source, at, functionTag);
  if (called !== null)
    return readNamed(source, at + called[0].length, { name: String(called[1]), style: "function", index });
  const plain = matchTag(source, at, plainTag);
  // A tag of any other name is a tag.
  const tool = plain === null ? undefined : index.get(String(plain[1]));
  if (plain === null || tool === undefined) return undefined;
  const end = at + plain[0].length;
  const attributes = String(plain[2]);
  if (attributes.trimEnd().endsWith("/")) return fromAttributes(attributes, tool, end);
  if (attributes.trim() !== "") return undefined;
  return readBody(source, end, { name: tool.name, style: "element", tool });
}

interface Named {
  readonly name: string;
  readonly style: CallStyle;
  readonly index: ToolIndex;
}

function readNamed(source: Source, at: number, { name, style, index }: Named): ReadCalls | undefined {
  return readBody(source, at, { name: name.trim(), style, tool: index.find(name.trim()) });
}

interface Owner {
  readonly name: string;
  readonly style: CallStyle;
  readonly tool: CallableTool | undefined;
}

/** Reads the values of a call up to what closes it. Also for a name with `<arg_key>` behind it. */
export function readBody(source: Source, at: number, owner: Owner): ReadCalls | undefined {
  const { name, style, tool } = owner;
  const repairs: string[] = [];
  let place = skipSpace(source, at);
  if (source.text.charAt(place) === "{") return readJsonBody(source, place, owner);
  const input = {};
  let count = 0;
  for (;;) {
    place = skipSpace(source, place);
    const draft = { name, input, style, repairs };
    if (isOver(source, place)) {
      return count === 0 && style === "element" ? undefined : { drafts: [{ ...draft, isCut: true }], end: place };
    }
    const closing = matchTag(source, place, closingTag);
    if (closing !== null) {
      if (style === "element" && !isElementEnd(closing, owner, count)) return broken(source, place, draft, count);
      return { drafts: [{ ...draft, isCut: false }], end: isOwn(closing, name) ? place + closing[0].length : place };
    }
    const value = readParameter(source, place, owner);
    if (value === undefined) return broken(source, place, draft, count);
    if (value.end === undefined) return { drafts: [{ ...draft, isCut: true }], end: source.text.length };
    addValue(input, value.key, value.text, tool);
    count += 1;
    place = value.end;
  }
}

/** An element ends with its own tag, behind what it must hold. */
function isElementEnd(closing: RegExpExecArray, { name, tool }: Owner, count: number): boolean {
  return closing[1] === name && (count > 0 || !hasRequired(tool));
}

/**
 * What went wrong behind a value is no call. It is no text either: what stands in the value would be looked at as if the model had
 * said it.
 */
function broken(source: Source, at: number, draft: Omit<CallDraft, "isCut">, count: number): ReadCalls | undefined {
  if (count === 0) return undefined;
  const isPartOfTag = source.ended && /^<[^<>]{0,200}$/u.test(source.text.slice(at, at + 202));
  return { drafts: [{ ...draft, isCut: true }], end: isPartOfTag ? source.text.length : at };
}

/** A tag that closes this call, and not something around it. */
function isOwn(closing: RegExpExecArray, name: string): boolean {
  return /(?:invoke|function|tool)$/iu.test(String(closing[1])) || closing[1] === name;
}

function hasRequired(tool: CallableTool | undefined): boolean {
  const required = (tool?.inputSchema as { required?: unknown } | undefined)?.required;
  return Array.isArray(required) && required.length > 0;
}

function readJsonBody(source: Source, at: number, { name, style, tool }: Owner): ReadCalls | undefined {
  const read = readJson(source, at);
  if (!read.ok || typeof read.value !== "object" || read.value === null) return undefined;
  const repairs = [...read.repairs];
  const isCut = read.incomplete.has(read.value);
  const draft = { name, input: toInput(read.value, tool, repairs), style, repairs, isCut };
  if (isCut) return { drafts: [draft], end: read.end };
  const place = skipSpace(source, read.end);
  const closing = matchTag(source, place, closingTag);
  const isClosed = closing !== null && isOwn(closing, name);
  if (style === "element" && !isClosed) return undefined;
  return { drafts: [draft], end: isClosed ? place + closing[0].length : read.end };
}

interface Parameter {
  readonly key: string;
  readonly text: string;
  /** None if the answer ended inside it. */
  readonly end: number | undefined;
}

function readParameter(source: Source, at: number, { style, tool }: Owner): Parameter | undefined {
  if (startsWith(source, at, "<arg_key>")) {
    const end = findToken(source, at, "</arg_key>");
    const value = skipSpace(source, end + "</arg_key>".length);
    if (!startsWith(source, value, "<arg_value>")) return undefined;
    return readUntil(
      source,
      value + "<arg_value>".length,
      source.text.slice(at + "<arg_key>".length, end).trim(),
      "arg_value",
    );
  }
  const parameter = matchTag(source, at, parameterTag);
  if (parameter !== null) {
    const [whole, word, byEquals, byName] = parameter;
    const prefix = /^<(?:[a-z]+:|｜DSML｜)?/iu.exec(whole)?.[0].slice(1) ?? "";
    return readUntil(source, at + whole.length, String(byEquals ?? byName).trim(), `${prefix}${word}`);
  }
  const plain = matchTag(source, at, plainTag);
  const name = plain?.[1];
  if (plain === null || name === undefined) return undefined;
  if (style !== "element" && style !== "invoke") return undefined;
  if (tool === undefined || !propertiesOf(tool).some(([property]) => property === name)) return undefined;
  return readUntil(source, at + plain[0].length, name, name);
}

/** Reads a value up to the tag that closes it, whatever is in it: what a model writes into a file may well be a call. */
function readUntil(source: Source, at: number, key: string, tag: string): Parameter {
  const end = findClosing(source, at, tag);
  const text = toPlain(source.text.slice(at, end));
  return { key, text, end: end === source.text.length ? undefined : end + `</${tag}>`.length };
}

/** Finds the tag that closes a value, after the tags that are opened and closed in it; the end of the text if it is missing. */
function findClosing(source: Source, at: number, tag: string): number {
  const closing = `</${tag}>`;
  let open = findOpening(source, at, tag);
  let end = findToken(source, at, closing);
  while (open < end && end < source.text.length) {
    open = findOpening(source, open + 1, tag);
    end = findToken(source, end + 1, closing);
  }
  return end;
}

/** Where the next value of this tag begins; the end of the text if none does. */
function findOpening(source: Source, at: number, tag: string): number {
  const opening = `<${tag}`;
  for (let index = source.text.indexOf(opening, at); index !== -1; index = source.text.indexOf(opening, index + 1)) {
    if (/[\s=>]/u.test(source.text.charAt(index + opening.length))) return index;
  }
  return source.text.length;
}

/** A value stands as it is between its tags, or on lines of its own. */
function toPlain(text: string): string {
  const data = /^\s*<!\[CDATA\[([^]*)\]\]>\s*$/u.exec(text);
  if (data !== null) return String(data[1]);
  return /^\r?\n/u.test(text) ? text.replace(/^\r?\n/u, "").replace(/\r?\n[ \t]*$/u, "") : text;
}

/** Puts a value into the input, as what its property wants to have: between tags there are only texts. */
function addValue(input: object, key: string, text: string, tool: CallableTool | undefined): void {
  const schema = tool === undefined ? undefined : propertiesOf(tool).find(([name]) => name === key)?.[1];
  const types = schema === undefined ? [] : wantedTypes(schema);
  const value = types.includes("string") || types.length === 0 ? text : toType(text, types);
  const before = Object.hasOwn(input, key) ? (input as Record<string, unknown>)[key] : undefined;
  if (before === undefined) setOwn(input, key, value);
  // It is ours: a copy for each value would take time in proportion to their square.
  else if (Array.isArray(before)) before.push(value);
  else setOwn(input, key, [before, value]);
}

function toType(text: string, types: readonly string[]): unknown {
  const trimmed = text.trim();
  for (const type of types) {
    const value: JsonValue | undefined = convertTo(type, trimmed, maxJsonDepth);
    if (value !== undefined) return value;
  }
  return /^[[{]/u.test(trimmed) ? toInput(trimmed, undefined, []) : trimmed;
}

const attribute = /([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gu;

/** `<get_weather city="Paris"/>` */
function fromAttributes(text: string, tool: CallableTool, end: number): ReadCalls | undefined {
  const input = {};
  const known = new Set(propertiesOf(tool).map(([name]) => name));
  for (const [, key, double, single] of text.matchAll(attribute)) {
    if (key === undefined || !known.has(key)) return undefined;
    addValue(input, key, double ?? single ?? "", tool);
  }
  if (Object.keys(input).length === 0 && hasRequired(tool)) return undefined;
  return { drafts: [{ name: tool.name, input, style: "element", repairs: [], isCut: false }], end };
}
