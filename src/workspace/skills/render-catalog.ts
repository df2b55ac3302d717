import { estimateTokens } from "../../core/estimate-tokens.ts";
import { toVisibleText } from "../../core/hidden-characters.ts";
import type { Skill } from "../../core/skill.ts";
import { describeSkill, isTrusted } from "./describe-skill.ts";

/** How much room the list of skills may take. Without a limit nothing is cut. */
export interface CatalogOptions {
  readonly maxCharacters?: number;
  /** Estimated: see `≈` wherever tokens are shown. */
  readonly maxTokens?: number;
  /** `lines`: a line for each skill, in half of the tokens, and without the place of its folder. @default "xml" */
  readonly style?: "xml" | "lines";
}

/** The list of skills as text, and what did not fit. */
export interface RenderedCatalog {
  /** XML as in the specification of skills, or lines; empty if there is nothing to list. */
  readonly text: string;
  /** Skills whose description was shortened. */
  readonly shortened: readonly string[];
  /** Skills that are not in the text; they can still be found by search. */
  readonly omitted: readonly string[];
}

/** A description that is cut to less says nothing. */
const shortestDescription = 24;

/** Lists skills within a budget: all descriptions are shortened evenly before any skill is left out, from the end. */
export function renderCatalog(skills: readonly Skill[], options: CatalogOptions = {}): RenderedCatalog {
  const listed = skills.filter((skill) => skill.modelInvocable);
  const render = options.style === "lines" ? renderLines : renderXml;
  const longest = Math.max(0, ...listed.map((skill) => describeSkill(skill).length));
  const fits = (text: string): boolean =>
    text.length <= (options.maxCharacters ?? Number.POSITIVE_INFINITY) &&
    (options.maxTokens === undefined || estimateTokens(text) <= options.maxTokens);

  for (let count = listed.length; count > 0; count = fewer(count)) {
    const chosen = listed.slice(0, count);
    const length = longestThatFits(longest, (most) => fits(render(chosen, most)));
    if (length === undefined) continue;
    return {
      text: render(chosen, length),
      shortened: chosen.filter((skill) => describeSkill(skill).length > length).map((skill) => skill.name),
      omitted: listed.slice(count).map((skill) => skill.name),
    };
  }
  return { text: "", shortened: [], omitted: listed.map((skill) => skill.name) };
}

/** Steps of a twentieth: good enough for a budget, and quick for thousands of skills. */
function fewer(count: number): number {
  return count - Math.max(1, Math.floor(count / 20));
}

/** The greatest length up to `longest` for which `fits` holds, by halving; none if even the shortest does not. */
function longestThatFits(longest: number, fits: (length: number) => boolean): number | undefined {
  if (fits(longest)) return longest;
  let low = shortestDescription;
  if (longest <= low || !fits(low)) return undefined;
  let high = longest;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function renderLines(skills: readonly Skill[], longest: number): string {
  const lines = skills.map((skill) => {
    // One line for each: what a skill says of itself must not look like what somebody else says.
    const line = toVisibleText(shorten(describeSkill(skill), longest)).replaceAll(/\s+/gu, " ");
    return `- ${skill.name}: ${line}`;
  });
  return ["Skills that can be opened with activate_skill:", ...lines].join("\n");
}

function renderXml(skills: readonly Skill[], longest: number): string {
  const items = skills.map((skill) => {
    const lines = [`    <name>${toXmlText(skill.name)}</name>`];
    lines.push(`    <description>${toXmlText(shorten(describeSkill(skill), longest))}</description>`);
    if (skill.folder !== undefined && isTrusted(skill))
      lines.push(`    <location>${toXmlText(`${skill.folder.directory}/SKILL.md`)}</location>`);
    return `  <skill>\n${lines.join("\n")}\n  </skill>`;
  });
  return `<available_skills>\n${items.join("\n")}\n</available_skills>`;
}

function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}…`;
}

/** Text for XML: markup is escaped, and characters that nobody sees are left out. */
function toXmlText(text: string): string {
  return toVisibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
