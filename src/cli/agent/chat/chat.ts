import type { AgentRun } from "../../../agent/agent-run.ts";
import type { Model, ModelMessage } from "../../../models/model.ts";
import type { Session } from "../../../workspace/workspace.ts";
import type { Invocation } from "../../cli-command.ts";
import type { OpenAgent } from "../with-agent.ts";

/** A conversation at the terminal while it lasts. */
export interface Chat {
  readonly invocation: Invocation;
  readonly open: OpenAgent;
  /** Has the skills open that are open in the conversation, also between two requests. */
  readonly session: Session;
  model: Model | string;
  /** What was said so far. */
  messages: readonly ModelMessage[];
  /** The name under which it is saved; none if it is not. */
  conversation: string | undefined;
  /** Whether the next run is gone through step by step. */
  isDebugging: boolean;
  lastRun: AgentRun | undefined;
  /** Whether a request could not be answered. */
  hasFailed: boolean;
}

/** Begins a conversation. Whoever begins it closes its session. */
export function createChat(invocation: Invocation, open: OpenAgent): Chat {
  return {
    invocation,
    open,
    session: open.workspace.openSession(),
    model: open.model,
    messages: [],
    conversation: undefined,
    isDebugging: false,
    lastRun: undefined,
    hasFailed: false,
  };
}

/** Says something to the person that is not the model's answer. */
export function say({ invocation: { terminal } }: Pick<Chat, "invocation">, text: string): void {
  terminal.note(text.endsWith("\n") ? text : `${text}\n`);
}
