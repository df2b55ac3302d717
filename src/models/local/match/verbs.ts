import { toStems } from "../text/stems.ts";

const joined = /^\s*[\p{L}-]+((?:(?:,\s*(?:(?:or|and)\s+)?|\s+(?:or|and)\s+)[\p{L}-]+){0,5})/u;

/** The verbs that a description begins with: "Move or rename files", "Creates, updates or deletes a record". */
export function verbsIn(description: string): ReadonlySet<string> {
  const start = description.slice(0, 120);
  return new Set([...toStems(start).slice(0, 1), ...toStems(joined.exec(start)?.[1] ?? "")]);
}
