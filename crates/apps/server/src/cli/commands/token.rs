//! `toolcrib token`: a token of this machine, or a key for the configuration.

use anyhow::{Result, anyhow, bail};
use serde_json::json;
use toolcrib_auth::{TOOLS, digest, key_text};
use toolcrib_config::Config;

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, TokenArgs};
use crate::cli::output::Output;
use crate::config::tokens;

pub(crate) fn token(
    global: &GlobalArgs,
    output: &Output,
    words: &TokenArgs,
) -> Result<CommandExit> {
    if words.key {
        return key(global, output, words);
    }
    let token = tokens::token(&tokens::folder()?, &words.name)?;
    if output.json {
        output.value(&json!({ "name": words.name, "token": token.expose() }))?;
    } else {
        output.text(token.expose())?;
    }
    Ok(CommandExit::Done)
}

/// The lines for the file go to standard output, so that they can be added to it; the key goes
/// where a person sees it.
fn key(global: &GlobalArgs, output: &Output, words: &TokenArgs) -> Result<CommandExit> {
    if words.name == tokens::LOCAL {
        bail!("`{}` has a token of its own: give the key another name", tokens::LOCAL);
    }
    let key = key_text(&words.name, &tokens::random());
    let entry = entry(global, words, &key);
    // What would be refused there is refused here.
    if let Some(problem) = Config::read(&entry, "the key").problems.into_iter().next() {
        return Err(anyhow!("no key can be so: {problem}"));
    }
    if output.json {
        output.value(&json!({ "name": words.name, "key": key, "entry": entry }))?;
    } else {
        output.text(entry.trim_end())?;
        output.note(&format!("the key, which is shown this once: {key}"));
    }
    Ok(CommandExit::Done)
}

/// What the configuration is to say of a key.
fn entry(global: &GlobalArgs, words: &TokenArgs, key: &str) -> String {
    let digest = digest(key).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let scopes =
        if global.scopes.is_empty() { vec![TOOLS.to_owned()] } else { global.scopes.clone() };
    let mut lines = vec![
        String::new(),
        "[[server.key]]".to_owned(),
        format!("id = {}", quoted(&words.name)),
        format!("sha256 = {}", quoted(&digest)),
    ];
    let further =
        [("subject", &words.subject), ("tenant", &words.tenant), ("expires", &words.expires)];
    for (name, value) in further {
        lines.extend(value.as_ref().map(|value| format!("{name} = {}", quoted(value))));
    }
    let scopes: Vec<_> = scopes.iter().map(|scope| quoted(scope)).collect();
    lines.push(format!("scopes = [{}]", scopes.join(", ")));
    lines.join("\n") + "\n"
}

/// A string as TOML writes it, which is as JSON does but for what nobody can type.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}
