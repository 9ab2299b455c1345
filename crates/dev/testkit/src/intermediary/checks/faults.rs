//! A server behind the gateway that breaks off, is away or breaks the rules costs its own calls and
//! nothing else.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::intermediary::bench::{Bench, BrokenCall, CheckFault, Checked, RECOVERY, ensure, same};
use crate::intermediary::check::{Check, must, should};
use crate::intermediary::client::{ClientExchange, GatewayClient};
use crate::intermediary::words::IntermediaryRevision::Older;

const ENDS: &str = "a client that waits for ever holds up its user";

pub(super) fn checks() -> Vec<Check> {
    let mut all = of_answers();
    all.extend(of_breaks());
    all
}

fn of_answers() -> Vec<Check> {
    vec![
        must(
            "FAULT-STRAY",
            "an answer to nobody reaches nobody",
            "JSON-RPC 2.0: an answer is of its request",
            |bench| Box::pin(ends_otherwise(bench, "stray")),
        ),
        should(
            "FAULT-STRAY-ANSWER",
            "an answer that comes behind one to nobody reaches its client",
            "what is not understood is ignored, and the call has its answer",
            |bench| Box::pin(says(bench, "stray", "right")),
        ),
        must(
            "FAULT-TWICE",
            "a second answer to a request does not reach the client",
            "JSON-RPC 2.0: a request has one answer",
            |bench| Box::pin(says(bench, "twice", "first")),
        ),
        must(
            "FAULT-WRONG-ID",
            "an answer with another id is no answer to the call, which ends",
            ENDS,
            |bench| Box::pin(ends_otherwise(bench, "wrong_id")),
        ),
        must("FAULT-MALFORMED", "a call whose answer is no JSON ends", ENDS, |bench| {
            Box::pin(ends_otherwise(bench, "malformed"))
        }),
    ]
}

fn of_breaks() -> Vec<Check> {
    vec![
        must(
            "FAULT-ENDS",
            "a call whose stream ends without an answer ends, and is told as failed",
            ENDS,
            |bench| Box::pin(breaks_off(bench)),
        ),
        must(
            "FAULT-DIES",
            "a call whose connection breaks ends, and is told as failed",
            ENDS,
            |bench| Box::pin(dies(bench)),
        ),
        must(
            "FAULT-ONCE",
            "a call that may have run is not sent again by the gateway",
            "what changes something must not happen twice",
            |bench| Box::pin(not_again(bench)),
        ),
        should(
            "FAULT-WORDS",
            "who reads the failure learns that the call may have run",
            "without that a model repeats what has happened",
            |bench| Box::pin(words(bench)),
        ),
        must(
            "FAULT-SAME-SESSION",
            "the same client goes on once the server is back",
            "a server that starts anew is nothing that clients should notice",
            |bench| Box::pin(goes_on(bench)),
        ),
        must(
            "FAULT-FORGOTTEN",
            "a server that has forgotten the session of the gateway is greeted anew",
            "Transports, Session Management: on 404 a new session is begun",
            |bench| Box::pin(forgotten(bench)),
        )
        .of(Older),
        must(
            "FAULT-AWAY",
            "while the server is away a call ends, and is told as failed",
            ENDS,
            |bench| Box::pin(away(bench)),
        ),
        must(
            "FAULT-BACK",
            "once the server is back calls go through, for the client that was there before",
            "a server that starts anew is nothing that clients should notice",
            |bench| Box::pin(back(bench)),
        ),
    ]
}

/// Fails unless it is told as an error or as a tool that failed.
fn failed(answer: &ClientExchange) -> Result<(), String> {
    let end = answer.end()?;
    let is_failure = end.get("error").is_some() || end["result"]["isError"] == true;
    ensure(is_failure, || format!("it is told as a success: {end}"))
}

async fn says(bench: &Bench, tool: &str, expected: &str) -> Checked {
    let client = bench.client().await?;
    let answer = bench.call(&client, tool).await;
    same("the result", &json!(answer.said()?), &json!(expected))?;
    Ok(bench.is_well().await?)
}

async fn ends_otherwise(bench: &Bench, tool: &str) -> Checked {
    let client = bench.client().await?;
    let live = bench.start(&client, tool, &bench.mark());
    let id = live.id.clone();
    let answer = live.finish(bench.patience()).await;
    same("the id", &answer.end()?["id"], &id)?;
    let said = answer.said().unwrap_or_default();
    ensure(said != "wrong", || "the answer to somebody else came".to_owned())?;
    Ok(bench.is_well().await?)
}

