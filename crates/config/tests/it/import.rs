//! The files of other programs.

use toolcrib_config::import::{ImportFormat, ImportNote};
use toolcrib_config::{Config, ImportError, ImportedConfig, import};

pub(crate) fn imported(text: &str) -> ImportedConfig {
    let imported = import(text, None).unwrap();
    let read = Config::read(&imported.toml, "crib.toml");
    assert_eq!(read.problems, vec![], "{}", imported.toml);
    assert_eq!(import(text, None).unwrap(), imported, "it says two things");
    imported
}

#[test]
fn servers_of_claude_desktop_become_sources_without_their_secrets() {
    let text = r#"{
      // my servers
      "mcpServers": {
        "GitHub tools": {
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-github", "a \"b\" $HOME; rm -rf /"],
          "env": { "GITHUB_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ", "DEBUG": "1" },
        },
        "search": {
          "type": "http",
          "url": "https://search.example.com/mcp",
          "headers": { "Authorization": "Bearer verysecret", "Accept": "*/*" },
          "disabled": true,
          "autoApprove": ["web"]
        },
      },
      "globalShortcut": "Ctrl+Space"
    }"#;
    let imported = imported(text);
    let expected = r#"# Taken from a file of the form mcpServers.
# `globalShortcut` is not taken

# it was named `GitHub tools`
# argument 3 holds `$HOME`, which is handed over as it stands: write its value if the other program fills it in
# GITHUB_TOKEN: the value is not copied: export it under this name
# runs: "npx" "-y" "@modelcontextprotocol/server-github" "a \"b\" $HOME; rm -rf /"
[[source]]
id = "GitHub_tools"

[source.mcp]
command = ["npx", "-y", "@modelcontextprotocol/server-github", "a \"b\" $HOME; rm -rf /"]

[source.mcp.env]
GITHUB_TOKEN = "${env:GITHUB_TOKEN}"
DEBUG = "1"

# SEARCH_AUTHORIZATION: the value is not copied: export it under this name
# `autoApprove` is not taken: what runs without a question is said by `allow`
[[source]]
id = "search"
enabled = false

[source.mcp]
url = "https://search.example.com/mcp"

[source.mcp.headers]
Authorization = "Bearer ${env:SEARCH_AUTHORIZATION}"
Accept = "*/*"
"#;
    assert_eq!(imported.toml, expected);
    let exports: Vec<_> = imported.notes.iter().filter_map(|note| note.export.clone()).collect();
    assert_eq!(exports, ["GITHUB_TOKEN", "SEARCH_AUTHORIZATION"]);
}

#[test]
fn vs_code_asks_for_inputs_which_become_variables() {
    let imported = imported(
        r#"{
      "inputs": [{ "type": "promptString", "id": "api-key", "description": "The key\nof it" }],
      "servers": {
        "a": { "type": "stdio", "command": "node", "args": ["${workspaceFolder}/x.js", 8080],
               "env": { "KEY": "${input:api-key}", "HOME": "${env:HOME}", "N": 3, "P": "${workspaceFolder}" },
               "envFile": ".env" },
        "b": { "url": "https://b.example.com/mcp", "headers": { "X-Key": "Key ${input:api-key}" } }
      }
    }"#,
    );
    let expected = r#"# Taken from a file of the form VS Code.

# argument 1 (`${workspaceFolder}/x.js`) is filled in by the other program: write its value; then set `enabled = true`
# API_KEY: a person was asked for it: The key\nof it
# `${workspaceFolder}` cannot be filled in here
# P: the value is not copied: export it under this name
# `envFile` is not taken: export what stands in that file
# runs: "node" "${workspaceFolder}/x.js" "8080"
[[source]]
id = "a"
enabled = false

[source.mcp]
command = ["node", "${workspaceFolder}/x.js", "8080"]

[source.mcp.env]
KEY = "${env:API_KEY}"
HOME = "${env:HOME}"
N = "3"
P = "${env:P}"

[[source]]
id = "b"

[source.mcp]
url = "https://b.example.com/mcp"

[source.mcp.headers]
X-Key = "Key ${env:API_KEY}"
"#;
    assert_eq!(imported.toml, expected);
    let settings =
        r#"{ "editor.fontSize": 12, "mcp": { "servers": { "x": { "command": "y" } } } }"#;
    assert_eq!(self::imported(settings).form, ImportFormat::VsCode);
}

