#!/usr/bin/env node
// Draws a card from {"title": ..., "items": [...]} on standard input.
const chunks = [];
process.stdin.on("data", (chunk) => chunks.push(chunk));
process.stdin.on("end", () => {
  const { title, items = [] } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  console.log(`== ${title} ==`);
  for (const item of items) console.log(`- ${item}`);
});
