import type { Tool } from "../core/tool.ts";

/**
 * An earlier version, no laxer than the tool of now: whoever marked that as destructive, or wants each call approved, means the tool,
 * and not only its newest version. The same tool if nothing has to be added.
 */
export function tighten(earlier: Tool, now: Tool): Tool {
  const needsApproval = earlier.needsApproval || now.needsApproval;
  const isDestructive = now.annotations.destructive === true && earlier.annotations.destructive !== true;
  const isNoReader = earlier.annotations.readOnly === true && now.annotations.readOnly !== true;
  if (needsApproval === earlier.needsApproval && !isDestructive && !isNoReader) return earlier;
  const annotations = {
    ...earlier.annotations,
    ...(isDestructive && { destructive: true }),
    ...(isNoReader && { readOnly: false }),
  };
  return { ...earlier, needsApproval, annotations };
}
