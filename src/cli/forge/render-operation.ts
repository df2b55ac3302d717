import { createImportTool } from "../../forge/import/create-import-tool.ts";
import { createForgeTools } from "../../forge/tools/create-forge-tools.ts";
import { createWorkflowTools } from "../../forge/workflow/create-workflow-tools.ts";
import type { Tool } from "../../core/tool.ts";
import type { Invocation } from "../cli-command.ts";
import { describeFlags } from "../flags/describe-flags.ts";
import { toPrintable } from "../printable.ts";
import { renderTable } from "../render-table.ts";
import { createServedCodeTool } from "../serve/create-served-code-tool.ts";
import type { ForgeOperation } from "./operations.ts";
import { toTypedFlag } from "./parameter-flags.ts";
import { withForge } from "./with-forge.ts";

/** The help of one operation: its parameters as flags, and an example. Nothing of the project runs for it. */
export async function renderOperation(operation: ForgeOperation, invocation: Invocation): Promise<string> {
  const { name, example } = operation;
  const tool = await findTool(name, invocation);
  const rows = describeFlags(tool.inputSchema)
    .filter(({ flag }) => !isDeep(flag))
    .map(({ flag, value, required, description }) => [
      toTypedFlag(tool.inputSchema, flag),
      value,
      required ? "yes" : "",
      description,
    ]);
  return [
    `Usage: kitbag forge ${name} [flags]`,
    toPrintable(tool.description),
    renderTable(["FLAG", "VALUE", "REQUIRED", "DESCRIPTION"], rows, invocation.terminal),
    "@file as a value reads the file, @@ stands for one @. --input '{…}', --input @file and --input - take all of them as JSON; a flag goes\nbefore it. kitbag forge --help has the options of every operation.",
    `Example:\n  $ kitbag forge ${name} ${example}`,
  ].join("\n\n");
}

/** What stands two levels down is easier to write as JSON. */
function isDeep(flag: string): boolean {
  return flag.split(".").length > 2;
}

async function findTool(name: string, invocation: Invocation): Promise<Tool> {
  return withForge(invocation, async (forge) => {
    const tools = [...createForgeTools(forge), ...createWorkflowTools(forge), createImportTool()];
    return tools.find((tool) => tool.name === name) ?? createServedCodeTool();
  });
}