async fn breaks_off(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = bench.call(&client, "ends").await;
    failed(&answer)?;
    Ok(bench.is_well().await?)
}

/// Breaks one call for all checks of a revision: gateways leave a server alone that dies often.
async fn broken(bench: &Bench) -> Result<Arc<BrokenCall>, String> {
    let mut known = bench.broken.lock().await;
    if let Some(known) = known.as_ref() {
        return Ok(Arc::clone(known));
    }
    let client = bench.client().await?;
    let mark = bench.mark();
    let answer = client.ask("tools/call", bench.params("dies", &mark)).await;
    let goes_on = goes_through(bench, &client, bench.patience()).await;
    let is_well = bench.is_well().await;
    bench.stays(|| bench.upstream.calls(&mark).len() == 1).await;
    let count = bench.upstream.calls(&mark).len();
    Ok(Arc::clone(known.insert(Arc::new(BrokenCall { answer, count, goes_on, is_well }))))
}

async fn dies(bench: &Bench) -> Checked {
    let broken = broken(bench).await?;
    failed(&broken.answer)?;
    Ok(broken.is_well.clone()?)
}

async fn not_again(bench: &Bench) -> Checked {
    let count = broken(bench).await?.count;
    Ok(ensure(count == 1, || format!("it came {count} times"))?)
}

async fn words(bench: &Bench) -> Checked {
    let broken = broken(bench).await?;
    let end = broken.answer.end()?;
    let told = match end.get("error") {
        Some(error) => error["message"].as_str().unwrap_or_default().to_owned(),
        None => broken.answer.said()?.to_owned(),
    };
    let told = told.to_lowercase();
    let says = ["may or may not", "may have", "might have", "unknown", "not known", "not certain"];
    let fits = says.iter().any(|words| told.contains(words));
    Ok(ensure(fits, || format!("it is told: {told}"))?)
}

/// Calls until one goes through.
async fn goes_through(
    bench: &Bench,
    client: &GatewayClient,
    patience: Duration,
) -> Result<(), String> {
    let end = Instant::now() + patience;
    loop {
        let mark = bench.mark();
        let answer = client.ask("tools/call", bench.params("echo", &mark)).await;
        let said = answer.said().map(|said| said.contains(&mark));
        if said == Ok(true) {
            return Ok(());
        }
        ensure(Instant::now() < end, || {
            let last = answer.end().map_or_else(|why| why, Value::to_string);
            format!("calls of the same client do not go through: {last}")
        })?;
        bench.stays(|| true).await;
    }
}

async fn goes_on(bench: &Bench) -> Checked {
    Ok(broken(bench).await?.goes_on.clone()?)
}

/// The server goes away once for both checks; they are skipped where the gateway started it.
async fn absent(bench: &Bench) -> Result<Arc<BrokenCall>, CheckFault> {
    let mut known = bench.absent.lock().await;
    if let Some(known) = known.as_ref() {
        return Ok(Arc::clone(known));
    }
    if bench.upstream.is_piped() {
        return Err(CheckFault::Skipped("the gateway starts the server behind".to_owned()));
    }
    let client = bench.client().await?;
    let mark = bench.mark();
    client.ask("tools/call", bench.params("echo", &mark)).await.result()?;
    bench.upstream.leave().await;
    let answer = client.ask("tools/call", bench.params("write", &mark)).await;
    bench.upstream.come_back().await?;
    let goes_on = goes_through(bench, &client, RECOVERY.max(bench.patience())).await;
    let is_well = bench.is_well().await;
    let count = bench.upstream.calls(&mark).len();
    Ok(Arc::clone(known.insert(Arc::new(BrokenCall { answer, count, goes_on, is_well }))))
}

async fn away(bench: &Bench) -> Checked {
    let absent = absent(bench).await?;
    failed(&absent.answer)?;
    Ok(absent.is_well.clone()?)
}

async fn back(bench: &Bench) -> Checked {
    Ok(absent(bench).await?.goes_on.clone()?)
}

async fn forgotten(bench: &Bench) -> Checked {
    if bench.upstream.is_piped() {
        return Err(CheckFault::Skipped("a pipe has no sessions".to_owned()));
    }
    let client = bench.client().await?;
    bench.call(&client, "echo").await.result()?;
    bench.upstream.forget();
    Ok(goes_through(bench, &client, bench.patience()).await?)
}
