import { isSchemaObject } from "../../core/schema/json-schema.ts";
import type { Skill } from "../../core/skill.ts";
import { createTextIndex, type SearchDocument } from "../../core/text-search.ts";
import type { Tool } from "../../core/tool.ts";
import type { Entry } from "../registry.ts";

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
  isOpen(skill: string): boolean;
  isAvailable(entry: Entry): boolean;
}

/** Makes a search over skills and tools; make it anew when they change. */
export function createSearch(source: SearchSource): (query: string, options?: SearchOptions) => readonly FoundItem[] {
  const items = new Map<string, Omit<FoundItem, "score">>();
  const documents: SearchDocument[] = [];
  for (const skill of source.skills) {
    const id = `skill ${skill.name}`;
    items.set(id, {
      kind: "skill",
      address: skill.name,
      description: skill.description,
      available: source.isOpen(skill.name),
    });
    documents.push({ id, texts: skillTexts(skill) });
  }
  for (const entry of source.entries) {
    const id = `tool ${entry.address}`;
    const { description } = entry.tool;
    items.set(id, { kind: "tool", address: entry.address, description, available: source.isAvailable(entry) });
    documents.push({ id, texts: toolTexts(entry.address, entry.tool) });
  }
  const index = createTextIndex(documents);

  return (query, { kind, limit = 20 } = {}) => {
    const hits = index.search(query, kind === undefined ? limit : documents.length);
    const found = hits.flatMap(({ id, score }) => {
      const item = items.get(id);
      return item === undefined || (kind !== undefined && item.kind !== kind) ? [] : [{ ...item, score }];
    });
    return found.slice(0, limit);
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
