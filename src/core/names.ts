import { KitbagError } from "./errors.ts";
import { showValue } from "./json.ts";

/** The one grammar of names: of tools, components and skills. */
const nameGrammar = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/u;

/** What {@link nameGrammar} says, for messages. */
export const nameRule = 'letters, digits, ".", "_" and "-", starting with a letter or digit, at most 64';

/** Tells whether `text` may be the name of a tool or of an owner. */
export function isName(text: unknown): text is string {
  return typeof text === "string" && nameGrammar.test(text);
}

/** An address, taken apart. */
export interface Address {
  /** The component or skill; none for a bare name. */
  readonly owner?: string;
  readonly name: string;
  readonly version?: string;
}

const addressGrammar = /^(?:plugin:)?(?:([^/@:]+)\/)?([^/@:]+)(?:@([0-9A-Za-z.+-]{1,64}))?$/u;

/** "plugin:", two names, a version and what is between them. */
const longestAddress = 256;

/**
 * Reads `tool`, `owner/tool`, `plugin:owner/tool`, each with or without `@version`.
 *
 * @throws {KitbagError} `address-invalid` if `text` has another form.
 */
export function parseAddress(text: string): Address {
  const isShort = typeof text === "string" && text.length <= longestAddress;
  const [, owner, name, version] = (isShort ? addressGrammar.exec(text) : undefined) ?? [];
  if (!isName(name) || (owner !== undefined && !isName(owner))) {
    throw new KitbagError("address-invalid", { address: typeof text === "string" ? text : showValue(text) });
  }
  return { name, ...(owner !== undefined && { owner }), ...(version !== undefined && { version }) };
}

/** Writes an address: `owner/name`, or the bare name of a global tool. */
export function toAddress(owner: string | undefined, name: string): string {
  return owner === undefined ? name : `${owner}/${name}`;
}

const longestWireName = 64;

/**
 * The name under which models and MCP clients see a tool: `owner__name`, in `[A-Za-z0-9_-]`, at most 64 long. When `taken` has
 * it already, or something had to be changed or cut, a hash of the address makes it unique.
 */
export function toWireName(address: string, taken: (name: string) => boolean): string {
  const plain = address.replace("/", "__");
  const clean = plain.replaceAll(/[^A-Za-z0-9_-]/gu, "_");
  if (clean === plain && clean.length <= longestWireName && !taken(clean)) return clean;
  for (let attempt = 0; ; attempt++) {
    const suffix = `_${hash(`${address}#${attempt}`)}`;
    const name = clean.slice(0, longestWireName - suffix.length) + suffix;
    if (!taken(name)) return name;
  }
}

/** FNV-1a, in seven letters and digits: short and stable, not for secrets. */
function hash(text: string): string {
  return fnv1a(text).toString(36).padStart(7, "0");
}

/** A hash of 32 bits that is quick and easy to guess. */
export function fnv1a(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}
