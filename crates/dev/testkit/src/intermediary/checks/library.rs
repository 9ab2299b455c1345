//! Resources, prompts and completions of the server behind the gateway.

use serde_json::{Value, json};

use crate::intermediary::bench::{Bench, Checked, all_of, ensure, same};
use crate::intermediary::check::{Check, must, should};
use crate::intermediary::client::{ClientExchange, GatewayClient, LiveRequest};
use crate::intermediary::upstream::{PROMPT, RESOURCE, TEMPLATE, contents, said};
use crate::intermediary::words::IntermediaryRevision::Older;

const UPDATED: &str = "notifications/resources/updated";
/// Another resource, which nobody follows.
const SECOND: &str = "fixture://notes/second";

pub(super) fn checks() -> Vec<Check> {
    let mut all = of_resources();
    all.extend(of_changes());
    all.extend(of_prompts());
    all
}

fn of_resources() -> Vec<Check> {
    vec![
        must(
            "RESOURCES-LIST",
            "resources are listed as the server lists them",
            "Resources, Listing Resources",
            |bench| Box::pin(listed(bench)),
        )
        .needs("resources"),
        must(
            "RESOURCES-TEMPLATES",
            "templates are listed as the server lists them",
            "Resources, Resource Templates",
            |bench| Box::pin(templates(bench)),
        )
        .needs("resources"),
        must(
            "RESOURCES-READ",
            "a resource is read whole: texts, bytes and `_meta`",
            "Resources, Reading Resources",
            |bench| Box::pin(read(bench, RESOURCE)),
        )
        .needs("resources"),
        must(
            "RESOURCES-READ-TEMPLATE",
            "an address that only a template names is read",
            "Resources, Resource Templates",
            |bench| Box::pin(read(bench, "fixture://notes/a%20b")),
        )
        .needs("resources"),
        must(
            "RESOURCES-NONE",
            "a resource that is not there is refused",
            "Resources, Error Handling: -32002, since 2026-07-28 -32602",
            |bench| Box::pin(none(bench)),
        )
        .needs("resources"),
    ]
}

fn of_changes() -> Vec<Check> {
    vec![
        must(
            "RESOURCES-UPDATED",
            "who follows a resource hears that it changed, and of no other",
            "Resources, Subscriptions",
            |bench| Box::pin(updated(bench)),
        )
        .needs("subscribe"),
        must(
            "RESOURCES-UNFOLLOWED",
            "who follows a resource no longer hears nothing of it",
            "Resources, `resources/unsubscribe`",
            |bench| Box::pin(unfollowed(bench)),
        )
        .of(Older)
        .needs("subscribe"),
        must(
            "RESOURCES-NOT-FOLLOWED",
            "a client that follows nothing hears of no resource",
            "Resources, Subscriptions: they are of the client that made them",
            |bench| Box::pin(not_followed(bench)),
        )
        .of(Older)
        .needs("subscribe"),
        must(
            "RESOURCES-CHANGED",
            "who listens hears that the resources changed, and then lists the new one",
            "Resources, List Changed Notification",
            |bench| Box::pin(changed(bench, "resources", "name")),
        )
        .needs("list-changed"),
    ]
}

