/** The oldest Node that Kitbag runs on. */
export const oldestNode = "22.19";

/** Whether Kitbag runs on this version of Node. An older one would only say that some name is missing, or nothing at all. */
export function isNodeSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
