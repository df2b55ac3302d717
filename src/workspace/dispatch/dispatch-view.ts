import { KitbagError } from "../../core/errors.ts";
import { toVisibleText } from "../../core/hidden-characters.ts";
import { nearestNames } from "../../core/nearest.ts";
import { renderSchema } from "../../core/schema/render-schema.ts";
import type { Skill } from "../../core/skill.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { isTrusted, notTrusted } from "../skills/render-skills.ts";
import { checkTrusted } from "../skills/plan-activation.ts";
import type { Session } from "../workspace.ts";

/** What a model may know of a session. Skills that only people open are hidden from it until they are open. */
export interface DispatchView {
  readonly session: Session;
  /** Those that a model may know of. */
  skills(): readonly Skill[];
  /** @throws {KitbagError} `skill-not-found` */
  findSkill(name: string): Skill;
  /** The same of a skill whose text may be read. @throws {KitbagError} `skill-untrusted` too */
  findReadable(name: string): Skill;
  isOpen(skill: string): boolean;
  /** A tool by any of its names, if a model may know of it. */
  getTool(name: string): RegisteredTool | undefined;
  /** @throws {KitbagError} `tool-not-found`, `tool-ambiguous` */
  findTool(name: string): RegisteredTool;
}

/** Makes the view of a model on a session. */
export function createDispatchView(session: Session): DispatchView {
  const isOpen = (name: string): boolean => session.getActiveSkills().includes(name);
  const skills = (): Skill[] =>
    session
      .getSkills()
      .filter(({ skill, active }) => active || skill.modelInvocable)
      .map(({ skill }) => skill);

  function findSkill(name: string): Skill {
    const known = skills();
    const found = known.find((skill) => skill.name === name);
    if (found !== undefined) return found;
    const nearest = nearestNames(
      name,
      known.map((skill) => skill.name),
    );
    throw new KitbagError("skill-not-found", { skill: name, nearest, count: known.length });
  }

  function getTool(name: string): RegisteredTool | undefined {
    const entry = session.getTool(name);
    if (entry?.source !== "skill") return entry;
    const skill = session.getSkill(entry.owner);
    if (skill === undefined || !(skill.modelInvocable || isOpen(entry.owner))) return undefined;
    return isTrusted(skill) ? entry : withoutWords(entry);
  }

  return {
    session,
    skills,
    findSkill,
    findReadable(name) {
      const skill = findSkill(name);
      checkTrusted(skill);
      return skill;
    },
    isOpen,
    getTool,
    findTool(name) {
      const entry = getTool(name);
      if (entry !== undefined) return entry;
      const known = knownAddresses(session, skills());
      const same = known.filter((address) => address.endsWith(`/${name}`));
      if (same.length > 1) throw new KitbagError("tool-ambiguous", { tool: name, addresses: same });
      throw new KitbagError("tool-not-found", { tool: name, nearest: nearestNames(name, known), count: known.length });
    },
  };
}

/** A tool of a skill that is not trusted, without what it says of itself: it cannot be called. */
function withoutWords(entry: RegisteredTool): RegisteredTool {
  const { title: _title, outputSchema: _output, ...tool } = entry.tool;
  return { ...entry, tool: { ...tool, description: notTrusted, inputSchema: { type: "object" }, examples: [] } };
}

function knownAddresses(session: Session, skills: readonly Skill[]): string[] {
  const open = session.getAvailableTools().map((entry) => entry.address);
  const closed = skills.flatMap((skill) => skill.tools.map((tool) => `${skill.name}/${tool.name}`));
  return [...new Set([...open, ...closed])];
}

/** How a model calls a tool: its name, what it does and what it takes, as TypeScript would say it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly input: string;
  readonly output?: string;
}

/** Declares a tool for a model, in about a third of the tokens of JSON Schema. */
export function toDeclaration({ wireName: name, tool }: RegisteredTool): ToolDeclaration {
  const { description, inputSchema, outputSchema } = tool;
  return {
    name,
    description: toVisibleText(description),
    input: toVisibleText(renderSchema(inputSchema)),
    ...(outputSchema !== undefined && { output: toVisibleText(renderSchema(outputSchema)) }),
  };
}
