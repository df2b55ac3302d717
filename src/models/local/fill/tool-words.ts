import type { ModelTool } from "../../model.ts";
import { toStems } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";

/** The words that a tool is about. */
export interface ToolWords {
  /** Its description. */
  readonly about: string;
  /** The stems of its name and description. */
  readonly ownStems: ReadonlySet<string>;
  /** These, and what people say instead of its name and of what it does: such a word says which tool, not which value. */
  readonly toolStems: ReadonlySet<string>;
}

/** For values that belong to no tool. */
export const noWords: ToolWords = { about: "", ownStems: new Set(), toolStems: new Set() };

const known = new WeakMap<ModelTool, ToolWords>();

/** The words of a tool. */
export function toolWordsOf(tool: ModelTool): ToolWords {
  let words = known.get(tool);
  if (words === undefined) {
    const name = toStems(tool.name);
    const description = toStems((tool.description ?? "").slice(0, 2000));
    const ownStems = new Set([...name, ...description]);
    const meant = [...name, description[0] ?? ""].flatMap((stem) => [...synonymsOf(stem)]);
    words = { about: (tool.description ?? "").slice(0, 2000), ownStems, toolStems: new Set([...ownStems, ...meant]) };
    known.set(tool, words);
  }
  return words;
}
