import { parametersOf } from "../fill/parameter.ts";
import { toSearchWords } from "../match/to-query.ts";
import { readRequest, type Request } from "../text/read-request.ts";
import type { Decision, PlannedCall, Scene, Task } from "./decision.ts";
import { findFollowUp } from "./follow-up.ts";

/** So many tools are looked at for one search. */
const mostFound = 12;

/** Where tools are found by searching, a new request begins with a search; what goes on with something known does not. */
export function findFirstSearch(scene: Scene, tasks: readonly Task[]): Decision | undefined {
  const [task] = tasks;
  const { dispatch, exchange, today } = scene;
  if (dispatch === undefined || dispatch.searched.size > 0 || task === undefined || task.tool !== undefined)
    return undefined;
  const request = readRequest(exchange.text, today);
  return findFollowUp(scene, request, true) === undefined ? findNextSearch(scene, request) : undefined;
}

/** The search for one step that was not made yet: by its own words, then by others that mean the same. */
export function findNextSearch({ dispatch, tools }: Scene, request: Request): Decision | undefined {
  if (dispatch === undefined) return undefined;
  const { said, more } = toSearchWords(request);
  const queries = [said.length === 0 ? [request.text.slice(0, 200)] : said, more].map((words) =>
    words.join(" ").trim(),
  );
  const query = queries.find((text) => text !== "" && !dispatch.searched.has(text));
  if (query === undefined) return undefined;
  const search = tools.find(({ name }) => name === "search_tools");
  const known = search === undefined ? [] : parametersOf(search);
  const takes = (name: string): boolean => known.some((parameter) => parameter.name === name);
  const tellsAll = known.some(({ name, choices }) => name === "detail" && choices.includes("schema"));
  const input = { query, ...(takes("limit") && { limit: mostFound }), ...(tellsAll && { detail: "schema" }) };
  return { text: "", calls: [{ tool: "search_tools", input }] };
}

/** Calls of tools that are not in the list, as they are made: by their names, after their skill was opened and their schema was told. */
export function toDispatched({ dispatch }: Scene, { text, calls }: Decision): Decision {
  if (dispatch === undefined) return { text, calls };
  const found = new Set(dispatch.tools.map(({ name }) => name));
  const toCall = (call: PlannedCall): PlannedCall => {
    if (!found.has(call.tool)) return call;
    const skill = dispatch.closed.get(call.tool);
    if (skill !== undefined) return { tool: "activate_skill", input: { name: skill } };
    if (dispatch.undescribed.has(call.tool)) return { tool: "describe_tool", input: { name: call.tool } };
    return { tool: "call_tool", input: { name: call.tool, input: call.input } };
  };
  const made = new Map(calls.map((call) => [JSON.stringify(toCall(call)), toCall(call)]));
  return { text, calls: [...made.values()] };
}
