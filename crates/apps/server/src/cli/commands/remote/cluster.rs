//! `toolcrib cluster`: the servers that share a record, as its database tells of them.

use anyhow::Result;
use http::Method;
use jiff::Timestamp;
use serde_json::Value;

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, RemoteArgs};
use crate::cli::context::found;
use crate::cli::control::client::BlockingClient;
use crate::cli::output::Output;
use crate::config::record::{self, fleet};

/// Letters of a digest that are shown: enough to tell two apart.
const SHOWN: usize = 8;

pub(crate) fn cluster(
    global: &GlobalArgs,
    output: &Output,
    remote: &RemoteArgs,
) -> Result<CommandExit> {
    let told = if remote.url.is_some() {
        BlockingClient::open(global, remote)?.ask(Method::GET, "/v1/cluster", None)?
    } else {
        // Asked of the database itself: it answers when no server does.
        let config = found(global, output)?;
        let known = record::replicas(&config.path, &config.checked)?;
        known.map_or_else(fleet::alone, |known| fleet::told(&known, None))
    };
    if output.json {
        output.value(&told)?;
    } else if told.get("shared").and_then(Value::as_bool) == Some(true) {
        show(output, &told)?;
    } else {
        output.note(
            "this server is alone: without `[cluster]` nobody shares its record (the page *Run \
             several servers* says how)",
        );
    }
    let is_well = items(&told, "findings").next().is_none();
    Ok(if is_well { CommandExit::Done } else { CommandExit::Failed })
}

const HEADINGS: [&str; 9] =
    ["REPLICA", "STATE", "RELEASE", "BEGAN", "LEASE", "CALLS", "OPEN", "CONFIGURATION", "ADDRESS"];

fn show(output: &Output, told: &Value) -> Result<()> {
    output.table(HEADINGS, items(told, "replicas").map(row))?;
    if items(told, "replicas").all(|one| text(one, "state") != "live") {
        output.warn(&["no replica lives: nothing is served from this database"]);
    }
    let mut transactions = items(told, "transactions").peekable();
    if transactions.peek().is_some() {
        output.text("")?;
        output.heading("Transactions that have been open for long")?;
        output.table(
            ["PROCESS", "USER", "APPLICATION", "STATE", "OPEN FOR"],
            transactions.map(|one| {
                let process = one.get("process").and_then(Value::as_i64);
                let process = process.map_or_else(|| "-".to_owned(), |process| process.to_string());
                let open = span(number(one, "seconds"));
                let [user, application, state] =
                    ["user", "application", "state"].map(|key| text(one, key).to_owned());
                [process, user, application, state, open]
            }),
        )?;
    }
    let findings: Vec<_> = items(told, "findings").map(|one| text(one, "told")).collect();
    output.warn(&findings);
    Ok(())
}

fn row(one: &Value) -> [String; 9] {
    let mark = if one.get("is_this").and_then(Value::as_bool) == Some(true) { " *" } else { "" };
    let is_stopping = one.get("stopping").and_then(Value::as_bool) == Some(true);
    let state = match text(one, "state") {
        "live" if is_stopping => "stopping".to_owned(),
        word @ ("late" | "dead" | "unclear") => word.to_uppercase(),
        word => word.to_owned(),
    };
    let is_over = state == "over";
    let milliseconds = number(one, "lease_milliseconds");
    let lease = match milliseconds {
        _ if is_over => String::new(),
        left if left < 0 => format!("over for {}", span(left.saturating_neg() / 1000)),
        left => format!("{}.{} s", left / 1000, left % 1000 / 100),
    };
    let calls = match (count(one, "running"), count(one, "waiting")) {
        (Some(running), Some(waiting)) if !is_over => {
            format!("{} run, {waiting} wait", running.saturating_sub(waiting))
        }
        _ => String::new(),
    };
    let digest: String = text(one, "configuration").chars().take(SHOWN).collect();
    [
        format!("{}{mark}", number(one, "id")),
        state,
        text(one, "version").to_owned(),
        age(text(one, "began")),
        lease,
        calls,
        open(one),
        digest,
        text(one, "address").to_owned(),
    ]
}

/// The rows without an end, by their kind.
fn open(one: &Value) -> String {
    let rows = one.get("open");
    let told = ["calls", "keys", "tickets", "runs"].into_iter().filter_map(|kind| {
        let many = rows?.get(kind)?.as_u64().filter(|many| *many > 0)?;
        Some(format!("{many} {kind}"))
    });
    told.collect::<Vec<_>>().join(", ")
}

/// How long ago a moment was.
fn age(moment: &str) -> String {
    let Ok(began) = moment.parse::<Timestamp>() else { return String::new() };
    let seconds = Timestamp::now().as_second().saturating_sub(began.as_second());
    format!("{} ago", span(seconds.max(0)))
}

/// Seconds in the largest unit that fits.
fn span(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn items<'a>(answer: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    answer.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, key: &str) -> i64 {
    value.get(key).and_then(Value::as_i64).unwrap_or_default()
}

fn count(value: &Value, key: &str) -> Option<u64> {
    value.get(key).and_then(Value::as_u64)
}
