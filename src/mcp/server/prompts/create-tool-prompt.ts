import { renderSteps } from "./render-steps.ts";
import type { WorkflowPrompt } from "./workflow-prompt.ts";

/** Leads a model from a wish to a tool that works. */
export const createToolPrompt: WorkflowPrompt = {
  name: "create_tool",
  title: "Create a tool",
  description: "Make a new tool: design it, give it examples, build it, and try it",
  arguments: [
    { name: "purpose", description: "What the tool is to do", required: true },
    { name: "name", description: "What it is to be called", required: false },
    { name: "language", description: "What it is to be written in, such as python, node or bash", required: false },
  ],
  needs: ["create_tool"],
  render({ purpose = "", name, language }, words) {
    return renderSteps(`Make a tool that does this: ${purpose}`, [
      words.has("search_tools") &&
        `Look with ${words.name("search_tools")} whether a tool does it already. If so, say which, and stop.`,
      `Design it: ${name === undefined ? "a name of a few words" : `the name ${name}`}, one sentence that says what it does and when to use it, a JSON Schema of its input with a description for each field, and one of its output.`,
      `Write its code${language === undefined ? "" : ` in ${language}`}. It gets its input as JSON and prints its result; what goes wrong ends it with a message on standard error and a status that is not 0.`,
      "Ask for no more permissions than it needs: none at all, if it only computes.",
      "Write at least two examples, each an input with the output that must come back, one of them at the edge of what it takes. The tool is live only after they pass.",
      `Call ${words.name("create_tool")}. ${words.takes("create_tool")}`,
      "If it is refused, read the diagnostics, repair what they name, and try again. Do not take an example away to make it pass.",
      "Call the new tool once with an input from real life, look at what comes back, and tell me its name, what it takes and how to call it.",
    ]);
  },
};
