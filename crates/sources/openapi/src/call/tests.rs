//! Calls through the gate and real sockets.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use indexmap::IndexMap;
use serde_json::{Value, json};
use toolcrib_core::{
    Call, Caller, Effect, ErrorKind, PlanRequest as Wish, RawArguments, Response, Secret, Secrets,
    Tool, raw_tool,
};
use toolcrib_egress::{Egress, Network};
use toolcrib_engine::Crib;

use super::*;
use crate::document::SecurityScheme;
use crate::operation::{PathPiece, PathSegment};
use crate::recorder::{HANG, Recorder, answer, json};
use crate::settings::{ApiBounds, Credential};
use crate::source::build::OperationTool;

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

fn api(server: &Url, token_server: &Url, credentials: &[(&str, Credential)]) -> ApiClient {
    let schemes = [
        ("oauth", SecurityScheme::OAuth { token_url: None, scopes: Vec::new() }),
        ("bearer", SecurityScheme::Bearer),
    ];
    let named =
        || Egress::only([server.clone(), token_server.clone()], Network::default()).unwrap();
    let own = |(name, it): &(&str, Credential)| ((*name).to_owned(), it.clone());
    let mut headers = HeaderMap::new();
    headers.insert("x-operator", HeaderValue::from_static("operator-secret"));
    ApiClient {
        server: ApiServer::choose(Some(server), None, None).unwrap(),
        keyring: Keyring {
            schemes: schemes.map(|(name, it)| (name.to_owned(), it)).into_iter().collect(),
            credentials: credentials.iter().map(own).collect::<IndexMap<_, _>>(),
            is_silent: false,
        },
        grants: Arc::default(),
        ways: ApiEgress {
            api: named(),
            named: named(),
            public: Egress::open([], Network::default()).unwrap(),
            bounds: ApiBounds::default(),
        },
        headers,
        trace_context: false,
        idempotency_header: Some(HeaderName::from_static("idempotency-key")),
        timeout: Duration::from_secs(10),
        max_response_bytes: 1_000,
        mask: Mask::new(
            Redactor::new([secret("operator-secret"), secret("bearer-secret")]),
            Secrets::default(),
        ),
    }
}

fn operation(method: Method, security: &[&str]) -> ApiOperation {
    ApiOperation {
        key: "x".to_owned(),
        method,
        effect: None,
        takes_key: false,
        path: vec![PathSegment(vec![PathPiece::Text("x".to_owned())])],
        query: Vec::new(),
        parameters: Vec::new(),
        body: None,
        server: None,
        security: security.iter().map(|name| vec![(*name).to_owned()]).collect(),
        produces: Vec::new(),
    }
}

fn tool(api: ApiClient, operation: ApiOperation) -> Arc<dyn Tool> {
    let effect = if operation.method == Method::GET { Effect::Read } else { Effect::Write };
    let (api, spec) = (Arc::new(api), Arc::new(toolcrib_testkit::spec("x", effect)));
    Arc::new(OperationTool { api, operation, spec, is_generic: false })
}

async fn run(tool: Arc<dyn Tool>, calls: usize) -> Vec<Response> {
    let crib = Crib::new([tool]).unwrap();
    let plan = crib.plan(&Caller::local(), Wish::default()).unwrap();
    let calls = (0..calls).map(|number| {
        Call::new(number.to_string(), "x", RawArguments::Value(json!({"n": number})))
    });
    crib.run(&plan, calls.collect()).await.responses
}

async fn one(api: ApiClient, method: Method, security: &[&str]) -> Response {
    run(tool(api, operation(method, security)), 1).await.remove(0)
}

fn client(token_url: Option<Url>) -> Credential {
    Credential::ClientCredentials {
        token_url,
        client_id: "id:1".to_owned(),
        client_secret: secret("client secret"),
        scopes: vec!["a".to_owned(), "b".to_owned()],
    }
}

