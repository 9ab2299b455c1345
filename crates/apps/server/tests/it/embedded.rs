//! The gateway as a value in a program, asked through its sockets.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use toolcrib_core::{
    BoxFuture, Caller, Effect, Intent, PlanRequest, Policy, Secret, ToolSpec, Toolset, Verdict,
    tool,
};
use toolcrib_server::gateway::{Gateway, GatewayBuilder, GatewayService, NoticeLevel, new_token};

use crate::process::Folder;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Convert {
    celsius: f64,
}

/// One that reads and one that destroys.
fn tools() -> Toolset {
    let convert = tool("to_fahrenheit", "Converts", Effect::Read, |it: Convert| async move {
        Ok(it.celsius * 9.0 / 5.0 + 32.0)
    });
    let wipe = tool("wipe", "Wipes the disk", Effect::Destroy, |_: Nothing| async { Ok("wiped") });
    Toolset::of([convert.unwrap(), wipe.unwrap()]).unwrap()
}

fn here() -> GatewayBuilder {
    Gateway::builder().listen(([127, 0, 0, 1], 0))
}

/// The status of an answer, and what it says.
#[derive(Debug, PartialEq)]
struct Told(u16, Value);

/// Sends one request, named as it is for this address.
async fn ask(at: SocketAddr, token: Option<&Secret>, (line, body): (&str, &Value)) -> Told {
    let who = token
        .map_or_else(String::new, |token| format!("authorization: Bearer {}\r\n", token.expose()));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = format!(
        "{line} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n{who}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = spawn_blocking(move || {
        let mut client = TcpStream::connect(at).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    });
    let answer = answer.await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Told(status, serde_json::from_str(body).unwrap_or_else(|_| body.into()))
}

