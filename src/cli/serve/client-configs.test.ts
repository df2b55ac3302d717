import { expect, test } from "vitest";

import { clientNames, renderClientConfig, type ClientEntry } from "./client-configs.ts";

const stdio: ClientEntry = { transport: "stdio", command: "npx", args: ["kitbag", "serve", "/home/a b/it's"] };
const open: ClientEntry = { transport: "http", url: "http://127.0.0.1:3210/mcp", needsToken: false };
const guarded: ClientEntry = { transport: "http", url: "https://tools.example.com/mcp", needsToken: true };

test("renderClientConfig() writes what each client reads to start Kitbag", () => {
  const texts = clientNames.map((name) => `${name}:\n${renderClientConfig(name, stdio).text}`).join("\n\n");

  expect(texts).toMatchInlineSnapshot(`
    "claude-desktop:
    {
      "mcpServers": {
        "kitbag": {
          "command": "npx",
          "args": [
            "kitbag",
            "serve",
            "/home/a b/it's"
          ]
        }
      }
    }

    claude-code:
    claude mcp add --transport stdio kitbag -- npx kitbag serve '/home/a b/it'\\''s'

    cursor:
    {
      "mcpServers": {
        "kitbag": {
          "command": "npx",
          "args": [
            "kitbag",
            "serve",
            "/home/a b/it's"
          ]
        }
      }
    }

    vscode:
    {
      "servers": {
        "kitbag": {
          "type": "stdio",
          "command": "npx",
          "args": [
            "kitbag",
            "serve",
            "/home/a b/it's"
          ]
        }
      }
    }

    codex:
    [mcp_servers.kitbag]
    command = "npx"
    args = ["kitbag", "serve", "/home/a b/it's"]"
  `);
});

test("renderClientConfig() writes what each client reads to reach Kitbag on this machine", () => {
  const texts = clientNames.map((name) => `${name}:\n${renderClientConfig(name, open).text}`).join("\n\n");

  expect(texts).toMatchInlineSnapshot(`
    "claude-desktop:
    {
      "mcpServers": {
        "kitbag": {
          "command": "npx",
          "args": [
            "-y",
            "mcp-remote",
            "http://127.0.0.1:3210/mcp",
            "--allow-http"
          ]
        }
      }
    }

    claude-code:
    claude mcp add --scope project --transport http kitbag http://127.0.0.1:3210/mcp

    cursor:
    {
      "mcpServers": {
        "kitbag": {
          "url": "http://127.0.0.1:3210/mcp"
        }
      }
    }

    vscode:
    {
      "servers": {
        "kitbag": {
          "type": "http",
          "url": "http://127.0.0.1:3210/mcp"
        }
      }
    }

    codex:
    [mcp_servers.kitbag]
    url = "http://127.0.0.1:3210/mcp""
  `);
});

test("renderClientConfig() writes where the token comes from, never a token", () => {
  const texts = clientNames.map((name) => `${name}:\n${renderClientConfig(name, guarded).text}`).join("\n\n");

  expect(texts).toMatchInlineSnapshot(`
    "claude-desktop:
    {
      "mcpServers": {
        "kitbag": {
          "command": "npx",
          "args": [
            "-y",
            "mcp-remote",
            "https://tools.example.com/mcp",
            "--header",
            "Authorization:\${KITBAG_AUTHORIZATION}"
          ],
          "env": {
            "KITBAG_AUTHORIZATION": "Bearer <token>"
          }
        }
      }
    }

    claude-code:
    claude mcp add --scope project --transport http kitbag https://tools.example.com/mcp --header 'Authorization: Bearer \${KITBAG_TOKEN}'

    cursor:
    {
      "mcpServers": {
        "kitbag": {
          "url": "https://tools.example.com/mcp",
          "headers": {
            "Authorization": "Bearer \${env:KITBAG_TOKEN}"
          }
        }
      }
    }

    vscode:
    {
      "inputs": [
        {
          "type": "promptString",
          "id": "kitbag-token",
          "description": "Token of Kitbag",
          "password": true
        }
      ],
      "servers": {
        "kitbag": {
          "type": "http",
          "url": "https://tools.example.com/mcp",
          "headers": {
            "Authorization": "Bearer \${input:kitbag-token}"
          }
        }
      }
    }

    codex:
    [mcp_servers.kitbag]
    url = "https://tools.example.com/mcp"
    bearer_token_env_var = "KITBAG_TOKEN""
  `);
});

test.for(["claude-desktop", "cursor", "vscode"])(
  "renderClientConfig() of %s is JSON that holds the words as they are",
  (name) => {
    const { text } = renderClientConfig(name, stdio);

    expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(["kitbag", "serve", "/home/a b/it's"]));
  },
);

test("renderClientConfig() says where the text belongs", () => {
  expect(clientNames.map((name) => renderClientConfig(name, open).place)).toMatchInlineSnapshot(`
    [
      "claude_desktop_config.json (Settings → Developer → Edit Config), then start Claude Desktop again",
      "run this in the project",
      ".cursor/mcp.json of the project, or ~/.cursor/mcp.json",
      ".vscode/mcp.json of the project",
      "~/.codex/config.toml, or .codex/config.toml of the project",
    ]
  `);
});

test("renderClientConfig() of a client that is not known names the nearest", () => {
  expect(() => renderClientConfig("clude-code", open)).toThrow(
    'Cannot write a configuration for "clude-code": did you mean "claude-code"?',
  );
  expect(() => renderClientConfig("__proto__", open)).toThrow(
    "there are claude-desktop, claude-code, cursor, vscode, codex",
  );
});
