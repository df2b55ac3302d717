import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools as other people write them: other names, hardly a description, nested inputs. */
export const otherTools: readonly ModelTool[] = [
  tool(
    "github_create_issue",
    "Create a new issue in a GitHub repository",
    {
      owner: { type: "string" },
      repo: { type: "string" },
      title: { type: "string" },
      body: { type: "string" },
      labels: { type: "array", items: { type: "string" } },
    },
    ["title"],
  ),
  tool(
    "github_list_issues",
    "List issues in a GitHub repository",
    {
      state: { type: "string", enum: ["open", "closed", "all"] },
      assignee: { type: "string" },
      limit: { type: "integer" },
    },
    [],
  ),
  tool(
    "setLights",
    "Switch the lights of a room on or off",
    {
      room: { type: "string", description: "which room" },
      on: { type: "boolean" },
      brightness: { type: "integer", minimum: 0, maximum: 100, description: "in percent" },
    },
    ["room"],
  ),
  tool(
    "setThermostat",
    "Set the temperature of the heating",
    { temperature: { type: "number", minimum: 5, maximum: 30, description: "in degrees Celsius" } },
    ["temperature"],
  ),
  tool(
    "play_music",
    "Play a song, an album or an artist",
    { query: { type: "string", description: "what to play" }, shuffle: { type: "boolean" } },
    ["query"],
  ),
  tool(
    "sql_query",
    "Run a read-only SQL query on the database",
    { sql: { type: "string", description: "the SELECT statement" }, maxRows: { type: "integer", default: 100 } },
    ["sql"],
  ),
  tool("drop_table", "Drop a table of the database", { table: { type: "string" } }, ["table"]),
  tool(
    "calendar_find",
    "Find free time in the calendar",
    { day: { type: "string", format: "date" }, minutes: { type: "integer", description: "how long the meeting is" } },
    ["day"],
  ),
  tool(
    "stock_price",
    "Get the current price of a stock",
    { symbol: { type: "string", description: "the ticker symbol, such as AAPL" } },
    ["symbol"],
  ),
  tool("define_word", "Look up the definition of a word in the dictionary", { word: { type: "string" } }, ["word"]),
  tool(
    "roll_dice",
    "Roll dice",
    { count: { type: "integer", default: 1, description: "how many dice" }, sides: { type: "integer", default: 6 } },
    [],
  ),
  tool(
    "split_bill",
    "Split a restaurant bill between people",
    {
      total: { type: "number", description: "the amount on the bill" },
      people: { type: "integer", description: "how many people pay" },
      tipPercent: { type: "number", description: "tip in percent", default: 0 },
    },
    ["total", "people"],
  ),
  tool("shorten_url", "Make a short link for a long URL", { url: { type: "string" } }, ["url"]),
  tool(
    "create_contact",
    "Save a new contact in the address book",
    { name: { type: "string" }, email: { type: "string", format: "email" }, phone: { type: "string" } },
    ["name"],
  ),
  tool(
    "get_exchange_rate",
    "Convert money from one currency to another",
    {
      amount: { type: "number" },
      from: { type: "string", description: "ISO code such as USD" },
      to: { type: "string", description: "ISO code such as EUR" },
    },
    ["amount", "from", "to"],
  ),
  tool("format_json", "Pretty-print JSON", { json: { type: "string" }, indent: { type: "integer", default: 2 } }, [
    "json",
  ]),
  tool("wordcount", "Count the words of a text", { text: { type: "string" } }, ["text"]),
  tool(
    "run_tests",
    "Run the tests of the project",
    {
      pattern: { type: "string", description: "only tests whose file matches this" },
      watch: { type: "boolean" },
      verbose: { type: "boolean" },
    },
    [],
  ),
  tool(
    "book_table",
    "Reserve a table at a restaurant",
    {
      restaurant: { type: "string" },
      date: { type: "string", format: "date" },
      time: { type: "string" },
      guests: { type: "integer", minimum: 1 },
    },
    ["restaurant", "date", "guests"],
  ),
  tool("track_parcel", "Tell where a parcel is", { trackingNumber: { type: "string" } }, ["trackingNumber"]),
];
