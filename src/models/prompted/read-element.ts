import { wantedTypes } from "../../core/schema/json-schema.ts";
import { convertTo } from "../../core/schema/coerce.ts";
import { maxJsonDepth } from "../../core/json.ts";
import { readObject, toInput, type CallDraft, type CallOwner, type ReadCalls } from "./call-draft.ts";
import { setOwn } from "./read-value.ts";
import { findToken, isOver, matchAt, matchTag, skipSpace, startsWith, type Source } from "./source.ts";
import { propertiesOf, type CallableTool, type ToolIndex } from "./tool-index.ts";

const space = "(?:[a-z]+:|｜DSML｜)?";
const invokeTag = new RegExp(
  `<${space}(?:invoke|(?:tool|function)(?:_call)?)\\s{1,8}name\\s{0,8}=\\s{0,8}["']?([^"'<>\\n]{1,160})["']?[^<>]{0,80}>`,
  "iuy",
);
/** Claude 2 writes the name as an element, and the values inside `<parameters>`. */
const oldInvoke = /<invoke>\s{0,32}<tool_name>\s{0,32}([^<>]{1,160}?)\s{0,32}<\/tool_name>\s{0,32}(?:<parameters>)?/iuy;
const oldEnd = /(?:<\/parameters>\s{0,32})?<\/invoke>/iuy;
const functionTag = /<function\s{0,8}=\s{0,8}["']?([^"'<>\n]{1,160}?)["']?\s{0,8}>/iuy;
const plainTag = /<([A-Za-z][\w.-]{0,159})((?:\s[^<>]{0,300})?\/?)>/uy;
const parameterTag = new RegExp(
  `<(${space}(?:parameter|param|argument|arg))(?:\\s{0,8}=\\s{0,8}["']?([^"'<>\\n]{1,160}?)["']?|\\s{1,8}name\\s{0,8}=\\s{0,8}["']?([^"'<>\\n]{1,160}?)["']?)(?:\\s[^<>]{0,80})?>`,
  "iuy",
);
const closingTag = /<\/([^<>\s]{1,160})\s*>/uy;

/** Reads a call that is written with tags, at a `<`; `undefined` if no call begins there. */
export function readElement(source: Source, at: number, index: ToolIndex): ReadCalls | undefined {
  const named = [
    ["invoke", invokeTag],
    ["function", functionTag],
  ] as const;
  for (const [style, pattern] of named) {
    const match = matchTag(source, at, pattern);
    if (match === null) continue;
    const name = String(match[1]).trim();
    return readBody(source, at + match[0].length, { name, style, tool: index.find(name) });
  }
  if (startsWith(source, at, "<invoke>")) return readOldInvoke(source, at, index);
  const plain = matchTag(source, at, plainTag);
  // A tag of any other name is a tag.
  const tool = plain === null ? undefined : index.get(String(plain[1]));
  if (plain === null || tool === undefined) return undefined;
  const end = at + plain[0].length;
  const attributes = String(plain[2]);
  if (attributes.trimEnd().endsWith("/")) return fromAttributes(attributes, tool, end);
  return attributes.trim() === "" ? readBody(source, end, { name: tool.name, style: "element", tool }) : undefined;
}

function readOldInvoke(source: Source, at: number, index: ToolIndex): ReadCalls | undefined {
  const match = matchAt(source, at, oldInvoke, 360);
  if (match === null) return undefined;
  const name = String(match[1]);
  const read = readBody(source, at + match[0].length, { name, style: "invoke", tool: index.find(name) });
  if (read === undefined || read.drafts[0]?.isCut === true) return read;
  const end = matchAt(source, read.end, oldEnd, 64);
  return { ...read, end: read.end + (end?.[0].length ?? 0) };
}

