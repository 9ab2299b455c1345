//! What a gateway lists is what the server behind it lists.

use serde_json::{Value, json};

use crate::intermediary::bench::{Bench, Checked, all_of, ensure, same};
use crate::intermediary::check::{Check, must, should};
use crate::intermediary::upstream::{NAMES, spec};

const WHOLE: &str = "Tools, Listing Tools: a client decides by what it reads here";

pub(super) fn checks() -> Vec<Check> {
    vec![
        must(
            "LIST-ALL",
            "every tool of every page is listed once",
            "Utilities, Pagination: a client that follows `nextCursor` gets the whole list",
            |bench| Box::pin(every_tool(bench)),
        ),
        must("LIST-DESCRIPTION", "a tool keeps its description", WHOLE, |bench| {
            Box::pin(kept(bench, "echo", "description"))
        }),
        must(
            "LIST-INPUT-SCHEMA",
            "a tool keeps its input schema, with keywords that nobody knows",
            "Tools, Data Types: inputSchema is any JSON Schema of 2020-12",
            |bench| Box::pin(kept(bench, "echo", "inputSchema")),
        ),
        must("LIST-OUTPUT-SCHEMA", "a tool keeps its output schema", WHOLE, |bench| {
            Box::pin(kept(bench, "structured", "outputSchema"))
        }),
        must("LIST-ANNOTATIONS", "a tool keeps its annotations", WHOLE, |bench| {
            Box::pin(kept(bench, "echo", "annotations"))
        }),
        must("LIST-TITLE", "a tool keeps its title", WHOLE, |bench| {
            Box::pin(kept(bench, "echo", "title"))
        }),
        must("LIST-ICONS", "a tool keeps its icons", WHOLE, |bench| {
            Box::pin(kept(bench, "echo", "icons"))
        }),
        must(
            "LIST-META",
            "a tool keeps its `_meta`, null values among it",
            "General fields: `_meta` is between server and client",
            |bench| Box::pin(kept(bench, "echo", "_meta")),
        ),
        should(
            "LIST-UNKNOWN",
            "a tool keeps a field that the gateway does not know",
            "a field of a later revision, or of the two ends, is not the gateway's to drop",
            |bench| Box::pin(kept(bench, "echo", "x-unknown")),
        ),
        must(
            "LIST-NOTHING-ADDED",
            "a tool with a name and a schema gets no annotations that its server did not give",
            "ToolAnnotations are what the server says of its tool",
            |bench| Box::pin(nothing_added(bench)),
        ),
        should(
            "LIST-CURSOR",
            "a cursor that nobody gave is refused",
            "Utilities, Pagination: invalid cursors should be -32602",
            |bench| Box::pin(wrong_cursor(bench)),
        ),
        must(
            "LIST-CHANGED",
            "who listens hears that the tools changed, and then lists the new one",
            "Tools, List Changed Notification",
            |bench| Box::pin(changed(bench)),
        )
        .needs("list-changed"),
    ]
}

async fn tool(bench: &Bench, name: &str) -> Result<Value, String> {
    let client = bench.client().await?;
    let listed = all_of(&client, "tools").await?;
    let wanted = bench.names.get(name).map_or(name, String::as_str);
    let tool = listed.into_iter().find(|tool| tool["name"] == wanted);
    tool.ok_or_else(|| format!("no `{name}` is listed"))
}

async fn every_tool(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let listed = all_of(&client, "tools").await?;
    for name in NAMES {
        let own = bench.names.get(name);
        let count =
            listed.iter().filter(|tool| own.is_some_and(|own| tool["name"] == *own)).count();
        ensure(count == 1, || format!("`{name}` is listed {count} times"))?;
    }
    Ok(())
}

async fn kept(bench: &Bench, name: &str, member: &str) -> Checked {
    let came = tool(bench, name).await?;
    let (came, expected) = (&came[member], &spec(name)[member]);
    // A gateway may add to `_meta` under names of its own.
    if let ("_meta", Some(expected)) = (member, expected.as_object()) {
        for (name, value) in expected {
            same(name, &came[name], value)?;
        }
        return Ok(());
    }
    Ok(same(member, came, expected)?)
}

async fn nothing_added(bench: &Bench) -> Checked {
    let came = tool(bench, "write").await?;
    Ok(same("annotations", &came["annotations"], &Value::Null)?)
}

async fn wrong_cursor(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = client.ask("tools/list", json!({ "cursor": "no such cursor" })).await;
    Ok(same("the code", &answer.error()?["code"], &json!(-32_602))?)
}

async fn changed(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let ear = client.listen(None);
    let patience = bench.patience();
    let opened = ear.until(patience, |heard| heard.status == 200).await;
    ensure(opened, || format!("there is no stream: {:?}", ear.so_far()))?;
    if client.is_modern() {
        let note = "notifications/subscriptions/acknowledged";
        let acknowledged = ear.until(patience, |heard| !heard.notes(note).is_empty()).await;
        ensure(acknowledged, || "the subscription is not acknowledged".to_owned())?;
    }
    let mut told = Ok(());
    for has_more in [true, false] {
        let note = "notifications/tools/list_changed";
        let before = ear.so_far().notes(note).len();
        bench.upstream.grow(has_more);
        let heard = ear.until(patience, |heard| heard.notes(note).len() > before).await;
        let listed = all_of(&client, "tools").await;
        let is_there = listed.as_ref().is_ok_and(|all| {
            all.iter().any(|tool| tool["name"].as_str().is_some_and(|name| name.ends_with("late")))
        });
        let fits = ensure(heard, || "nothing was heard".to_owned())
            .and_then(|()| listed.map(|_| ()))
            .and_then(|()| ensure(is_there == has_more, || "the list is the old one".to_owned()));
        told = told.and(fits);
    }
    Ok(told?)
}
