import { expect, test } from "vitest";

import { clientNames, findClient, renderClientConfig, type ClientEntry, type Machine } from "./clients.ts";

const machine: Machine = { home: "/home/ann", env: {}, platform: "linux" };

const stdio: ClientEntry = {
  transport: "stdio",
  command: "/opt/node",
  args: ["/opt/kitbag/main.js", "serve", "/home/a b/it's"],
  env: { KITBAG_HOME: "/home/ann/kits" },
};
const open: ClientEntry = { transport: "http", url: "http://127.0.0.1:3210/mcp", needsToken: false };
const guarded: ClientEntry = { transport: "http", url: "https://tools.example.com/mcp", needsToken: true };

test("renderClientConfig() writes what each client reads to start Kitbag", () => {
  const texts = clientNames.map((name) => `${name}:\n${renderClientConfig(name, stdio, machine).text}`).join("\n\n");

  expect(texts).toMatchInlineSnapshot(`
    "claude-code:
    {
      "mcpServers": {
        "kitbag": {
          "type": "stdio",
          "command": "/opt/node",
          "args": [
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "env": {
            "KITBAG_HOME": "/home/ann/kits"
          }
        }
      }
    }

    claude-desktop:
    {
      "mcpServers": {
        "kitbag": {
          "command": "/opt/node",
          "args": [
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "env": {
            "KITBAG_HOME": "/home/ann/kits"
          }
        }
      }
    }

    cursor:
    {
      "mcpServers": {
        "kitbag": {
          "command": "/opt/node",
          "args": [
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "env": {
            "KITBAG_HOME": "/home/ann/kits"
          }
        }
      }
    }

    vscode:
    {
      "servers": {
        "kitbag": {
          "type": "stdio",
          "command": "/opt/node",
          "args": [
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "env": {
            "KITBAG_HOME": "/home/ann/kits"
          }
        }
      }
    }

    codex:
    [mcp_servers.kitbag]
    command = "/opt/node"
    args = [ "/opt/kitbag/main.js", "serve", "/home/a b/it's" ]

    [mcp_servers.kitbag.env]
    KITBAG_HOME = "/home/ann/kits"

    gemini:
    {
      "mcpServers": {
        "kitbag": {
          "command": "/opt/node",
          "args": [
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "env": {
            "KITBAG_HOME": "/home/ann/kits"
          }
        }
      }
    }

    windsurf:
    {
      "mcpServers": {
        "kitbag": {
          "command": "/opt/node",
          "args": [
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "env": {
            "KITBAG_HOME": "/home/ann/kits"
          }
        }
      }
    }

    zed:
    {
      "context_servers": {
        "kitbag": {
          "command": "/opt/node",
          "args": [
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "env": {
            "KITBAG_HOME": "/home/ann/kits"
          }
        }
      }
    }

    cline:
    {
      "mcpServers": {
        "kitbag": {
          "type": "stdio",
          "command": "/opt/node",
          "args": [
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "env": {
            "KITBAG_HOME": "/home/ann/kits"
          }
        }
      }
    }

    opencode:
    {
      "mcp": {
        "kitbag": {
          "type": "local",
          "command": [
            "/opt/node",
            "/opt/kitbag/main.js",
            "serve",
            "/home/a b/it's"
          ],
          "environment": {
            "KITBAG_HOME": "/home/ann/kits"
          },
          "enabled": true
        }
      }
    }"
  `);
});

test("renderClientConfig() writes what each client reads to reach Kitbag on this machine", () => {
  const texts = clientNames.map((name) => `${name}:\n${renderClientConfig(name, open, machine).text}`).join("\n\n");

  expect(texts).toMatchInlineSnapshot(`
    "claude-code:
    {
      "mcpServers": {
        "kitbag": {
          "type": "http",
          "url": "http://127.0.0.1:3210/mcp"
        }
      }
    }

    claude-desktop:
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
    url = "http://127.0.0.1:3210/mcp"

    gemini:
    {
      "mcpServers": {
        "kitbag": {
          "httpUrl": "http://127.0.0.1:3210/mcp"
        }
      }
    }

    windsurf:
    {
      "mcpServers": {
        "kitbag": {
          "serverUrl": "http://127.0.0.1:3210/mcp"
        }
      }
    }

    zed:
    {
      "context_servers": {
        "kitbag": {
          "url": "http://127.0.0.1:3210/mcp"
        }
      }
    }

    cline:
    {
      "mcpServers": {
        "kitbag": {
          "type": "streamableHttp",
          "url": "http://127.0.0.1:3210/mcp"
        }
      }
    }

    opencode:
    {
      "mcp": {
        "kitbag": {
          "type": "remote",
          "url": "http://127.0.0.1:3210/mcp",
          "enabled": true
        }
      }
    }"
  `);
});

