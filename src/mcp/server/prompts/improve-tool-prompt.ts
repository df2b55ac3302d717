import { renderSteps } from "./render-steps.ts";
import type { WorkflowPrompt } from "./workflow-prompt.ts";

/** Leads a model through a change of a tool that is in use. */
export const improveToolPrompt: WorkflowPrompt = {
  name: "improve_tool",
  title: "Improve a tool",
  description: "Change a tool that was made here, and see that what worked still works",
  arguments: [
    { name: "tool", description: "The tool", required: true },
    { name: "wish", description: "What is to be better", required: false },
  ],
  needs: ["update_tool"],
  render({ tool = "", wish }, words) {
    return renderSteps(`Improve the tool ${tool}${wish === undefined ? "" : `: ${wish}`}`, [
      words.has("describe_tool") && `Read with ${words.name("describe_tool")} what it takes and gives now.`,
      words.has("test_tool") &&
        `Run its examples with ${words.name("test_tool")}, so that you know what works before you change anything.`,
      words.has("suggest_improvements") &&
        `Ask ${words.name("suggest_improvements")} what its recorded calls and its definition show.`,
      wish === undefined && "Say what is wrong or missing, and what you would change. Change one thing at a time.",
      "Write an example that fails now and must pass after the change.",
      `Call ${words.name("update_tool")}. ${words.takes("update_tool")}`,
      "Read what it reports: the new version, and where calls that were recorded come out differently. A difference that nobody asked for is a mistake: repair it.",
      words.has("rollback_tool") &&
        `If it is worse than before, go back with ${words.name("rollback_tool")} and say why.`,
    ]);
  },
};
