//! How a gateway greets, and what it says that it can do.

use serde_json::{Value, json};

use crate::intermediary::bench::{Bench, Checked, ensure, same};
use crate::intermediary::check::{Check, must, should};
use crate::intermediary::client::{GatewayClient, shown};
use crate::intermediary::upstream::REVISION_KEY;
use crate::intermediary::words::IntermediaryRevision::Older;

pub(super) fn checks() -> Vec<Check> {
    vec![
        must(
            "GREET-VERSION",
            "the revision that was asked for is spoken",
            "Lifecycle, Version Negotiation; `server/discover`, `supportedVersions`",
            |bench| Box::pin(version(bench)),
        ),
        must(
            "GREET-UNKNOWN-VERSION",
            "a revision that nobody knows is answered with one that is spoken",
            "Lifecycle, Version Negotiation; Errors, UnsupportedProtocolVersion (-32022)",
            |bench| Box::pin(unknown_version(bench)),
        ),
        must(
            "GREET-NAME",
            "the server says its name and version",
            "InitializeResult.serverInfo; `io.modelcontextprotocol/serverInfo`",
            |bench| Box::pin(server_info(bench)),
        ),
        must(
            "GREET-CAPABILITIES",
            "what the server behind can do is offered: tools, prompts, resources, completions",
            "Lifecycle, Capability Negotiation: a client does not use what is not offered",
            |bench| Box::pin(capabilities(bench)),
        ),
        must(
            "GREET-NO-MORE",
            "nothing is offered that the server behind cannot do",
            "Lifecycle, Capability Negotiation: what is offered has to work",
            |bench| Box::pin(no_more(bench)),
        ),
        should(
            "GREET-INSTRUCTIONS",
            "the instructions of the server come to the client",
            "InitializeResult.instructions are for the model of the client",
            |bench| Box::pin(instructions(bench)),
        ),
        must("PING", "a ping is answered with nothing", "Utilities, Ping", |bench| {
            Box::pin(ping(bench))
        })
        .of(Older),
        must(
            "UNKNOWN-METHOD",
            "a method that nobody knows is refused as that",
            "JSON-RPC 2.0, -32601 Method not found",
            |bench| Box::pin(unknown_method(bench)),
        ),
        must(
            "ID-KEPT",
            "an answer has the id of its request, of the same type",
            "JSON-RPC 2.0, Response object: id",
            |bench| Box::pin(ids(bench)),
        ),
    ]
}

async fn version(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let wanted = json!(bench.place.revision.word());
    if !client.is_modern() {
        return Ok(same("protocolVersion", &client.greeting["protocolVersion"], &wanted)?);
    }
    let supported = &client.greeting["supportedVersions"];
    let is_there = supported.as_array().is_some_and(|all| all.contains(&wanted));
    Ok(ensure(is_there, || format!("supportedVersions are {}", shown(supported)))?)
}

async fn unknown_version(bench: &Bench) -> Checked {
    let client = GatewayClient::silent(bench.place.clone(), json!({}));
    if !client.is_modern() {
        let mut hello = client.hello();
        hello["protocolVersion"] = json!("1999-01-01");
        let answer = client.ask("initialize", hello).await;
        // It may refuse, or name what it speaks.
        if answer.error().is_ok() {
            return Ok(());
        }
        let named = answer.result()?["protocolVersion"].as_str().unwrap_or_default();
        return Ok(ensure(named.starts_with("202"), || format!("it answers with `{named}`"))?);
    }
    let id = json!(1);
    let mut message = client.message("server/discover", json!({}), Some(&id));
    message["params"]["_meta"][REVISION_KEY] = json!("1999-01-01");
    let mut headers = client.headers(&message);
    headers.insert("mcp-protocol-version", http::HeaderValue::from_static("1999-01-01"));
    let sent = client.send(http::Method::POST, headers, message.to_string(), id);
    let answer = sent.finish(bench.patience()).await;
    let error = answer.error()?;
    same("the code", &error["code"], &json!(-32_022))?;
    let supported = error["data"]["supported"].as_array();
    let names = supported.is_some_and(|all| all.contains(&json!("2026-07-28")));
    Ok(ensure(names, || format!("it does not name what it speaks: {}", shown(error)))?)
}

async fn server_info(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let place = if client.is_modern() {
        &client.greeting["_meta"]["io.modelcontextprotocol/serverInfo"]
    } else {
        &client.greeting["serverInfo"]
    };
    let says = |member: &str| place[member].as_str().is_some_and(|text| !text.is_empty());
    Ok(ensure(says("name") && says("version"), || format!("it says {}", shown(place)))?)
}

async fn capabilities(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let own = &client.greeting["capabilities"];
    for wanted in ["tools", "prompts", "resources", "completions"] {
        ensure(own[wanted].is_object(), || format!("no `{wanted}` in {}", shown(own)))?;
    }
    Ok(())
}

async fn no_more(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let own = client.greeting["capabilities"].as_object().cloned().unwrap_or_default();
    // What the gateway does itself stands among extensions, and tasks it may add to tools.
    let known = [
        "tools",
        "prompts",
        "resources",
        "completions",
        "logging",
        "extensions",
        "experimental",
        "tasks",
    ];
    let odd: Vec<_> = own.keys().filter(|name| !known.contains(&name.as_str())).collect();
    ensure(odd.is_empty(), || format!("it offers {odd:?}"))?;
    let Some(methods) = Value::Object(own).get("resources").cloned() else { return Ok(()) };
    if methods["subscribe"] == true && !client.is_modern() {
        let uri = json!({ "uri": crate::intermediary::upstream::RESOURCE });
        client.ask("resources/subscribe", uri).await.result()?;
    }
    Ok(())
}

async fn instructions(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let said = client.greeting["instructions"].as_str().unwrap_or_default();
    let wanted = "Ask for nothing that is not listed.";
    Ok(ensure(said.contains(wanted), || format!("they are `{said}`"))?)
}

async fn ping(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = client.ask("ping", json!({})).await;
    Ok(same("the result", answer.result()?, &json!({}))?)
}

async fn unknown_method(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let answer = client.ask("tools/forget", json!({})).await;
    Ok(same("the code", &answer.error()?["code"], &json!(-32_601))?)
}

async fn ids(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    for id in [json!("7"), json!(7), json!("a b/\u{e9}\""), json!(9_007_199_254_740_991_u64)] {
        let message = client.message("tools/list", json!({}), Some(&id));
        let headers = client.headers(&message);
        let sent = client.send(http::Method::POST, headers, message.to_string(), id.clone());
        let answer = sent.finish(bench.patience()).await;
        same("the id", &answer.end()?["id"], &id)?;
    }
    Ok(())
}
