import { KitbagError } from "../../core/errors.ts";

/**
 * Brings a path of a skill's folder to its shortest form.
 *
 * @throws {KitbagError} `option-invalid` if it is not a path below the folder.
 */
export function checkPath(option: string, path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const isBelow = !path.startsWith("/") && parts.length > 0 && !parts.includes("..") && !path.includes("\0");
  if (isBelow) return parts.join("/");
  throw new KitbagError("option-invalid", {
    option,
    found: JSON.stringify(path),
    expected: "a path of a file in the skill's folder, relative to it",
  });
}
