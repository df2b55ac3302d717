/**
 * Says why a file that decides what runs cannot be used: another user owns it and can change it at any time. Answers with nothing
 * for a file of this user or of root, and where files have no such owner (Windows).
 */
export function describeForeignOwner(
  { uid }: { readonly uid: number },
  me: number | undefined = process.getuid?.(),
): string | undefined {
  if (me === undefined || uid === me || uid === 0) return undefined;
  return `it belongs to another user (uid ${uid}), and you are uid ${me}; make it yours with chown, remove it, or run kitbag as its owner`;
}
