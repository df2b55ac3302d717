import type { ListOptions } from "../core/store.ts";
import { checkKeyPart } from "./check-key.ts";
import { checkWhole } from "./check-whole.ts";

/**
 * Checks what part is to be listed, and fills in what was not said.
 *
 * @throws {KitbagError} `store-key-invalid` or `option-invalid`
 */
export function checkList(options: ListOptions | undefined): Required<ListOptions> {
  const { prefix = "", after = "", limit = 1000 } = options ?? {};
  checkKeyPart(prefix);
  checkKeyPart(after);
  checkWhole("limit", limit);
  return { prefix, after, limit };
}