fn calls(name: &str, arguments: &Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

/// The names of the tools that a caller is shown.
async fn names(gateway: &Gateway, token: &Secret) -> Vec<String> {
    let Told(status, body) =
        ask(gateway.address(), Some(token), ("GET /v1/tools", &Value::Null)).await;
    assert_eq!(status, 200, "{body}");
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let mut names: Vec<_> = body["tools"].as_array().unwrap().iter().map(name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_program_serves_its_tools_beside_those_of_its_file_at_one_gate() {
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        "allow = [\"effect:read\"]\nask = [\"source:code effect:destroy\"]\n\
         deny = [\"clock__time_now\"]\n\n[[source]]\nid = \"clock\"\nbasics = [\"time_now\"]\n",
    );
    let token = new_token();
    let gateway = here().config(folder.path().join("crib.toml")).tools(tools());
    let gateway = gateway.token("local", token.clone()).start().await.unwrap();
    gateway.ready().await;
    assert_eq!(gateway.url(), format!("http://{}", gateway.address()));

    let plan = gateway.crib().plan(&Caller::local(), PlanRequest::default()).unwrap();
    assert!(plan.get("wipe").is_some());
    assert_eq!(names(&gateway, &token).await, ["to_fahrenheit", "wipe"]);
    let at = gateway.address();
    let convert = calls("to_fahrenheit", &json!({ "celsius": "20" }));
    let Told(status, done) = ask(at, Some(&token), ("POST /v1/calls", &convert)).await;
    assert_eq!((status, &done["responses"][0]["outcome"]), (200, &json!("done")), "{done}");
    let wipe = calls("wipe", &json!({}));
    let Told(_, parked) = ask(at, Some(&token), ("POST /v1/calls", &wipe)).await;
    assert_eq!(parked["responses"][0]["outcome"], "pending", "{parked}");
    let denied = calls("clock__time_now", &json!({}));
    let Told(_, denied) = ask(at, Some(&token), ("POST /v1/calls", &denied)).await;
    assert_eq!(denied["responses"][0]["outcome"], "failed", "{denied}");
    let Told(status, stranger) = ask(at, None, ("POST /v1/calls", &wipe)).await;
    assert_eq!(
        (status, &stranger["title"]),
        (401, &json!("A valid token is needed")),
        "{stranger}"
    );
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_file_that_takes_the_name_of_a_source_of_the_program_does_not_come_into_force() {
    let folder = Folder::new();
    let path = folder.path().join("crib.toml");
    let taken = "[[source]]\nid = \"shop\"\nbasics = true\n";
    folder.write("crib.toml", taken);
    let start = |tell: mpsc::UnboundedSender<String>| {
        let gateway = here().config(&path).source("shop", tools()).without_tokens();
        let told = move |level, text: &str| {
            if level == NoticeLevel::Warning {
                let _ = tell.send(text.to_owned());
            }
        };
        gateway.on_notice(told).start()
    };
    let why = "the source `shop` cannot be made: the program has a source of this name itself: give \
               it another one in the file";
    let (tell, mut told) = mpsc::unbounded_channel();
    let refused = start(tell.clone()).await.err().unwrap().to_string();
    assert_eq!(refused, why);

    folder.write("crib.toml", "");
    let gateway = start(tell).await.unwrap();
    gateway.ready().await;
    folder.write("crib.toml", taken);
    let shown = path.display();
    let expected = format!("`{shown}` stays as it was: {why}");
    while told.recv().await.unwrap() != expected {}
    assert!(gateway.crib().catalog().get("wipe").is_some());
    folder.write("crib.toml", &taken.replace("shop", "clock"));
    while gateway.crib().catalog().get("clock__time_now").is_none() {
        tokio::task::yield_now().await;
    }
    assert!(gateway.crib().catalog().get("wipe").is_some());
}

#[tokio::test]
async fn gateways_of_one_process_have_tools_and_callers_of_their_own() {
    let (one, other) = (new_token(), new_token());
    let first = here().tools(tools()).token("ann", one.clone()).start().await.unwrap();
    let second = here().token("ann", other.clone()).start().await.unwrap();
    tokio::join!(first.ready(), second.ready());
    assert_eq!(names(&first, &one).await, ["to_fahrenheit", "wipe"]);
    assert!(names(&second, &other).await.is_empty());
    let Told(status, _) = ask(second.address(), Some(&one), ("GET /v1/tools", &Value::Null)).await;
    assert_eq!(status, 401);
    first.shutdown().await;
    assert!(names(&second, &other).await.is_empty());
}

/// One that tells when it has begun, and then waits until it may go on.
fn slow(begun: &Arc<Notify>, go: &Arc<Notify>) -> Toolset {
    let (tell, wait) = (Arc::clone(begun), Arc::clone(go));
    let slow = tool("slow", "Waits", Effect::Read, move |_: Nothing| {
        let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
        async move {
            tell.notify_one();
            wait.notified().await;
            Ok("waited")
        }
    });
    Toolset::of([slow.unwrap()]).unwrap()
}

#[tokio::test]
async fn a_shutdown_waits_for_the_call_that_runs_and_then_nobody_listens() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let tools = slow(&begun, &go);
    let gateway = here().tools(tools).without_tokens().start().await.unwrap();
    gateway.ready().await;
    let at = gateway.address();
    let call = calls("slow", &json!({}));
    let asked = tokio::spawn(async move { ask(at, None, ("POST /v1/calls", &call)).await });
    begun.notified().await;
    let ended = tokio::spawn(gateway.shutdown());
    while TcpStream::connect(at).is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!ended.is_finished());
    go.notify_one();
    let Told(status, body) = asked.await.unwrap();
    let outcome = &body["responses"][0]["outcome"];
    assert_eq!((status, outcome), (200, &json!("done")), "{body}");
    ended.await.unwrap();
}

#[tokio::test]
async fn a_gateway_that_is_dropped_listens_no_more() {
    let gateway = here().without_tokens().start().await.unwrap();
    let at = gateway.address();
    assert_eq!(ask(at, None, ("GET /healthz", &Value::Null)).await.0, 200);
    drop(gateway);
    while TcpStream::connect(at).is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_would_let_in_nobody_or_anybody_does_not_start() {
    let folder = Folder::new();
    folder.write("crib.toml", "[[source]]\nid = 7\n");
    let file = folder.path().join("crib.toml");
    let token = |text: &str| here().token("ann", Secret::new(text));
    let started = [
        here(),
        token("short"),
        token(&"a.b".repeat(20)),
        here().token("ann bell", new_token()),
        here().without_tokens().listen(([0, 0, 0, 0], 0)),
        here().token("ann", new_token()).listen(([0, 0, 0, 0], 0)),
        here().without_tokens().config(&file),
        here().without_tokens().config(folder.path().join("none.toml")),
    ];
    let mut told = Vec::new();
    for gateway in started {
        let error = gateway.start().await.err().unwrap();
        let because = std::error::Error::source(&error);
        told.push(because.map_or_else(|| error.to_string(), |why| format!("{error}: {why}")));
    }
    let (file, none) = (file.display(), folder.path().join("none.toml"));
    assert_eq!(
        told,
        [
            "nobody could come in: give a caller a token with `GatewayBuilder::token`, or name a \
             `[[server.key]]` or an issuer in the file"
                .to_owned(),
            "the token of `ann` cannot be used: it is shorter than 32 bytes".to_owned(),
            "the token of `ann` cannot be used: it must be letters, digits, `-` and `_`".to_owned(),
            "the token of `ann bell` cannot be used: the name of its caller must be 1 to 64 \
             letters, digits, `-` and `_`"
                .to_owned(),
            "0.0.0.0:0 is open to others, and nobody would be asked for a token: listen on \
             127.0.0.1, or give out tokens"
                .to_owned(),
            "0.0.0.0:0 is open to others, and tokens would come in the clear: name a certificate \
             under `[server.tls]`, or the proxy that ends TLS before it as `behind_proxy` under \
             `[server]`"
                .to_owned(),
            format!(
                "`{file}` cannot be used:\n{file}:2:6: source[0].id: wrong type: integer; write a string"
            ),
            format!("the gateway cannot start: cannot open `{}`: check the path", none.display()),
        ]
    );
}

/// Denies what may change anything.
struct OnlyReads;

impl Policy for OnlyReads {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        tool.effect == Effect::Read
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let reads = self.sees(intent.caller, intent.tool);
        let verdict = if reads { Verdict::Allow } else { Verdict::Deny("it reads only".into()) };
        Box::pin(std::future::ready(verdict))
    }
}

#[tokio::test]
async fn a_link_of_the_page_signs_in_the_caller_of_a_token_once() {
    let token = new_token();
    let gateway = here().token("ann", token.clone()).start().await.unwrap();
    let link = gateway.page_link(&token).unwrap();
    let (page, code) = link.split_once("#login=").unwrap();
    assert_eq!(page, format!("{}/", gateway.url()));
    let (at, code) = (gateway.address(), json!({ "code": code }));
    let Told(status, session) = ask(at, None, ("POST /v1/session", &code)).await;
    assert_eq!((status, &session["subject"]), (200, &json!("ann")), "{session}");
    assert_eq!(ask(at, None, ("POST /v1/session", &code)).await.0, 401);
}

#[tokio::test]
async fn a_policy_of_the_program_holds_beside_the_rules() {
    let token = new_token();
    let gateway = here().tools(tools()).policy(OnlyReads).token("local", token.clone());
    let gateway = gateway.start().await.unwrap();
    gateway.ready().await;
    assert_eq!(names(&gateway, &token).await, ["to_fahrenheit"]);
}

#[tokio::test]
async fn a_listener_of_the_program_has_routes_of_its_own_and_those_of_the_gateway() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let gateway = here().tools(tools()).without_tokens().host(at.to_string());
    let gateway = gateway.start().await.unwrap();
    gateway.ready().await;
    let service = gateway.service();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&seen);
    tokio::spawn(async move {
        loop {
            let (stream, peer) = listener.accept().await.unwrap();
            let (service, noted) = (service.clone(), Arc::clone(&noted));
            let answer = service_fn(move |request: hyper::Request<Incoming>| {
                let (service, noted) = (service.clone(), Arc::clone(&noted));
                async move {
                    let path = request.uri().path().to_owned();
                    noted.lock().unwrap().push(path.clone());
                    if path == "/own" {
                        let own = Full::from("\"ours\"").map_err(|never| match never {});
                        return Ok::<_, Infallible>(hyper::Response::new(own.boxed_unsync()));
                    }
                    Ok(service.handle(peer, request).await)
                }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    let own = ask(at, None, ("GET /own", &Value::Null)).await;
    assert_eq!(own, Told(200, json!("ours")));
    let call = calls("to_fahrenheit", &json!({ "celsius": 20 }));
    let Told(status, body) = ask(at, None, ("POST /v1/calls", &call)).await;
    let outcome = &body["responses"][0]["outcome"];
    assert_eq!((status, outcome), (200, &json!("done")), "{body}");
    let Told(status, stranger) = ask(at, None, ("GET /none", &Value::Null)).await;
    let detail = &stranger["detail"];
    assert_eq!((status, detail), (404, &json!("`/v1/openapi.json` lists the routes")));
    assert_eq!(*seen.lock().unwrap(), ["/own", "/v1/calls", "/none"]);
}

/// Hands over one request as a listener of the program would.
async fn hand(
    service: &GatewayService,
    peer: impl Into<SocketAddr>,
    request: hyper::http::request::Builder,
    body: &Value,
) -> Told {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = request.header("content-type", "application/json").body(Full::from(body));
    let answer = service.handle(peer.into(), request.unwrap()).await;
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    Told(status, serde_json::from_slice(&body).unwrap())
}

const NEAR: ([u8; 4], u16) = ([127, 0, 0, 1], 4000);

#[tokio::test]
async fn a_shutdown_waits_for_requests_of_a_listener_of_the_program_and_then_none_is_taken() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let gateway = here().tools(slow(&begun, &go)).without_tokens().start().await.unwrap();
    gateway.ready().await;
    let (service, at) = (gateway.service(), gateway.address());
    let request = move |line: &str| {
        let (method, path) = line.split_once(' ').unwrap();
        hyper::Request::builder().method(method).uri(path).header("host", at.to_string())
    };
    let asking = service.clone();
    let asked = tokio::spawn(async move {
        let call = calls("slow", &json!({}));
        hand(&asking, NEAR, request("POST /v1/calls"), &call).await
    });
    begun.notified().await;
    let mut ended = tokio::spawn(gateway.shutdown());
    while TcpStream::connect(at).is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(timeout(Duration::from_millis(300), &mut ended).await.is_err());
    let late = hand(&service, NEAR, request("GET /v1/tools"), &Value::Null).await;
    assert_eq!((late.0, &late.1["title"]), (503, &json!("Not possible now")), "{late:?}");
    go.notify_one();
    let Told(status, body) = asked.await.unwrap();
    let outcome = &body["responses"][0]["outcome"];
    assert_eq!((status, outcome), (200, &json!("done")), "{body}");
    ended.await.unwrap();
    let late = hand(&service, NEAR, request("GET /healthz"), &Value::Null).await;
    assert_eq!(late.0, 503, "{late:?}");
}

#[tokio::test]
async fn a_shutdown_that_waits_for_nothing_ends_requests_of_a_listener_of_the_program() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let gateway = here().tools(slow(&begun, &go)).without_tokens().start().await.unwrap();
    gateway.ready().await;
    let (service, at) = (gateway.service(), gateway.address());
    let asked = tokio::spawn(async move {
        let request = hyper::Request::post("/v1/calls").header("host", at.to_string());
        hand(&service, NEAR, request, &calls("slow", &json!({}))).await
    });
    begun.notified().await;
    gateway.shutdown_now().await;
    assert_eq!(asked.await.unwrap().0, 503);
}

#[tokio::test]
async fn a_request_of_http_2_is_known_by_its_authority() {
    let gateway = here().without_tokens().host("tools.example").start().await.unwrap();
    gateway.ready().await;
    let service = gateway.service();
    let mut told = Vec::new();
    for name in ["tools.example", "TOOLS.example", "elsewhere.example", "me@tools.example"] {
        let request = hyper::Request::get(format!("https://{name}/v1/tools"));
        let request = request.version(hyper::Version::HTTP_2);
        told.push(hand(&service, NEAR, request, &Value::Null).await.0);
    }
    assert_eq!(told, [200, 200, 403, 403]);
    let other = hyper::Request::get("https://tools.example/v1/tools").header("host", "a.example");
    assert_eq!(hand(&service, NEAR, other, &Value::Null).await.0, 403);
    let nameless = hyper::Request::get("/v1/tools");
    assert_eq!(hand(&service, NEAR, nameless, &Value::Null).await.0, 400);
}

#[tokio::test]
async fn without_tokens_none_but_this_machine_comes_in_by_whatever_listener() {
    let token = new_token();
    let open = here().without_tokens().host("tools.example").start().await.unwrap();
    let asks = here().token("ann", token.clone()).host("tools.example").start().await.unwrap();
    tokio::join!(open.ready(), asks.ready());
    let request = || hyper::Request::get("/v1/tools").header("host", "tools.example");
    let mut told = Vec::new();
    for peer in ["127.0.0.1:4000", "[::1]:4000", "[::ffff:127.0.0.1]:4000", "192.0.2.1:4000"] {
        let peer: SocketAddr = peer.parse().unwrap();
        told.push(hand(&open.service(), peer, request(), &Value::Null).await.0);
    }
    assert_eq!(told, [200, 200, 200, 403]);
    let far: SocketAddr = ([192, 0, 2, 1], 4000).into();
    let known = request().header("authorization", format!("Bearer {}", token.expose()));
    assert_eq!(hand(&asks.service(), far, known, &Value::Null).await.0, 200);
    assert_eq!(hand(&asks.service(), far, request(), &Value::Null).await.0, 401);
}
