import type { TourStep } from "./run-tour.ts";

const define: TourStep = {
  title: "A tool is a name, a description, a schema and a function",
  why: "A model decides by the description, the schema is written once, and there is only one way to run a tool: call.",
  run: async ({ defineTool, createWorkspace, show }) => {
    const add = defineTool({
      name: "add",
      description: "Adds two numbers",
      input: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
        required: ["a"],
      },
      run: ({ a, b }) => Number(a) + Number(b),
    });
    const workspace = createWorkspace({ tools: [add] });

    show(await workspace.call("add", { a: 2, b: 3 }));
  },
};

const wrongInput: TourStep = {
  title: "What models get wrong is put right, or refused with the cure",
  why: "The message is written for a model: it says what was found, what was expected and which name was meant.",
  run: async ({ defineTool, createWorkspace, show }) => {
    const resize = defineTool({
      name: "resize",
      description: "Gives the picture another width",
      input: {
        type: "object",
        properties: { width: { type: "integer" }, unit: { enum: ["pixel", "percent"] } },
        required: ["width", "unit"],
      },
      run: ({ width, unit }) => ({ resized: true, width, unit }),
    });
    const workspace = createWorkspace({ tools: [resize] });

    show(await workspace.call("resize", { width: "640", unit: "pixel" })); // a text for a number
    show(await workspace.call("resize", { widht: 640, unit: "pixels" })); // two wrong names
    show(await workspace.call("resise", { width: 640, unit: "pixel" })); // no such tool
  },
};

const deadline: TourStep = {
  title: "A deadline really ends a call",
  why: "A tool that hangs costs one call, not the agent: at the limit the outcome is there, and a late result is dropped.",
  run: async ({ defineTool, createWorkspace, show }) => {
    const hang = defineTool({
      name: "hang",
      description: "Waits for something that never comes",
      run: () => new Promise(() => {}),
    });
    const workspace = createWorkspace({ tools: [hang] });

    show(await workspace.call("hang", {}, { limitMs: 300 }));
  },
};

const approval: TourStep = {
  title: "Nothing dangerous happens without an approval",
  why: "The approver sees exactly the input that will run, and a denial is an outcome that the model can read.",
  run: async ({ defineTool, createWorkspace, show }) => {
    const dropTable = defineTool({
      name: "drop-table",
      description: "Deletes a table of the database",
      input: { type: "object", properties: { table: { type: "string" } }, required: ["table"] },
      annotations: { destructive: true },
      needsApproval: true,
      run: ({ table }) => ({ dropped: table }),
    });
    const workspace = createWorkspace({
      tools: [dropTable],
      approve: ({ address }) => ({ decision: "deny", reason: `a tour does not need ${address}` }),
    });

    show(await workspace.call("drop-table", { table: "users" }));
  },
};

const pipeline: TourStep = {
  title: "Tools are made of tools",
  why: "A pipeline is data that a person or a model can write; every step is a call of its own, with all its checks.",
  run: async ({ defineTool, definePipeline, createWorkspace, show }) => {
    const toCelsius = defineTool({
      name: "to-celsius",
      description: "Converts degrees",
      input: { type: "object", properties: { fahrenheit: { type: "number" } }, required: ["fahrenheit"] },
      run: ({ fahrenheit }) => ({ celsius: Math.round(((Number(fahrenheit) - 32) * 5) / 9) }),
    });
    const weather = definePipeline({
      name: "weather",
      description: "Says how warm it was, day by day",
      steps: [{ id: "days", forEach: "$input.days", tool: "to-celsius", args: { fahrenheit: "$item" } }],
      output: { first: "It began with $days[0].celsius degrees", days: "$days" },
    });
    const workspace = createWorkspace({ tools: [toCelsius, weather] });

    show(await workspace.call("weather", { days: [68, 77, 50] }));
    show(await workspace.call("weather", { days: [68, "warm"] }));
  },
};

const skill: TourStep = {
  title: "The tools of a skill exist only while it is open",
  why: "A model sees and calls what it needs now, and nothing else: a closed tool is refused when it is called, not only hidden.",
  run: async ({ defineTool, defineSkill, createWorkspace, show }) => {
    const roll = defineTool({
      name: "roll",
      description: "Rolls a die",
      input: { type: "object", properties: { sides: { type: "integer", minimum: 2, default: 6 } } },
      run: ({ sides }) => Math.ceil(Number(sides) / 2),
    });
    const games = defineSkill({ name: "games", description: "Games of chance", tools: [roll] });
    const workspace = createWorkspace({ skills: [games] });

    show(await workspace.call("games/roll"));
    await workspace.activateSkill("games");
    show(await workspace.call("games/roll", { sides: 20 }));
    show(workspace.renderSkillTools()); // what a model reads
  },
};

const script: TourStep = {
  title: "A script of a skill runs in a sandbox",
  why: "Any script becomes a typed tool as it is, and sees only what its skill asked for and you granted. This one may read the project.",
  run: async ({ loadSkills, openRuntimes, createWorkspace, describeSandbox, examples, project, show }) => {
    const runtimes = openRuntimes({ directory: project }); // orders.json is there
    const { reports } = await loadSkills({ directories: [`${examples}/json-query`] });
    const workspace = createWorkspace({ skills: reports.flatMap(({ skill }) => skill ?? []), runtimes });
    await workspace.activateSkill("json-query");

    show(await workspace.call("json-query/query", { file: "orders.json", path: "..customer", format: "lines" }));
    show(await workspace.call("json-query/query", { file: "/etc/shadow" })); // not in the project
    show(await describeSandbox(runtimes));
    await runtimes.close();
  },
};

const largeOutput: TourStep = {
  title: "An output that is too large is kept, and read in pages",
  why: "A model gets the head, the shape and a handle instead of a flooded context, and reads on where it needs to.",
  run: async ({ defineTool, createWorkspace, show }) => {
    const listUsers = defineTool({
      name: "list-users",
      description: "Lists all users",
      run: () => Array.from({ length: 5000 }, (_, id) => ({ id, name: `user ${id}` })),
    });
    const workspace = createWorkspace({ tools: [listUsers], limits: { maxOutputBytes: 1000 } });
    const outcome = await workspace.call("list-users");
    if (outcome.status === "failed" || outcome.capped === undefined) return show(outcome);

    show(outcome.capped);
    show(await workspace.readOutput(outcome.capped.handle, { offset: 90_000, length: 80 }));
  },
};

const events: TourStep = {
  title: "Everything that happens is an event",
  why: "Streaming, logs, audit and tests all read the same events, also those of calls inside calls.",
  run: async ({ defineTool, createWorkspace, show }) => {
    const findPrice = defineTool({
      name: "find-price",
      description: "Looks up what a book costs",
      run: () => 12,
    });
    const order = defineTool({
      name: "order",
      description: "Orders a book if its price is known",
      async run(_input, { call, progress }) {
        progress("asking for the price");
        const price = await call("find-price");
        return { ordered: price.status === "ok" };
      },
    });
    const workspace = createWorkspace({ tools: [findPrice, order] });
    workspace.onEvent((event) =>
      show(event.type === "call-progress" ? event.progress : `${event.type} of ${event.call}`),
    );

    await workspace.call("order");
  },
};

/** The tour, in order. */
export const tourSteps: readonly TourStep[] = [
  define,
  wrongInput,
  deadline,
  approval,
  pipeline,
  skill,
  script,
  largeOutput,
  events,
];
