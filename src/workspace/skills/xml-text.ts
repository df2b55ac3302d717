/** Text for XML: markup is escaped, and characters that nobody sees are left out. */
export function toXmlText(text: string): string {
  return toSeenText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Text without characters that nobody sees. */
export function toSeenText(text: string): string {
  return text
    .replaceAll(
      /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/gu,
      "",
    )
    .replaceAll(/[\u{E0000}-\u{E007F}]/gu, "");
}
