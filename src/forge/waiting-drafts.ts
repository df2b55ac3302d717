import { hash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { toCanonicalJson, type JsonValue } from "../core/json.ts";
import { KitbagError } from "../core/errors.ts";
import type { Permissions } from "../core/permissions.ts";
import type { ToolAuthor } from "../core/tool.ts";
import { writeFileAtomically } from "../platform/files.ts";
import type { ToolsFolder } from "./disk/tools-folder.ts";
import type { WaitingTool } from "./forge-interface.ts";
import { isSkillDraft, type SkillDraft, type ToolDraft } from "./drafts/tool-draft.ts";

/** A draft that waits, with all that is needed to go on. */
export interface WaitingDraft {
  readonly waiting: WaitingTool;
  readonly draft: ToolDraft | SkillDraft;
}

/** What waits for a person, in files beside the tools. */
export interface WaitingDrafts {
  keep(draft: WaitingDraft["draft"], facts: WaitingFacts): WaitingTool;
  list(): readonly WaitingTool[];
  /** @throws {KitbagError} `draft-not-found` */
  get(id: string): WaitingDraft;
  remove(id: string): void;
}

/** What is known of a draft that waits. */
export interface WaitingFacts {
  readonly asks: Permissions;
  readonly laxer?: readonly string[];
  readonly from?: string | undefined;
  readonly author?: ToolAuthor | undefined;
}

const idForm = /^[0-9a-f]{16}$/u;

/** Makes the list of drafts that wait. Its ids are digests of what they name: an approval is for exactly this draft. */
export function createWaitingDrafts(folder: ToolsFolder): WaitingDrafts {
  const directory = join(folder.tools, ".waiting");
  const pathOf = (id: string): string => join(directory, `${id}.json`);

  function load(id: string): WaitingDraft | undefined {
    if (!idForm.test(id)) return undefined;
    try {
      const { draft, ...kept } = JSON.parse(readFileSync(pathOf(id), "utf8")) as KeptDraft;
      if (toId(draft, kept) !== id) return undefined;
      return { draft, waiting: toWaiting(id, draft, kept) };
    } catch {
      return undefined;
    }
  }

  function list(): readonly WaitingTool[] {
    const found = listFiles(directory).flatMap((name) => load(name.replace(/\.json$/u, ""))?.waiting ?? []);
    return found.toSorted((left, right) => left.at - right.at);
  }

  return {
    list,
    keep(draft, facts) {
      const id = toId(draft, facts);
      const kept: KeptDraft = { draft, ...facts, at: Date.now() };
      folder.ensure(directory);
      writeFileAtomically(pathOf(id), `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o644 });
      return toWaiting(id, draft, kept);
    },
    get(id) {
      const found = load(id);
      if (found !== undefined) return found;
      throw new KitbagError("draft-not-found", { id, known: list().map((one) => one.id) });
    },
    remove: (id) => rmSync(pathOf(id), { force: true }),
  };
}

interface KeptDraft extends WaitingFacts {
  readonly draft: WaitingDraft["draft"];
  readonly at: number;
}

function toId(draft: KeptDraft["draft"], { asks, laxer, from, author }: WaitingFacts): string {
  // Two users may want the same: each has a draft of their own.
  const owned = author?.owner === undefined ? {} : { owner: author.owner };
  const wish = { draft, asks, ...(laxer !== undefined && { laxer }), from: from ?? null, ...owned };
  const text = toCanonicalJson(wish as unknown as JsonValue);
  return hash("sha256", text).slice(0, 16);
}

function toWaiting(id: string, draft: KeptDraft["draft"], kept: Omit<KeptDraft, "draft">): WaitingTool {
  const { asks, laxer, from, author, at } = kept;
  const { name, description } = draft;
  const notes = {
    ...(laxer !== undefined && { laxer }),
    ...(from !== undefined && { from }),
    ...(author?.user !== undefined && { author: author.user }),
    ...(author !== undefined && author.scopes !== "all" && { authorScopes: author.scopes }),
    ...(author?.owner !== undefined && { owner: author.owner }),
  };
  const makes = isSkillDraft(draft) ? "skill" : "tool";
  return { status: "waiting", id, makes, name, description, asks, at, ...notes };
}

function listFiles(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
}
