import type { ModelTool } from "../../model.ts";
import type { Filled } from "../fill/fill-parameters.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { rolesOf } from "../fill/roles.ts";
import { isChanging } from "../match/danger.ts";

/** What stands between things, and not in what one thing is called. */
const between =
  /(?:^|\s)(?:to|from|in|on|at|with|for|about|that|which|when|is|are|was|were|did|does|we|i|you|they|if|by|my|your)(?=\s|$)/iu;

/** What changes things is not done to what was only left over and is hardly one thing ("euros to my landlord"): that is asked for. */
export function withoutDoubt(tool: ModelTool, filled: Filled): Filled {
  if (filled.guessed.size === 0 || !isChanging(tool)) return filled;
  const doubtful = parametersOf(tool).filter((parameter) => isDoubtful(parameter, filled));
  if (doubtful.length === 0) return filled;
  const names = new Set(doubtful.map(({ name }) => name));
  return {
    ...filled,
    input: Object.fromEntries(Object.entries(filled.input).filter(([name]) => !names.has(name))),
    guessed: new Set([...filled.guessed].filter((name) => !names.has(name))),
    missing: [...filled.missing, ...doubtful],
  };
}

function isDoubtful(parameter: Parameter, { input, guessed, recalled }: Filled): boolean {
  const { name } = parameter;
  const value = input[name];
  if (!guessed.has(name) || recalled.has(name) || typeof value !== "string") return false;
  const roles = rolesOf(parameter);
  return !roles.has("text") && !roles.has("query") && !roles.has("name") && between.test(value);
}
