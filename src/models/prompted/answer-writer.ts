import type { ModelContent, ModelPart } from "../model.ts";
import type { Piece } from "./scanner.ts";

type ToolCall = Extract<ModelContent, { type: "tool-call" }>;

/** Makes the call that the loop sees of a call or a problem; `undefined` for a problem that has not even a name. */
export function toToolCall(
  piece: Extract<Piece, { type: "call" | "problem" }>,
  toolCallId: string,
): ToolCall | undefined {
  if (piece.type === "call") {
    const { name, input, repairs } = piece.call;
    const told = repairs.length === 0 ? {} : { providerMetadata: { kitbag: { repairs: [...repairs] } } };
    return { type: "tool-call", toolCallId, toolName: name, input: JSON.stringify(input), ...told };
  }
  const { name, input, message: problem, reason } = piece.problem;
  if (name === undefined) return undefined;
  const kitbag = reason === undefined ? { problem } : { problem, unreadable: reason };
  return { type: "tool-call", toolCallId, toolName: name, input, providerMetadata: { kitbag } };
}

/** Writes pieces as the parts of a stream, each block opened and closed. */
export interface AnswerWriter {
  write(piece: Piece): void;
  /** Opens a call whose arguments are still being written. */
  startCall(name: string): void;
  addArguments(delta: string): void;
  /** Closes what is open. */
  close(): void;
  hasCalls(): boolean;
  /** What could not be read and had no name: it is in the text. */
  readonly problems: string[];
}

/** Makes a writer that gives its parts to `emit`. */
export function createAnswerWriter(
  emit: (part: ModelPart) => void,
  createId: () => string,
  areCallsWanted: boolean,
): AnswerWriter {
  const blocks = createBlocks(emit);
  let started: string | undefined;
  let calls = 0;
  const problems: string[] = [];

  function addCall(piece: Extract<Piece, { type: "call" | "problem" }>): void {
    const call = areCallsWanted ? toToolCall(piece, started ?? createId()) : undefined;
    if (call === undefined) {
      if (piece.type !== "problem") return;
      // What was shown as it was written came to nothing.
      if (started !== undefined) emit({ type: "tool-input-end", id: started });
      started = undefined;
      problems.push(piece.problem.message);
      return blocks.add("text", piece.raw);
    }
    blocks.close();
    const { toolCallId: id, toolName, input } = call;
    if (started === undefined) {
      emit({ type: "tool-input-start", id, toolName });
      emit({ type: "tool-input-delta", id, delta: input });
    }
    started = undefined;
    emit({ type: "tool-input-end", id });
    emit(call);
    calls += 1;
  }

  return {
    problems,
    close: blocks.close,
    hasCalls: () => calls > 0,
    startCall(name) {
      blocks.close();
      started = createId();
      emit({ type: "tool-input-start", id: started, toolName: name });
    },
    addArguments(delta) {
      if (started !== undefined && delta !== "") emit({ type: "tool-input-delta", id: started, delta });
    },
    write(piece) {
      if (piece.type === "call" || piece.type === "problem") addCall(piece);
      else blocks.add(piece.type, piece.text);
    },
  };
}

interface Blocks {
  add(type: "text" | "reasoning", delta: string): void;
  close(): void;
}

/** Blocks of text and of reasoning, of which one is open at a time. */
function createBlocks(emit: (part: ModelPart) => void): Blocks {
  let open: { readonly type: "text" | "reasoning"; readonly id: string } | undefined;
  let count = 0;

  function close(): void {
    if (open !== undefined) emit({ type: `${open.type}-end`, id: open.id });
    open = undefined;
  }

  return {
    close,
    add(type, delta) {
      if (open?.type !== type) {
        close();
        open = { type, id: `${type}-${count}` };
        count += 1;
        emit({ type: `${type}-start`, id: open.id });
      }
      emit({ type: `${type}-delta`, id: open.id, delta });
    },
  };
}
