import { hash } from "node:crypto";

import type { ModelTool } from "../../models/model.ts";
import type { ModelAnswered } from "../events.ts";

/** The tools that a model is shown: a digest of all of them, and by their names one of each. */
export interface ToolDigests {
  readonly all: string;
  readonly each: ReadonlyMap<string, string>;
}

const ofLists = new WeakMap<readonly ModelTool[], ToolDigests>();
const ofTools = new WeakMap<ModelTool, string>();
/** Long enough to tell what is said of a tool from what was said of it before. */
const shortLength = 8;

/** The digests of a list of tools; computed once for each list, and for each tool. */
function digestTools(tools: readonly ModelTool[]): ToolDigests {
  let digests = ofLists.get(tools);
  if (digests === undefined) {
    const texts = tools.map((tool) => JSON.stringify(tool));
    const each = new Map(tools.map((tool, index) => [tool.name, digestTool(tool, texts[index] as string)]));
    digests = { all: toDigest(`[${texts.join(",")}]`), each };
    ofLists.set(tools, digests);
  }
  return digests;
}

function digestTool(tool: ModelTool, text: string): string {
  let digest = ofTools.get(tool);
  if (digest === undefined) ofTools.set(tool, (digest = toDigest(text).slice(0, shortLength)));
  return digest;
}

function toDigest(text: string): string {
  return hash("sha256", text, "base64url");
}

/** What an answer says about tools. */
type ToolsOfAnswer = Pick<ModelAnswered, "tools" | "toolChanges">;

/** Keeps what a model was shown last, so that an answer says only what has changed. */
export class ShownTools {
  #list: readonly ModelTool[] | undefined;
  #each: ReadonlyMap<string, string>;

  constructor(each: ReadonlyMap<string, string> = new Map()) {
    this.#each = each;
  }

  /** What the answer to a question with these tools says about them. */
  describe(tools: readonly ModelTool[]): ToolsOfAnswer {
    const { all, each } = digestTools(tools);
    if (tools === this.#list) return { tools: all };
    const changes = compareTools(this.#each, each);
    this.#list = tools;
    this.#each = each;
    return Object.keys(changes).length === 0 ? { tools: all } : { tools: all, toolChanges: changes };
  }
}

function compareTools(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): NonNullable<ModelAnswered["toolChanges"]> {
  const come = [...now].filter(([name, digest]) => before.get(name) !== digest);
  const gone = [...before.keys()].filter((name) => !now.has(name)).map((name) => [name, null] as const);
  return Object.fromEntries<string | null>([...come, ...gone]);
}

/** Notes in `shown` what an answer says about tools. */
export function addToolChanges(shown: Map<string, string>, { toolChanges = {} }: ToolsOfAnswer): void {
  for (const [name, digest] of Object.entries(toolChanges)) {
    if (digest === null) shown.delete(name);
    else shown.set(name, digest);
  }
}

/** In words, how tools differ from those that were shown before; nothing if that is not known. */
export function describeToolChanges(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): string | undefined {
  if (before.size === 0 && now.size > 0) return undefined;
  const [added, removed, changed]: [string[], string[], string[]] = [[], [], []];
  for (const [name, digest] of Object.entries(compareTools(before, now))) {
    (digest === null ? removed : before.has(name) ? changed : added).push(name);
  }
  const said = [...sayOf(added, "new"), ...sayOf(removed, "gone"), ...sayOf(changed, "described otherwise")];
  return said.length === 0 ? "they are in another order" : said.join("; ");
}

/** More are not named one by one. */
const mostNames = 10;

function sayOf(names: readonly string[], what: string): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : "";
  return [`${names.slice(0, mostNames).join(", ")}${more} ${names.length === 1 ? "is" : "are"} ${what}`];
}