test("renderClientConfig() writes where the token comes from, never a token", () => {
  const texts = clientNames.map((name) => `${name}:\n${renderClientConfig(name, guarded, machine).text}`).join("\n\n");

  expect(texts).toMatchInlineSnapshot(`
    "claude-code:
    {
      "mcpServers": {
        "kitbag": {
          "type": "http",
          "url": "https://tools.example.com/mcp",
          "headers": {
            "Authorization": "Bearer \${KITBAG_TOKEN}"
          }
        }
      }
    }

    claude-desktop:
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
    bearer_token_env_var = "KITBAG_TOKEN"

    gemini:
    {
      "mcpServers": {
        "kitbag": {
          "httpUrl": "https://tools.example.com/mcp",
          "headers": {
            "Authorization": "Bearer \${KITBAG_TOKEN}"
          }
        }
      }
    }

    windsurf:
    {
      "mcpServers": {
        "kitbag": {
          "serverUrl": "https://tools.example.com/mcp",
          "headers": {
            "Authorization": "Bearer \${env:KITBAG_TOKEN}"
          }
        }
      }
    }

    zed:
    {
      "context_servers": {
        "kitbag": {
          "url": "https://tools.example.com/mcp",
          "headers": {
            "Authorization": "Bearer <token>"
          }
        }
      }
    }

    cline:
    {
      "mcpServers": {
        "kitbag": {
          "type": "streamableHttp",
          "url": "https://tools.example.com/mcp",
          "headers": {
            "Authorization": "Bearer <token>"
          }
        }
      }
    }

    opencode:
    {
      "mcp": {
        "kitbag": {
          "type": "remote",
          "url": "https://tools.example.com/mcp",
          "headers": {
            "Authorization": "Bearer {env:KITBAG_TOKEN}"
          },
          "enabled": true
        }
      }
    }"
  `);
});

test.for(clientNames.filter((name) => findClient(name).format !== "toml"))(
  "renderClientConfig() of %s is JSON that holds the words as they are",
  (name) => {
    const { text } = renderClientConfig(name, stdio, machine);

    expect(JSON.stringify(JSON.parse(text))).toContain(
      JSON.stringify(["/opt/kitbag/main.js", "serve", "/home/a b/it's"]).slice(1),
    );
  },
);

test("renderClientConfig() says where the text belongs", () => {
  expect(clientNames.map((name) => renderClientConfig(name, open, machine).place)).toMatchInlineSnapshot(`
    [
      ".mcp.json of the project, or /home/ann/.claude.json; then start Claude Code again; for a project it asks once whether it may use the server",
      "/home/ann/.config/Claude/claude_desktop_config.json; then quit Claude Desktop and start it again",
      ".cursor/mcp.json of the project, or /home/ann/.cursor/mcp.json; then switch kitbag on in the settings of Cursor, under MCP",
      ".vscode/mcp.json of the project, or /home/ann/.config/Code/User/mcp.json; then run MCP: List Servers in VS Code, and start kitbag",
      ".codex/config.toml of the project, or /home/ann/.codex/config.toml; then start Codex again; a project's file is read only if Codex trusts the project",
      ".gemini/settings.json of the project, or /home/ann/.gemini/settings.json; then start Gemini CLI again, and look at /mcp",
      "/home/ann/.codeium/windsurf/mcp_config.json; then refresh the MCP servers in Windsurf",
      "/home/ann/.config/zed/settings.json; then look at the Agent Panel of Zed: it starts the server at once",
      "/home/ann/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json; then open MCP Servers in Cline: it starts the server at once",
      "opencode.json of the project, or /home/ann/.config/opencode/opencode.json; then start opencode again",
    ]
  `);
});

test("renderClientConfig() of a client that is not known names the nearest", () => {
  expect(() => renderClientConfig("clude-code", open, machine)).toThrow(
    'Cannot write a configuration for "clude-code": did you mean "claude-code"?',
  );
  expect(() => renderClientConfig("__proto__", open, machine)).toThrow("there are claude-code, claude-desktop, cursor");
});

test.for([
  ["darwin", {}, "/home/ann/Library/Application Support/Claude/claude_desktop_config.json"],
  ["linux", { XDG_CONFIG_HOME: "/x" }, "/x/Claude/claude_desktop_config.json"],
  ["win32", { APPDATA: "C:\\A" }, "C:\\A\\Claude\\claude_desktop_config.json"],
] as const)("findClient() knows where the file of the user is on %s", ([platform, env, file]) => {
  const places = findClient("claude-desktop").user({ ...machine, platform, env });

  expect(places).toEqual([file]);
});