fn of_prompts() -> Vec<Check> {
    vec![
        must(
            "PROMPTS-LIST",
            "prompts are listed as the server lists them",
            "Prompts, Listing Prompts",
            |bench| Box::pin(prompts(bench)),
        )
        .needs("prompts"),
        must(
            "PROMPTS-GET",
            "a prompt comes with all kinds of content, and knows its arguments",
            "Prompts, Getting a Prompt",
            |bench| Box::pin(prompt(bench)),
        )
        .needs("prompts"),
        must(
            "PROMPTS-NONE",
            "a prompt that is not there is refused with its code",
            "Prompts, Error Handling: -32602",
            |bench| Box::pin(no_prompt(bench)),
        )
        .needs("prompts"),
        must(
            "PROMPTS-CHANGED",
            "who listens hears that the prompts changed, and then lists the new one",
            "Prompts, List Changed Notification",
            |bench| Box::pin(changed(bench, "prompts", "name")),
        )
        .needs("list-changed"),
        must(
            "COMPLETE",
            "an argument of a prompt is completed by the server",
            "Utilities, Completion",
            |bench| {
                Box::pin(complete(bench, json!({ "type": "ref/prompt", "name": PROMPT }), "who"))
            },
        )
        .needs("completion"),
        should(
            "COMPLETE-TEMPLATE",
            "an argument of a template is completed by the server",
            "Utilities, Completion: ref/resource",
            |bench| {
                Box::pin(complete(
                    bench,
                    json!({ "type": "ref/resource", "uri": TEMPLATE }),
                    "name",
                ))
            },
        )
        .needs("completion"),
    ]
}

async fn listed(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let all = all_of(&client, "resources").await?;
    let uris: Vec<&Value> = all.iter().map(|resource| &resource["uri"]).collect();
    ensure(uris == [RESOURCE, SECOND], || format!("they are {uris:?}"))?;
    let first = all.first().cloned().unwrap_or_default();
    for (member, value) in [
        ("title", json!("A note")),
        ("description", json!("What was noted.")),
        ("mimeType", json!("text/plain")),
        ("size", json!(7)),
        ("annotations", json!({ "audience": ["assistant"], "priority": 1 })),
    ] {
        same(member, &first[member], &value)?;
    }
    Ok(same("_meta", &first["_meta"]["example.com/kept"], &json!(true))?)
}

/// A gateway may add to `_meta` of what has none.
fn without_meta(mut listed: Vec<Value>) -> Value {
    for one in &mut listed {
        one.as_object_mut().map(|members| members.shift_remove("_meta"));
    }
    Value::Array(listed)
}

async fn templates(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let all = all_of(&client, "templates").await?;
    let expected = json!([{
        "uriTemplate": TEMPLATE, "name": "note", "title": "A note", "mimeType": "text/plain",
        "description": "A note by its name.",
    }]);
    Ok(same("the templates", &without_meta(all), &expected)?)
}

async fn read(bench: &Bench, uri: &str) -> Checked {
    let client = bench.client().await?;
    let answer = client.ask("resources/read", json!({ "uri": uri })).await;
    Ok(same("the contents", &answer.result()?["contents"], &contents(uri))?)
}

async fn none(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = client.ask("resources/read", json!({ "uri": "fixture://notes/none" })).await;
    let code = &answer.error()?["code"];
    let fits = *code == -32_002 || *code == -32_602;
    Ok(ensure(fits, || format!("the code is {code}"))?)
}

async fn opened(bench: &Bench, client: &GatewayClient) -> Result<LiveRequest, String> {
    let ear = client.listen(None);
    let is_modern = client.is_modern();
    let is_open = |heard: &ClientExchange| {
        let note = "notifications/subscriptions/acknowledged";
        heard.status == 200 && (!is_modern || !heard.notes(note).is_empty())
    };
    let opened = ear.until(bench.patience(), is_open).await;
    ensure(opened, || format!("there is no stream: HTTP {}", ear.so_far().status))?;
    Ok(ear)
}

fn news(ear: &LiveRequest) -> Vec<Value> {
    ear.so_far().notes(UPDATED).iter().map(|note| note["uri"].clone()).collect()
}

/// Tells of both resources until a condition holds: who follows may be known a moment later.
async fn tell_until(bench: &Bench, is_so: impl Fn() -> bool) -> Result<(), String> {
    let end = tokio::time::Instant::now() + bench.patience();
    while !is_so() {
        ensure(tokio::time::Instant::now() < end, || "it was not heard".to_owned())?;
        for uri in [SECOND, RESOURCE] {
            bench.upstream.tell(UPDATED, &json!({ "uri": uri }));
        }
        bench.stays(|| !is_so()).await;
    }
    Ok(())
}