#[test]
fn windsurf_and_zed_and_gemini_name_things_otherwise() {
    let windsurf = imported(
        r#"{"mcpServers": {"w": {"serverUrl": "http://127.0.0.1:9000/sse?x=1", "type": "sse", "disabledTools": ["rm"]}}}"#,
    );
    assert!(
        windsurf.toml.contains("url = \"http://127.0.0.1:9000/sse?x=1\"\n"),
        "{}",
        windsurf.toml
    );
    assert!(windsurf.toml.contains("exclude = [\"rm\"]"), "{}", windsurf.toml);
    assert!(windsurf.notes[0].text.contains("SSE"), "{:?}", windsurf.notes);
    let zed = imported(
        r#"{"theme": "One", "context_servers": {
            "old": {"command": {"path": "/bin/x", "args": ["a"], "env": null}, "settings": {}},
            "new": {"source": "custom", "command": "y", "args": []},
            "extension": {"settings": {"k": 1}}}}"#,
    );
    assert_eq!(zed.form, ImportFormat::Zed);
    assert!(zed.toml.contains("command = [\"/bin/x\", \"a\"]\n"), "{}", zed.toml);
    assert!(
        zed.toml.contains("# `extension`: it has neither a command nor an address"),
        "{}",
        zed.toml
    );
    let gemini = imported(
        r#"{"mcpServers": {"g": {"httpUrl": "https://g/", "includeTools": ["a"], "timeout": 600, "trust": true}}}"#,
    );
    assert!(gemini.toml.contains("include = [\"a\"]\n"), "{}", gemini.toml);
    assert_eq!(gemini.notes.len(), 2, "{:?}", gemini.notes);
}

#[test]
fn mas_arena_assigns_tools_by_the_names_that_the_servers_give() {
    let imported = imported(
        r#"{
  "math": { "command": "python", "args": ["math_server.py"], "transport": "stdio" },
  "search": { "command": "python", "args": ["search_server.py"], "transport": "stdio" },
  "tool_assignment": {
    "MathAgent": ["add", "subtract", "solve_math"],
    "Search Agent": ["search", "no good"]
  }
}"#,
    );
    let expected = r#"# Taken from a file of the form MAS-Arena.
# agent `Search Agent`: 1 of its tools have no legal name and are not taken, as `no good`

# As there, an agent that is not listed has nothing.
unlisted_agents = "nothing"

# it runs in the folder of this `crib.toml` because of argument 1 (`math_server.py`): correct `cwd` if that is elsewhere
# runs: "python" "math_server.py"
[[source]]
id = "math"
prefix = ""

[source.mcp]
command = ["python", "math_server.py"]
cwd = "."

# it runs in the folder of this `crib.toml` because of argument 1 (`search_server.py`): correct `cwd` if that is elsewhere
# runs: "python" "search_server.py"
[[source]]
id = "search"
prefix = ""

[source.mcp]
command = ["python", "search_server.py"]
cwd = "."

[assign]
MathAgent = ["add", "subtract", "solve_math"]
"Search Agent" = ["search"]
"#;
    assert_eq!(imported.toml, expected);
    let config = Config::read(&imported.toml, "crib.toml").config.unwrap();
    let tools = |agent: &str| -> Option<Vec<String>> {
        let tools = config.assign.tools(agent)?;
        Some(tools.iter().map(ToString::to_string).collect())
    };
    let math = ["add", "solve_math", "subtract"].map(str::to_owned);
    assert_eq!(tools("MathAgent"), Some(math.to_vec()));
    assert_eq!(tools("Reasoner"), Some(Vec::new()), "as there: it is not listed");
    let commands: Vec<_> = config.commands().into_iter().map(|(_, argv)| argv).collect();
    assert_eq!(commands, [["python", "math_server.py"], ["python", "search_server.py"]]);
}

#[test]
fn a_server_that_is_given_relative_paths_runs_beside_the_file() {
    let imported = imported(
        r#"{"mcpServers": {
        "a": {"command": "uvx", "args": ["mcp-server-sqlite", "--db-path", "./test.db"]},
        "b": {"command": "x", "args": ["--db=/srv/test.db"], "env": {"STORE": "../store"}},
        "c": {"command": "x", "args": ["server.py"], "cwd": "/srv"},
        "d": {"command": "npx", "args": ["-y", "@scope/chart.js"]}
        }}"#,
    );
    let folders: Vec<_> = imported.toml.lines().filter(|line| line.starts_with("cwd")).collect();
    assert_eq!(folders, ["cwd = \".\"", "cwd = \".\"", "cwd = \"/srv\""], "{}", imported.toml);
    let notes: Vec<_> = imported.notes.iter().map(|note| note.text.as_str()).collect();
    let told = |reason: &str| {
        let here = "it runs in the folder of this `crib.toml` because of";
        format!("{here} {reason}: correct `cwd` if that is elsewhere")
    };
    assert_eq!(notes, [told("argument 3 (`./test.db`)"), told("the variable `STORE`")]);
}

#[test]
fn no_secret_passes_whatever_it_stands_in() {
    let imported = imported(
        r#"{"mcpServers": {
        "a": {"command": "x", "env": {"API_KEY": "hunter2-one", "DSN": "postgres://u:hunter2@h/", "MY_AUTH": "hunter2"}},
        "b": {"command": "x", "env": {"API_KEY": "hunter2-two", "MIX": "${env:A} ghp_0123456789abcdefghijhunter2", "D": "${K:-hunter2}"}},
        "c": {"url": "https://u:hunter2@x/?api_key=hunter2&page=1", "headers": {"X-Anything": "hunter2", "Cookie": "a=hunter2"}}
        }}"#,
    );
    assert!(!imported.toml.contains("hunter2"), "{}", imported.toml);
    assert!(!format!("{:?}", imported.notes).contains("hunter2"), "{:?}", imported.notes);
    assert!(imported.toml.contains("API_KEY = \"${env:API_KEY}\""), "{}", imported.toml);
    assert!(imported.toml.contains("API_KEY = \"${env:B_API_KEY}\""), "{}", imported.toml);
    assert!(imported.toml.contains("url = \"https://x/?page=1\""), "{}", imported.toml);
}

