import { createTool } from "../../core/define-tool.ts";
import { KitbagError, quote, type Problem } from "../../core/errors.ts";
import { checkPermissions, joinPermissions, type Permissions } from "../../core/permissions.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import {
  type FunctionCode,
  isParallelSafe,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolExample,
  type ToolLimits,
} from "../../core/tool.ts";
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

/** A tool that another one is made of. Without annotations nothing is known about it, and the worst is assumed. */
export interface AnnotatedPart {
  readonly name: string;
  readonly annotations?: ToolAnnotations;
}

const worst: ToolAnnotations = { readOnly: false, destructive: true, idempotent: false, openWorld: true };

/**
 * The annotations of a tool that calls all of `parts`. What a part leaves open counts against it: the result is read-only and
 * idempotent only if every part says so, and destructive unless every part says that it is not.
 */
export function deriveAnnotations(parts: readonly AnnotatedPart[]): ToolAnnotations {
  const all = parts.map(({ annotations = worst }) => annotations);
  const openWorld = all.every((one) => one.openWorld === false) ? false : all.some((one) => one.openWorld) || undefined;
  const readOnly = all.every((one) => one.readOnly === true);
  return {
    readOnly,
    destructive: all.some(isDestructive),
    idempotent: all.every(mayRunAgain),
    ...(openWorld !== undefined && { openWorld }),
    ...(!readOnly && all.every(isParallelSafe) && { parallelSafe: true }),
  };
}

/** Tells whether a tool may be run again: it is idempotent, or only reads. */
export function mayRunAgain(annotations: ToolAnnotations): boolean {
  return annotations.idempotent === true || annotations.readOnly === true;
}

function isDestructive(annotations: ToolAnnotations): boolean {
  return annotations.destructive ?? annotations.readOnly !== true;
}

const claims: readonly {
  readonly name: keyof ToolAnnotations;
  readonly claimed: boolean;
  readonly holds: (annotations: ToolAnnotations) => boolean;
  readonly words: string;
}[] = [
  { name: "readOnly", claimed: true, holds: (part) => part.readOnly === true, words: "read-only" },
  { name: "destructive", claimed: false, holds: (part) => !isDestructive(part), words: "marked as not destructive" },
  { name: "idempotent", claimed: true, holds: mayRunAgain, words: "idempotent" },
  { name: "openWorld", claimed: false, holds: (part) => part.openWorld === false, words: "marked as openWorld: false" },
  { name: "parallelSafe", claimed: true, holds: isParallelSafe, words: "read-only or marked as parallelSafe" },
];

/** What an author claims for a composed tool that its parts do not bear out. */
export function checkClaims(declared: ToolAnnotations, parts: readonly AnnotatedPart[]): Problem[] {
  const problems: Problem[] = [];
  for (const { name, claimed, holds, words } of claims) {
    const culprit = parts.find(({ annotations = worst }) => !holds(annotations));
    if (declared?.[name] !== claimed || culprit === undefined) continue;
    problems.push({
      path: `annotations.${name}`,
      expected: `no ${name}: ${claimed}, because ${quote(culprit.name)} is not ${words}`,
      found: String(claimed),
    });
  }
  return problems;
}

/** Adds what an author declares to what follows from the parts. {@link checkClaims} has refused what would make it milder. */
export function widenAnnotations(derived: ToolAnnotations, declared: ToolAnnotations = {}): ToolAnnotations {
  const said = Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== undefined));
  const readOnly = declared.readOnly ?? (declared.destructive === true ? false : derived.readOnly);
  return { ...derived, ...said, readOnly: readOnly === true };
}
