/** The ways to write a call that are told apart. */
export type CallStyle = "tool-call" | "function" | "invoke" | "element" | "token" | "json" | "expression" | "react";

/** A call as the model wrote it, not yet checked against the tools. */
export interface CallDraft {
  readonly name: string;
  readonly input: unknown;
  readonly style: CallStyle;
  readonly repairs: readonly string[];
  /** The answer ended before the input did. */
  readonly isCut: boolean;
}

/** A property that is the object's own. */
export function ownValue(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

/** Sets a property that is the object's own, also one named `__proto__`. */
export function setOwn(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Calls that were read, and where what was read ends. */
export interface ReadCalls {
  readonly drafts: readonly CallDraft[];
  readonly end: number;
}
