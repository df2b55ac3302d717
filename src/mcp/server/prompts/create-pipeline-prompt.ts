import { renderSteps } from "./render-steps.ts";
import type { WorkflowPrompt } from "./workflow-prompt.ts";

/** Leads a model from a goal to a pipeline of tools that are there. */
export const createPipelinePrompt: WorkflowPrompt = {
  name: "create_pipeline",
  title: "Create a pipeline",
  description: "Put tools that are there together to one new tool",
  arguments: [
    { name: "goal", description: "What goes in, and what is to come out", required: true },
    { name: "name", description: "What it is to be called", required: false },
  ],
  needs: ["create_pipeline"],
  render({ goal = "", name }, words) {
    return renderSteps(`Make a pipeline of tools that does this: ${goal}`, [
      words.has("search_tools") && `Find the tools for its steps with ${words.name("search_tools")}.`,
      words.has("describe_tool") && `Read with ${words.name("describe_tool")} what each of them takes and gives.`,
      "Write the steps in order. Say for each where its input comes from: the input of the pipeline, or the output of a step before.",
      `Give it ${name === undefined ? "a name" : `the name ${name}`} and one sentence that says what it does.`,
      "Write an example: an input with the output that must come back.",
      `Call ${words.name("create_pipeline")}. ${words.takes("create_pipeline")}`,
      "If it is refused, repair what the message names. Then call the pipeline once, and tell me its name and how to call it.",
    ]);
  },
};
