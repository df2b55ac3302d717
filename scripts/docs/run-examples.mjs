// Runs the examples that are given, one after the other in this process, and says at its very end that all of them ran: one that
// ends the process early is found out.
import { AssertionError } from "node:assert";
import { pathToFileURL } from "node:url";

// By itself, console.assert only prints.
console.assert = (condition, ...message) => {
  if (condition) return;
  throw new AssertionError({ message: message.join(" ") || "console.assert: not so", stackStartFn: console.assert });
};

const files = process.argv.slice(2);
for (const file of files) await import(pathToFileURL(file).href);
process.on("exit", (code) => {
  if (code === 0) console.log(`all ${files.length} examples ran`);
});