/** Reads the values of a call up to what closes it. Also for a name with `<arg_key>` behind it. */
export function readBody(source: Source, at: number, owner: CallOwner): ReadCalls | undefined {
  const { name, style, tool } = owner;
  const isElement = style === "element";
  let place = skipSpace(source, at);
  if (source.text.charAt(place) === "{") return readJsonBody(source, place, owner);
  const input = {};
  const draft = { name, input, style, repairs: [] };
  for (let count = 0; ; count++) {
    place = skipSpace(source, place);
    if (isOver(source, place))
      return count === 0 && isElement ? undefined : { drafts: [{ ...draft, isCut: true }], end: place };
    const closing = matchTag(source, place, closingTag);
    if (closing !== null && isEnd(closing, owner, count))
      return { drafts: [{ ...draft, isCut: false }], end: endOf(closing, place, name) ?? place };
    const value = closing === null ? readParameter(source, place, owner) : undefined;
    if (value === undefined) return count === 0 ? undefined : broken(source, place, draft);
    if (value.end === undefined) return { drafts: [{ ...draft, isCut: true }], end: source.text.length };
    addValue(input, value.key, value.text, tool);
    place = value.end;
  }
}

/** An element ends with its own tag, behind what it must hold. */
function isEnd(closing: RegExpExecArray, { name, style, tool }: CallOwner, count: number): boolean {
  return style !== "element" || (closing[1] === name && (count > 0 || !hasRequired(tool)));
}

/**
 * What went wrong behind a value is no call. It is no text either: what stands in the value would be looked at as if the model had
 * said it.
 */
function broken(source: Source, at: number, draft: Omit<CallDraft, "isCut">): ReadCalls {
  const isPartOfTag = source.ended && /^<[^<>]{0,200}$/u.test(source.text.slice(at, at + 202));
  return { drafts: [{ ...draft, isCut: true }], end: isPartOfTag ? source.text.length : at };
}

/** The end of a tag that closes this call, and not something around it. */
function endOf(closing: RegExpExecArray | null, at: number, name: string): number | undefined {
  if (closing === null) return undefined;
  const isOwn = /(?:invoke|function|tool)$/iu.test(String(closing[1])) || closing[1] === name;
  return isOwn ? at + closing[0].length : undefined;
}

function hasRequired(tool: CallableTool | undefined): boolean {
  const required = (tool?.inputSchema as { required?: unknown } | undefined)?.required;
  return Array.isArray(required) && required.length > 0;
}

function readJsonBody(source: Source, at: number, owner: CallOwner): ReadCalls | undefined {
  const read = readObject(source, at, owner);
  if (read === undefined || read.drafts[0]?.isCut === true) return read;
  const place = skipSpace(source, read.end);
  const end = endOf(matchTag(source, place, closingTag), place, owner.name);
  return owner.style === "element" && end === undefined ? undefined : { ...read, end: end ?? read.end };
}

interface Parameter {
  readonly key: string;
  readonly text: string;
  /** None if the answer ended inside it. */
  readonly end: number | undefined;
}

function readParameter(source: Source, at: number, { style, tool }: CallOwner): Parameter | undefined {
  if (startsWith(source, at, "<arg_key>")) {
    const end = findToken(source, at, "</arg_key>");
    const value = skipSpace(source, end + "</arg_key>".length);
    if (!startsWith(source, value, "<arg_value>")) return undefined;
    const key = source.text.slice(at + "<arg_key>".length, end).trim();
    return readUntil(source, value + "<arg_value>".length, key, "arg_value");
  }
  const parameter = matchTag(source, at, parameterTag);
  if (parameter !== null) {
    const [whole, tag, byEquals, byName] = parameter;
    return readUntil(source, at + whole.length, String(byEquals ?? byName).trim(), String(tag));
  }
  const plain = matchTag(source, at, plainTag);
  const name = plain?.[1];
  if (plain === null || name === undefined || (style !== "element" && style !== "invoke")) return undefined;
  if (tool === undefined || !propertiesOf(tool).some(([property]) => property === name)) return undefined;
  return readUntil(source, at + plain[0].length, name, name);
}

/**
 * Reads a value up to the tag that closes it, behind the tags that are opened and closed in it: what a model writes into a file may
 * well be a call.
 */
function readUntil(source: Source, at: number, key: string, tag: string): Parameter {
  const closing = `</${tag}>`;
  let open = findOpening(source, at, tag);
  let end = findToken(source, at, closing);
  while (open < end && end < source.text.length) {
    open = findOpening(source, open + 1, tag);
    end = findToken(source, end + 1, closing);
  }
  const text = toPlain(source.text.slice(at, end));
  return { key, text, end: end === source.text.length ? undefined : end + closing.length };
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
    const value = convertTo(type, trimmed, maxJsonDepth);
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
