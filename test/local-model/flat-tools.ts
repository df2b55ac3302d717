import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

/** Tools of all sorts in a flat. */
export const flatTools: readonly ModelTool[] = [
  tool(
    "stock_price",
    "Get the current price of a stock",
    { symbol: { type: "string", description: "ticker symbol, for example AAPL" } },
    ["symbol"],
  ),
  tool(
    "directions",
    "Get directions from one place to another",
    {
      from: { type: "string" },
      to: { type: "string" },
      mode: { default: "car", type: "string", enum: ["car", "bike", "walk", "transit"] },
    },
    ["from", "to"],
  ),
  tool(
    "find_recipes",
    "Find recipes by ingredients",
    {
      ingredients: { type: "array", items: { type: "string" } },
      max_minutes: { description: "longest cooking time in minutes", type: "integer" },
      diet: { default: "any", type: "string", enum: ["any", "vegetarian", "vegan"] },
    },
    ["ingredients"],
  ),
  tool("set_temperature", "Set the temperature of a room", { room: { type: "string" }, celsius: { type: "number" } }, [
    "room",
    "celsius",
  ]),
  tool("save_note", "Save a note", { title: { type: "string" }, text: { type: "string" } }, ["text"]),
  tool("find_notes", "Search in notes", { query: { type: "string" } }, ["query"]),
  tool(
    "random_number",
    "Pick a random number between two limits",
    { min: { default: 1, type: "integer" }, max: { default: 100, type: "integer" } },
    [],
  ),
  tool(
    "translate_text",
    "Translate a text to another language",
    { text: { type: "string" }, to: { type: "string", description: "language" } },
    ["text", "to"],
  ),
  tool(
    "book_hotel",
    "Book a hotel room",
    {
      city: { type: "string" },
      check_in: { type: "string", description: "ISO date" },
      nights: { type: "integer" },
      guests: { default: 2, type: "integer" },
    },
    ["city", "check_in", "nights"],
  ),
  tool("calculate", "Evaluate an arithmetic expression", { expression: { type: "string" } }, ["expression"]),
  tool(
    "loan_payment",
    "Compute the monthly payment of a loan",
    { amount: { type: "number" }, annual_rate_percent: { type: "number" }, years: { type: "number" } },
    ["amount", "annual_rate_percent", "years"],
  ),
  tool(
    "list_processes",
    "List running processes",
    {
      sort_by: { default: "cpu", type: "string", enum: ["cpu", "memory", "name"] },
      limit: { default: 10, type: "integer" },
    },
    [],
  ),
  tool("kill_process", "Kill a process by its id", { pid: { type: "integer" } }, ["pid"]),
  tool("query_db", "Run a read-only SQL query", { sql: { type: "string" } }, ["sql"]),
  tool("countdown", "Start a countdown", { seconds: { type: "integer" } }, ["seconds"]),
  tool("rename_file", "Rename a file", { from: { type: "string" }, to: { type: "string" } }, ["from", "to"]),
];

/** These, and some more that take what is written in a formal language, keep things or have two ends. */
export const fullFlatTools: readonly ModelTool[] = [
  ...flatTools,
  tool("run_command", "Run a shell command", { command: { type: "string" } }, ["command"]),
  tool(
    "grep_file",
    "Find the lines of a file that match a pattern",
    { file: { type: "string" }, pattern: { type: "string", description: "regular expression" } },
    ["file", "pattern"],
  ),
  tool("add_todo", "Add a task to the list", { text: { type: "string" } }, ["text"]),
  tool("list_todos", "List all tasks", {}, []),
  tool(
    "find_products",
    "Find products in the shop",
    { query: { type: "string" }, min_price: { type: "number" }, max_price: { type: "number" } },
    [],
  ),
];
