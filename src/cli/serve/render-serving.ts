import { toPrintableLine } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

/** What is served, for a person. */
export interface ServingFacts {
  readonly url: string;
  readonly publicUrl?: string;
  /** The token that the first start made: it is shown this once. */
  readonly token?: string;
  /** Tools that are there at once. */
  readonly tools: number;
  readonly skills: number;
  /** Tools that are there while their skill is open. */
  readonly skillTools: number;
  /** The name of the sandbox; `off` without one, `missing` if none works. */
  readonly sandbox: string;
  readonly store: string;
  /** What callers need; nothing if everybody on this machine is let in. */
  readonly access: readonly string[];
}

/** Lays out what is served. What is dangerous is red. */
export function renderServing(facts: ServingFacts, terminal: Pick<Terminal, "style">): string {
  const lines: readonly (readonly [name: string, value: string])[] = [
    ["URL", terminal.style("bold", toPrintableLine(facts.url))],
    ...(facts.publicUrl === undefined ? [] : [["Public", toPrintableLine(facts.publicUrl)] as const]),
    ...(facts.token === undefined ? [] : [["Token", toPrintableLine(facts.token)] as const]),
    ["Tools", String(facts.tools)],
    ["Skills", `${facts.skills}, with ${facts.skillTools} tools`],
    ["Sandbox", showSandbox(facts.sandbox, terminal)],
    ["Store", toPrintableLine(facts.store)],
    ["Access", showAccess(facts.access)],
  ];
  const hint =
    "Clients send the token as Authorization: Bearer. It is not shown again; kitbag token add <name> makes others.";
  return [
    ...lines.map(([name, value]) => `${name.padEnd(9)}${value}`),
    "",
    ...(facts.token === undefined ? [] : [hint]),
    "Ctrl-C stops it; calls may finish.",
  ].join("\n");
}

function showSandbox(name: string, { style }: Pick<Terminal, "style">): string {
  if (name === "off") return style("red", "off: what runs can read and change all that you can");
  return name === "missing" ? style("red", "none works, so no script runs; see kitbag doctor") : toPrintableLine(name);
}

function showAccess(access: readonly string[]): string {
  const names = access.map((kind) => (kind === "token" ? "a token" : "a JWT (OAuth)"));
  return names.length === 0 ? "everybody on this machine; no token" : `with ${names.join(" or ")}`;
}
