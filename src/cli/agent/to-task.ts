import type { Task } from "../../agent/agent-options.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { Workspace } from "../../workspace/workspace.ts";

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

/** What the model is told of a skill that the person has opened: nobody else says its instructions. */
export async function toSkillMessage(workspace: Workspace, name: string): Promise<ModelMessage> {
  const instructions = await workspace.invokeSkill(name);
  const text = `The skill ${name} is open now. Its instructions:\n\n${instructions}`;
  return { role: "user", content: [{ type: "text", text }] };
}

/** A task of these messages. */
export function toTask(before: readonly ModelMessage[], message: UserMessage): Task {
  return [...before, message];
}
