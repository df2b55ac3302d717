import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "smol-toml";

import { KitbagError } from "../core/errors.ts";
import type { ToolAuthor } from "../core/tool.ts";
import { isThereFor } from "../core/scopes.ts";
import { findAuthor } from "../workspace/call/authority.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { StoredTool } from "./disk/stored-tool.ts";
import type { TrialOptions } from "./forge-interface.ts";
import type { StoredSkill } from "./skills/stored-skill.ts";

/** Whose a tool or a skill is that was made here. */
export interface Ownership {
  readonly owner?: ToolAuthor["owner"] | undefined;
  readonly shared?: ToolAuthor["shared"] | undefined;
}

/** A tool or a skill that a user asks for. */
export interface AskedFor extends Ownership {
  readonly kind: "tool" | "skill";
  readonly name: string;
}

type Asking = Pick<TrialOptions, "call"> | { readonly call?: undefined };

/**
 * Refuses a change by a user who does not own what is changed. The program itself may change everything.
 *
 * @throws {KitbagError} `owner-differs`; `tool-not-found` or `skill-not-found` if it is not even there for that user.
 */
export function checkOwner({ ownerOf }: Pick<Workspace, "ownerOf">, asked: AskedFor, { call }: Asking): void {
  const { user } = findAuthor(call);
  if (user === undefined || ownerOf(user) === asked.owner) return;
  checkSeen({ ownerOf }, asked, user);
  throw new KitbagError("owner-differs", { kind: asked.kind, name: asked.name });
}

/** @throws {KitbagError} `tool-not-found` or `skill-not-found` if it is not there for the user. */
export function checkSeen(
  { ownerOf }: Pick<Workspace, "ownerOf">,
  { kind, name, ...made }: AskedFor,
  user: string | undefined,
): void {
  if (user === undefined || isThereFor(made, ownerOf(user))) return;
  if (kind === "tool") throw new KitbagError("tool-not-found", { tool: name, nearest: [], count: 0 });
  throw new KitbagError("skill-not-found", { skill: name, nearest: [], count: 0 });
}

/** Whose a tool is, also if it was deleted. */
export function ownershipOf({ current, versions }: StoredTool): Pick<ToolAuthor, "owner" | "shared"> {
  const { owner, shared } = (current ?? versions.at(-1))?.manifest ?? {};
  return { ...(owner !== undefined && { owner }), ...(shared !== undefined && { shared }) };
}

/** Whose a skill is, also if it was deleted. */
export function skillOwnershipOf({ target, live, versions }: StoredSkill): Pick<ToolAuthor, "owner" | "shared"> {
  const directory = live === undefined ? versions.at(-1)?.folder.directory : target;
  if (directory === undefined) return {};
  try {
    const { skill = {} } = parse(readFileSync(join(directory, "kitbag.toml"), "utf8")) as { skill?: Ownership };
    const { owner, shared } = skill;
    return { ...(typeof owner === "string" && { owner }), ...(shared === true && { shared }) };
  } catch {
    // One without the file says nothing of an owner; one with a broken file is not live.
    return {};
  }
}

/** What asks a person: to be shared with every user. */
export function findSharing(before: Ownership, after: Ownership): readonly string[] {
  return after.owner !== undefined && after.shared === true && before.shared !== true
    ? ["to be shared with every user"]
    : [];
}
