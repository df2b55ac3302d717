// Scores each event of the list on standard input.
import { readFileSync } from "node:fs";

const events = JSON.parse(readFileSync(0, "utf8"));
const points = { login: 1, failure: 5, admin: 10 };
const scored = events.map((event) => ({ ...event, score: points[event.kind] ?? 0 }));
console.log(JSON.stringify({ total: scored.reduce((sum, { score }) => sum + score, 0), events: scored }));
