import { join } from "node:path";

import { createWorkspace, defineTool } from "kitbag";
import { createMcpServer, type McpServing } from "kitbag/mcp";
import { loadSkills } from "kitbag/skills";

import { askingTools } from "./asking-tools.ts";
import { contentTools } from "./content-tools.ts";
import { createPrompts, resources } from "./sources.ts";
import { taskTools } from "./task-tools.ts";

/**
 * Makes the server that the conformance suite looks at: Kitbag's own, with a workspace that has what the suite calls by name, and
 * resources and prompts beside its own.
 */
export async function createConformanceServer(): Promise<McpServing> {
  const { reports } = await loadSkills({ directories: [join(import.meta.dirname, "skills")] });
  const skills = reports.flatMap((report) => report.skill ?? []);
  const workspace = createWorkspace({ tools: [...contentTools, ...askingTools, ...taskTools], skills });
  let isLonger = false;
  const server = createMcpServer({
    workspace,
    name: "kitbag-conformance",
    version: "1.0.0",
    limits: { taskAfterMs: 500 },
    resources: [resources],
    prompts: [createPrompts(() => isLonger)],
  });
  const late = defineTool({ name: "test_late_tool", description: "Comes and goes", run: () => "Here" });
  workspace.add(
    defineTool({
      name: "test_trigger_tool_change",
      description: "Adds a tool, or removes it",
      run() {
        if (!workspace.remove("test_late_tool")) workspace.add(late);
        return "Changed";
      },
    }),
  );
  workspace.add(
    defineTool({
      name: "test_trigger_prompt_change",
      description: "Adds a prompt, or removes it",
      run() {
        isLonger = !isLonger;
        server.notify.promptsChanged();
        return "Changed";
      },
    }),
  );
  return server;
}
