import type { ModelTool } from "kitbag/models";

import { modelTool as tool } from "./model-tool.ts";

const text = { type: "string" } as const;

/** Tools of a school and its office: courses, documents, money, devices, code. */
export const schoolTools: readonly ModelTool[] = [
  tool(
    "enroll_student",
    "Enroll a student in a course",
    {
      student: { type: "string", description: "Name of the student" },
      course: { type: "string", description: "Course title" },
    },
    ["student", "course"],
  ),
  tool(
    "get_grades",
    "Get the grades of a student",
    { student: text, subject: { type: "string", enum: ["math", "physics", "history", "art"] } },
    ["student"],
  ),
  tool(
    "send_newsletter",
    "Send the newsletter to all subscribers",
    {
      subject: text,
      body: text,
      test_only: { type: "boolean", default: false, description: "Send it only to yourself" },
    },
    ["subject", "body"],
  ),
  tool(
    "drive_search",
    "Search for files in Google Drive",
    {
      query: { type: "string", description: "Search query" },
      pageSize: { type: "number", description: "Results per page" },
    },
    ["query"],
  ),
  tool(
    "share_document",
    "Share a document with somebody",
    {
      document: { type: "string", description: "Title of the document" },
      email: { type: "string", format: "email" },
      role: { type: "string", enum: ["viewer", "commenter", "editor"], default: "viewer" },
    },
    ["document", "email"],
  ),
  tool(
    "transfer_money",
    "Transfer money to a bank account",
    {
      iban: { type: "string", description: "IBAN of the recipient" },
      amount: { type: "number" },
      reference: { type: "string", description: "Payment reference" },
    },
    ["iban", "amount"],
  ),
  tool(
    "get_balance",
    "Get the balance of an account",
    { account: { type: "string", enum: ["checking", "savings"] } },
    [],
  ),
  tool(
    "list_transactions",
    "List the transactions of an account",
    {
      account: { type: "string", enum: ["checking", "savings"] },
      from_date: { type: "string", format: "date" },
      to_date: { type: "string", format: "date" },
      limit: { type: "integer", default: 50 },
    },
    [],
  ),
  tool(
    "run_query",
    "Run a read-only SQL query",
    { sql: text, database: { type: "string", enum: ["prod", "staging"], default: "staging" } },
    ["sql"],
  ),
  tool("create_backup", "Create a backup of a database", { database: { type: "string", enum: ["prod", "staging"] } }, [
    "database",
  ]),
  tool(
    "git_commit",
    "Record changes to the repository",
    {
      message: { type: "string", description: "Commit message" },
      all: { type: "boolean", default: false, description: "Stage all changed files" },
    },
    ["message"],
  ),
  tool("git_diff", "Show the differences between two branches", { base: text, head: text }, ["base", "head"]),
  tool(
    "deploy",
    "Deploy a version of the app to an environment",
    {
      version: { type: "string", description: "For example v1.4.2" },
      environment: { type: "string", enum: ["staging", "production"] },
    },
    ["version", "environment"],
  ),
  tool(
    "get_metrics",
    "Get a metric of the app",
    {
      metric: { type: "string", enum: ["cpu", "memory", "latency", "errors"] },
      hours: { type: "integer", default: 24, description: "How far to look back" },
    },
    ["metric"],
  ),
  tool(
    "open_blinds",
    "Open or close the blinds of a room",
    {
      room: text,
      position: { type: "integer", minimum: 0, maximum: 100, description: "0 is closed, 100 is open" },
    },
    ["room", "position"],
  ),
  tool(
    "water_plants",
    "Water the plants in a zone of the garden",
    {
      zone: { type: "string", enum: ["front", "back", "greenhouse"] },
      minutes: { type: "integer", minimum: 1, maximum: 60 },
    },
    ["zone", "minutes"],
  ),
  tool(
    "find_restaurants",
    "Find restaurants near a place",
    {
      location: text,
      cuisine: { type: "string", description: "For example Thai" },
      price_level: { type: "integer", minimum: 1, maximum: 4 },
      open_now: { type: "boolean" },
    },
    ["location"],
  ),
  tool(
    "get_directions",
    "Get directions between two places",
    {
      origin: text,
      destination: text,
      mode: { type: "string", enum: ["driving", "walking", "cycling", "transit"], default: "driving" },
    },
    ["origin", "destination"],
  ),
  tool("define_word", "Look up the definition of a word", { word: text }, ["word"]),
  tool("detect_language", "Detect the language of a text", { text }, ["text"]),
  tool(
    "split_pdf",
    "Split a PDF into parts",
    {
      file: text,
      pages: { type: "string", description: "Ranges of pages, e.g. 1-3,7" },
    },
    ["file", "pages"],
  ),
  tool("encode_base64", "Encode text as Base64", { text }, ["text"]),
  tool("calculate", "Evaluate a mathematical expression", { expression: text }, ["expression"]),
  tool(
    "add_to_cart",
    "Add a product to the shopping cart",
    {
      product: text,
      quantity: { type: "integer", minimum: 1, default: 1 },
      size: { type: "string", enum: ["S", "M", "L", "XL"] },
    },
    ["product"],
  ),
  tool(
    "track_package",
    "Track a package",
    { tracking_number: { type: "string", description: "e.g. 1Z999AA10123456784" } },
    ["tracking_number"],
  ),
];
