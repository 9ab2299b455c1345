//! `toolcrib connect`: what a client wants to read, with the token by reference and never itself.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use url::Url;

use super::End;
use super::arguments::{ClientName, Global};
use super::output::Output;

/// Where a client finds the token that a person put there.
const VARIABLE: &str = "TOOLCRIB_TOKEN";

pub(super) fn connect(
    global: &Global,
    output: &Output,
    client: ClientName,
    (url, sign_in): (&str, bool),
) -> Result<End> {
    let base = Url::parse(url).with_context(|| format!("`{url}` is no address"))?;
    if !matches!(base.scheme(), "http" | "https") || !base.username().is_empty() {
        bail!("`{url}` is no address of a server: write `http://127.0.0.1:7411`");
    }
    let base = base.as_str().trim_end_matches('/');
    let profile = global.profile.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
    let door = format!("{base}/mcp{profile}");
    let (text, hint) =
        if sign_in { signing_in(client, &door)? } else { snippet(global, client, base, &door)? };
    if output.json {
        output.value(&json!({ "snippet": text, "hint": hint }))?;
    } else {
        output.text(&text)?;
        output.note(&hint);
    }
    Ok(End::Done)
}

fn snippet(
    global: &Global,
    client: ClientName,
    base: &str,
    door: &str,
) -> Result<(String, String)> {
    let export = format!("before you start it: export {VARIABLE}=\"$(toolcrib token)\"");
    Ok(match client {
        ClientName::ClaudeDesktop => {
            let text = pretty(&json!({ "mcpServers": { "toolcrib": started(global)? } }));
            (text, "into `claude_desktop_config.json`; it starts toolcrib itself".to_owned())
        }
        ClientName::ClaudeCode => {
            let token = "${TOOLCRIB_TOKEN}";
            let server = json!({
                "type": "http",
                "url": door,
                "headers": { "Authorization": format!("Bearer {token}") },
            });
            let text = pretty(&json!({ "mcpServers": { "toolcrib": server } }));
            (text, format!("into `.mcp.json` of a project; {export}"))
        }
        ClientName::Vscode => {
            let input = json!({
                "type": "promptString",
                "id": "toolcrib-token",
                "description": "What `toolcrib token` prints",
                "password": true,
            });
            let server = json!({
                "type": "http",
                "url": door,
                "headers": { "Authorization": "Bearer ${input:toolcrib-token}" },
            });
            let text = pretty(&json!({ "inputs": [input], "servers": { "toolcrib": server } }));
            (text, "into `.vscode/mcp.json`; it asks for what `toolcrib token` prints".to_owned())
        }
        ClientName::Cursor => {
            let token = format!("Bearer ${{env:{VARIABLE}}}");
            let server = json!({ "url": door, "headers": { "Authorization": token } });
            let text = pretty(&json!({ "mcpServers": { "toolcrib": server } }));
            (text, format!("into `.cursor/mcp.json`; {export}"))
        }
        ClientName::Curl => {
            let text =
                format!("curl -H \"Authorization: Bearer $(toolcrib token)\" {base}/v1/tools");
            (text, format!("{base}/v1/openapi.json lists the rest"))
        }
    })
}

/// Without a token: the server names its issuer to the client that comes without one.
fn signing_in(client: ClientName, door: &str) -> Result<(String, String)> {
    let plain = json!({ "url": door });
    let typed = json!({ "type": "http", "url": door });
    let (text, file) = match client {
        ClientName::ClaudeCode => (json!({ "mcpServers": { "toolcrib": typed } }), ".mcp.json"),
        ClientName::Vscode => (json!({ "servers": { "toolcrib": typed } }), ".vscode/mcp.json"),
        ClientName::Cursor => (json!({ "mcpServers": { "toolcrib": plain } }), ".cursor/mcp.json"),
        ClientName::ClaudeDesktop | ClientName::Curl => {
            bail!("this client cannot sign in: leave `--sign-in` out")
        }
    };
    Ok((pretty(&text), format!("into `{file}`; it asks you to sign in when it first connects")))
}

/// How a client starts us, from wherever it runs.
fn started(global: &Global) -> Result<Value> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let mut arguments = vec!["mcp".to_owned()];
    if let Some(config) = &global.config {
        let path = std::path::absolute(config)?;
        arguments.extend(["--config".to_owned(), path.display().to_string()]);
    }
    if let Some(profile) = &global.profile {
        arguments.extend(["--profile".to_owned(), profile.clone()]);
    }
    Ok(json!({ "command": program, "args": arguments }))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
