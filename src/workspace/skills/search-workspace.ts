import { isSchemaObject } from "../../core/schema/json-schema.ts";
import type { Skill } from "../../core/skill.ts";
import { createTextIndex, type SearchDocument } from "../../core/text-search.ts";
import type { Tool } from "../../core/tool.ts";
import type { Entry } from "../registry/registry.ts";
import { describeSkill } from "./render-skills.ts";

/** What to look for. */
export interface SearchOptions {
  /** @default both */
  readonly kind?: "skill" | "tool";
  /** @default 20 */
  readonly limit?: number;
}

/** Something that was found. */
export interface FoundItem {
  readonly kind: "skill" | "tool";
  /** A skill's name or a tool's address. */
  readonly address: string;
  readonly description: string;
  /** Whether it can be used right now, without opening a skill. */
  readonly available: boolean;
  readonly score: number;
}

/** What there is to search in. */
export interface SearchSource {
  readonly skills: Iterable<Skill>;
  readonly entries: Iterable<Entry>;
}

/** Who searches. */
export interface Searcher {
  isOpen(skill: string): boolean;
  isAvailable(entry: Entry): boolean;
}

/** Finds skills and tools, as one searcher sees them. */
export type Search = (searcher: Searcher, query: string, options?: SearchOptions) => readonly FoundItem[];

/** What is said of what is found, but for the score. */
type SearchItem = (searcher: Searcher) => Omit<FoundItem, "score">;

/** Makes a search over skills and tools; make it anew when they change. */
export function createSearch(source: SearchSource): Search {
  const items = new Map<string, { readonly kind: FoundItem["kind"]; readonly show: SearchItem }>();
  const documents: SearchDocument[] = [];
  for (const skill of source.skills) {
    const id = `skill ${skill.name}`;
    const { name: address } = skill;
    const description = describeSkill(skill);
    const kind = "skill";
    items.set(id, { kind, show: ({ isOpen }) => ({ kind, address, description, available: isOpen(address) }) });
    documents.push({ id, texts: skillTexts(skill) });
  }
  for (const entry of source.entries) {
    const id = `tool ${entry.address}`;
    const { address, tool } = entry;
    const { description } = tool;
    const kind = "tool";
    items.set(id, { kind, show: ({ isAvailable }) => ({ kind, address, description, available: isAvailable(entry) }) });
    documents.push({ id, texts: toolTexts(address, tool) });
  }
  const index = createTextIndex(documents);

  return (searcher, query, { kind, limit = 20 } = {}) => {
    const hits = index.search(query, kind === undefined ? limit : documents.length);
    const found = hits.flatMap(({ id, score }) => {
      const item = items.get(id);
      return item === undefined || (kind !== undefined && item.kind !== kind) ? [] : [{ item, score }];
    });
    return found.slice(0, limit).map(({ item, score }) => ({ ...item.show(searcher), score }));
  };
}

function skillTexts(skill: Skill): [string, number][] {
  return [
    [skill.name, 3],
    [skill.displayName ?? "", 3],
    [skill.description, 2],
    [skill.capabilities.join(" "), 2],
    // The body names everything; a little of it is enough.
    [skill.instructions.slice(0, 8000), 0.25],
  ];
}

function toolTexts(address: string, tool: Tool): [string, number][] {
  const properties = isSchemaObject(tool.inputSchema["properties"]) ? tool.inputSchema["properties"] : {};
  const descriptions = Object.values(properties)
    .map((property) => (isSchemaObject(property) ? property["description"] : undefined))
    .filter((description) => typeof description === "string");
  return [
    [address, 2],
    [tool.name, 2],
    [tool.title ?? "", 2],
    [tool.description, 2],
    [Object.keys(properties).join(" "), 1],
    [descriptions.join(" "), 0.5],
  ];
}
