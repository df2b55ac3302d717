import type { ModelMessage } from "../../models/model.ts";

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
