//! `toolcrib connect`: what a client wants to read, with the token by reference and never itself.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use toolcrib_config::ListenerSettings;
use url::Url;

use crate::cli::CommandExit;
use crate::cli::args::{CONFIG, ClientName, GlobalArgs};
use crate::cli::context::{CommandConfig, found, listed};
use crate::cli::output::Output;
use crate::gateway::listen_address::LISTEN;

/// Where a client finds the token that a person put there.
const VARIABLE: &str = "TOOLCRIB_TOKEN";

pub(crate) fn connect(
    global: &GlobalArgs,
    output: &Output,
    client: ClientName,
    (url, sign_in): (Option<&str>, bool),
) -> Result<CommandExit> {
    let file = file(global, output, url.is_none() || client == ClientName::ClaudeDesktop)?;
    let url = match (url, &file) {
        (Some(url), _) => url.to_owned(),
        (None, Some(file)) => served(&file.checked.front),
        (None, None) => format!("http://{LISTEN}"),
    };
    let base = Url::parse(&url).with_context(|| format!("`{url}` is no address"))?;
    if !matches!(base.scheme(), "http" | "https") || !base.username().is_empty() {
        bail!("`{url}` is no address of a server: write `http://127.0.0.1:7411`");
    }
    let base = base.as_str().trim_end_matches('/');
    let profile = global.profile.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
    let door = format!("{base}/mcp{profile}");
    let (text, hint) = if sign_in {
        signing_in(client, &door)?
    } else {
        snippet((global, file.as_ref()), client, base, &door)?
    };
    if output.json {
        output.value(&json!({ "snippet": text, "hint": hint }))?;
    } else {
        output.text(&text)?;
        output.note(&hint);
    }
    Ok(CommandExit::Done)
}

/// The configuration that the client is to meet, which is trusted: what it says of addresses and
/// programs is what the client is told. One that is only found counts if `is_ours`: a server that
/// the command line names may have another.
fn file(global: &GlobalArgs, output: &Output, is_ours: bool) -> Result<Option<CommandConfig>> {
    let is_there = global.config.is_some() || (is_ours && Path::new(CONFIG).exists());
    if !is_there {
        return Ok(None);
    }
    let file = found(global, output)?;
    let profiles = &file.checked.profiles;
    if let Some(name) = global.profile.as_ref().filter(|name| !profiles.contains_key(*name)) {
        let known: Vec<_> = profiles.keys().map(|known| format!("`{known}`")).collect();
        bail!("there is no profile `{name}`: the file has {}", listed(&known));
    }
    Ok(Some(file))
}

/// Where a server of a file is reached from this machine, else from where others reach it.
fn served(front: &ListenerSettings) -> String {
    let at = front.listen.unwrap_or(LISTEN);
    let scheme = if front.tls.is_some() { "https" } else { "http" };
    if at.ip().is_loopback() && front.tls.is_none() {
        return format!("http://{at}");
    }
    if let Some(url) = &front.access.url {
        return url.to_string();
    }
    // Without TLS of its own it is reached through the proxy that ends it, at the usual port.
    let named = front.hosts.first().and_then(|host| Url::parse(&format!("https://{host}")).ok());
    let Some(mut url) = named else { return format!("{scheme}://{at}") };
    if url.port().is_none() && front.tls.is_some() {
        let _ = url.set_port(Some(at.port()));
    }
    url.to_string()
}

fn snippet(
    (global, file): (&GlobalArgs, Option<&CommandConfig>),
    client: ClientName,
    base: &str,
    door: &str,
) -> Result<(String, String)> {
    let export = format!("before you start it: export {VARIABLE}=\"$(toolcrib token)\"");
    Ok(match client {
        ClientName::ClaudeDesktop => {
            let text = pretty(&json!({ "mcpServers": { "toolcrib": started(global, file)? } }));
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
fn started(global: &GlobalArgs, file: Option<&CommandConfig>) -> Result<Value> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let mut arguments = vec!["mcp".to_owned()];
    if let Some(file) = file {
        let path = std::path::absolute(&file.path)?;
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