async fn follows(client: &GatewayClient) -> Result<(), String> {
    if !client.is_modern() {
        client.ask("resources/subscribe", json!({ "uri": RESOURCE })).await.result()?;
    }
    Ok(())
}

async fn updated(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let ear = opened(bench, &client).await?;
    follows(&client).await?;
    tell_until(bench, || !news(&ear).is_empty()).await?;
    let others = news(&ear).iter().filter(|uri| **uri != RESOURCE).count();
    Ok(ensure(others == 0, || format!("of another it was heard {others} times"))?)
}

async fn unfollowed(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let ear = opened(bench, &client).await?;
    follows(&client).await?;
    tell_until(bench, || !news(&ear).is_empty()).await?;
    client.ask("resources/unsubscribe", json!({ "uri": RESOURCE })).await.result()?;
    // What was on its way may still come.
    bench.stays(|| true).await;
    let before = news(&ear).len();
    bench.upstream.tell(UPDATED, &json!({ "uri": RESOURCE }));
    let is_silent = bench.stays(|| news(&ear).len() == before).await;
    Ok(ensure(is_silent, || "it was heard again".to_owned())?)
}

async fn not_followed(bench: &Bench) -> Checked {
    let (own, other) = (bench.client().await?, bench.client().await?);
    let (ear, silent) = (opened(bench, &own).await?, opened(bench, &other).await?);
    follows(&own).await?;
    tell_until(bench, || !news(&ear).is_empty()).await?;
    let is_silent = bench.stays(|| news(&silent).is_empty()).await;
    Ok(ensure(is_silent, || "the other client heard of it".to_owned())?)
}

async fn changed(bench: &Bench, kind: &str, member: &str) -> Checked {
    let client = bench.client().await?;
    let ear = opened(bench, &client).await?;
    let note = format!("notifications/{kind}/list_changed");
    let mut told = Ok(());
    for has_more in [true, false] {
        let before = ear.so_far().notes(&note).len();
        bench.upstream.grow(has_more);
        let heard = ear.until(bench.patience(), |heard| heard.notes(&note).len() > before).await;
        let listed = all_of(&client, kind).await;
        let is_late = |one: &Value| one[member].as_str().is_some_and(|name| name.ends_with("late"));
        let is_there = listed.as_ref().is_ok_and(|all| all.iter().any(is_late));
        let fits = ensure(heard, || "nothing was heard".to_owned())
            .and_then(|()| ensure(is_there == has_more, || "the list is the old one".to_owned()));
        told = told.and(fits);
    }
    Ok(told?)
}

async fn prompts(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let all = all_of(&client, "prompts").await?;
    let expected = json!([{
        "name": PROMPT, "title": "A greeting", "description": "Greets somebody.",
        "arguments": [{ "name": "who", "description": "Whom.", "required": true }],
    }]);
    Ok(same("the prompts", &without_meta(all), &expected)?)
}

async fn prompt(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let who = "J\u{f3}n \"the\" 3rd";
    let params = json!({ "name": PROMPT, "arguments": { "who": who } });
    let answer = client.ask("prompts/get", params).await;
    same("the messages", &answer.result()?["messages"], &said(who))?;
    Ok(same("the description", &answer.result()?["description"], &json!("Greets somebody."))?)
}

async fn no_prompt(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = client.ask("prompts/get", json!({ "name": "no_such_prompt" })).await;
    Ok(same("the code", &answer.error()?["code"], &json!(-32_602))?)
}

async fn complete(bench: &Bench, of: Value, argument: &str) -> Checked {
    let client = bench.client().await?;
    let params = json!({ "ref": of, "argument": { "name": argument, "value": "J\u{f3}" } });
    let answer = client.ask("completion/complete", params).await;
    let expected = json!({ "values": ["J\u{f3}a", "J\u{f3}b"], "total": 2, "hasMore": false });
    Ok(same("the completion", &answer.result()?["completion"], &expected)?)
}
