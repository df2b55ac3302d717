import { renderSteps } from "./render-steps.ts";
import type { WorkflowPrompt } from "./workflow-prompt.ts";

/** Leads a model from a purpose to a skill, step by step. */
export const createSkillPrompt: WorkflowPrompt = {
  name: "create_skill",
  title: "Create a skill",
  description: "Make a skill step by step: purpose, name, instructions, tools, permissions, examples, checks",
  arguments: [
    { name: "purpose", description: "What kind of work the skill is for", required: true },
    { name: "name", description: "What it is to be called", required: false },
  ],
  needs: ["create_skill"],
  render({ purpose = "", name }, words) {
    return renderSteps(`Make a skill for this kind of work: ${purpose}`, [
      words.has("list_skills") &&
        `Look with ${words.name("list_skills")} whether there is a skill for it. If so, say which, and stop.`,
      "Purpose: write one or two sentences that say what it does and when to use it. A model chooses by these alone.",
      `Name: ${name === undefined ? "lower-case words with hyphens between them" : name}.`,
      "Instructions: what to do, in which order, how to tell that it is done, and what not to do. Short, and only what a model would not know by itself.",
      "Tools: for each step that a program does better than words, a tool with a schema of its input. Leave it out if there is none.",
      "Permissions: what those tools must reach (files, hosts, programs), and nothing else.",
      "Examples: for each tool an input with the output that must come back.",
      words.has("create_skill_step")
        ? `Give these parts one after the other to ${words.name("create_skill_step")}, beginning with the purpose. Each answer has the id to go on with, what was understood, what is wrong and what comes next; to go back, give a part again. ${words.takes("create_skill_step")}`
        : `Call ${words.name("create_skill")}. ${words.takes("create_skill")}`,
      words.has("create_skill_step") && 'When nothing is missing, say what was understood, and set "action" to "live".',
      "Repair what the checks name, and call it again until it is done.",
      words.has("activate_skill") &&
        `Open it with ${words.name("activate_skill")}, follow its instructions once with a small piece of real work, and tell me what came of it.`,
    ]);
  },
};
