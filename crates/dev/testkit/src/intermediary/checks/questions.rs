//! What the server behind the gateway asks comes to the client whose call it is, and its answer
//! back.

use serde_json::{Value, json};

use crate::intermediary::bench::{Bench, Checked, ensure, same};
use crate::intermediary::check::{Check, must};
use crate::intermediary::client::{ClientExchange, GatewayClient};
use crate::intermediary::upstream::question;
use crate::intermediary::words::IntermediaryRevision::Older;

pub(super) fn checks() -> Vec<Check> {
    let rests_on =
        "a server may ask the client for a model, a person and folders; the gateway is neither";
    vec![
        must(
            "ASK-SAMPLING",
            "a request for a model comes to the client whole, and its answer back",
            rests_on,
            |bench| Box::pin(asked(bench, "sampling")),
        )
        .needs("sampling"),
        must(
            "ASK-ELICITATION",
            "a question to a person comes to the client whole, and its answer back",
            rests_on,
            |bench| Box::pin(asked(bench, "elicitation")),
        )
        .needs("elicitation"),
        must(
            "ASK-ROOTS",
            "a request for folders comes to the client, and its answer back",
            rests_on,
            |bench| Box::pin(asked(bench, "roots")),
        )
        .needs("roots"),
        must(
            "ASK-DECLINED",
            "a person who declines has declined",
            "Elicitation, Response Actions",
            |bench| Box::pin(declined(bench)),
        )
        .needs("elicitation"),
        must(
            "ASK-RIGHT-CLIENT",
            "another client that could be asked is not asked",
            "the call is not its own",
            |bench| Box::pin(right_client(bench)),
        )
        .of(Older)
        .needs("elicitation"),
        must(
            "ASK-UNABLE",
            "a client that cannot be asked is not asked, and its call ends",
            "Lifecycle, Capability Negotiation",
            |bench| Box::pin(unable(bench)),
        ),
    ]
}

fn able() -> Value {
    json!({ "sampling": {}, "elicitation": {}, "roots": {} })
}

fn answer(what: &str) -> Value {
    match what {
        "sampling" => json!({
            "role": "assistant", "content": { "type": "text", "text": "brief" }, "model": "small",
            "stopReason": "endTurn",
        }),
        "elicitation" => json!({ "action": "accept", "content": { "name": "J\u{f3}n", "age": 7 } }),
        _ => json!({ "roots": [{ "uri": "file:///home/jon", "name": "Home" }] }),
    }
}

/// Calls `asks`, and answers what is asked; gives the answer to the call, and what was asked.
async fn call(
    bench: &Bench,
    client: &GatewayClient,
    (what, mark): (&str, &str),
    reply: &Value,
) -> Result<(ClientExchange, Vec<Value>), String> {
    let method = question(what, mark)["method"].as_str().unwrap_or_default().to_owned();
    client.answers(&method, reply.clone());
    let params = bench.params_with("asks", &json!({ "mark": mark, "what": what }));
    let first = client.ask("tools/call", params.clone()).await;
    if !client.is_modern() {
        return Ok((first, client.asked()));
    }
    let result = first.result()?;
    let Some(requests) = result["inputRequests"].as_object() else {
        return Ok((first.clone(), Vec::new()));
    };
    same("the kind of the result", &result["resultType"], &json!("input_required"))?;
    let mut again = params;
    for name in requests.keys() {
        again["inputResponses"][name] = reply.clone();
    }
    if !result["requestState"].is_null() {
        again["requestState"] = result["requestState"].clone();
    }
    let asked = requests.values().cloned().collect();
    Ok((client.ask("tools/call", again).await, asked))
}

async fn asked(bench: &Bench, what: &str) -> Checked {
    let client = bench.client_with(able()).await?;
    let mark = bench.mark();
    let (end, asked) = call(bench, &client, (what, &mark), &answer(what)).await?;
    let said: Value = serde_json::from_str(end.said()?).unwrap_or_default();
    ensure(asked.len() == 1, || format!("the client was asked {} times", asked.len()))?;
    let came = asked.first().cloned().unwrap_or_default();
    let expected = question(what, &mark);
    same("the method", &came["method"], &expected["method"])?;
    for (member, value) in expected["params"].as_object().into_iter().flatten() {
        same(member, &came["params"][member], value)?;
    }
    Ok(same("the answer behind the gateway", &said, &answer(what))?)
}

async fn declined(bench: &Bench) -> Checked {
    let client = bench.client_with(able()).await?;
    let reply = json!({ "action": "decline" });
    let (end, _) = call(bench, &client, ("elicitation", &bench.mark()), &reply).await?;
    let said: Value = serde_json::from_str(end.said()?).unwrap_or_default();
    Ok(same("the action behind the gateway", &said["action"], &json!("decline"))?)
}

async fn right_client(bench: &Bench) -> Checked {
    let (own, other) = (bench.client_with(able()).await?, bench.client_with(able()).await?);
    let ear = other.listen(None);
    let (end, asked) =
        call(bench, &own, ("elicitation", &bench.mark()), &answer("elicitation")).await?;
    end.result()?;
    ensure(asked.len() == 1, || format!("the client was asked {} times", asked.len()))?;
    let is_silent = bench.stays(|| other.asked().is_empty()).await;
    drop(ear);
    Ok(ensure(is_silent, || "the other client was asked".to_owned())?)
}

async fn unable(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let params = bench.params_with("asks", &json!({ "mark": bench.mark(), "what": "elicitation" }));
    let end = client.ask("tools/call", params).await;
    end.end()?;
    let asks = end.result().is_ok_and(|result| result["resultType"] == "input_required");
    Ok(ensure(!asks && client.asked().is_empty(), || "it was asked".to_owned())?)
}
