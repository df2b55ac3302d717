import { createTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { isSchemaObject } from "../../core/schema/json-schema.ts";
import type { Skill, ToolReuse } from "../../core/skill.ts";
import type { FunctionCode, Tool } from "../../core/tool.ts";
import type { RegistryView } from "../registry.ts";

/** Makes the tools that a skill takes over from others: the same tool under an own name, with some arguments fixed. */
export function toReusedTools(skill: Skill, registry: RegistryView): Tool[] {
  return skill.reuses.map((reuse) => {
    const resolution = registry.resolve(reuse.uses.address, skill.name);
    if (!resolution.ok) throw new KitbagError(resolution.failure.code, resolution.failure.details);
    return toReusedTool(reuse, resolution.entry.tool, resolution.entry.address);
  });
}

/** The code of a tool that is taken over. The function is ours, but the skill chooses the tool and the arguments. */
interface ReuseCode extends FunctionCode {
  /** The address of the tool behind it, the only one that it calls. */
  readonly reuses: string;
}

/** The address of the tool behind one that a skill takes over; nothing for any other tool. */
export function findReused({ code }: Tool): string | undefined {
  return (code as Partial<ReuseCode>).reuses;
}

function toReusedTool(reuse: ToolReuse, tool: Tool, address: string): Tool {
  const { locked } = reuse;
  const code: ReuseCode = {
    kind: "function",
    reuses: address,
    async run(input, context) {
      const outcome = await context.call(address, { ...(input as object), ...locked });
      if (outcome.status === "ok") return outcome.output;
      const { code: innerCode, message } = outcome.error;
      throw new KitbagError("step-failed", { tool: reuse.name, step: address, code: innerCode, reason: message });
    },
  };
  return createTool({
    name: reuse.name,
    description: reuse.description ?? tool.description,
    ...(tool.version !== undefined && { version: tool.version }),
    input: withoutProperties(tool.inputSchema, Object.keys(locked)),
    ...(tool.outputSchema !== undefined && { output: tool.outputSchema }),
    annotations: tool.annotations,
    permissions: tool.permissions,
    limits: tool.limits,
    code,
  });
}

/** A caller neither sees nor sets the arguments that are fixed. */
function withoutProperties(schema: JsonSchema, names: readonly string[]): JsonSchema {
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  const left = Object.entries(properties).filter(([name]) => !names.includes(name));
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  return {
    ...schema,
    properties: Object.fromEntries(left),
    required: required.filter((name) => !names.includes(name)),
  };
}
