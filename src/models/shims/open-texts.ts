import type { ModelPart } from "../model.ts";

/** Makes the parts of the texts and the thoughts of an answer: one of them is open at a time. */
export class OpenTexts {
  #count = 0;
  #type: "reasoning" | "text" | undefined;

  *add(type: "reasoning" | "text", delta: unknown): Generator<ModelPart> {
    if (typeof delta !== "string" || delta === "") return;
    if (this.#type !== type) {
      yield* this.end();
      this.#type = type;
      this.#count += 1;
      yield { type: `${type}-start`, id: this.#id() };
    }
    yield { type: `${type}-delta`, id: this.#id(), delta };
  }

  *end(): Generator<ModelPart> {
    if (this.#type !== undefined) yield { type: `${this.#type}-end`, id: this.#id() };
    this.#type = undefined;
  }

  #id(): string {
    return String(this.#count);
  }
}

/** A call of a tool that has come whole. */
export interface WholeCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly input: string;
}

/** Makes the parts of a call. */
export function toCallParts({ id, name, input }: WholeCall): readonly ModelPart[] {
  return [
    { type: "tool-input-start", id, toolName: name },
    { type: "tool-input-delta", id, delta: input },
    { type: "tool-input-end", id },
    { type: "tool-call", toolCallId: id, toolName: name, input },
  ];
}
