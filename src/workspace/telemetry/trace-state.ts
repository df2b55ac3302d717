import type { TraceState } from "@opentelemetry/api";

/** As the W3C says it. */
const mostMembers = 32;
const longestText = 8192;
const keyGrammar = /^[a-z0-9][a-z0-9_*/@-]{0,255}$/u;
const valueGrammar = /^[ -~]{1,256}$/u;

/**
 * Reads what vendors have added to a trace, as `tracestate` says it: `vendor=value,other=value`. Members that are wrong, a text
 * that is too long, and what is behind 32 members are left out.
 */
export function parseTraceState(text: string): TraceState {
  const members = (text.length > longestText ? "" : text).split(",").slice(0, mostMembers);
  return toTraceState(new Map(members.map(toMember).filter(([key, value]) => isMember(key, value))));
}

function toMember(text: string): readonly [key: string, value: string] {
  const member = text.trim();
  const equals = member.indexOf("=");
  return [member.slice(0, Math.max(0, equals)), member.slice(equals + 1)];
}

function isMember(key: string, value: string): boolean {
  return keyGrammar.test(key) && valueGrammar.test(value) && !value.includes("=");
}

function toTraceState(members: ReadonlyMap<string, string>): TraceState {
  const without = (key: string): (readonly [string, string])[] => [...members].filter(([other]) => other !== key);
  return {
    get: (key) => members.get(key),
    // What was changed last goes first.
    set: (key, value) => toTraceState(new Map([[key, value], ...without(key)])),
    unset: (key) => toTraceState(new Map(without(key))),
    serialize: () => Array.from(members, ([key, value]) => `${key}=${value}`).join(","),
  };
}
