import { KitbagError } from "../../core/errors.ts";
import type { Tool } from "../../core/tool.ts";
import { findLimitedCaller } from "../../workspace/call/authority.ts";
import type { RefusedTool, TrialOptions } from "../forge-interface.ts";
import { refuseWith } from "./answer.ts";

/** Tools that somebody wants to change. */
interface Changed {
  /** Of the tool or the skill that is changed. */
  readonly name: string;
  /** As they are. */
  readonly tools: readonly Tool[];
  /** The skill that they belong to. */
  readonly skill?: string;
}

/**
 * Refuses to change what whoever asks may not call: the examples of an edit are calls of it, with inputs that they choose. Nothing if they
 * may.
 */
export function refuseCaller(
  { name, tools, skill }: Changed,
  { call }: Pick<TrialOptions, "call"> | { readonly call?: undefined },
): RefusedTool | undefined {
  const caller = findLimitedCaller(call);
  for (const tool of caller === undefined ? [] : tools) {
    const address = skill === undefined ? tool.name : `${skill}/${tool.name}`;
    const owner =
      skill === undefined ? { source: "global" as const, owner: "global" } : { source: "skill" as const, owner: skill };
    const failure = caller?.refuse({ tool, address, wireName: address, ...owner });
    if (failure !== undefined) return refuseWith(name, new KitbagError(failure.code, failure.details));
  }
  return undefined;
}
