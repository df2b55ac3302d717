import { putIn, toPython, type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

interface WebScraper {
  readonly hosts: readonly string[];
  readonly maxLinks: number;
  readonly maxCharacters: number;
}

/** A tool that takes title, links, headings and text out of a page. */
export const webScraper: ToolTemplate = {
  name: "web-scraper",
  makes: "tool",
  description:
    "A scraper of web pages: fetches an HTML page from chosen hosts, or takes HTML as text, and extracts title, headings, links and readable text",
  parameters: closed({
    hosts: {
      type: "array",
      items: {
        type: "string",
        pattern: String.raw`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(:[0-9]{1,5})?$`,
      },
      minItems: 1,
      maxItems: 20,
      default: ["example.com"],
      description: "The hosts that it may reach; *.example.com for those below one",
    },
    maxLinks: { type: "integer", minimum: 0, maximum: 10_000, default: 100 },
    maxCharacters: { type: "integer", minimum: 1, maximum: 1_000_000, default: 20_000 },
  }),
  toDraft({ name, description, values }) {
    const scraper = values as unknown as WebScraper;
    return {
      name,
      description:
        description ?? `Reads a web page of ${scraper.hosts.join(", ")}: its title, headings, links and text.`,
      language: "python",
      code: putIn(program, toPython({ maxLinks: scraper.maxLinks, maxCharacters: scraper.maxCharacters })),
      input: closed({
        url: { type: "string", description: "The page: http or https" },
        html: { type: "string", description: "The page itself, if it is there already; nothing is fetched" },
      }),
      output: {
        type: "object",
        properties: {
          title: { type: "string" },
          headings: { type: "array", items: { type: "string" } },
          links: {
            type: "array",
            items: { type: "object", properties: { text: { type: "string" }, url: { type: "string" } } },
          },
          text: { type: "string" },
        },
        required: ["title", "headings", "links", "text"],
      },
      annotations: { readOnly: true, openWorld: true },
      permissions: { network: scraper.hosts },
      limits: { limitMs: 30_000 },
      examples: [
        {
          description: "A page that is there already: nothing is fetched",
          input: {
            url: "https://example.com/a/",
            html: "<title>A page</title><h1>Hello</h1><script>no()</script><p>Some <b>text</b> &amp; <a href='../b'>a link</a></p>",
          },
          output: {
            title: "A page",
            headings: ["Hello"],
            links: scraper.maxLinks === 0 ? [] : [{ text: "a link", url: "https://example.com/b" }],
            text: "Hello\nSome text & a link".slice(0, scraper.maxCharacters),
          },
        },
      ],
    };
  },
};

const program = String.raw`import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser

LIMITS = @VALUES@
LONGEST = 5_000_000
SILENT = {"script", "style", "noscript", "template", "title"}
BLOCKS = {"p", "div", "li", "tr", "br", "section", "article", "h1", "h2", "h3", "h4", "h5", "h6"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.title, self.headings, self.links, self.text = "", [], [], ""
        self.link = self.heading = None

    def handle_starttag(self, tag, attributes):
        if tag in BLOCKS:
            self.text += "\n"
        if tag in SILENT:
            self.open.append(tag)
        if tag == "a":
            self.link = {"text": "", "url": dict(attributes).get("href") or ""}
        if tag in ("h1", "h2", "h3"):
            self.heading = ""

    def handle_endtag(self, tag):
        if tag in BLOCKS:
            self.text += "\n"
        if self.open and self.open[-1] == tag:
            self.open.pop()
        if tag == "a" and self.link is not None:
            self.links.append(self.link)
            self.link = None
        if tag in ("h1", "h2", "h3") and self.heading is not None:
            self.headings.append(to_line(self.heading))
            self.heading = None

    def handle_data(self, data):
        if self.open:
            self.title += data if self.open[-1] == "title" else ""
            return
        self.text += data
        if self.link is not None:
            self.link["text"] += data
        if self.heading is not None:
            self.heading += data


def to_line(text):
    return " ".join(text.split())


def fetch(url):
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        sys.exit("url: give an address with http or https")
    request = urllib.request.Request(url, headers={"User-Agent": "kitbag-tool", "Accept": "text/html"})
    try:
        with urllib.request.urlopen(request, timeout=25) as answer:
            charset = answer.headers.get_content_charset() or "utf-8"
            return answer.read(LONGEST).decode(charset, "replace")
    except (urllib.error.URLError, TimeoutError, LookupError, ValueError) as error:
        sys.exit("Cannot read " + url + ": " + str(getattr(error, "reason", error)))


def to_url(base, address):
    try:
        return urllib.parse.urljoin(base, address)
    except ValueError:
        return address


arguments = json.load(sys.stdin)
url = arguments.get("url", "")
if "html" not in arguments and not url:
    sys.exit("Give url or html")
page = Page()
page.feed(arguments["html"] if "html" in arguments else fetch(url))
page.close()
links = [{"text": to_line(link["text"]), "url": to_url(url, link["url"])} for link in page.links if link["url"]]
lines = [line for line in map(to_line, page.text.split("\n")) if line]
print(json.dumps({
    "title": to_line(page.title),
    "headings": page.headings,
    "links": links[: LIMITS["maxLinks"]],
    "text": "\n".join(lines)[: LIMITS["maxCharacters"]],
}))
`;
