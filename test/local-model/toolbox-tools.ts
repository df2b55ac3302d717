import type { ModelTool } from "kitbag/models";

type Properties = Readonly<Record<string, object>>;

const text = (description: string, more: object = {}): object => ({ type: "string", description, ...more });

function tool(name: string, description: string, properties: Properties, required: readonly string[]): ModelTool {
  return {
    type: "function",
    name,
    description,
    inputSchema: {
      type: "object",
      properties,
      required: [...required],
      additionalProperties: false,
    },
  };
}

/** Tools like those of any toolbox. */
export const toolboxTools: readonly ModelTool[] = [
  tool("calculate", "Evaluates an arithmetic expression.", { expression: text("such as 2 * (3 + 4)") }, ["expression"]),
  tool(
    "convert_units",
    "Converts an amount from one unit of measurement to another: length, weight, temperature, volume.",
    {
      value: { type: "number", description: "the amount" },
      from: text("the unit it is in"),
      to: text("the unit it is wanted in"),
    },
    ["value", "from", "to"],
  ),
  tool(
    "transform_text",
    "Changes the case or the order of the letters of a text.",
    {
      text: text("the text"),
      operation: { enum: ["uppercase", "lowercase", "titlecase", "reverse"], description: "what to do with it" },
    },
    ["text", "operation"],
  ),
  tool(
    "replace_text",
    "Replaces every occurrence of a word in a text.",
    { text: text("the text"), find: text("what to look for"), replacement: text("what to put in its place") },
    ["text", "find", "replacement"],
  ),
  tool("encode_base64", "Encodes a text as Base64.", { text: text("the text") }, ["text"]),
  tool(
    "date_difference",
    "Tells how many days lie between two dates.",
    { start: text("the first day", { format: "date" }), end: text("the last day", { format: "date" }) },
    ["start", "end"],
  ),
  tool(
    "add_to_date",
    "Adds an amount of time to a date, and tells which date that is.",
    {
      date: text("the day to count from", { format: "date" }),
      amount: { type: "integer", description: "how many" },
      unit: { enum: ["days", "weeks", "months", "years"] },
    },
    ["date", "amount", "unit"],
  ),
  tool(
    "http_get",
    "Fetches a web page or an API over HTTP, and answers with its content.",
    {
      url: text("the address", { format: "uri" }),
      timeoutMs: { type: "integer", minimum: 1, description: "how long to wait", default: 10_000 },
    },
    ["url"],
  ),
  tool("read_file", "Reads a file of the project.", { path: text("the file") }, ["path"]),
  tool(
    "write_file",
    "Writes text into a file of the project.",
    {
      path: text("the file"),
      content: text("what to write"),
      append: { type: "boolean", description: "keep what is there and add to it", default: false },
    },
    ["path", "content"],
  ),
  tool(
    "list_files",
    "Lists the files of a folder.",
    { folder: text("the folder"), recursive: { type: "boolean", description: "also those in folders below it" } },
    ["folder"],
  ),
  tool("delete_file", "Deletes a file for ever.", { path: text("the file") }, ["path"]),
  tool(
    "search_files",
    "Searches the files of the project for a text.",
    { query: text("what to look for"), folder: text("only in this folder"), caseSensitive: { type: "boolean" } },
    ["query"],
  ),
  tool(
    "todo_add",
    "Adds an item to the to-do list.",
    {
      title: text("what is to be done"),
      due: text("until when", { format: "date" }),
      priority: { enum: ["low", "medium", "high"] },
    },
    ["title"],
  ),
  tool(
    "todo_list",
    "Lists the items of the to-do list.",
    { status: { enum: ["open", "done", "all"], default: "open" } },
    [],
  ),
  tool(
    "todo_complete",
    "Marks an item of the to-do list as done.",
    { id: { type: "integer", description: "the number of the item" } },
    ["id"],
  ),
  tool(
    "web_search",
    "Searches the web.",
    {
      query: text("what to search for"),
      limit: { type: "integer", minimum: 1, maximum: 50, description: "how many results to answer with", default: 10 },
    },
    ["query"],
  ),
  tool(
    "send_email",
    "Sends an email.",
    { to: text("who gets it", { format: "email" }), subject: text("the subject line"), body: text("the message") },
    ["to", "subject", "body"],
  ),
  tool(
    "get_weather",
    "Tells the weather forecast for a city.",
    {
      city: text("the city"),
      days: { type: "integer", minimum: 1, maximum: 7, description: "how many days ahead", default: 1 },
      unit: { enum: ["celsius", "fahrenheit"], default: "celsius" },
    },
    ["city"],
  ),
  tool(
    "random_number",
    "Picks a random whole number in a range.",
    { min: { type: "integer" }, max: { type: "integer" } },
    ["min", "max"],
  ),
  tool(
    "generate_password",
    "Makes a password that is hard to guess.",
    {
      length: { type: "integer", minimum: 8, maximum: 128, description: "how many characters", default: 20 },
      symbols: { type: "boolean", description: "also characters that are neither letters nor digits" },
    },
    [],
  ),
  tool(
    "translate",
    "Translates a text into another language.",
    { text: text("the text"), language: text("the language to translate into, such as French") },
    ["text", "language"],
  ),
  tool(
    "set_timer",
    "Starts a timer.",
    { seconds: { type: "integer", minimum: 1, description: "how long" }, label: text("what it is for") },
    ["seconds"],
  ),
  tool(
    "statistics",
    "Computes the mean, median, sum, smallest or largest of a list of numbers.",
    {
      numbers: { type: "array", items: { type: "number" }, minItems: 1 },
      measure: { enum: ["mean", "median", "sum", "min", "max"] },
    },
    ["numbers", "measure"],
  ),
  tool(
    "create_event",
    "Puts an appointment into the calendar.",
    {
      title: text("what it is"),
      date: text("the day", { format: "date" }),
      attendees: { type: "array", items: { type: "string", format: "email" } },
    },
    ["title", "date"],
  ),
  tool(
    "resize_image",
    "Changes the size of a picture.",
    {
      path: text("the picture"),
      width: { type: "integer", description: "in pixels" },
      height: { type: "integer", description: "in pixels" },
    },
    ["path", "width", "height"],
  ),
];

/** What some of them answer; the others answer with their name. */
export const toolboxAnswers: Readonly<Record<string, unknown>> = {
  calculate: 42,
  read_file: "the words of the file",
  http_get: "<p>a page</p>",
  convert_units: { value: 6.2, unit: "miles" },
  statistics: { result: 7.5 },
  todo_list: [{ id: 1, title: "buy milk" }],
};
