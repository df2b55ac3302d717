import { putIn, toPython, type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

interface ApiClient {
  readonly baseUrl: string;
  readonly host: string;
  readonly path: string;
  readonly scheme: "https" | "http";
  readonly keyEnv: string;
  readonly header: string;
  readonly prefix: string;
}

const defaultPath = "/v1/items";

/** A tool that asks one host of the web, with a key from the environment. */
export const apiClient: ToolTemplate = {
  name: "api-client",
  makes: "tool",
  description:
    "A client of a web API: fetches JSON over HTTPS from one host, REST requests with query parameters and an API key or token from the environment",
  parameters: closed({
    baseUrl: {
      type: "string",
      pattern: String.raw`^(https?://[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(:[0-9]{1,5})?(/[A-Za-z0-9._~%-]+)*/?)?$`,
      maxLength: 500,
      default: "",
      description: "The address that all paths begin with, such as https://api.github.com; goes before host and scheme",
    },
    host: {
      type: "string",
      pattern: String.raw`^[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(:[0-9]{1,5})?$`,
      default: "api.example.com",
      description: "The host of the API; it may reach no other",
    },
    path: {
      type: "string",
      pattern: String.raw`^/([A-Za-z0-9._~%-]+/?)*$`,
      maxLength: 200,
      default: defaultPath,
      description: "The path that is asked when a call does not name one",
    },
    scheme: { enum: ["https", "http"], default: "https" },
    keyEnv: {
      type: "string",
      pattern: "^([A-Z_][A-Z0-9_]{0,63})?$",
      default: "",
      description: "The environment variable with the key; empty for an API that needs none",
    },
    header: {
      type: "string",
      pattern: "^[A-Za-z][A-Za-z0-9-]{0,63}$",
      default: "Authorization",
      description: "The header that carries the key",
    },
    prefix: { type: "string", maxLength: 64, default: "Bearer ", description: "What stands before the key" },
  }),
  toDraft({ name, description, values }) {
    const api = toAddress(values as unknown as ApiClient);
    return {
      name,
      description: description ?? `Asks the API at ${api.host}. Use it to read data from there.`,
      language: "python",
      code: putIn(program, toPython({ ...api })),
      input: closed({
        path: {
          type: "string",
          pattern: "^/",
          default: api.path,
          description: `The path on ${api.host}${api.base}`,
        },
        query: {
          type: "object",
          additionalProperties: { type: "string" },
          default: {},
          description: "Parameters of the query",
        },
        dryRun: { type: "boolean", default: false, description: "Tells what would be asked, and sends no request" },
      }),
      output: {
        type: "object",
        properties: {
          url: { type: "string" },
          status: { type: "integer" },
          body: { description: "What came: JSON, or else text" },
        },
        required: ["url", "status"],
      },
      annotations: { readOnly: true, openWorld: true },
      permissions: { network: [api.host], ...(api.keyEnv !== "" && { env: [api.keyEnv] }) },
      limits: { limitMs: 30_000 },
      examples: [
        {
          description: "A dry run: no request is sent",
          input: { path: "/v1/items", query: { q: "a b&c" }, dryRun: true },
          output: { url: `${api.scheme}://${api.host}${api.base}/v1/items?q=a+b%26c`, status: 0 },
        },
      ],
    };
  },
};

/** Where requests go: as the base address says, if there is one. */
function toAddress({ baseUrl, ...api }: ApiClient): Omit<ApiClient, "baseUrl"> & { readonly base: string } {
  if (baseUrl === "") return { ...api, base: "" };
  const [, scheme = "", host = "", base = ""] = /^(https?):\/\/([^/]+)(.*?)\/?$/u.exec(baseUrl) ?? [];
  // The default path is one of the example host.
  const path = api.path === defaultPath ? "/" : api.path;
  return { ...api, scheme: scheme === "http" ? "http" : "https", host, base, path };
}

const program = String.raw`import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

API = @VALUES@
LONGEST = 5_000_000


def fail(reason):
    print(reason, file=sys.stderr)
    sys.exit(1)


def to_url(path, query):
    if not path.startswith("/") or path.startswith("//") or any(ord(letter) <= 32 for letter in path):
        fail("path: it begins with one / and has no spaces")
    url = API["scheme"] + "://" + API["host"] + API["base"] + urllib.parse.quote(path, safe="/%-._~")
    return url + "?" + urllib.parse.urlencode(query) if query else url


def to_headers():
    headers = {"Accept": "application/json"}
    if API["keyEnv"]:
        key = os.environ.get(API["keyEnv"], "")
        if not key:
            fail("There is no key: set the environment variable " + API["keyEnv"])
        headers[API["header"]] = API["prefix"] + key
    return headers


class NoRedirect(urllib.request.HTTPRedirectHandler):
    # The key must not follow a redirect to another address.
    def redirect_request(self, *arguments):
        return None


def ask(url):
    request = urllib.request.Request(url, headers=to_headers())
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=25) as answer:
            return answer.status, answer.read(LONGEST).decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        fail(API["host"] + " answered " + str(error.code) + ": " + error.read(500).decode("utf-8", "replace"))
    except (urllib.error.URLError, TimeoutError) as error:
        fail("Cannot reach " + API["host"] + ": " + str(getattr(error, "reason", error)))


arguments = json.load(sys.stdin)
url = to_url(arguments.get("path", API["path"]), arguments.get("query", {}))
if arguments.get("dryRun"):
    print(json.dumps({"url": url, "status": 0}))
    sys.exit(0)
status, text = ask(url)
try:
    body = json.loads(text)
except ValueError:
    body = text
print(json.dumps({"url": url, "status": status, "body": body}))
`;
