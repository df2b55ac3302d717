import type { ServedClient } from "../client.ts";
import { createPipelinePrompt } from "./create-pipeline-prompt.ts";
import { createSkillPrompt } from "./create-skill-prompt.ts";
import { createToolPrompt } from "./create-tool-prompt.ts";
import { importSkillPrompt } from "./import-skill-prompt.ts";
import { improveToolPrompt } from "./improve-tool-prompt.ts";
import { createPromptWords } from "./prompt-words.ts";
import { hasUsableSkills, useSkillName } from "./use-skill.ts";
import type { WorkflowPrompt } from "./workflow-prompt.ts";

/** In the order of their names, as they are listed. */
const all: readonly WorkflowPrompt[] = [
  createPipelinePrompt,
  createSkillPrompt,
  createToolPrompt,
  importSkillPrompt,
  improveToolPrompt,
];

/** The workflows whose tools are there for a client. */
export function findWorkflows(client: ServedClient): readonly WorkflowPrompt[] {
  const words = createPromptWords(client);
  return all.filter(({ needs }) => needs.every(words.has));
}

const needed: ReadonlySet<string> = new Set(all.flatMap(({ needs }) => needs));

/** Whether prompts may come or go with this tool. */
export function isNeeded(tool: string): boolean {
  return needed.has(tool);
}

/** The names of all prompts of ours that a client is shown. */
export function listPromptNames(client: ServedClient): readonly string[] {
  const names = findWorkflows(client).map(({ name }) => name);
  return hasUsableSkills(client) ? [...names, useSkillName] : names;
}
