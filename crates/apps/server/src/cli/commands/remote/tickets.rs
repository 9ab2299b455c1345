//! `toolcrib tickets`: the calls that wait for a person, at a running server and at each
//! `toolcrib mcp` of this user.

use std::collections::BTreeSet;

use anyhow::Result;
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde_json::{Value, json};

use super::question_form;
use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, TicketCommand, TicketsArgs};
use crate::cli::control::client::ServerRefusal;
use crate::cli::control::local_servers::{ControlTarget, LocalServers, of_process};
use crate::cli::output::{Output, escaped};

/// As many as a server keeps open; one that goes on for ever is asked no more.
const MOST: usize = 10_000;

/// What is wrong where no place knows the ticket.
const ABSENT: &str = "no call waits under this ticket, here or at the server: \
                      `toolcrib tickets` lists those that wait";

pub(crate) fn tickets(
    global: &GlobalArgs,
    output: &Output,
    words: &TicketsArgs,
) -> Result<CommandExit> {
    let everywhere = LocalServers::open(global, &words.remote)?;
    let (ticket, body) = match &words.command {
        None => return list(&everywhere, output, words.follow),
        Some(TicketCommand::Approve { ticket }) => (ticket, json!({ "decision": "approve" })),
        Some(TicketCommand::Answer { ticket, fields, content }) => {
            let content = question_form::filled(fields, content.as_deref())?;
            (ticket, json!({ "decision": "approve", "content": content }))
        }
        Some(TicketCommand::Deny { ticket, reason }) => {
            (ticket, json!({ "decision": "deny", "reason": reason }))
        }
    };
    let mut body = body;
    if let (Value::Object(fields), Some(profile)) = (&mut body, &global.profile) {
        fields.insert("profile".to_owned(), profile.as_str().into());
    }
    let path = format!("/v1/tickets/{}", encoded(ticket));
    // Whoever decides once more is told what came of the first time.
    let (member, answer) = match everywhere.decide(&path, &body, ABSENT) {
        Ok(answer) => ("response", answer),
        Err(error) => ("recorded", recorded(error, output)?),
    };
    let response = answer.get(member).cloned().unwrap_or_default();
    if output.json {
        output.value(&answer)?;
    } else {
        output.text(text(&response, "text"))?;
    }
    // Whoever denies a call got what they wanted, but for one that ran before.
    let denies = matches!(words.command, Some(TicketCommand::Deny { .. }));
    Ok(match text(&response, "outcome") {
        "done" if denies && member == "recorded" => CommandExit::Failed,
        "done" => CommandExit::Done,
        "denied" if denies => CommandExit::Done,
        "denied" => CommandExit::Denied,
        "pending" => CommandExit::Waiting,
        _ => CommandExit::Failed,
    })
}

/// What came of a ticket that was used before, where that is why nothing was decided.
fn recorded(error: anyhow::Error, output: &Output) -> Result<Value> {
    let refused = error.downcast_ref::<ServerRefusal>();
    let Some((refused, came)) = refused.and_then(|it| Some((it, it.recorded.clone()?))) else {
        return Err(error);
    };
    output.note(&format!("{}; this came of it", refused.detail));
    Ok(json!({ "recorded": came }))
}

fn list(everywhere: &LocalServers, output: &Output, follows: bool) -> Result<CommandExit> {
    let mut told = BTreeSet::new();
    if follows {
        return everywhere.follow(output, &waiting, |seen| show(output, &joined(seen), &mut told));
    }
    let open = joined(everywhere.each(output, &waiting)?);
    if output.json {
        output.value(&json!({ "tickets": open }))?;
        return Ok(CommandExit::Done);
    }
    show(output, &open, &mut told)?;
    if told.is_empty() {
        output.note("no call waits for a person");
    }
    Ok(CommandExit::Done)
}

/// The calls that wait at one place, each with where that is.
async fn waiting(place: &ControlTarget) -> Result<Value> {
    let mut all = Vec::new();
    let mut path = "/v1/tickets".to_owned();
    loop {
        let mut page = place.server.ask(Method::GET, &path, None).await?;
        let tickets = page.get_mut("tickets").and_then(Value::as_array_mut);
        all.extend(tickets.map(std::mem::take).unwrap_or_default());
        let cursor = page.get("cursor").and_then(Value::as_str);
        let Some(cursor) = cursor.filter(|_| all.len() < MOST) else { break };
        path = format!("/v1/tickets?limit=500&cursor={}", encoded(cursor));
    }
    for ticket in &mut all {
        place.mark(ticket);
    }
    Ok(all.into())
}

fn encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, NON_ALPHANUMERIC)
}

fn joined(seen: Vec<Value>) -> Vec<Value> {
    let lists = seen.into_iter().filter_map(|mut list| list.as_array_mut().map(std::mem::take));
    lists.flatten().collect()
}

/// The person at the machine.
const OWN: [&str; 2] = ["local", "local"];

/// Tells of those that were not told of before; what is gone is forgotten.
fn show(output: &Output, open: &[Value], told: &mut BTreeSet<String>) -> Result<()> {
    let names = open.iter().map(|ticket| text(ticket, "ticket").to_owned()).collect();
    for ticket in open {
        if told.contains(text(ticket, "ticket")) {
            continue;
        }
        if output.json {
            output.line(ticket)?;
            continue;
        }
        output.heading(text(ticket, "ticket"))?;
        let arguments = match text(ticket, "arguments_begin") {
            "" => {
                let arguments = ticket.get("arguments").cloned().unwrap_or_default().to_string();
                escaped(&arguments).into_owned()
            }
            begin => format!("{} […]", escaped(begin)),
        };
        let (tool, source) = (text(ticket, "tool"), text(ticket, "source"));
        let by = [text(ticket, "tenant"), text(ticket, "caller")];
        let by = if by == OWN { String::new() } else { format!(", called by {}", by.join("/")) };
        output.indented(&format!("{tool} of {source}, with {arguments}{by}"))?;
        match ticket.get("question") {
            None => output.indented(&format!("because {}", text(ticket, "reason")))?,
            Some(question) => {
                for line in
                    question_form::told(text(ticket, "ticket"), text(ticket, "reason"), question)
                {
                    output.indented(&line)?;
                }
            }
        }
        if let Some(process) = of_process(ticket) {
            output.indented(&format!("at {process}"))?;
        }
    }
    *told = names;
    Ok(())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
