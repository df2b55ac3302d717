import { createTool } from "../../core/define-tool.ts";
import { KitbagError, type Problem } from "../../core/errors.ts";
import { checkPermissions, joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import type { ToolContext, FunctionCode, Tool, ToolAnnotations, ToolExample, ToolLimits } from "../../core/tool.ts";
import { checkClaims, deriveAnnotations, widenAnnotations } from "./derive-annotations.ts";
import type { Part } from "./part.ts";

/** What an author says about any tool that is made out of tools. */
export interface CompositionDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version?: string;
  /** What is to be added to what follows from the parts. To make it milder is an error. */
  readonly annotations?: ToolAnnotations;
  /** What is to be added to the permissions of the parts. */
  readonly permissions?: Permissions;
  readonly examples?: readonly ToolExample[];
  /** One approval for the whole, before the ones that the parts need. */
  readonly needsApproval?: boolean;
  /** For the whole; the parts keep their own. */
  readonly limits?: ToolLimits;
}

/** The code of a tool that is made out of tools. */
export interface ComposedCode extends FunctionCode {
  /** The tools it may call without their being in the workspace. */
  readonly parts: readonly Tool[];
}

/** What {@link composeTool} puts together. */
export interface Composition {
  readonly definition: CompositionDefinition;
  readonly parts: readonly Part[];
  readonly input: SchemaSource;
  readonly output?: SchemaSource | undefined;
  /** What was already found wrong. */
  readonly problems: readonly Problem[];
  readonly run: (input: unknown, context: ToolContext) => unknown;
}

/**
 * Makes a tool out of tools: annotations and permissions follow from the parts.
 *
 * @throws {KitbagError} `tool-invalid` if a part is no tool, or the author claims what the parts do not bear out.
 */
export function composeTool({ definition, parts: given, input, output, problems, run }: Composition): Tool {
  const parts = given.map((part) => part.tool);
  const { name, annotations, permissions } = definition;
  const found = [...problems, ...checkClaims(annotations ?? {}, parts), ...checkPermissions(permissions ?? {})];
  if (found.length > 0) throw new KitbagError("tool-invalid", { tool: String(name), problems: found });
  const code: ComposedCode = { kind: "function", run, parts: Object.freeze([...new Set(parts)]) };
  return createTool({
    ...definition,
    input,
    ...(output !== undefined && { output }),
    annotations: widenAnnotations(deriveAnnotations(parts), annotations),
    permissions: joinPermissions([...parts.map((part) => part.permissions), permissions ?? {}]),
    code,
  });
}
