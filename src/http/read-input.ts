import { KitbagError } from "../core/errors.ts";
import { describeProblem } from "../core/error-texts.ts";
import { copyJson, isRecord, maxJsonDepth, type JsonObject, type JsonValue } from "../core/json.ts";
import { checkLeniently } from "../core/schema/validator.ts";
import type { Operation } from "./operation.ts";

/** What a request says beside its path. */
export interface GivenInput {
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  /** Whether the page of another site may have sent it. */
  readonly isForeign: boolean;
  /** The bytes of the body; undefined without a body. */
  readonly body: Uint8Array | undefined;
}

/**
 * Reads the input of an operation: the parameters of its path with those of the query, or of the body.
 *
 * @throws {KitbagError} `request-refused` if it is no JSON, or not what the operation takes; the message names every place.
 */
export function readInput(
  { name, input: schema }: Pick<Operation, "name" | "input">,
  parameters: Readonly<Record<string, string>>,
  given: GivenInput,
): JsonValue {
  const value = given.body === undefined ? fromQuery(given.query) : fromBody(given.body, given);
  if (schema === undefined) {
    const [extra] = Object.keys(value);
    if (extra !== undefined) throw refuse(422, `${name} takes no "${extra.slice(0, 60)}"; leave it out`);
    return parameters;
  }
  const checked = checkLeniently(schema, value);
  if (checked.ok) return { ...(checked.value as JsonObject), ...parameters };
  const problems = checked.problems.map((problem) => describeProblem(problem));
  throw refuse(422, `the input of ${name} is wrong: ${problems.join("; ")}`);
}

/** A parameter that is given twice is a list. What the client uses to name its session and to begin a stream is not part of the input. */
function fromQuery(query: URLSearchParams): JsonObject {
  const all = Map.groupBy(query, ([key]) => key);
  all.delete("session");
  return Object.fromEntries(
    [...all].map(([key, pairs]) => [key, pairs.length > 1 ? pairs.map(([, value]) => value) : (pairs[0]?.[1] ?? "")]),
  );
}

function fromBody(bytes: Uint8Array, { contentType, isForeign }: GivenInput): JsonObject {
  if (bytes.length === 0 && !isForeign) return {};
  // Web pages of other sites can send texts, and nothing, without asking, but not JSON.
  if (contentType?.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
    throw refuse(415, "the body must be JSON; send it with content-type: application/json");
  if (bytes.length === 0) return {};
  const copy = copyJson(parse(bytes), { maxBytes: 2 * bytes.length + 1024, maxDepth: maxJsonDepth });
  if (!copy.ok)
    throw refuse(
      422,
      copy.reason === "not-json" ? `the body is wrong: ${describeProblem(copy.problem)}` : "the body is too large",
    );
  if (isRecord(copy.value)) return copy.value;
  throw refuse(422, "the body must be a JSON object");
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw refuse(400, "the body is not JSON in UTF-8");
  }
}

function refuse(status: number, reason: string): KitbagError<"request-refused"> {
  return new KitbagError("request-refused", { status, reason });
}
