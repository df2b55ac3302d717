import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { Tool } from "../../core/tool.ts";
import { toolSignature } from "../../skills/trust/tool-signature.ts";
import type { VersionStep } from "../forge-interface.ts";
import { describePermissions, isNothing, permissionsBeyond } from "../permissions-beyond.ts";
import { findNarrowing } from "./find-narrowing.ts";

/** How far one version of a tool is from another, and why. */
export interface ToolChange {
  readonly step: VersionStep;
  readonly reasons: readonly string[];
}

/**
 * Compares what two versions promise: `major` if somebody who calls the old one may be let down by the new one, or if that may
 * touch more; `minor` if it takes or gives more; else `patch`.
 */
export function compareTools(before: Tool, after: Tool): ToolChange {
  const breaking = findBreaking(before, after);
  if (breaking.length > 0) return { step: "major", reasons: breaking };
  if (toolSignature(before) !== toolSignature(after)) {
    return { step: "minor", reasons: ["it takes or gives more than before"] };
  }
  return { step: "patch", reasons: ["it takes and gives the same"] };
}

function findBreaking(before: Tool, after: Tool): string[] {
  const wider = permissionsBeyond(after.permissions, before.permissions);
  return [
    ...findNarrowing({ from: before.inputSchema, to: after.inputSchema, isOpen: false }).map((one) => `input: ${one}`),
    ...compareOutputs(before.outputSchema, after.outputSchema).map((one) => `output, as it was promised: ${one}`),
    ...(isNothing(wider) ? [] : [`it may touch more: ${describePermissions(wider)}`]),
    ...compareAnnotations(before, after),
  ];
}

/** What comes must fit what was promised. Text and JSON are not the same to whoever reads it. */
function compareOutputs(before: JsonSchema | undefined, after: JsonSchema | undefined): readonly string[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return ["it was text and is JSON"];
  if (after === undefined) return ["it was JSON and is text"];
  return findNarrowing({ from: after, to: before, isOpen: true });
}

function compareAnnotations({ annotations: before }: Tool, { annotations: after }: Tool): string[] {
  const reasons: string[] = [];
  if (before.readOnly === true && after.readOnly !== true) reasons.push("it is no longer read-only");
  if (before.idempotent === true && after.idempotent !== true) reasons.push("it is no longer idempotent");
  if (before.destructive !== true && after.destructive === true) reasons.push("it is destructive now");
  return reasons;
}
