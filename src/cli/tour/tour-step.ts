import type { defineSkill } from "../../core/define-skill.ts";
import type { defineTool } from "../../core/define-tool.ts";
import type { openRuntimes } from "../../runtimes/open-runtimes.ts";
import type { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import type { loadSkills } from "../../skills/load/load-skills.ts";
import type { createWorkspace } from "../../workspace/create-workspace.ts";
import type { describeSandbox } from "./describe-sandbox.ts";

/** What the code of a step uses, under the names that `kitbag` exports. */
export interface TourKit {
  readonly defineTool: typeof defineTool;
  readonly definePipeline: typeof definePipeline;
  readonly defineSkill: typeof defineSkill;
  readonly createWorkspace: typeof createWorkspace;
  readonly loadSkills: typeof loadSkills;
  readonly openRuntimes: typeof openRuntimes;
  readonly describeSandbox: typeof describeSandbox;
  /** The folder of the skills that come along. */
  readonly examples: string;
  /** The folder of a small project. */
  readonly project: string;
  /** Shows a value: an outcome, mostly. */
  show(value: unknown): void;
}

/** One step: code that is shown, then run. */
export interface TourStep {
  readonly title: string;
  /** One sentence: why it matters. */
  readonly why: string;
  readonly run: (kit: TourKit) => Promise<void>;
}

/**
 * The code of a step as it is shown: the body of its function, so what is seen is what runs. Its first line must be the head of
 * the function and nothing else.
 */
export function toShownCode(step: Pick<TourStep, "run">): string {
  const lines = step.run.toString().split("\n").slice(1, -1);
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const margin = Math.min(...indents);
  const inner = lines.map((line) => line.slice(margin).trimEnd());
  // The compiler writes four spaces where our source has two.
  const steps = inner.map((line) => line.length - line.trimStart().length).filter((indent) => indent > 0);
  const isWide = steps.every((indent) => indent % 4 === 0);
  return inner.map((line) => (isWide ? halveIndent(line) : line)).join("\n");
}

function halveIndent(line: string): string {
  const indent = line.length - line.trimStart().length;
  return " ".repeat(indent / 2) + line.trimStart();
}
