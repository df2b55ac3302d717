import { usageError } from "../usage-error.ts";

/** The ids that a conversation may have. @throws {KitbagError} `usage-invalid` */
export function checkConversationId(id: string): string {
  if (/^[\w.@:-]{1,100}$/u.test(id)) return id;
  throw usageError(
    `Cannot use ${JSON.stringify(id)} as the name of a conversation: use letters, digits, . _ - : @, at most 100`,
  );
}
