import type { CliCommand } from "../cli-command.ts";
import { openWorkspace } from "../config/open-workspace.ts";
import { addModuleOption, getText } from "../options.ts";
import { renderTable } from "../render-table.ts";

/** `kitbag list`: the tools there are. */
export const listCommand: CliCommand = {
  examples: [
    ["kitbag list", "the tools of this project"],
    ["kitbag list --module tools.ts", "the tools of one file"],
    ["kitbag list --json | jq -r '.tools[].address'", "for programs"],
  ],
  define: addModuleOption,
  async run(invocation) {
    const { workspace } = await openWorkspace(invocation, getText(invocation.options, "module"));
    const tools = workspace.getAvailableTools();
    const document = {
      tools: tools.map(({ tool, address, wireName, source, owner }) => ({
        address,
        wireName,
        source,
        owner,
        description: tool.description,
      })),
    };
    if (tools.length === 0) return { document, text: "There are no tools." };
    const rows = tools.map(({ tool, address, source }) => [address, source, tool.description]);
    const table = renderTable(["TOOL", "SOURCE", "DESCRIPTION"], rows, invocation.terminal);
    return { document, text: table };
  },
};
