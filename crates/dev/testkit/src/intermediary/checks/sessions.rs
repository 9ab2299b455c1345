//! Who gets in and with which headers, what a session is, and what the gateway itself sends on.

use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};

use crate::intermediary::bench::{Bench, CheckFault, Checked, ensure, same};
use crate::intermediary::check::{Check, must, should};
use crate::intermediary::client::{ClientExchange, GatewayClient};
use crate::intermediary::upstream::SeenMessage;
use crate::intermediary::words::IntermediaryRevision::{Newer, Older};

const CHANGED: &str = "notifications/tools/list_changed";
const TRANSPORT: &str = "Transports, Streamable HTTP";

pub(super) fn checks() -> Vec<Check> {
    let mut all = of_headers();
    all.extend(of_sessions());
    all.extend(of_upstream());
    all
}

fn of_headers() -> Vec<Check> {
    vec![
        must(
            "HTTP-ORIGIN",
            "a request of a foreign page is refused",
            "Transports, Security Warning: servers must validate Origin",
            |bench| Box::pin(refused_with(bench, "origin", "http://evil.example", &[403])),
        ),
        must(
            "HTTP-VERSION",
            "a revision in the header that nobody knows is refused",
            "Transports, Protocol Version Header: 400 Bad Request",
            |bench| Box::pin(refused_with(bench, "mcp-protocol-version", "1999-01-01", &[400])),
        ),
        should(
            "HTTP-ACCEPT",
            "a client that takes no JSON and no events is refused",
            TRANSPORT,
            |bench| Box::pin(refused_with(bench, "accept", "text/html", &[406])),
        ),
        must(
            "HTTP-MALFORMED",
            "a body that is no JSON is refused, and nothing else breaks",
            "JSON-RPC 2.0, -32700 Parse error",
            |bench| Box::pin(malformed(bench)),
        ),
        must(
            "HTTP-METHOD-HEADER",
            "a header that names another method than the body is refused",
            "Transports, Standard Headers: HeaderMismatch (-32020), 400",
            |bench| Box::pin(refused_with(bench, "mcp-method", "prompts/list", &[400])),
        )
        .of(Newer),
        must(
            "HTTP-NOTIFICATION",
            "a notification is accepted with 202 and no body",
            TRANSPORT,
            |bench| Box::pin(notification(bench)),
        )
        .of(Older),
    ]
}

fn of_sessions() -> Vec<Check> {
    let management = "Transports, Session Management";
    let mut all = vec![
        must(
            "SESSION-OWN",
            "each client has a session of its own, and none of the server behind",
            management,
            |bench| Box::pin(own_session(bench)),
        ),
        must("SESSION-UNKNOWN", "a session that nobody gave is not found", management, |bench| {
            Box::pin(unknown_session(bench))
        }),
        must(
            "SESSION-OTHER",
            "a session of another caller is not found",
            "a session id is no credential",
            |bench| Box::pin(other_session(bench)),
        ),
        must(
            "SESSION-END",
            "a session that its client ended is not found, and others go on",
            management,
            |bench| Box::pin(ended_session(bench)),
        ),
        should(
            "RESUME-MISSED",
            "who comes back with `Last-Event-ID` gets what it missed, and nothing twice",
            "Transports, Resumability and Redelivery",
            |bench| Box::pin(resumed(bench)),
        )
        .needs("resume"),
    ];
    all = all.into_iter().map(|check| check.of(Older)).collect();
    all
}

fn of_upstream() -> Vec<Check> {
    vec![
        must(
            "UPSTREAM-READY",
            "the gateway says that it is ready before it asks for anything",
            "Lifecycle, Initialization",
            |bench| Box::pin(ready(bench)),
        ),
        must(
            "UPSTREAM-IDS",
            "no id is used twice towards the server on one connection",
            "Messages, Requests: the id must not have been used before",
            |bench| Box::pin(ids(bench)),
        ),
        must(
            "UPSTREAM-ACCEPT",
            "the gateway takes JSON and events from the server",
            TRANSPORT,
            |bench| Box::pin(accepts(bench)),
        ),
        must(
            "UPSTREAM-VERSION",
            "the gateway names the revision in a header to the server",
            "Transports, Protocol Version Header",
            |bench| Box::pin(versions(bench)),
        ),
        must(
            "UPSTREAM-METHOD",
            "the gateway names method and tool in headers to a server of 2026-07-28",
            "Transports, Standard Headers",
            |bench| Box::pin(methods(bench)),
        ),
        must(
            "UPSTREAM-SECRET",
            "what the client shows to the gateway is not shown to the server",
            "Security Best Practices, Token Passthrough",
            |bench| Box::pin(secrets(bench)),
        ),
    ]
}