fn client_at(token_server: &Url) -> Credential {
    client(Some(token_server.join("/token").unwrap()))
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[tokio::test]
async fn a_token_is_asked_for_once_however_many_calls_wait() {
    let tokens = Recorder::start(|number, _| {
        std::thread::sleep(Duration::from_millis(50));
        json(&format!(r#"{{"access_token":"token-{number}","expires_in":"3600"}}"#))
    })
    .await;
    let server = Recorder::start(|_, _| json("{}")).await;
    let credentials = [("oauth", client_at(&tokens.url))];
    let api = api(&server.url, &tokens.url, &credentials);
    let responses = run(tool(api, operation(Method::GET, &["oauth"])), 20).await;
    assert!(responses.iter().all(|response| response.outcome.is_done()), "{responses:?}");
    let asked = tokens.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(header(&asked[0], "authorization"), Some("Basic aWQlM0ExOmNsaWVudCtzZWNyZXQ="));
    assert!(asked[0].ends_with("grant_type=client_credentials&scope=a+b"), "{}", asked[0]);
    let sent = server.requests();
    assert_eq!(sent.len(), 20);
    assert!(sent.iter().all(|it| header(it, "authorization") == Some("Bearer token-0")));
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_renewed_once() {
    let tokens = Recorder::start(|number, _| {
        json(&format!(r#"{{"access_token":"token-{number}","expires_in":3600}}"#))
    })
    .await;
    let server = Recorder::start(|_, request| {
        let is_old = header(request, "authorization") == Some("Bearer token-0");
        if is_old {
            answer("401 Unauthorized", "", "")
        } else {
            json(r#"{"echo":"token-1 token-0"}"#)
        }
    })
    .await;
    let credentials = [("oauth", client_at(&tokens.url))];
    let response = one(api(&server.url, &tokens.url, &credentials), Method::POST, &["oauth"]).await;
    assert_eq!(response.text(), r#"{"echo":"[secret] [secret]"}"#);
    assert_eq!((tokens.requests().len(), server.requests().len()), (2, 2));
    let never = Recorder::start(|_, _| answer("401 Unauthorized", "", "")).await;
    let response = one(api(&never.url, &tokens.url, &credentials), Method::POST, &["oauth"]).await;
    assert!(response.text().contains("401 Unauthorized"), "{}", response.text());
    assert_eq!((tokens.requests().len(), never.requests().len()), (4, 2));
}

#[tokio::test]
async fn an_old_token_serves_while_the_token_server_is_down() {
    let tokens = Recorder::start(|number, _| match number {
        0 => json(r#"{"access_token":"token-0","expires_in":10}"#),
        _ => answer("503 Service Unavailable", "", ""),
    })
    .await;
    let ways = || ApiEgress {
        api: Egress::only([tokens.url.clone()], Network::default()).unwrap(),
        named: Egress::only([tokens.url.clone()], Network::default()).unwrap(),
        public: Egress::open([], Network::default()).unwrap(),
        bounds: ApiBounds::default(),
    };
    let grants = GrantCache::default();
    let shown = api(&tokens.url, &tokens.url, &[("oauth", client_at(&tokens.url))]);
    let shown =
        shown.keyring.choose(&operation(Method::GET, &["oauth"]), &Caller::local()).unwrap();
    let grant = shown[0].grant().unwrap();
    let ask = |rejected: Option<Secret>| {
        let (grants, grant, ways, url) = (&grants, &grant, ways(), &tokens.url);
        async move { grants.token(grant, url, rejected.as_ref(), &ways).await }
    };
    let expect = |got: Result<IssuedToken, ToolError>| {
        got.map(|given| given.secret.expose().to_owned()).unwrap()
    };
    assert_eq!(expect(ask(None).await), "token-0");
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(9_500)).await;
    tokio::time::resume();
    assert_eq!(expect(ask(None).await), "token-0");
    assert_eq!(tokens.requests().len(), 2);
    let rejected = ask(Some(secret("token-0"))).await.err().unwrap();
    assert_eq!(rejected.kind, ErrorKind::Unavailable);
}

#[tokio::test]
async fn what_masks_a_token_is_made_once_for_all_calls_with_it() {
    let tokens = Recorder::start(|number, _| {
        json(&format!(r#"{{"access_token":"token-{number}","expires_in":3600}}"#))
    })
    .await;
    let api = api(&tokens.url, &tokens.url, &[("oauth", client_at(&tokens.url))]);
    let shown = api.keyring.choose(&operation(Method::GET, &["oauth"]), &Caller::local()).unwrap();
    let grant = shown[0].grant().unwrap();
    let ask = async |rejected: Option<&Secret>| {
        let given = api.grants.token(&grant, &tokens.url, rejected, &api.ways).await;
        given.ok().unwrap()
    };
    let calls = [vec![ask(None).await], vec![ask(None).await]];
    let [first, second] = calls.each_ref().map(|given| masking(given).unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(first.text("token-0 token-1"), "[secret] token-1");
    let renewed = ask(Some(&secret("token-0"))).await;
    let after = masking(std::slice::from_ref(&renewed)).unwrap();
    assert_eq!(after.text("token-0 token-1"), "token-0 [secret]");
    let [given, _] = calls;
    let both = [given, vec![renewed]].concat();
    assert_eq!(masking(&both).unwrap().text("token-0 token-1"), "[secret] [secret]");
    assert!(masking(&[]).is_none());
}

#[tokio::test]
async fn a_client_is_named_in_the_form_where_the_header_is_not_taken() {
    let tokens = Recorder::start(|_, request| {
        if header(request, "authorization").is_some() {
            return answer("401 Unauthorized", "", r#"{"error":"invalid_client"}"#);
        }
        json(r#"{"access_token":"t0ken-0","token_type":"BEARER"}"#)
    })
    .await;
    let server = Recorder::start(|_, _| json("{}")).await;
    let credentials = [("oauth", client_at(&tokens.url))];
    let response = one(api(&server.url, &tokens.url, &credentials), Method::GET, &["oauth"]).await;
    assert!(response.outcome.is_done(), "{response:?}");
    let second = &tokens.requests()[1];
    assert!(second.ends_with("&client_id=id%3A1&client_secret=client+secret"), "{second}");
}

#[tokio::test]
async fn without_a_token_nothing_is_sent() {
    let tokens =
        Recorder::start(|_, _| answer("400 Bad Request", "", r#"{"error":"unauthorized_client"}"#))
            .await;
    let server = Recorder::start(|_, _| json("{}")).await;
    let refused = one(
        api(&server.url, &tokens.url, &[("oauth", client_at(&tokens.url))]),
        Method::GET,
        &["oauth"],
    )
    .await;
    assert!(
        refused.text().contains("gave no token (400: unauthorized_client)"),
        "{}",
        refused.text()
    );
    let nowhere =
        one(api(&server.url, &tokens.url, &[("oauth", client(None))]), Method::GET, &["oauth"])
            .await;
    assert!(nowhere.text().contains("set `token_url`"), "{}", nowhere.text());
    let missing = one(api(&server.url, &tokens.url, &[]), Method::GET, &["bearer"]).await;
    assert!(missing.text().contains("a credential for the scheme `bearer`"), "{}", missing.text());
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn secrets_that_an_api_echoes_are_not_passed_on() {
    let server = Recorder::start(|number, request| {
        let echo = Value::from(request).to_string();
        let body = format!(r#"{{"message":{echo}}}"#);
        let status = if number == 0 { "200 OK" } else { "400 Bad Request" };
        answer(status, "content-type: application/json\r\netag: \"bearer-secret\"\r\n", &body)
    })
    .await;
    for _ in 0..2 {
        let credentials = [("bearer", Credential::Bearer(secret("bearer-secret")))];
        let response =
            one(api(&server.url, &server.url, &credentials), Method::GET, &["bearer"]).await;
        let whole = format!("{:?} {}", response, response.text());
        assert!(whole.contains("[secret]") && !whole.contains("-secret"), "{whole}");
    }
    let sent = &server.requests()[0];
    assert_eq!(header(sent, "authorization"), Some("Bearer bearer-secret"));
    assert_eq!(header(sent, "x-operator"), Some("operator-secret"));
}

#[tokio::test]
async fn every_attempt_of_a_call_has_the_same_idempotency_key() {
    let server = Recorder::start(|number, _| match number {
        0 => answer("503 Service Unavailable", "", ""),
        _ => answer("204 No Content", "", ""),
    })
    .await;
    let api_of = || api(&server.url, &server.url, &[]);
    let mut operation = operation(Method::PUT, &[]);
    operation.method = Method::PUT;
    let shared = Arc::new((api_of(), operation));
    let mut spec = toolcrib_testkit::spec("x", Effect::Write);
    spec.idempotent = true;
    let tool = raw_tool(spec, move |arguments, context| {
        let shared = Arc::clone(&shared);
        async move { shared.0.call(&shared.1, &arguments, &context).await }
    });
    let responses = run(tool, 2).await;
    assert_eq!(responses[0].text(), "done (HTTP 204 No Content)");
    let sent = server.requests();
    let mut keys: Vec<_> = sent.iter().map(|it| header(it, "idempotency-key").unwrap()).collect();
    assert_eq!(keys.len(), 3);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 2);
    one(api_of(), Method::GET, &[]).await;
    assert_eq!(header(server.requests().last().unwrap(), "idempotency-key"), None);
}

#[tokio::test]
async fn a_broken_line_is_told_by_what_was_sent() {
    let closing = Recorder::start(|_, _| String::new()).await;
    let kind = |response: &Response| response.error().unwrap().kind;
    let read = one(api(&closing.url, &closing.url, &[]), Method::GET, &[]).await;
    assert_eq!((kind(&read), closing.requests().len()), (ErrorKind::Network, 3));
    let write = one(api(&closing.url, &closing.url, &[]), Method::POST, &[]).await;
    assert_eq!((kind(&write), closing.requests().len()), (ErrorKind::UnknownOutcome, 4));
    let nobody = Url::parse("http://127.0.0.1:1").unwrap();
    let unsent = one(api(&nobody, &nobody, &[]), Method::POST, &[]).await;
    assert_eq!(kind(&unsent), ErrorKind::Unavailable);
    assert!(unsent.text().contains("Nothing was sent"), "{}", unsent.text());
}

#[tokio::test]
async fn a_change_that_broke_the_server_is_told_as_unknown_and_not_sent_again() {
    let broken = Recorder::start(|_, _| answer("500 Internal Server Error", "", "")).await;
    let write = one(api(&broken.url, &broken.url, &[]), Method::POST, &[]).await;
    assert_eq!(write.error().unwrap().kind, ErrorKind::UnknownOutcome);
    assert_eq!(
        write.text(),
        "Error: the API answered 500 Internal Server Error. It may or may not have taken effect: \
         do not repeat it; check first whether it did, or ask the user"
    );
    // A search that is sent as POST reads, if the operator or the document says so.
    let search = ApiOperation { effect: Some(Effect::Read), ..operation(Method::POST, &[]) };
    let shared = Arc::new((api(&broken.url, &broken.url, &[]), search));
    let tool = raw_tool(toolcrib_testkit::spec("x", Effect::Read), move |arguments, context| {
        let shared = Arc::clone(&shared);
        async move { shared.0.call(&shared.1, &arguments, &context).await }
    });
    let read = run(tool, 1).await.remove(0);
    assert_eq!(read.error().unwrap().kind, ErrorKind::Tool);
    assert!(read.text().contains("try again later"), "{}", read.text());
    assert_eq!(broken.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_a_timeout() {
    let silent = Recorder::start(|_, _| HANG.to_owned()).await;
    let api =
        ApiClient { timeout: Duration::from_millis(500), ..api(&silent.url, &silent.url, &[]) };
    let response = one(api, Method::GET, &[]).await;
    assert_eq!(response.error().unwrap().kind, ErrorKind::Timeout);
    assert!(response.text().contains("Ask for less at a time"), "{}", response.text());
}

#[tokio::test]
async fn a_large_answer_is_not_read_and_a_redirect_not_followed() {
    let large = Recorder::start(|_, _| json(&format!("\"{}\"", "x".repeat(2_000)))).await;
    let response = one(api(&large.url, &large.url, &[]), Method::GET, &[]).await;
    assert!(response.text().contains("Ask for less"), "{}", response.text());
    let head =
        Recorder::start(|_, _| answer("200 OK", "etag: \"1\"\r\n", "").replace(": 0", ": 9999"))
            .await;
    let response = one(api(&head.url, &head.url, &[]), Method::HEAD, &[]).await;
    assert_eq!(response.text(), "done (HTTP 200 OK)");
    let other = Recorder::start(|_, _| json("{}")).await;
    let location = format!("location: {}\r\n", other.url);
    let moved = Recorder::start(move |_, _| answer("307 Temporary Redirect", &location, "")).await;
    let response = one(api(&moved.url, &moved.url, &[]), Method::POST, &[]).await;
    assert!(response.text().contains("points to the host `127.0.0.1`"), "{}", response.text());
    assert_eq!(other.requests(), Vec::<String>::new());
}
