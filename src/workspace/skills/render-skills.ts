import type { Skill, TextParts } from "../../core/skill.ts";
import { estimateTokens } from "../../core/estimate-tokens.ts";
import { toVisibleText } from "../../core/hidden-characters.ts";
import { renderSchema } from "../../core/schema/render-schema.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { findToolReferences, renderToolReferences } from "../../skills/document/tool-references.ts";

/** Whether a person has said that its text may be used. */
export function isTrusted({ folder }: Skill): boolean {
  return folder?.trust.status !== "untrusted";
}

/** What a model reads of a skill before it is open. A skill that is not trusted does not speak: it cannot be opened either. */
export function describeSkill(skill: Skill): string {
  return isTrusted(skill) ? skill.description : notTrusted;
}

/** What a model reads in place of a text of a skill that is not trusted. */
export const notTrusted = "Not trusted: it can be opened after a person has run `kitbag trust`";

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
    // One line for each: a description must not look like another line of the list.
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

/** Text for XML: markup is escaped, and invisible characters are left out. */
function toXmlText(text: string): string {
  return toVisibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** How tools are written. */
export interface RenderToolsOptions {
  /** `compact` writes schemas as TypeScript would, in about a third of the tokens of JSON Schema. @default "compact" */
  readonly format?: "compact" | "json";
}

/** Writes the tools of open skills, in a section of its own, one part for each skill; empty without open skills. */
export function renderSkillTools(
  tools: readonly RegisteredTool[],
  skills: ReadonlyMap<string, Pick<Skill, "displayName">>,
  { format = "compact" }: RenderToolsOptions = {},
): string {
  if (tools.length === 0) return "";
  const bySkill = Map.groupBy(tools, (entry) => entry.owner);
  const parts = [...bySkill].map(
    ([skill, own]) =>
      `### ${toHeading(skill, skills)}\n\n${own.map((entry) => renderTool(entry, format)).join("\n\n")}`,
  );
  return `## Tools of the open skills\n\n${parts.join("\n\n")}`;
}

/** The title of a skill, and its name, by which it is opened and closed. */
function toHeading(name: string, skills: ReadonlyMap<string, Pick<Skill, "displayName">>): string {
  const title = (skills.get(name)?.displayName ?? "").replaceAll(/\s+/gu, " ").trim();
  return title === "" || title === name ? name : `${title} (${name})`;
}

function renderTool({ wireName, tool }: RegisteredTool, format: "compact" | "json"): string {
  const input = format === "json" ? JSON.stringify(tool.inputSchema) : renderSchema(tool.inputSchema);
  const output =
    tool.outputSchema === undefined
      ? ""
      : ` → ${format === "json" ? JSON.stringify(tool.outputSchema) : renderSchema(tool.outputSchema)}`;
  return `- ${wireName}: ${tool.description.replaceAll(/\s+/gu, " ").trim()}\n  ${input.replaceAll("\n", "\n  ")}${output.replaceAll("\n", "\n  ")}`;
}

/** Finds the name under which a model must call the tool at an address; none if there is no such tool. */
export type FindWireName = (address: string) => string | undefined;

/** The text of a skill for one use, with the tools it names under the names that a model must use. */
export function renderInstructions(
  skill: Skill,
  findWireName: FindWireName,
  argumentText: string,
  parts: Omit<TextParts, "prose"> = {},
): string {
  const prose = (text: string): string => nameTools(text, findWireName);
  if (skill.render === undefined) return prose(withArguments(skill.instructions, argumentText));
  return skill.render(argumentText, { ...parts, prose });
}

function nameTools(text: string, findWireName: FindWireName): string {
  const names = findToolReferences(text).flatMap(({ address }): [string, string][] => {
    const name = findWireName(address);
    return name === undefined ? [] : [[address, name]];
  });
  return renderToolReferences(text, new Map(names));
}

function withArguments(instructions: string, argumentText: string): string {
  return argumentText === "" ? instructions : `${instructions}\n\nARGUMENTS: ${argumentText}`;
}

/** About how many tokens a tool's definition costs in each request to a model. */
export function toolTokens({ tool, wireName }: Pick<RegisteredTool, "tool" | "wireName">): number {
  const { description, inputSchema } = tool;
  return estimateTokens(JSON.stringify({ name: wireName, description, input_schema: inputSchema }));
}

/** About how many tokens a skill costs. */
export interface SkillTokens {
  /** Always: its line in the list of skills. */
  readonly listed: number;
  /** When it is opened: its instructions. */
  readonly opened: number;
  /** While it is open: the definitions of its tools. */
  readonly tools: number;
}

/** Estimates what a skill costs. Runs nothing: what commands in its text would print is not counted. */
export function skillTokens(skill: Skill, tools: readonly Pick<RegisteredTool, "tool" | "wireName">[]): SkillTokens {
  const { name, description, folder, instructions, render } = skill;
  return {
    listed: estimateTokens(`${name}\n${description}\n${folder === undefined ? "" : `${folder.directory}/SKILL.md`}`),
    opened: estimateTokens(render?.("") ?? instructions),
    tools: tools.reduce((sum, found) => sum + toolTokens(found), 0),
  };
}
