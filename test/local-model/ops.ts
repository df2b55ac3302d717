import { call, parameter, tool, type LocalRequest } from "./request.ts";

const boolean = parameter("boolean");
const integer = parameter("integer");
const string = parameter("string");

/** The tools of the servers of a company. */
export const opsTools = [
  tool(
    "service_logs",
    "Read the last lines of the log of a service.",
    {
      service: string("name of the service"),
      lines: integer("how many lines", { default: 100 }),
      level: string("only this level and above", { enum: ["debug", "info", "warning", "error"] }),
    },
    ["service"],
  ),
  tool(
    "restart_service",
    "Restart a service.",
    { service: string("name of the service"), force: boolean("do not wait for open requests") },
    ["service"],
  ),
  tool(
    "deploy",
    "Deploy a version of a service to an environment.",
    {
      service: string(),
      version: string("such as v1.4.2"),
      environment: string("where", { enum: ["staging", "production"] }),
    },
    ["service", "version", "environment"],
  ),
  tool("resolve_host", "Look up the IP addresses of a host name.", { host: string("the host name") }, ["host"]),
  tool(
    "ping_url",
    "Fetch a URL and tell its status code and how long it took.",
    { url: string("the address", { format: "uri" }), timeout_seconds: integer("give up after", { default: 10 }) },
    ["url"],
  ),
  tool("run_query", "Run a read-only SQL query on the reporting database.", { sql: string("the SELECT statement") }, [
    "sql",
  ]),
  tool("encode_base64", "Encode a text as Base64.", { text: string("the text") }, ["text"]),
  tool(
    "format_date",
    "Write a date in another format.",
    { date: string("the date", { format: "date" }), style: string("the style", { enum: ["short", "long", "iso"] }) },
    ["date"],
  ),
  tool(
    "open_ticket",
    "Open a ticket for the on-call team.",
    { title: string("one line"), severity: string("how bad", { enum: ["low", "medium", "high"] }), details: string() },
    ["title", "severity"],
  ),
  tool("disk_usage", "Show how full the disks of a server are.", { server: string("name of the server") }, ["server"]),
];

export const opsRequests: readonly LocalRequest[] = [
  {
    ask: "show the last 20 lines of the log of checkout",
    want: call("service_logs", { service: "checkout", lines: 20 }),
  },
  { ask: "restart service billing", want: call("restart_service", { service: "billing" }) },
  {
    ask: "deploy service=api version=v2.0.1 environment=staging",
    want: call("deploy", { service: "api", version: "v2.0.1", environment: "staging" }),
  },
  { ask: "look up the IP address of example.org", want: call("resolve_host", { host: "example.org" }) },
  {
    ask: "how long does https://example.org/health take?",
    want: call("ping_url", { url: "https://example.org/health" }),
  },
  {
    ask: "run the query `SELECT count(*) FROM orders`",
    want: call("run_query", { sql: "SELECT count(*) FROM orders" }),
  },
  { ask: 'encode "hello there" as base64', want: call("encode_base64", { text: "hello there" }) },
  {
    ask: 'open a ticket titled "disk full on db-3" with severity high',
    want: call("open_ticket", { title: "disk full on db-3", severity: "high" }),
  },
  { ask: "disk usage of server web-1", want: call("disk_usage", { server: "web-1" }) },
  { ask: "write the date 2026-03-09 in long style", want: call("format_date", { date: "2026-03-09", style: "long" }) },
  { ask: "deploy api to production", want: "ask" },
  { ask: "why was billing so slow yesterday?", want: "decline" },
  { ask: "if the disk of web-1 is full, restart billing", want: "decline" },
];
