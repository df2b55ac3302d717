import type { AgentRun } from "../../agent/agent-run.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { RunResult } from "../../agent/run-result.ts";
import type { Approve } from "../../workspace/call/call-options.ts";
import { askThePerson } from "../call-options.ts";
import type { Invocation } from "../cli-command.ts";
import { renderJsonLine } from "../printable.ts";
import { onInterrupt } from "../until-interrupted.ts";
import type { OpenAgent } from "./open-agent.ts";
import { createRunView, type RunView, type RunViewOptions } from "./view/run-view.ts";
import type { ModelMessage } from "../../models/model.ts";

/** How a run is shown while it goes on, and how a person is asked. */
export interface ShownRun {
  readonly onEvent: (event: AgentEvent) => void;
  /** Asks the user; missing where no user can be asked, so that the run pauses. */
  readonly approve: Approve | undefined;
  readonly view: RunView | undefined;
  /** Tells how it ended to a program that was not told: a run that could not even begin has no events. */
  conclude(result: RunResult): void;
}

/** Makes what shows a run: lines for a person, or one event a line for a program. */
export function createShownRun(
  invocation: Invocation,
  { approve }: Pick<OpenAgent, "approve">,
  options: RunViewOptions = {},
): ShownRun {
  const { terminal, json } = invocation;
  if (json) {
    let hasEnded = false;
    const onEvent = (event: AgentEvent): void => {
      hasEnded ||= event.type === "task-end";
      terminal.print(`${renderJsonLine(event)}\n`);
    };
    const conclude = (result: RunResult): void => {
      if (!hasEnded) onEvent({ type: "task-end", run: result.run, result });
    };
    return { onEvent, approve: approve ?? whoApproves(invocation), view: undefined, conclude };
  }
  const view = createRunView(terminal, options);
  const person = approve ?? whoApproves(invocation);
  const asked: Approve | undefined = person && ((request) => view.leave(async () => person(request)));
  return { onEvent: view.onEvent, approve: asked, view, conclude: () => {} };
}

function whoApproves(invocation: Invocation): Approve | undefined {
  const canDecide = invocation.options["yes"] === true || (invocation.terminal.canAsk && !invocation.json);
  return canDecide ? askThePerson(invocation) : undefined;
}

/** Waits for a run, and ends what shows it. A signal to the process stops the run. */
export async function finishRun(run: AgentRun, view: RunView | undefined): Promise<RunResult> {
  const stopWaiting = onInterrupt(() => run.stop());
  try {
    return await run.result;
  } finally {
    stopWaiting();
    view?.end();
  }
}

type UserMessage = Extract<ModelMessage, { role: "user" }>;

/** Makes the message of a person: what he says, and the pictures that he shows. @throws {KitbagError} `image-invalid` */
export async function toUserMessage(text: string, images: readonly string[]): Promise<UserMessage> {
  const content: UserMessage["content"] = text === "" ? [] : [{ type: "text", text }];
  if (images.length > 0) {
    const { toImagePart } = await import("../../models/images/to-image-part.ts");
    content.push(...(await Promise.all(images.map((image) => toImagePart(image)))));
  }
  return { role: "user", content };
}
