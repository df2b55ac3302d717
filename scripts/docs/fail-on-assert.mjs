// Loaded before an example: an assertion that does not hold ends it. By itself, console.assert only prints.
import assert from "node:assert";

console.assert = (condition, ...message) => {
  if (!condition)
    throw new assert.AssertionError({
      message: message.join(" ") || "console.assert: not so",
      stackStartFn: console.assert,
    });
};
