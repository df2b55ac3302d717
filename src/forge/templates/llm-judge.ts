import type { JsonObject } from "../../core/json.ts";
import { putIn, toPython, type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

const texts = { type: "array", items: { type: "string", minLength: 1, maxLength: 500 }, maxItems: 50 };

const criterion = closed(
  {
    name: { type: "string", minLength: 1, maxLength: 100 },
    weight: { type: "number", exclusiveMinimum: 0, maximum: 100 },
    contains: { ...texts, description: "The share of these that are in the answer counts" },
    avoids: { ...texts, description: "None of these may be in the answer" },
    minWords: { type: "integer", minimum: 0 },
    maxWords: { type: "integer", minimum: 0 },
    covers: { type: "boolean", description: "The share of the words of the reference that are in the answer counts" },
  },
  ["name"],
);

/** A tool that scores the answer of a model by rules. */
export const llmJudge: ToolTemplate = {
  name: "llm-judge",
  makes: "tool",
  description:
    "A judge of answers of models (LLM evaluation): scores an answer by a rubric of rules, offline; no model is asked, so it sees words, not meaning",
  parameters: closed({
    rubric: {
      type: "array",
      items: criterion,
      minItems: 1,
      maxItems: 50,
      default: [
        { name: "length", minWords: 3, maxWords: 300 },
        { name: "polite", avoids: ["stupid", "as an ai"] },
        { name: "covers the reference", weight: 2, covers: true },
      ],
      description: "What an answer is held against",
    },
    threshold: { type: "number", minimum: 0, maximum: 1, default: 0.7, description: "The score from which it passes" },
  }),
  toDraft({ name, description, values }) {
    const isDefault = JSON.stringify(values) === JSON.stringify(defaults);
    return {
      name,
      description:
        description ??
        "Scores an answer by a rubric of rules, from 0 to 1. No model is asked: it sees words, not meaning.",
      language: "python",
      code: putIn(program, toPython(values)),
      input: closed(
        {
          answer: { type: "string", description: "What is judged" },
          reference: { type: "string", default: "", description: "A good answer, to compare with" },
        },
        ["answer"],
      ),
      output: {
        type: "object",
        properties: {
          score: { type: "number" },
          passed: { type: "boolean" },
          method: { const: "rules" },
          criteria: { type: "array", items: { type: "object" } },
        },
        required: ["score", "passed", "method", "criteria"],
      },
      annotations: { readOnly: true, idempotent: true },
      examples: [
        {
          input: { answer: "Paris is the capital of France", reference: "The capital of France is Paris" },
          // What other rubrics make of it is theirs.
          ...(isDefault && { output: goodAnswer }),
        },
        { description: "An empty answer is judged, too", input: { answer: "" } },
      ],
    };
  },
};

const defaults = Object.fromEntries(
  Object.entries(llmJudge.parameters["properties"] as Record<string, JsonObject>).map(([name, schema]) => [
    name,
    schema["default"],
  ]),
);

const goodAnswer = {
  score: 1,
  passed: true,
  method: "rules",
  criteria: ["length", "polite", "covers the reference"].map((name) => ({ name, score: 1, reasons: [] })),
};

const program = String.raw`import json
import re
import sys

SETTINGS = @VALUES@


def words_of(text):
    return re.findall(r"\w+", text.casefold())


def judge(criterion, answer, reference):
    words = words_of(answer)
    folded = answer.casefold()
    scores, reasons = [], []

    def count(score, reason):
        scores.append(score)
        if score < 1:
            reasons.append(reason)

    if "contains" in criterion:
        missing = [text for text in criterion["contains"] if text.casefold() not in folded]
        count(1 - len(missing) / max(1, len(criterion["contains"])), "it lacks " + ", ".join(missing))
    if "avoids" in criterion:
        found = [text for text in criterion["avoids"] if text.casefold() in folded]
        count(0 if found else 1, "it has " + ", ".join(found))
    if "minWords" in criterion:
        least = criterion["minWords"]
        count(min(1, len(words) / max(1, least)), "it has " + str(len(words)) + " words of at least " + str(least))
    if "maxWords" in criterion:
        most = criterion["maxWords"]
        count(min(1, most / max(1, len(words))), "it has " + str(len(words)) + " words of at most " + str(most))
    if criterion.get("covers") and reference:
        wanted = set(words_of(reference))
        lacking = sorted(wanted - set(words))
        count(1 - len(lacking) / max(1, len(wanted)), "it lacks words of the reference: " + ", ".join(lacking[:10]))
    score = sum(scores) / len(scores) if scores else 1
    return {"name": criterion["name"], "score": round(score, 4), "reasons": reasons}


arguments = json.load(sys.stdin)
judged = [judge(one, arguments["answer"], arguments.get("reference", "")) for one in SETTINGS["rubric"]]
weights = [one.get("weight", 1) for one in SETTINGS["rubric"]]
score = round(sum(one["score"] * weight for one, weight in zip(judged, weights)) / sum(weights), 4)
passed = score >= SETTINGS["threshold"]
print(json.dumps({"score": score, "passed": passed, "method": "rules", "criteria": judged}))
`;