/// A list with another value in one header, which is refused with one of these.
async fn refused_with(
    bench: &Bench,
    name: &'static str,
    value: &'static str,
    with: &[u16],
) -> Checked {
    let client = bench.client().await?;
    let id = json!("header");
    let message = client.message("tools/list", json!({}), Some(&id));
    let mut headers = client.headers(&message);
    headers.insert(name, HeaderValue::from_static(value));
    let sent = client.send(Method::POST, headers, message.to_string(), id);
    let answer = sent.finish(bench.patience()).await;
    let (status, body) = (answer.status, answer.text.as_str());
    Ok(ensure(with.contains(&status), || format!("it is answered HTTP {status} {body}"))?)
}

async fn malformed(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let message = client.message("tools/list", json!({}), Some(&json!(1)));
    let headers = client.headers(&message);
    let sent = client.send(Method::POST, headers, r#"{"jsonrpc":"2.0","id":"#.to_owned(), json!(1));
    let answer = sent.finish(bench.patience()).await;
    let is_refused = (400..500).contains(&answer.status)
        || answer.messages().any(|message| message["error"]["code"] == -32_700);
    ensure(is_refused, || format!("it is answered HTTP {}", answer.status))?;
    bench.call(&client, "echo").await.result()?;
    Ok(())
}

async fn notification(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let message = client.message("notifications/initialized", json!({}), None);
    let headers = client.headers(&message);
    let sent = client.send(Method::POST, headers, message.to_string(), Value::Null);
    let answer = sent.finish(bench.patience()).await;
    let fits = answer.status == 202 && answer.events.is_empty() && answer.text.is_empty();
    Ok(ensure(fits, || format!("it is answered HTTP {} {}", answer.status, answer.text))?)
}

/// The client's session; a gateway need not have any.
fn session(client: &GatewayClient) -> Result<&str, CheckFault> {
    let none = || CheckFault::Skipped("the gateway gives no sessions".to_owned());
    client.session.as_deref().ok_or_else(none)
}

async fn own_session(bench: &Bench) -> Checked {
    let (first, second) = (bench.client().await?, bench.client().await?);
    let (own, other) = (session(&first)?, session(&second)?);
    ensure(own != other, || "two clients have the same".to_owned())?;
    let plain = own.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    ensure(plain, || format!("`{own}` has other characters than visible ASCII"))?;
    let behind = bench.upstream.seen().iter().any(|seen| seen.place == own || seen.place == other);
    Ok(ensure(!behind, || "it is the one of the server behind".to_owned())?)
}

async fn ping(
    client: &GatewayClient,
    session: &str,
    headers: Option<&HeaderMap>,
) -> ClientExchange {
    let mut client = client.clone();
    client.session = Some(session.to_owned());
    if let Some(own) = headers {
        client.place.own = own.clone();
    }
    client.ask("tools/list", json!({})).await
}

fn not_found(answer: &ClientExchange, allowed: &[u16]) -> Result<(), String> {
    ensure(allowed.contains(&answer.status), || format!("it is answered HTTP {}", answer.status))
}

async fn unknown_session(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    session(&client)?;
    let made_up = "3f0f5f0e-6a3b-4b52-9d0b-0a4a5c2f7e11";
    Ok(not_found(&ping(&client, made_up, None).await, &[404])?)
}

async fn other_session(bench: &Bench) -> Checked {
    let Some(other) = &bench.other else {
        return Err(CheckFault::Skipped("name another caller with `--other`".to_owned()));
    };
    let client = bench.client().await?;
    let own = session(&client)?;
    Ok(not_found(&ping(&client, own, Some(other)).await, &[401, 403, 404])?)
}

async fn ended_session(bench: &Bench) -> Checked {
    let (client, other) = (bench.client().await?, bench.client().await?);
    let own = session(&client)?;
    let headers = client.headers(&Value::Null);
    let sent = client.send(Method::DELETE, headers, String::new(), Value::Null);
    let status = sent.finish(bench.patience()).await.status;
    if status == 405 {
        return Err(CheckFault::Skipped("the gateway lets no client end a session".to_owned()));
    }
    ensure((200..300).contains(&status), || format!("DELETE is answered HTTP {status}"))?;
    not_found(&ping(&client, own, None).await, &[404])?;
    bench.call(&other, "echo").await.result()?;
    Ok(())
}

/// The names of the events that say that the tools changed.
fn changes(heard: &ClientExchange) -> Vec<String> {
    let own = heard
        .events
        .iter()
        .filter(|event| event.message.as_ref().is_some_and(|message| message["method"] == CHANGED));
    own.filter_map(|event| event.id.clone()).collect()
}

async fn resumed(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    let patience = bench.patience();
    let ear = client.listen(None);
    ensure(ear.until(patience, |heard| heard.status == 200).await, || {
        "there is no stream".to_owned()
    })?;
    let mut known = Vec::new();
    for has_more in [true, false] {
        let before = known.len();
        bench.upstream.grow(has_more);
        let heard = |heard: &ClientExchange| heard.notes(CHANGED).len() > before;
        if !ear.until(patience, heard).await {
            bench.upstream.grow(false);
            return Err("no change was heard".into());
        }
        known = changes(&ear.so_far());
    }
    drop(ear);
    let [first, .., last] = known.as_slice() else {
        return Err(CheckFault::Skipped("the events have no names".to_owned()));
    };
    // Behind the first one stands the second, and not the first.
    let again = client.listen(Some(first));
    let came = again.until(patience, |heard| changes(heard).contains(last)).await;
    ensure(came, || format!("behind `{first}`, `{last}` does not come again"))?;
    let twice = changes(&again.so_far()).contains(first);
    Ok(ensure(!twice, || format!("`{first}` came twice, to who named it as its last"))?)
}

/// What came to the server over HTTP; it is skipped where that has a pipe.
fn over_http(bench: &Bench) -> Result<Vec<SeenMessage>, CheckFault> {
    let seen: Vec<_> =
        bench.upstream.seen().into_iter().filter(|seen| !seen.head.is_empty()).collect();
    if seen.is_empty() {
        return Err(CheckFault::Skipped("the server behind has a pipe".to_owned()));
    }
    Ok(seen)
}

async fn ready(bench: &Bench) -> Checked {
    bench.call(&bench.client().await?, "echo").await.result()?;
    let mut begun: Vec<String> = Vec::new();
    for seen in bench.upstream.seen() {
        let method = seen.message["method"].as_str().unwrap_or_default();
        match method {
            "notifications/initialized" => begun.push(seen.place),
            // What asks for the revision, and what is of 2026-07-28, needs no greeting.
            "initialize" | "server/discover" | "ping" | "" => {}
            _ if method.starts_with("notifications/") => {}
            _ if seen.message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"]
                .is_string() => {}
            _ if begun.contains(&seen.place) => {}
            _ => return Err(format!("`{method}` came before `notifications/initialized`").into()),
        }
    }
    Ok(())
}

async fn ids(bench: &Bench) -> Checked {
    let client = bench.client().await?;
    for _ in 0..3 {
        bench.call(&client, "echo").await.result()?;
    }
    let mut used = std::collections::BTreeSet::new();
    for seen in bench.upstream.seen() {
        let is_request = seen.message["method"].is_string() && !seen.message["id"].is_null();
        let fresh =
            !is_request || used.insert((seen.place.clone(), seen.message["id"].to_string()));
        ensure(fresh, || format!("{} came twice at {}", seen.message["id"], seen.place))?;
    }
    Ok(())
}

async fn accepts(bench: &Bench) -> Checked {
    bench.call(&bench.client().await?, "echo").await.result()?;
    for seen in over_http(bench)? {
        let line = seen.head.lines().find(|line| line.starts_with("accept:")).unwrap_or_default();
        let both = line.contains("application/json") && line.contains("text/event-stream");
        ensure(both, || format!("`{}` has `{line}`", seen.message["method"]))?;
    }
    Ok(())
}

async fn versions(bench: &Bench) -> Checked {
    bench.call(&bench.client().await?, "echo").await.result()?;
    for seen in over_http(bench)? {
        let is_greeting = seen.message["method"] == "initialize";
        let has = seen.head.contains("\nmcp-protocol-version:");
        ensure(is_greeting || has, || format!("`{}` has none", seen.message["method"]))?;
    }
    Ok(())
}

async fn methods(bench: &Bench) -> Checked {
    bench.call(&bench.client().await?, "echo").await.result()?;
    let modern: Vec<_> =
        over_http(bench)?.into_iter().filter(|seen| seen.place.starts_with("http-")).collect();
    if modern.is_empty() {
        return Err(CheckFault::Skipped("the server behind is spoken to in 2025-11-25".to_owned()));
    }
    for seen in modern {
        let mut lines = seen.head.lines();
        let method = lines.find_map(|line| line.strip_prefix("mcp-method:")).unwrap_or_default();
        let own = seen.message["method"].as_str().unwrap_or_default().to_lowercase();
        same("mcp-method", &json!(method.trim()), &json!(own))?;
        if own == "tools/call" {
            let named = seen.head.lines().any(|line| line.starts_with("mcp-name:"));
            ensure(named, || "a call has no `mcp-name`".to_owned())?;
        }
    }
    Ok(())
}

async fn secrets(bench: &Bench) -> Checked {
    bench.call(&bench.client().await?, "echo").await.result()?;
    for seen in bench.upstream.seen() {
        for value in bench.place.own.values().filter_map(|value| value.to_str().ok()) {
            let secret = value.rsplit(' ').next().unwrap_or_default().to_lowercase();
            let shown = seen.head.contains(&secret) || seen.text.to_lowercase().contains(&secret);
            ensure(secret.len() < 8 || !shown, || {
                format!("`{}` shows it to the server", seen.message["method"])
            })?;
        }
    }
    Ok(())
}
