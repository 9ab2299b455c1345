//! `toolcrib tickets`: the calls at a running server that wait for a person.

use std::collections::BTreeSet;

use anyhow::Result;
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::End;
use super::arguments::{Global, TicketCommand, TicketsWords};
use super::output::Output;
use super::remote::Remote;

pub(super) fn tickets(global: &Global, output: &Output, words: &TicketsWords) -> Result<End> {
    let remote = Remote::open(global, &words.remote)?;
    let (ticket, body) = match &words.command {
        None => return list(&remote, output, words.follow),
        Some(TicketCommand::Approve { ticket }) => (ticket, json!({ "decision": "approve" })),
        Some(TicketCommand::Deny { ticket, reason }) => {
            (ticket, json!({ "decision": "deny", "reason": reason }))
        }
    };
    let mut body = body;
    if let (Value::Object(fields), Some(profile)) = (&mut body, &global.profile) {
        fields.insert("profile".to_owned(), profile.as_str().into());
    }
    let path = format!("/v1/tickets/{}", utf8_percent_encode(ticket, NON_ALPHANUMERIC));
    let answer = remote.ask(Method::POST, &path, Some(&body))?;
    let response = answer.get("response").cloned().unwrap_or_default();
    if output.json {
        output.value(&answer)?;
    } else {
        output.text(text(&response, "text"))?;
    }
    // Whoever denies a call got what they wanted.
    let denies = matches!(words.command, Some(TicketCommand::Deny { .. }));
    Ok(match text(&response, "outcome") {
        "done" => End::Done,
        "denied" if denies => End::Done,
        "denied" => End::Denied,
        "pending" => End::Waiting,
        _ => End::Failed,
    })
}

fn list(remote: &Remote, output: &Output, follows: bool) -> Result<End> {
    let open = remote.ask(Method::GET, TICKETS, None)?;
    if output.json && !follows {
        output.value(&open)?;
        return Ok(End::Done);
    }
    let mut told = BTreeSet::new();
    show(output, &open, &mut told)?;
    if !follows {
        if told.is_empty() {
            output.note("no call waits for approval");
        }
        return Ok(End::Done);
    }
    remote.follow(TICKETS.to_owned(), |open| {
        show(output, open, &mut told)?;
        Ok(TICKETS.to_owned())
    })
}

const TICKETS: &str = "/v1/tickets";

/// Tells of those that were not told of before; what is gone is forgotten.
fn show(output: &Output, open: &Value, told: &mut BTreeSet<String>) -> Result<()> {
    let tickets: Vec<&Value> =
        open.get("tickets").and_then(Value::as_array).into_iter().flatten().collect();
    let names: BTreeSet<_> =
        tickets.iter().map(|ticket| text(ticket, "ticket").to_owned()).collect();
    for ticket in tickets {
        if told.contains(text(ticket, "ticket")) {
            continue;
        }
        if output.json {
            output.line(ticket)?;
            continue;
        }
        output.heading(text(ticket, "ticket"))?;
        let arguments = ticket.get("arguments").cloned().unwrap_or_default();
        let (tool, source) = (text(ticket, "tool"), text(ticket, "source"));
        output.indented(&format!("{tool} of {source}, with {arguments}"))?;
        output.indented(&format!("because {}", text(ticket, "reason")))?;
    }
    *told = names;
    Ok(())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
