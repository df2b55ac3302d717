import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { definePipeline } from "../../runtimes/pipeline/define-pipeline.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { TourKit } from "./tour-step.ts";

/** What the steps use: the real thing. */
export const tourKit: Omit<TourKit, "show"> = { defineTool, defineSkill, definePipeline, createWorkspace };
