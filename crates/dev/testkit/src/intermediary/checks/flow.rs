//! What happens while a call runs: progress, lines, cancellation, and the calls of others.

use serde_json::{Value, json};

use crate::intermediary::bench::{Bench, Checked, ensure, same};
use crate::intermediary::check::{Check, must, should};
use crate::intermediary::client::{ClientExchange, GatewayClient, LiveRequest};
use crate::intermediary::words::IntermediaryRevision::{Newer, Older};

const PROGRESS: &str = "notifications/progress";
const LINE: &str = "notifications/message";
/// Calls that run at the same time.
const MANY: usize = 20;

pub(super) fn checks() -> Vec<Check> {
    let mut all = of_progress();
    all.extend(of_neighbours());
    all.extend(of_lines());
    // Behind a pipe, what was cancelled may still speak, so that this comes last.
    all.extend(of_cancellation());
    all
}

fn of_progress() -> Vec<Check> {
    vec![
        must(
            "PROGRESS-OWN",
            "progress comes under the token of the client, a text as a text",
            "Utilities, Progress: progressToken is the one of the request",
            |bench| Box::pin(progress(bench, json!("a token/\u{e9}"))),
        ),
        must(
            "PROGRESS-NUMBER",
            "a token that is a number comes back as a number",
            "Utilities, Progress: tokens are texts or integers",
            |bench| Box::pin(progress(bench, json!(0))),
        ),
        must(
            "PROGRESS-ORDER",
            "progress only rises",
            "Utilities, Progress: the value must increase with each notification",
            |bench| Box::pin(progress_rises(bench)),
        ),
        should(
            "PROGRESS-WHOLE",
            "each step comes, with its message and the total",
            "a step that is left out is not seen by the person who waits",
            |bench| Box::pin(progress_whole(bench)),
        ),
        must(
            "PROGRESS-NO-TOKEN",
            "a call without a token has no progress",
            "Utilities, Progress: whoever wants it says so",
            |bench| Box::pin(progress_unasked(bench)),
        ),
        must(
            "PROGRESS-END",
            "no progress comes behind the answer",
            "Utilities, Progress: notifications must stop after completion",
            |bench| Box::pin(progress_ends(bench)),
        ),
        must(
            "PROGRESS-MIXED",
            "two clients with the same token each hear of their own call",
            "a token is unique among the requests of its sender alone",
            |bench| Box::pin(progress_mixed(bench)),
        ),
    ]
}

fn of_cancellation() -> Vec<Check> {
    vec![
        must(
            "CANCEL-REACHES",
            "a call that is cancelled is cancelled behind the gateway, once",
            "Utilities, Cancellation; what nobody waits for should not go on",
            |bench| Box::pin(cancelled(bench)),
        ),
        must(
            "CANCEL-OTHERS",
            "a call of another client with the same id goes on",
            "an id is unique among the requests of its sender alone",
            |bench| Box::pin(cancelled_alone(bench)),
        ),
        should(
            "CANCEL-NO-ANSWER",
            "what was cancelled is not answered with a result",
            "Utilities, Cancellation: no response for the cancelled request",
            |bench| Box::pin(cancelled_silent(bench)),
        )
        .of(Older),
        must(
            "CANCEL-UNKNOWN",
            "a cancellation of nothing disturbs nothing",
            "Utilities, Cancellation: invalid ones are ignored",
            |bench| Box::pin(cancelled_nothing(bench)),
        )
        .of(Older),
    ]
}

fn of_neighbours() -> Vec<Check> {
    vec![
        must(
            "CALLS-MIXED",
            "calls at the same time of two clients each get their own answer",
            "JSON-RPC 2.0: an answer is of its request",
            |bench| Box::pin(mixed(bench)),
        ),
        must(
            "CALLS-SLOW",
            "a slow call holds up neither those of its client nor those of others",
            "requests may be made at the same time",
            |bench| Box::pin(slow(bench)),
        ),
        must(
            "CALLS-TOGETHER",
            "eight calls of one client run behind the gateway at the same time",
            "requests may be made at the same time",
            |bench| Box::pin(together(bench)),
        ),
    ]
}

fn of_lines() -> Vec<Check> {
    let level = "Utilities, Logging: a client hears lines from its level on";
    vec![
        must("LOG-LEVEL", "lines come from the level on that the client wants", level, |bench| {
            Box::pin(lines(bench))
        })
        .needs("logging"),
        must(
            "LOG-NONE",
            "who names no level hears no lines",
            "Logging: without `logLevel` the server must not send any",
            |bench| Box::pin(no_lines(bench)),
        )
        .of(Newer),
        should(
            "LOG-OWN",
            "another client does not hear the lines of a call that is not its own",
            "a line may say what the other must not read",
            |bench| Box::pin(own_lines(bench)),
        )
        .needs("logging"),
    ]
}

async fn told(bench: &Bench, token: &Value) -> Result<ClientExchange, String> {
    let client = bench.client().await?;
    let mut params = bench.params("progress", &bench.mark());
    params["_meta"] = json!({ "progressToken": token });
    let told = client.ask("tools/call", params).await;
    told.result()?;
    Ok(told)
}

