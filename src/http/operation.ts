import type { JsonValue } from "../core/json.ts";
import type { JsonSchema } from "../core/schema/json-schema.ts";
import type { ValueOf } from "../core/schema/schema-types.ts";
import type { Caller } from "../gate/gate.ts";
import type { Session } from "../workspace/workspace.ts";
import type { HttpParts } from "./http-options.ts";
import type { LiveCalls } from "./live-calls.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { paths, OperationName, PathParameters } from "./paths.ts";
import type { ServerEvent } from "./server-events.ts";

/** What an operation knows of the request that it answers. */
export interface OperationContext {
  readonly parts: HttpParts;
  /** The runs and calls that this process works on. */
  readonly live: LiveRuns;
  readonly calls: LiveCalls;
  readonly caller: Caller;
  /** The caller's session: which skills are open, without what the caller may not use. */
  readonly session: Session;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Whether the caller may see and do what concerns all users: the scope `service`. */
  mayServe(): boolean;
  /** A header of the request, by its name in lower case. */
  header(name: string): string | undefined;
  /** Sets a header of the answer. */
  setHeader(name: string, value: string): void;
}

/** The input of an operation: the parameters of its path, and what its schema describes. */
export type InputOf<Name extends OperationName, Input, Side extends "given" | "checked"> = {
  readonly [Parameter in PathParameters<(typeof paths)[Name]>]: string;
} & (Input extends JsonSchema ? ValueOf<Input, Side> : unknown);

/** An answer that is no JSON. */
export interface BytesAnswer {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** A file name for people who save it. */
  readonly name?: string;
}

/** What an operation is made of. */
export interface OperationParts<Name extends OperationName, Input, Answer> {
  /** What it does, in one sentence. */
  readonly summary: string;
  /** The scope that a caller needs beside those of tools. @default none */
  readonly scope?: string;
  /** The properties of the query (`GET`) or of the body, without the parameters of the path. @default none */
  readonly input?: Input;
  readonly answer: Answer;
  /** Answers with JSON, or with bytes. */
  handle(
    context: OperationContext,
    input: InputOf<Name, Input, "checked">,
  ): BytesAnswer | ValueOf<Answer, "given"> | Promise<BytesAnswer | ValueOf<Answer, "given">>;
  /** Whether a request is answered with a stream. @default if it accepts `text/event-stream` */
  isStream?(input: InputOf<Name, Input, "checked">): boolean;
  /** Answers clients that accept `text/event-stream`. @default such clients get JSON, too */
  stream?(
    context: OperationContext,
    input: InputOf<Name, Input, "checked">,
  ): AsyncIterable<ServerEvent> | Promise<AsyncIterable<ServerEvent>>;
}

/** An operation of the API: data, and how it is answered. */
export interface Operation {
  readonly name: OperationName;
  readonly summary: string;
  readonly scope?: string;
  readonly input?: JsonSchema;
  readonly answer: JsonSchema;
  handle(context: OperationContext, input: JsonValue): Promise<JsonValue | BytesAnswer> | JsonValue | BytesAnswer;
  isStream?(input: JsonValue): boolean;
  stream?(
    context: OperationContext,
    input: JsonValue,
  ): AsyncIterable<ServerEvent> | Promise<AsyncIterable<ServerEvent>>;
}

/** An operation whose types the client knows. */
export interface TypedOperation<Given, Answered> extends Operation {
  readonly types?: { readonly given: Given; readonly answered: Answered };
}

/** Makes an operation. Its schemas are written `as const`: the types of `handle` and of the client are theirs. */
export function operation<
  Name extends OperationName,
  const Input extends JsonSchema | undefined = undefined,
  const Answer extends JsonSchema = JsonSchema,
>(
  name: Name,
  { input, ...parts }: OperationParts<Name, Input, Answer>,
): TypedOperation<InputOf<Name, Input, "given">, ValueOf<Answer>> {
  return { name, ...parts, ...(input !== undefined && { input }) } as TypedOperation<
    InputOf<Name, Input, "given">,
    ValueOf<Answer>
  >;
}
