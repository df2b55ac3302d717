import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { CliCommand } from "../cli-command.ts";
import { openWorkspace } from "../config/open-workspace.ts";
import { describeFlags } from "../flags/describe-flags.ts";
import { addModuleOption, getText } from "../options.ts";
import { isEnforced, renderTool } from "../render-tool.ts";

/** `kitbag show`: everything about one tool. */
export const showCommand: CliCommand = {
  examples: [
    ["kitbag show add", "its flags, schema, permissions and examples"],
    ["kitbag show math/add --json", "for programs"],
  ],
  define(command) {
    command.argument("<address>", "the tool: its name, or owner/name");
    addModuleOption(command);
  },
  async run(invocation) {
    const { args, options, terminal } = invocation;
    const { workspace } = await openWorkspace(invocation, getText(options, "module"));
    const found = findTool(workspace, args[0] ?? "");
    return { document: toDocument(found), text: renderTool(found, terminal) };
  },
};

function findTool(workspace: Workspace, address: string): RegisteredTool {
  const found = workspace.getTool(address);
  if (found !== undefined) return found;
  const tools = workspace.getAvailableTools();
  const namesakes = tools.filter(({ tool }) => tool.name === address).map((candidate) => candidate.address);
  if (namesakes.length > 1) throw new KitbagError("tool-ambiguous", { tool: address, addresses: namesakes });
  const nearest = nearestNames(
    address,
    tools.map((candidate) => candidate.address),
  );
  throw new KitbagError("tool-not-found", { tool: address, nearest, count: tools.length });
}

function toDocument({ tool, address, wireName, source, owner }: RegisteredTool): unknown {
  const { refine: _, code, ...data } = tool;
  return {
    address,
    wireName,
    source,
    owner,
    runtime: code.kind,
    permissionsEnforced: isEnforced(tool),
    ...data,
    flags: describeFlags(tool.inputSchema),
  };
}