async fn progress(bench: &Bench, token: Value) -> Checked {
    let told = told(bench, &token).await?;
    let steps = told.notes(PROGRESS);
    ensure(!steps.is_empty(), || "no progress came".to_owned())?;
    for step in steps {
        same("the token", &step["progressToken"], &token)?;
    }
    Ok(())
}

async fn progress_rises(bench: &Bench) -> Checked {
    let told = told(bench, &json!("rising")).await?;
    let steps: Vec<f64> =
        told.notes(PROGRESS).iter().filter_map(|step| step["progress"].as_f64()).collect();
    let rises = steps.is_sorted_by(|before, after| before < after);
    Ok(ensure(rises && !steps.is_empty(), || format!("the steps are {steps:?}"))?)
}

async fn progress_whole(bench: &Bench) -> Checked {
    let told = told(bench, &json!("whole")).await?;
    let steps = told.notes(PROGRESS);
    let numbers: Vec<_> = steps.iter().filter_map(|step| step["progress"].as_f64()).collect();
    // The server tells of a sixth behind its answer, which the answer may be overtaken by.
    let is_whole = numbers.starts_with(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    ensure(is_whole, || format!("the steps are {numbers:?}"))?;
    for step in steps {
        let message = step["message"].as_str().unwrap_or_default();
        ensure(message.starts_with("step "), || format!("the message is `{message}`"))?;
        ensure(step["total"].as_f64() == Some(5.0), || format!("the total is {}", step["total"]))?;
    }
    Ok(())
}

async fn progress_unasked(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = bench.call(&client, "progress").await;
    answer.result()?;
    let count = answer.notes(PROGRESS).len();
    Ok(ensure(count == 0, || format!("{count} steps came"))?)
}

async fn progress_ends(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let ear = (!client.is_modern()).then(|| client.listen(None));
    let mut params = bench.params("progress", &bench.mark());
    params["_meta"] = json!({ "progressToken": "ending" });
    let told = client.ask("tools/call", params).await;
    told.result()?;
    let last = told.messages().last().cloned().unwrap_or_default();
    ensure(last.get("result").is_some(), || "progress came behind the answer".to_owned())?;
    let late = || ear.as_ref().is_none_or(|ear| ear.so_far().notes(PROGRESS).is_empty());
    let is_silent = bench.stays(late).await;
    Ok(ensure(is_silent, || "progress came on another stream, behind the answer".to_owned())?)
}

async fn progress_mixed(bench: &Bench) -> Checked {
    let (first, second) = (bench.client().await?, bench.client().await?);
    let mut calls = Vec::new();
    for client in [&first, &second, &first, &second] {
        let mark = bench.mark();
        let mut params = bench.params("progress", &mark);
        // The requests of one client have different tokens, and those of two the same.
        params["_meta"] = json!({ "progressToken": calls.len() / 2 });
        calls.push((client.start("tools/call", params), mark));
    }
    for (live, mark) in calls {
        let told = live.finish(bench.patience()).await;
        told.result()?;
        for step in told.notes(PROGRESS) {
            let message = step["message"].as_str().unwrap_or_default();
            ensure(message.ends_with(&mark), || format!("`{message}` came to the call of {mark}"))?;
        }
    }
    Ok(())
}

async fn give_up(client: &GatewayClient, live: LiveRequest) -> Result<Option<LiveRequest>, String> {
    if client.is_modern() {
        // Closing the stream is the cancellation.
        drop(live);
        return Ok(None);
    }
    let params = json!({ "requestId": live.id, "reason": "nobody waits" });
    client.notify("notifications/cancelled", params).await?;
    Ok(Some(live))
}

async fn cancelled(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let mark = bench.mark();
    let live = bench.held(&client, &mark).await?;
    let _rest = give_up(&client, live).await?;
    let upstream = &bench.upstream;
    bench.until("it is cancelled there", || upstream.cancellations(&mark) > 0).await?;
    let stays = bench.stays(|| upstream.cancellations(&mark) == 1).await;
    ensure(stays, || "it was cancelled more than once".to_owned())?;
    let count = upstream.calls(&mark).len();
    Ok(ensure(count == 1, || format!("it came {count} times"))?)
}

async fn cancelled_alone(bench: &Bench) -> Checked {
    let (first, second) = (bench.client().await?, bench.client().await?);
    let marks = [bench.mark(), bench.mark()];
    let [own, other] = &marks;
    let given_up = bench.held(&first, own).await?;
    let kept = bench.held(&second, other).await?;
    same("the ids", &given_up.id, &kept.id)?;
    let _rest = give_up(&first, given_up).await?;
    bench.until("it is cancelled there", || bench.upstream.cancellations(own) > 0).await?;
    bench.upstream.release(other);
    let answer = kept.finish(bench.patience()).await;
    Ok(same("the result of the other", &json!(answer.said()?), &json!(format!("held {other}")))?)
}

async fn cancelled_silent(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let mark = bench.mark();
    let live = bench.held(&client, &mark).await?;
    let Some(live) = give_up(&client, live).await? else { return Ok(()) };
    bench.until("it is cancelled there", || bench.upstream.cancellations(&mark) > 0).await?;
    let is_silent =
        bench.stays(|| live.so_far().ends().iter().all(|end| end.get("result").is_none())).await;
    Ok(ensure(is_silent, || format!("{:?} came", live.so_far().ends()))?)
}

async fn cancelled_nothing(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let mark = bench.mark();
    let live = bench.held(&client, &mark).await?;
    client.notify("notifications/cancelled", json!({ "requestId": "nobody" })).await?;
    bench.upstream.release(&mark);
    let answer = live.finish(bench.patience()).await;
    Ok(same("the result", &json!(answer.said()?), &json!(format!("held {mark}")))?)
}

async fn mixed(bench: &Bench) -> Checked {
    let clients = [bench.client().await?, bench.client().await?];
    let mut calls = Vec::new();
    for _ in 0..MANY {
        for client in &clients {
            let mark = bench.mark();
            calls.push((bench.start(client, "echo", &mark), mark));
        }
    }
    for (live, mark) in calls {
        let id = live.id.clone();
        let answer = live.finish(bench.patience()).await;
        let said: Value = serde_json::from_str(answer.said()?).unwrap_or_default();
        same("the answer", &said["mark"], &json!(mark))?;
        same("its id", &answer.end()?["id"], &id)?;
    }
    Ok(())
}

async fn slow(bench: &Bench) -> Checked {
    let (own, other) = (bench.client().await?, bench.client().await?);
    let mark = bench.mark();
    let live = bench.held(&own, &mark).await?;
    for client in [&own, &other] {
        bench.call(client, "echo").await.result()?;
    }
    ensure(live.so_far().ends().is_empty(), || "the slow call ended by itself".to_owned())?;
    bench.upstream.release(&mark);
    live.finish(bench.patience()).await.result()?;
    Ok(())
}

async fn together(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let mut calls = Vec::new();
    for _ in 0..8 {
        let mark = bench.mark();
        calls.push((bench.held(&client, &mark).await?, mark));
    }
    for (live, mark) in calls.into_iter().rev() {
        bench.upstream.release(&mark);
        let answer = live.finish(bench.patience()).await;
        same("the result", &json!(answer.said()?), &json!(format!("held {mark}")))?;
    }
    Ok(())
}

/// The lines of a call: which levels, with what beside them.
fn heard(of: &[&ClientExchange], mark: &str) -> Vec<Value> {
    let lines = of.iter().flat_map(|exchange| exchange.notes(LINE));
    lines.filter(|line| line["data"]["mark"] == mark).cloned().collect()
}

async fn lines(bench: &Bench) -> Checked {
    let mut client = bench.client().await?;
    let ear = (!client.is_modern()).then(|| client.listen(None));
    if client.is_modern() {
        client.level = Some("warning");
    } else {
        client.ask("logging/setLevel", json!({ "level": "warning" })).await.result()?;
    }
    let mark = bench.mark();
    let answer = client.ask("tools/call", bench.params("logs", &mark)).await;
    answer.result()?;
    let all = || {
        let listening = ear.as_ref().map(LiveRequest::so_far).unwrap_or_default();
        heard(&[&answer, &listening], &mark)
    };
    bench.until("the lines come", || all().len() >= 5).await?;
    let lines = all();
    let levels: Vec<_> = lines.iter().filter_map(|line| line["level"].as_str()).collect();
    let wanted = ["warning", "error", "critical", "alert", "emergency"];
    ensure(levels == wanted, || format!("the levels are {levels:?}"))?;
    for line in &lines {
        same("the logger", &line["logger"], &json!("fixture"))?;
        same("the data", &line["data"]["level"], &line["level"])?;
    }
    Ok(())
}

async fn no_lines(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = bench.call(&client, "logs").await;
    answer.result()?;
    let count = answer.notes(LINE).len();
    Ok(ensure(count == 0, || format!("{count} lines came"))?)
}

async fn own_lines(bench: &Bench) -> Checked {
    let (mut own, mut other) = (bench.client().await?, bench.client().await?);
    let ears = (!own.is_modern()).then(|| [own.listen(None), other.listen(None)]);
    for client in [&mut own, &mut other] {
        client.level = Some("debug");
        if !client.is_modern() {
            client.ask("logging/setLevel", json!({ "level": "debug" })).await.result()?;
        }
    }
    let (mark, waiting) = (bench.mark(), bench.mark());
    let held = bench.held(&other, &waiting).await?;
    let answer = own.ask("tools/call", bench.params("logs", &mark)).await;
    answer.result()?;
    let is_silent = bench
        .stays(|| {
            let listening = ears.as_ref().map(|[_, ear]| ear.so_far()).unwrap_or_default();
            heard(&[&held.so_far(), &listening], &mark).is_empty()
        })
        .await;
    bench.upstream.release(&waiting);
    held.finish(bench.patience()).await.result()?;
    Ok(ensure(is_silent, || "the other client heard them".to_owned())?)
}
