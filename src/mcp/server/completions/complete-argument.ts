import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import { createDispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import type { ServedClient } from "../client.ts";
import { findVisibleSkills } from "../skills/visible-skills.ts";
import { findPaths } from "./find-paths.ts";
import { readArgument } from "./schema-values.ts";
import { findSeenValues } from "./seen-values.ts";

/** Finds values for an argument of a tool: those that its schema names, paths, and those that were given before. */
export async function completeToolArgument(
  client: ServedClient,
  { tool, address }: RegisteredTool,
  argument: string,
  typed: string,
): Promise<readonly string[]> {
  const facts = readArgument(tool, argument);
  if (facts === undefined || facts.isSecret) return [];
  const paths = facts.isPath ? await findPaths(client, typed) : [];
  const seen = await findSeenValues(client, address, argument);
  return [...facts.values, ...seen, ...paths];
}

/** The names of the arguments of a tool. */
export function listArguments({ tool }: RegisteredTool): readonly string[] {
  return Object.keys((tool.inputSchema["properties"] as object | undefined) ?? {});
}

/** The addresses of all tools that a model may know of, those that are available first. */
export function listToolAddresses({ session }: ServedClient): readonly string[] {
  const view = createDispatchView(session);
  const available = session.getAvailableTools().map((entry) => entry.address);
  const closed = findVisibleSkills({ session }).flatMap((skill) =>
    skill.tools.map((tool) => `${skill.name}/${tool.name}`),
  );
  return [...available.toSorted(), ...closed.filter((address) => view.getTool(address) !== undefined).toSorted()];
}
