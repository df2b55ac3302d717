import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { ImagePart, ImageSource, NamedImage } from "../../models/images/to-image-part.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { Task } from "../agent-options.ts";

/** Makes the messages that a task is; `option` is what it is called. @throws {KitbagError} `option-invalid` */
export function toMessages(task: Task, option = "task"): readonly ModelMessage[] {
  if (typeof task === "string" && task.trim() !== "") {
    return [{ role: "user", content: [{ type: "text", text: task }] }];
  }
  if (Array.isArray(task) && task.length > 0) {
    for (const [index, message] of task.entries()) checkMessage(message, `${option}[${index}]`);
    return task as readonly ModelMessage[];
  }
  const expected = "a text or a list of messages, and not an empty one";
  throw new KitbagError("option-invalid", { option, found: showValue(task), expected });
}

const roles: ReadonlySet<unknown> = new Set<ModelMessage["role"]>(["system", "user", "assistant", "tool"]);

/** What a model would not understand, or leave out. @throws {KitbagError} `option-invalid` */
function checkMessage(message: unknown, option: string): void {
  const { role, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown };
  if (!roles.has(role)) {
    const expected = `one of ${[...roles].join(", ")}`;
    throw new KitbagError("option-invalid", { option: `${option}.role`, found: showValue(role), expected });
  }
  if (role === "system" ? typeof content === "string" : Array.isArray(content)) return;
  const expected = role === "system" ? "a text" : 'a list of parts, such as { type: "text", text }';
  throw new KitbagError("option-invalid", { option: `${option}.content`, found: showValue(content), expected });
}

/**
 * Puts pictures into the last message of the user.
 *
 * @throws {KitbagError} `image-invalid`; `option-invalid` if the last message is not the user's.
 */
export async function addImages(
  messages: readonly ModelMessage[],
  images: readonly (ImageSource | NamedImage)[],
): Promise<readonly ModelMessage[]> {
  if (images.length === 0) return messages;
  const last = messages.at(-1);
  if (last?.role !== "user") {
    const expected = "pictures with a message of the user, the last one";
    throw new KitbagError("option-invalid", { option: "images", found: `a message of the ${last?.role}`, expected });
  }
  const { toImagePart } = await import("../../models/images/to-image-part.ts");
  const parts: ImagePart[] = await Promise.all(
    images.map((given, index) => {
      if (!isNamed(given)) return toImagePart(given);
      const { image, name } = given;
      if (typeof name === "string") return toImagePart(image, { name });
      throw new KitbagError("option-invalid", {
        option: `images[${index}].name`,
        found: showValue(name),
        expected: "a text",
      });
    }),
  );
  return [...messages.slice(0, -1), { ...last, content: [...last.content, ...parts] }];
}

function isNamed(image: ImageSource | NamedImage): image is NamedImage {
  return typeof image === "object" && image !== null && "image" in image;
}
