import { call, parameter, tool, type LocalRequest } from "./request.ts";

const integer = parameter("integer");
const string = parameter("string");

/** The tools of the collection of a museum. */
export const museumTools = [
  tool(
    "search_objects",
    "Search the collection for objects by words in their title or description.",
    {
      query: string("what to look for"),
      period: string("the period", { enum: ["ancient", "medieval", "modern"] }),
      limit: integer("how many to return", { default: 10 }),
    },
    ["query"],
  ),
  tool(
    "get_object",
    "Get the record of one object by its inventory number.",
    { inventory_number: string("such as MU-1042") },
    ["inventory_number"],
  ),
  tool(
    "move_object",
    "Move an object to another room.",
    { inventory_number: string("such as MU-1042"), room: string("the room where it goes") },
    ["inventory_number", "room"],
  ),
  tool("list_rooms", "List the rooms of the museum and what is shown in them.", { floor: integer("only this floor") }),
  tool(
    "lend_object",
    "Lend an object to another museum until a date.",
    {
      inventory_number: string(),
      borrower: string("the museum that borrows it"),
      until: string("last day of the loan", { format: "date" }),
    },
    ["inventory_number", "borrower", "until"],
  ),
  tool("delete_record", "Delete the record of an object for good.", { inventory_number: string() }, [
    "inventory_number",
  ]),
  tool(
    "visitor_numbers",
    "Count the visitors of a day or a range of days.",
    { from: string("first day", { format: "date" }), to: string("last day", { format: "date" }) },
    ["from"],
  ),
  tool(
    "translate_label",
    "Translate the label of an object into another language.",
    {
      inventory_number: string(),
      language: string("the language", { enum: ["english", "french", "german", "spanish"] }),
    },
    ["inventory_number", "language"],
  ),
  tool(
    "print_label",
    "Print the label of an object.",
    { inventory_number: string(), copies: integer("how many", { default: 1 }) },
    ["inventory_number"],
  ),
];

export const museumRequests: readonly LocalRequest[] = [
  { ask: "search objects query: bronze helmet", want: call("search_objects", { query: "bronze helmet" }) },
  {
    ask: 'search the collection for "roman coins", period ancient',
    want: call("search_objects", { query: "roman coins", period: "ancient" }),
  },
  { ask: "get object MU-2210", want: call("get_object", { inventory_number: "MU-2210" }) },
  { ask: "show me the record of MU-0007", want: call("get_object", { inventory_number: "MU-0007" }) },
  {
    ask: 'move object MU-1042 to room "Blue Hall"',
    want: call("move_object", { inventory_number: "MU-1042", room: "Blue Hall" }),
  },
  { ask: "what rooms are there on floor 2?", want: call("list_rooms", { floor: 2 }) },
  { ask: "how many visitors did we have on 2026-11-01?", want: call("visitor_numbers", { from: "2026-11-01" }) },
  {
    ask: "count visitors from 2026-10-01 to 2026-10-31",
    want: call("visitor_numbers", { from: "2026-10-01", to: "2026-10-31" }),
  },
  {
    ask: "translate the label of MU-1042 into french",
    want: call("translate_label", { inventory_number: "MU-1042", language: "french" }),
  },
  { ask: "print the label of MU-33 copies=3", want: call("print_label", { inventory_number: "MU-33", copies: 3 }) },
  { ask: "lend MU-12 to the Louvre", want: "ask" },
  { ask: "MU-1042 looks dusty, maybe it should go", want: "decline" },
  { ask: "get rid of MU-55", want: "decline" },
  { ask: "clean the windows on floor 3", want: "decline" },
];