#[test]
fn a_secret_within_a_value_is_found_and_one_in_an_argument_or_a_path_is_told() {
    let imported = imported(
        r#"{"mcpServers": {
        "a": {"command": "docker", "args": ["-e", "GITHUB_TOKEN=hunter2", "-H", "Authorization: Bearer hunter2", "https://x/?token=hunter2"],
              "env": {"DB": "Server=db;Password=hunter2;", "GOOGLE": "{\"private_key\":\"hunter2\"}", "HOOK": "https://hooks.x/T0/q7Zr2Kp9Lx4Tn8Vb3Ws6"}},
        "b": {"url": "https://x/mcp?sig=hunter2&code=hunter2#hunter2"},
        "c": {"url": "https://x/s/q7Zr2Kp9Lx4Tn8Vb3Ws6/mcp"}
        }}"#,
    );
    let environment = "DB = \"${env:DB}\"\nGOOGLE = \"${env:GOOGLE}\"\nHOOK = \"${env:HOOK}\"\n";
    assert!(imported.toml.contains(environment), "{}", imported.toml);
    assert!(imported.toml.contains("url = \"https://x/mcp\"\n"), "{}", imported.toml);
    let told = |source: &str, part: &str| {
        let of =
            |note: &&ImportNote| note.source.as_deref() == Some(source) && note.text.contains(part);
        imported.notes.iter().filter(of).count()
    };
    assert_eq!(told("a", "looks like a secret"), 3, "{:?}", imported.notes);
    assert_eq!(told("b", "held a secret"), 1, "{:?}", imported.notes);
    assert_eq!(told("c", "looks like a secret"), 1, "{:?}", imported.notes);
}

#[test]
fn names_become_legal_and_nothing_hides_from_the_eye() {
    let imported = imported(
        "{\"mcpServers\": {\"a b\": {\"command\": \"x\"}, \"a_b\": {\"command\": \"x\"}, \"\": {\"command\": \"x\"},
        \"code\": {\"command\": \"x y\"}, \"evil\\n[tool.x]\": {\"command\": \"a\u{202e}b\\n\", \"args\": [null, {}], \"x\\ny\": 1},
        \"null\": null}}",
    );
    let config = Config::read(&imported.toml, "crib.toml").config.unwrap();
    let ids: Vec<_> = config.sources().map(|id| id.as_str().to_owned()).collect();
    assert_eq!(ids, ["a_b", "a_b_2", "server", "codeserver"]);
    assert!(!imported.toml.contains('\u{202e}'), "{}", imported.toml);
    assert!(
        imported.toml.contains("command = [\"a\\U0000202Eb\\U0000000A\"]"),
        "{}",
        imported.toml
    );
}

#[test]
fn an_argument_that_cannot_stand_is_shown_whole_and_turns_the_source_off() {
    let long = "x".repeat(300);
    let imported = imported(&format!(
        r#"{{"mcpServers": {{"a": {{"command": "~/run", "args": ["${{env:KEY}}{long}", "--api-key", "hunter", "--token=hunter"]}}}}}}"#,
    ));
    let whole = format!(
        "# runs: \"~/run\" \"${{env:KEY}}{long}\" \"--api-key\" \"hunter\" \"--token=hunter\"\n"
    );
    assert!(imported.toml.contains(&whole), "{}", imported.toml);
    assert!(imported.toml.contains("enabled = false\n"), "{}", imported.toml);
    let told: Vec<_> = imported.notes.iter().map(|note| &note.text[..10]).collect();
    assert_eq!(told, ["argument 1", "argument 3", "argument 4"]);
    let warnings = Config::read(&imported.toml, "crib.toml").warnings;
    assert_eq!(warnings[0].message, "`~` is a folder of that name here");
}

#[test]
fn what_holds_no_servers_is_told() {
    assert_eq!(import("{}", None), Err(ImportError::NoServers));
    assert_eq!(import("[]", None), Err(ImportError::NoServers));
    assert_eq!(import("{\"mcpServers\": 3}", None), Err(ImportError::NoServers));
    assert_eq!(
        import("{\"mcpServers\": {}}", Some(ImportFormat::Zed)),
        Err(ImportError::NoServers)
    );
    assert_eq!(
        import("{\n  \"a\" 1}", None).unwrap_err().to_string(),
        "line 2, column 7: this is not JSON: correct the syntax"
    );
    let deep = "[".repeat(100_000);
    assert!(matches!(import(&deep, None), Err(ImportError::NotJson { .. })));
    assert_eq!(import(&" ".repeat(2 << 20), None), Err(ImportError::TooLarge));
}
