import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { openRuntimes } from "../../runtimes/open-runtimes.ts";
import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import { loadSkills } from "../../skills/load/load-skills.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { chooseSandbox, type SandboxWishes } from "../sandbox/choose-sandbox.ts";
import { describeSandbox } from "./describe-sandbox.ts";
import type { TourKit } from "./tour-step.ts";

/** What the steps use, and a way to tidy up after them. */
export interface OpenTourKit extends Omit<TourKit, "show"> {
  close(): void;
}

/** Our folder of skills is beside `src` and beside `dist`. */
const examples = resolve(import.meta.dirname, "../../../skills");

const orders = { orders: [{ customer: "Ada" }, { customer: "Bob" }] };

/** Gathers what the steps use: the real thing, and a small project in a folder of its own. */
export function openTourKit(invocation: SandboxWishes): OpenTourKit {
  const sandbox = chooseSandbox(invocation);
  const home = resolveKitbagHome(invocation.env);
  const project = mkdtempSync(join(tmpdir(), "kitbag-tour-"));
  writeFileSync(join(project, "orders.json"), JSON.stringify(orders));
  return {
    defineTool,
    defineSkill,
    definePipeline,
    createWorkspace,
    loadSkills,
    openRuntimes: (options) => openRuntimes({ home, ...(sandbox !== undefined && { sandbox }), ...options }),
    describeSandbox,
    examples,
    project,
    close: () => rmSync(project, { recursive: true, force: true }),
  };
}
