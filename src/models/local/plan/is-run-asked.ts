import { parametersOf } from "../fill/parameter.ts";
import { rolesOf } from "../fill/roles.ts";
import { asksAbout } from "../match/danger.ts";
import type { Request } from "../text/read-request.ts";
import type { Fit } from "./fit-tool.ts";

const leading =
  /^(?:please|can|could|would|you|now|just|then|and|run|execute|exec|query|perform|apply|submit|the|this|following|sql|shell|bash|command|statement|in|on|a|terminal|database|db|)$/u;

/**
 * Tells whether a statement or a command that a tool would run is given to be run: "I ran DELETE FROM users by mistake" and "what does
 * rm -rf do?" are not. What only selects may be run for any reason.
 */
export function isRunAsked(request: Request, { tool, filled }: Fit): boolean {
  const at = request.tokens.findIndex(({ kind }) => kind === "sql" || kind === "command");
  const piece = request.tokens[at];
  if (piece === undefined || /^(?:select|with|explain)\b/iu.test(piece.text)) return true;
  const isTaken = parametersOf(tool).some((parameter) => {
    const { from, to } = filled.places.get(parameter.name) ?? { from: 0, to: 0 };
    const roles = rolesOf(parameter);
    return from <= at && at < to && (roles.has("sql") || roles.has("command") || roles.has("query"));
  });
  return !isTaken || (!asksAbout(request) && request.tokens.slice(0, at).every(({ word }) => leading.test(word)));
}
