import fc from "fast-check";
import { expect, test } from "vitest";

import type { ModelMessage } from "../../models/model.ts";
import type { MemoryCompacted } from "../events.ts";
import { markOf } from "./kitbag-mark.ts";
import { textOfMessage } from "./message-text.ts";
import {
  answer,
  call,
  checkConversation,
  results,
  shrink,
  tokensOf,
  user,
} from "../../../test/support/conversations.ts";

test("compact() keeps any conversation within its limits and valid, and always in the same way", async () => {
  await fc.assert(
    fc.asyncProperty(conversations(), limitsOf(), async (messages, { tokens, most }) => {
      const limits = { tokens, messages: most };

      const made = await shrink(messages, limits);
      const again = await shrink(messages, limits);

      if (made === undefined) return;
      expect(made).toEqual(again);
      expect(made.tokensAfter).toBe(tokensOf(made.messages));
      expect(made.tokensAfter).toBeLessThanOrEqual(tokens);
      expect(made.messages.filter(({ role }) => role !== "system").length).toBeLessThanOrEqual(most);
      expect(checkConversation(made.messages)).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("compact() of what was compacted before is valid and within the limits, and has one summary", async () => {
  await fc.assert(
    fc.asyncProperty(conversations(), conversations(), async (first, second) => {
      const limits = { tokens: 500, messages: 12 };

      const once = await shrink(first, limits);
      const twice = await shrink([...(once?.messages ?? first), ...second], limits);

      if (twice === undefined) return;
      expect(twice.tokensAfter).toBeLessThanOrEqual(limits.tokens);
      expect(twice.messages.length).toBeLessThanOrEqual(limits.messages);
      expect(checkConversation(twice.messages)).toEqual([]);
      expect(twice.messages.filter((message) => markOf(message).summary).length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 100 },
  );
});

test("compact() lets user and assistant take turns where they did before", async () => {
  const turn = fc
    .tuple(fc.lorem({ maxCount: 30 }), fc.boolean(), fc.lorem({ maxCount: 30 }))
    .map(([asked, calls, said]) => [
      user(asked),
      ...(calls ? [call("a", "look", {}), results(["a", said])] : []),
      answer(said),
    ]);
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 20, maxLength: 60 }), fc.nat(100), async (turns, pinned) => {
      const messages = [...turns.flat(), user("Last")];
      const pin = (message: ModelMessage): boolean => messages.indexOf(message) % 17 === pinned % 17;

      const made = await shrink(messages, { tokens: 500 }, { pin });

      const roles = made?.messages.map(({ role }) => role) ?? [];
      expect(roles.filter((role, index) => role === roles[index + 1])).toEqual([]);
      expect(checkConversation(made?.messages ?? [])).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test("compact() keeps the last message, the task, system messages and what is pinned", async () => {
  const pinned: ModelMessage = { ...user("The pinned one."), providerOptions: { kitbag: { pinned: true } } };
  const system: ModelMessage = { role: "system", content: "Be kind." };
  const messages = [
    system,
    user("The task"),
    ...talk(20),
    pinned,
    user("By the way, blue."),
    ...talk(40),
    user("Last"),
  ];

  const made = await shrink(messages, { tokens: 900 }, { pin: (message) => textOfMessage(message).includes("blue") });

  expect(textsOf(made)).toEqual(
    expect.arrayContaining(["Be kind.", "The task", "The pinned one.", "By the way, blue."]),
  );
  expect(made?.messages[0]).toEqual(system);
  expect(made?.messages.at(-1)).toEqual(user("Last"));
});

test("compact() takes for the task what the user said first in this run, also after another compaction", async () => {
  const messages = [user("An old question"), answer("An old answer"), user("The task of now"), ...talk(60)];

  const once = await shrink(messages, { tokens: 600 }, {}, { earlier: 2 });
  const twice = await shrink([...(once?.messages ?? []), ...talk(60)], { tokens: 600 }, {}, { earlier: 2 });

  expect(textsOf(once)).toContain("The task of now");
  expect(textsOf(twice)).toContain("The task of now");
  expect(textsOf(twice)).not.toContain("An old question");
});

test.for([
  "Remember: the report goes to Berlin.",
  "I prefer metric units.",
  "Never touch the folder legacy.",
  "We decided to use Postgres.",
  "From now on answer in French.",
])("compact() keeps %j", async (said) => {
  const messages = [user("The task"), answer("Yes?"), user(said), answer("Good."), ...talk(60)];

  const made = await shrink(messages, { tokens: 1200 });

  expect(textsOf(made)).toContain(said);
});

test("compact() keeps everything important while there is room for it", async () => {
  const wish = fc.integer({ min: 0, max: 59 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(wish, { maxLength: 12 }), async (places) => {
      const wishes = places.map((place) => `I prefer number ${place}.`);
      const messages = talk(120).flatMap((message, index) =>
        index % 2 === 1 && places.includes((index - 1) / 2) ? [user(`I prefer number ${(index - 1) / 2}.`)] : [message],
      );

      const made = await shrink([user("The task"), ...messages], { tokens: 1500 });

      expect(textsOf(made)).toEqual(expect.arrayContaining(wishes));
    }),
    { numRuns: 50 },
  );
});

test.for([
  ["an id", { order: "ord_84213" }, "I look at ord_84213 again."],
  ["a path", "It is in src/deep/place.ts", "Then I open src/deep/place.ts."],
  ["a number", { total: 48213.5 }, "So 48213.5 it is."],
])("compact() keeps a result when %s in it is said again later", async ([, output, later]) => {
  const unit = [call("a", "look", { at: 1 }), results(["a", output])];
  const messages = [user("The task"), ...unit, ...talk(30), answer(later as string), user("Go on"), ...talk(30)];

  const made = await shrink(messages, { tokens: 1500 });

  expect(made?.messages).toEqual(expect.arrayContaining(unit));
});

test("compact() leaves out a result that nothing refers to", async () => {
  const unit = [call("a", "look", { at: 1 }), results(["a", { order: "ord_84213" }])];

  const made = await shrink([user("The task"), ...unit, ...talk(60)], { tokens: 1500 });

  expect(made?.messages).not.toEqual(expect.arrayContaining([unit[1]]));
  expect(summaryOf(made)).toContain('look({"at":1}) → {"order":"ord_84213"}');
});

test("compact() keeps as many of the last messages as it is told to", async () => {
  const messages = [user("The task"), ...talk(60)];

  const made = await shrink(messages, { tokens: 4000, messages: 40 }, { keepRecent: 20 });

  expect(made?.messages.slice(-20)).toEqual(messages.slice(-20));
});

test("compact() cuts a message that is too long alone, and keeps its beginning and its end", async () => {
  const long = `BEGIN ${"some words in between ".repeat(5000)} END`;

  const made = await shrink([user(long)], { tokens: 1000 });

  expect(made?.messages).toHaveLength(1);
  expect(textsOf(made)[0]).toMatch(/^BEGIN .*\n\[… [\d,]+ characters are left out here …\]\n.* END$/su);
  expect(made?.tokensAfter).toBeGreaterThan(500);
});

test.for([
  ["text", "x y ".repeat(50_000)],
  ["JSON", { rows: Array.from({ length: 5000 }, (_, id) => ({ id, name: `row ${id}` })) }],
])("compact() cuts a result of %s that is too long, and keeps the call", async ([, output]) => {
  const messages = [user("Read it"), call("a", "read", { path: "big" }), results(["a", output])];

  const made = await shrink(messages, { tokens: 2000 });

  expect(made?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(JSON.stringify(made?.messages[2])).toContain("left out");
  expect(checkConversation(made?.messages ?? [])).toEqual([]);
});

test("compact() keeps parallel calls and all their results together, or none of them", async () => {
  const unit = [
    { ...call("a", "look", {}), content: ["a", "b", "c"].map((id) => toCall(id)) } as ModelMessage,
    results(["a", "one"], ["b", "two"], ["c", "three"]),
  ];
  const messages = [user("The task"), ...talk(30), ...unit];

  const made = await shrink(messages, { tokens: 500 });

  expect(made?.messages.slice(-2)).toEqual(unit);
});

test("compact() keeps the calls at the end that have no results yet", async () => {
  const last = call("z", "wait", {});

  const made = await shrink([user("The task"), ...talk(60), last], { tokens: 500 });

  expect(made?.messages.at(-1)).toEqual(last);
});

test("compact() removes calls without results and results without calls from the middle", async () => {
  const messages = [
    results(["lost", "nobody asked"]),
    user("The task"),
    call("open", "look", {}),
    user("Remember the milk"),
    results(["open", "too late"]),
    ...talk(60),
  ];

  const made = await shrink(messages, { tokens: 900 });

  expect(JSON.stringify(made)).not.toContain('"toolCallId":"open"');
  expect(checkConversation(made?.messages ?? [])).toEqual([]);
});

test("compact() keeps the instructions of open skills when the result that had them is left out", async () => {
  const opened = [call("s", "activate_skill", { name: "pdf" }), results(["s", { instructions: "Use the form." }])];
  const messages = [user("The task"), ...opened, ...talk(60)];
  const skills = ["pdf"];
  const instructions = (): string => '<skill_content name="pdf">\nUse the form.\n</skill_content>';

  const once = await shrink(messages, { tokens: 600 }, {}, { skills, instructions });
  const twice = await shrink([...(once?.messages ?? []), ...talk(60)], { tokens: 600 }, {}, { skills, instructions });
  const closed = await shrink([...(twice?.messages ?? []), ...talk(60)], { tokens: 600 });

  for (const made of [once, twice]) expect(JSON.stringify(made).split("Use the form.")).toHaveLength(2);
  expect(JSON.stringify(closed)).not.toContain("Use the form.");
});

test.for<[what: string, result: unknown]>([
  ["JSON", { instructions: "Use the form." }],
  ["text", "Use the form."],
])("compact() does not say instructions twice that are still there as %s", async ([, result]) => {
  const opened = [call("s", "activate_skill", { name: "pdf" }), results(["s", result])];
  const instructions = (): string => "Use the form.";

  const late = await shrink(
    [user("The task"), ...talk(60), ...opened],
    { tokens: 800 },
    {},
    { skills: ["pdf"], instructions },
  );
  const system = '<skill_content name="pdf">Use the form.</skill_content>';
  const shown = await shrink(
    [user("The task"), ...talk(60)],
    { tokens: 800 },
    {},
    { skills: ["pdf"], instructions, view: { system, tools: [] } },
  );

  expect(JSON.stringify(late).split("Use the form.")).toHaveLength(2);
  expect(JSON.stringify(shown)).not.toContain("Use the form.");
});

test("compact() says instructions again when the result that had them was cut, however long ago", async () => {
  const long = `Use the form. ${"Look at each page. ".repeat(200)}Never print.`;
  const opened = [call("s", "activate_skill", { name: "pdf" }), results(["s", long])];
  const need = { skills: ["pdf"], instructions: (): string => "Use the form. Never print." };
  const pin = ({ role, content }: ModelMessage): boolean =>
    role !== "user" && JSON.stringify(content).includes("activate_skill");

  const once = await shrink([user("The task"), ...opened, ...talk(30)], { tokens: 800 }, { pin }, need);
  const twice = await shrink([...(once?.messages ?? []), ...talk(30)], { tokens: 800 }, { pin }, need);

  for (const made of [once, twice]) {
    expect(JSON.stringify(made)).toContain("left out");
    expect(JSON.stringify(made)).toContain("Use the form. Never print.");
  }
});

test("compact() cuts instructions that are longer than everything else may be", async () => {
  const instructions = (): string => "Do this and that. ".repeat(5000);

  const made = await shrink([user("The task"), ...talk(60)], { tokens: 1000 }, {}, { skills: ["pdf"], instructions });

  expect(made?.tokensAfter).toBeLessThanOrEqual(1000);
  expect(JSON.stringify(made)).toContain("Do this and that.");
});

test("compact() asks no model when nothing is left out", async () => {
  const made = await shrink([user("x ".repeat(5000))], { tokens: 500 }, { summarise: "model" });

  expect(made?.how).toBe("window");
});

test("compact() says that messages are left out, and not what was in them, if there is to be no summary", async () => {
  const made = await shrink([user("The task"), ...talk(60)], { tokens: 600 }, { summarise: false });

  expect(made?.how).toBe("window");
  expect(summaryOf(made)).toBe("Earlier messages are left out here.");
});

test("compact() goes on with what earlier summaries said, without a summary of a summary", async () => {
  const first = [user("The task"), answer("Yes?"), user("We must ship on Friday."), ...talk(60)];

  let made = await shrink(first, { tokens: 400 }, { keepRecent: 0 });
  for (let round = 0; round < 4; round++) {
    made = await shrink([...(made?.messages ?? []), ...talk(60)], { tokens: 400 }, { keepRecent: 0 });
  }

  const summary = JSON.stringify(made?.messages);
  expect(summary).toContain("We must ship on Friday.");
  expect(summary.split("This is a summary")).toHaveLength(2);
  expect(summary.split("Asked for:").length).toBeLessThanOrEqual(2);
});

test.for<[what: string, messages: ModelMessage[]]>([
  ["nothing", []],
  ["only results", Array.from({ length: 100 }, (_, index) => results([`x${index}`, "value ".repeat(50)]))],
  ["only answers", Array.from({ length: 100 }, () => answer("Well, well. ".repeat(10)))],
  ["messages without content", Array.from({ length: 100 }, () => ({ role: "user" as const, content: [] }))],
  [
    "contents that are none",
    [{ role: "user", content: null }, { role: "assistant" }, { role: "user", content: 7 }] as never,
  ],
  [
    "parts that are none",
    [
      { role: "user", content: [null, 1, "x", {}, { type: "text" }, { type: "text", text: "x ".repeat(3000) }] },
    ] as never,
  ],
  ["lone surrogates", Array.from({ length: 50 }, () => user("\uD83D ".repeat(100)))],
  ["__proto__", Array.from({ length: 50 }, (_, id) => user(`__proto__ constructor ${"toString ".repeat(50)} ${id}`))],
  [
    "unknown parts",
    Array.from({ length: 50 }, () => ({ role: "user", content: [{ type: "odd", value: "y ".repeat(100) }] }) as never),
  ],
  ["system messages alone", Array.from({ length: 50 }, () => ({ role: "system", content: "Be kind. ".repeat(20) }))],
  ["a thousand parallel calls", manyCalls(1000)],
  ["one word without end", [user("a".repeat(3_000_000))]],
])("compact() makes something valid and short enough of %s", async ([, messages]) => {
  const made = await shrink(messages, { tokens: 600 });

  expect(checkConversation(made?.messages ?? [])).toEqual([]);
  expect(tokensOf(made?.messages ?? messages)).toBeLessThanOrEqual(600);
});

test("compact() of thousands of messages takes a time that grows with their number alone", async () => {
  const cpu = async (count: number): Promise<number> => {
    const messages = [user("The task"), ...talk(count)];
    const start = process.cpuUsage();
    await shrink(messages, { tokens: 4000 });
    const { user: used } = process.cpuUsage(start);
    return used;
  };
  await cpu(2000);

  // Ten times as many may take a hundred times as long only if something is compared with everything.
  expect((await cpu(20_000)) / (await cpu(2000))).toBeLessThan(40);
});

test("compact() says which hook failed if pin throws", async () => {
  const pin = (): boolean => {
    throw new Error("no idea");
  };

  await expect(shrink([user("The task"), ...talk(60)], { tokens: 400 }, { pin })).rejects.toMatchObject({
    code: "hook-failed",
    details: { hook: "memory.pin" },
  });
});

test("compact() answers with nothing if nothing can be shorter", async () => {
  expect(await shrink([user("Hi")], { tokens: 256 })).toBeUndefined();
});

function toCall(toolCallId: string): object {
  return { type: "tool-call", toolCallId, toolName: "look", input: {} };
}

function manyCalls(count: number): ModelMessage[] {
  const ids = Array.from({ length: count }, (_, index) => `id${index}`);
  return [
    user("All of them"),
    { role: "assistant", content: ids.map(toCall) } as ModelMessage,
    results(...ids.map((id): [string, string] => [id, "done"])),
  ];
}

/** A conversation about nothing much. */
function talk(count: number): ModelMessage[] {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? answer(`That is so, as far as it goes (${index % 7}).`)
      : user(`And what comes then (${index % 5})?`),
  );
}

function textsOf(made: MemoryCompacted | undefined): readonly string[] {
  return made?.messages.map((message) => textOfMessage(message)) ?? [];
}

function summaryOf(made: MemoryCompacted | undefined): string {
  const found = made?.messages.find((message) => markOf(message).summary === true);
  return found === undefined ? "" : textOfMessage(found);
}

function limitsOf(): fc.Arbitrary<{ readonly tokens: number; readonly most: number }> {
  return fc.record({
    tokens: fc.integer({ min: 256, max: 4000 }),
    most: fc.oneof(fc.constant(Infinity), fc.integer({ min: 8, max: 40 })),
  });
}

/** Valid conversations of any length, with calls. */
function conversations(): fc.Arbitrary<ModelMessage[]> {
  const text = fc.oneof(
    fc.lorem({ maxCount: 60 }),
    fc.string({ minLength: 1, unit: "binary", maxLength: 200 }),
    fc.constantFrom("Remember that.", "I prefer blue.", "x ".repeat(2000)),
  );
  const calls = fc
    .array(
      fc.record({
        input: fc.dictionary(fc.string(), fc.string({ maxLength: 30 })),
        output: fc.oneof(text, fc.jsonValue()),
      }),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map((made) => {
      const content = made.map(({ input }, index) => ({
        type: "tool-call",
        toolCallId: `c${index}`,
        toolName: "look",
        input,
      }));
      return [
        { role: "assistant", content } as ModelMessage,
        results(...made.map(({ output }, index): [string, unknown] => [`c${index}`, output])),
      ];
    });
  const piece = fc.oneof(
    text.map((said) => [user(said)]),
    text.map((said) => [answer(said)]),
    calls,
    text.map((said) => [{ ...user(said), providerOptions: { kitbag: { pinned: true } } }]),
  );
  return fc.array(piece, { minLength: 1, maxLength: 60 }).map((pieces) => [user("The task"), ...pieces.flat()]);
}
