//! What a server says when it listens: where it is, and how to come in.

use anyhow::{Context as _, Result};
use clap::ValueEnum as _;
use serde_json::json;
use toolcrib_store::{CallState, Store};

use crate::cli::args::{ClientName, ServeArgs};
use crate::cli::output::Output;
use crate::config::tokens;
use crate::gateway::listen_address::LISTEN;
use crate::gateway::page_listener::sign_in_link;
use crate::http::page::door::PageDoor;

/// Says where we are, and how to come in; never the token itself. Then what there is to know of the
/// record.
pub(super) fn greet(
    output: &Output,
    words: &ServeArgs,
    url: &str,
    store: Option<&Store>,
) -> Result<()> {
    if output.json {
        output.value(&json!({ "listening": url }))?;
    } else {
        output.text(&format!("listening on {url}"))?;
    }
    if words.insecure_local {
        output.warn(&["no token is asked for: every program of this machine may call the tools"]);
    } else {
        output.note(&format!(
            "try: curl -H \"Authorization: Bearer $(toolcrib token)\" {url}/v1/tools"
        ));
    }
    output.note(&for_clients(words, url));
    if words.behind_proxy {
        output.warn(&["tokens come in the clear: only a proxy that ends TLS may reach us"]);
    }
    if let Some(Err(fault)) = store.map(Store::works) {
        let told = "calls cannot be recorded now, and what may change something is refused until";
        output.warn(&[format!("{told} they can: {fault}")]);
    }
    match store.map(Store::interrupted) {
        None => {
            let cure = "name a file to keep them: `[store]` with `url = \"sqlite://crib.db\"`";
            let what = "the record of calls and the waiting approvals end with this process";
            output.warn(&[format!("{what}; {cure}")]);
        }
        Some(0) => {}
        Some(count) => {
            let calls = if count == 1 { "1 call".to_owned() } else { format!("{count} calls") };
            let them = if count == 1 { "it" } else { "them" };
            output.warn(&[format!(
                "{calls} had no end when the server was last stopped, and may or may not have \
                 taken effect: {} shows {them}",
                to_look(words, url, CallState::Interrupted)
            )]);
        }
    }
    Ok(())
}

/// Where MCP clients connect, and what prints what they want to read.
fn for_clients(words: &ServeArgs, url: &str) -> String {
    let known = ClientName::value_variants().iter().filter(|client| **client != ClientName::Curl);
    let names = known.filter_map(ClientName::to_possible_value);
    let names: Vec<_> = names.map(|name| name.get_name().to_owned()).collect();
    let names = names.join(", ");
    let told = format!("`toolcrib connect CLIENT{}` prints what to tell one of {names}", at(url));
    let without = if words.insecure_local { "; leave its token out" } else { "" };
    format!("MCP clients: {url}/mcp; {told}{without}")
}

/// The words that lead other commands to this server.
fn at(url: &str) -> String {
    let is_found = url == format!("http://{LISTEN}");
    if is_found { String::new() } else { format!(" --url {url}") }
}

/// What shows the calls of a state, for whoever reads it beside this server.
fn to_look(words: &ServeArgs, url: &str, state: CallState) -> String {
    let state = state.as_str();
    if words.insecure_local {
        // There may be no token, and none is asked for.
        return format!("`curl \"{url}/v1/record?state={state}\"`");
    }
    format!("`toolcrib calls --state {state}{}`", at(url))
}

/// Tells the person who watches how to come in; a code is shown to nobody else, since what is
/// not watched is kept.
pub(super) fn greet_page(page: &PageDoor, words: &ServeArgs, output: &Output) -> Result<()> {
    let Some(host) = page.shown() else { return Ok(()) };
    let base = format!("{}://{host}/", page.scheme());
    if words.insecure_local {
        output.note(&format!("page: {base}"));
    } else if output.is_watched() {
        let token = tokens::token(&tokens::folder()?, tokens::LOCAL)?;
        let link = sign_in_link(page, &token).context("the token is no text")?;
        output.note(&format!("page: {link} (once, for 10 minutes; then `toolcrib open`)"));
    } else {
        output.note(&format!("page: {base}; `toolcrib open` prints a link that signs you in"));
    }
    Ok(())
}
