import { toVisibleText } from "../../core/hidden-characters.ts";

/** Text for XML: markup is escaped, and characters that nobody sees are left out. */
export function toXmlText(text: string): string {
  return toVisibleText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
