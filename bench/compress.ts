import { readFileSync } from "node:fs";
import { join } from "node:path";

import { compressText, estimateMessageTokens } from "kitbag/models";

import type { Question } from "./question.ts";

/** What is asked about a text, and words without which it cannot be answered. */
interface Fact {
  readonly from: string;
  readonly asks: string;
  readonly needs: string;
}

const shares = [0.1, 0.25, 0.5] as const;

const question: Question = {
  title: "How much is lost when a prompt is made shorter?",
  text: "Guides of this repository, a list of 200 orders and a log of 600 lines, as results of tools: each is made shorter to a tenth, a quarter and a half of its tokens with `compressText`, for the question and without one. Counted is of how many questions the words that answer them are still there. Against it: the beginning and the end, as long texts are usually cut.",
  unit: "percent of the questions",
  rounds: 1,
  targets: [
    {
      text: "a quarter, for the question: lost",
      unit: "%",
      limit: 10,
      value: (cost) => 100 - cost("0.25 for the question"),
    },
    {
      text: "a quarter, for the question: lost, to beginning and end",
      unit: "×",
      limit: 0.25,
      value: (cost) => (100 - cost("0.25 for the question")) / (100 - cost("0.25 beginning and end")),
    },
  ],
  async contenders() {
    const texts = new Map([...new Set(facts.map(({ from }) => from))].map((name) => [name, load(name)]));
    return shares.flatMap((share) => [
      {
        name: `${share} for the question`,
        measure: () => survive(texts, share, (text, most, asks) => shorten(text, most, asks)),
      },
      {
        name: `${share} without a question`,
        measure: () => survive(texts, share, (text, most) => shorten(text, most)),
      },
      { name: `${share} beginning and end`, measure: () => survive(texts, share, cutMiddle) },
    ]);
  },
};

export default question;

type Shorten = (text: string, maxTokens: number, asks: string) => string;

function survive(texts: ReadonlyMap<string, string>, share: number, make: Shorten): number {
  const kept = facts.filter(({ from, asks, needs }) => {
    const text = texts.get(from) ?? "";
    if (!text.includes(needs)) throw new Error(`${from} does not say "${needs}" any more`);
    return make(text, Math.ceil(count(text) * share), asks).includes(needs);
  });
  return (kept.length / facts.length) * 100;
}

function shorten(text: string, maxTokens: number, query?: string): string {
  return compressText(text, { maxTokens, ...(query !== undefined && { query }) }).text;
}

function cutMiddle(text: string, maxTokens: number): string {
  const length = Math.floor((text.length * maxTokens) / count(text));
  return `${text.slice(0, Math.floor(length * 0.7))}…${text.slice(text.length - Math.floor(length * 0.3))}`;
}

function count(text: string): number {
  return estimateMessageTokens({ role: "user", content: [{ type: "text", text }] });
}

function load(name: string): string {
  if (name === "orders") return JSON.stringify({ orders: Array.from({ length: 200 }, (_, index) => toOrder(index)) });
  if (name === "log") return Array.from({ length: 600 }, (_, index) => toLogLine(index)).join("\n");
  return readFileSync(join(import.meta.dirname, "../docs/guide", `${name}.md`), "utf8");
}

const people = ["Ada", "Grace", "Edsger", "Barbara", "Donald", "Alan", "Radia", "Ken"];
const things = ["lamp", "desk", "chair", "clock", "shelf", "sofa", "rug"];

function toOrder(index: number): object {
  return {
    id: 1000 + index,
    customer: `${people[index % 8]} ${people[(index * 3 + 1) % 8]}`,
    thing: things[(index * 5) % 7],
    price: 20 + ((index * 37) % 400),
    status: index === 57 ? "returned, because a leg was broken" : index % 9 === 0 ? "open" : "delivered",
    ...(index === 131 && { note: "deliver to the back door, the bell does not work" }),
  };
}

function toLogLine(index: number): string {
  const time = `2026-11-16T${String(Math.floor(index / 60)).padStart(2, "0")}:${String(index % 60).padStart(2, "0")}:00Z`;
  const odd: Readonly<Record<number, string>> = {
    143: "ERROR payment gateway pay-3 answered 502 for invoice 88213",
    377: "WARN replica db-eu-2 is 41 seconds behind",
    378: "INFO read traffic moved from db-eu-2 to db-eu-1",
    520: "INFO certificate of shop.example renewed until 2027-02-14",
  };
  return `${time} ${odd[index] ?? `INFO request ${index * 7} served in ${12 + (index % 30)} ms`}`;
}

const facts: readonly Fact[] = [
  { from: "orders", asks: "Which order was returned, and why?", needs: "returned, because a leg was broken" },
  { from: "orders", asks: "Is there a note about the delivery to a back door?", needs: "the bell does not work" },
  { from: "orders", asks: "What did order 1088 cost?", needs: '"id":1088' },
  { from: "log", asks: "Did a payment fail?", needs: "invoice 88213" },
  { from: "log", asks: "Why was traffic moved away from db-eu-2?", needs: "41 seconds behind" },
  { from: "log", asks: "Until when is the certificate of shop.example valid?", needs: "2027-02-14" },
  {
    from: "models",
    asks: "How does a project reach a host name in a private network?",
    needs: "KITBAG_OPENAI_COMPATIBLE_URL",
  },
  { from: "models", asks: "Which retries are there after a rate limit?", needs: "retry-after" },
  { from: "models", asks: "What does model-denied mean?", needs: "401, 403" },
  { from: "models", asks: "What is the unit of maxCost in choose?", needs: "US dollars per" },
  {
    from: "memory",
    asks: "How much of a window stays free because tokens are estimated?",
    needs: "a tenth stays free",
  },
  { from: "memory", asks: "What window is assumed for an unknown model?", needs: "32,768" },
  { from: "chat", asks: "What happens with Ctrl-C at the prompt?", needs: "twice, it ends the chat" },
  { from: "chat", asks: "Where does the chat keep what I typed?", needs: "chat-history" },
  { from: "chat", asks: "What is the exit code for wrong usage?", needs: "wrong usage" },
  { from: "costs", asks: "Does the offline model cost anything?", needs: "cost nothing" },
  { from: "costs", asks: "What is the price of an unknown model?", needs: "never 0" },
  { from: "observe", asks: "What does a traced call cost more?", needs: "20 µs" },
  { from: "observe", asks: "How large is the error of quantiles?", needs: "2.2 %" },
  { from: "own-models", asks: "How long may loading a model take?", needs: "5 minutes" },
  { from: "own-models", asks: "From which version on does Ollama refuse a prompt that is too long?", needs: "0.12.6" },
  { from: "own-models", asks: "How large is node-llama-cpp without graphics cards?", needs: "85 MB" },
  { from: "own-models", asks: "What is the port of vLLM?", needs: "8000" },
  { from: "scripts-as-tools", asks: "How does a shell script report its progress?", needs: "kitbag_progress" },
  { from: "serve", asks: "On which interface does the service listen by default?", needs: "127.0.0.1" },
];
