//! Signed tokens of an issuer: what they open, and what of them is not believed.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolcrib_testkit::{KEYS, TestIssuer};

use super::support::{Answer, Serving, bearer, eventually};
use crate::process::Folder;

pub(crate) const URL: &str = "https://crib.example";

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The claims of a good token.
pub(crate) fn claims(issuer: &TestIssuer, scope: &str) -> Value {
    json!({
        "iss": issuer.name(),
        "aud": URL,
        "sub": "ann",
        "org": "acme",
        "scope": scope,
        "iat": now(),
        "exp": now() + 600,
    })
}

pub(crate) fn signed(issuer: &TestIssuer, claims: &Value) -> String {
    issuer.token(&json!({ "alg": "RS256", "typ": "at+jwt", "kid": "rsa" }), claims)
}

/// The claims with one of them changed; `null`: left out.
pub(crate) fn with(mut claims: Value, name: &str, value: Value) -> Value {
    let members = claims.as_object_mut().unwrap();
    if value.is_null() {
        members.remove(name)
    } else {
        members.insert(name.to_owned(), value)
    };
    claims
}

pub(crate) fn file(issuer: &TestIssuer, further: &str) -> String {
    format!(
        "[server]\nurl = \"{URL}\"\n[[server.issuer]]\nurl = \"{}\"\ntenant_claim = \"org\"\n\
         {further}\n[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\
         [tool.hash_text]\neffect = \"write\"\n\
         [profile.small]\nallow = [\"calculate\", \"hash_text\"]\n",
        issuer.name()
    )
}

pub(crate) fn serving(issuer: &TestIssuer) -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", &("allow = [\"*\"]\n".to_owned() + &file(issuer, "")));
    Serving::start_in(folder, &[])
}

/// A request as the proxy before the server hands it on.
pub(crate) fn ask(serving: &Serving, token: &str, method: &str, path: &str, body: &str) -> Answer {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: crib.example\r\n{}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n",
        bearer(token)
    );
    serving.send(&head, body)
}

pub(crate) fn challenge(answer: &Answer) -> &str {
    let challenge = answer.head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("www-authenticate").then_some(value)
    });
    challenge.unwrap_or_default()
}

/// How often keys may have been asked for since then: once in 30 seconds.
pub(crate) fn rounds(begun: Instant) -> usize {
    1 + usize::try_from(begun.elapsed().as_secs() / 30).unwrap()
}

fn status(serving: &Serving, token: &str) -> u16 {
    ask(serving, token, "GET", "/v1/tools", "").status
}

#[test]
fn a_token_of_every_accepted_algorithm_opens_what_its_scopes_say() {
    let issuer = TestIssuer::start().unwrap();
    let serving = serving(&issuer);
    let good = claims(&issuer, "tools openid");
    let of = |alg: &str, kid: Option<&str>, kind: &str| {
        let head = json!({ "alg": alg, "typ": kind, "kid": kid });
        let head = if kid.is_none() { json!({ "alg": alg, "typ": kind }) } else { head };
        status(&serving, &issuer.token(&head, &good))
    };
    for (kid, alg) in KEYS {
        assert_eq!(of(alg, Some(kid), "JWT"), 200, "{alg}");
        assert_eq!(of(alg, None, "application/at+jwt"), 200, "{alg} without a name");
    }
    for alg in ["RS384", "RS512", "PS256", "PS384", "PS512"] {
        assert_eq!(of(alg, Some("rsa"), "at+JWT"), 200, "{alg}");
    }
    let several = with(good.clone(), "aud", json!(["https://other.example", URL]));
    assert_eq!(status(&serving, &signed(&issuer, &several)), 200);
    let listed = with(good, "scope", json!(["tools:read"]));
    let listed = ask(&serving, &signed(&issuer, &listed), "GET", "/v1/tools", "").json();
    assert!(!listed.to_string().contains("hash_text"), "{listed}");
    assert_eq!(issuer.asked("/keys"), 1);
}

#[test]
fn a_token_that_does_not_say_what_it_is_for_is_taken_where_the_file_says_so() {
    let issuer = TestIssuer::start().unwrap();
    let untyped = |claims: &Value| issuer.token(&json!({ "alg": "RS256", "kid": "rsa" }), claims);
    let good = claims(&issuer, "tools");
    for (line, taken) in [("", 401), ("untyped = false\n", 401), ("untyped = true\n", 200)] {
        let folder = Folder::new();
        folder.write("crib.toml", &("allow = [\"*\"]\n".to_owned() + &file(&issuer, line)));
        let serving = Serving::start_in(folder, &[]);
        assert_eq!(status(&serving, &untyped(&good)), taken, "{line}");
        assert_eq!(status(&serving, &signed(&issuer, &good)), 200, "{line}");
        // What says that it is for something else is not taken, and neither is what looks so.
        for kind in [json!("logout+jwt"), json!("id+jwt"), json!(""), json!(5), json!(null)] {
            let head = json!({ "alg": "RS256", "typ": kind, "kid": "rsa" });
            assert_eq!(status(&serving, &issuer.token(&head, &good)), 401, "{line}{kind}");
        }
        for claim in ["nonce", "at_hash", "c_hash", "events"] {
            let foreign = with(good.clone(), claim, json!("x"));
            assert_eq!(status(&serving, &untyped(&foreign)), 401, "{line}{claim}");
        }
    }
}

#[test]
fn a_token_for_one_way_in_opens_no_other() {
    let issuer = TestIssuer::start().unwrap();
    let serving = serving(&issuer);
    let token = |path: &str| {
        let claims = claims(&issuer, "tools");
        signed(&issuer, &with(claims, "aud", json!(format!("{URL}{path}"))))
    };
    let reach = |path: &str| {
        let token = token(path);
        ["/mcp", "/mcp/small", "/v1/tools"].map(|path| {
            let (method, body) = if path == "/v1/tools" { ("GET", "") } else { ("POST", "{}") };
            ask(&serving, &token, method, path, body).status != 401
        })
    };
    assert_eq!(reach(""), [true, true, true]);
    assert_eq!(reach("/mcp"), [true, false, false]);
    assert_eq!(reach("/mcp/small"), [false, true, false]);
    for path in ["/", "/mcp/", "/mcp/small/", "/v1/tools", "/mcp/smal", "x", ":443", "#x", "?x"] {
        assert_eq!(reach(path), [false, false, false], "{path}");
    }
}

#[test]
fn a_client_without_a_token_is_told_where_to_get_one() {
    let issuer = TestIssuer::start().unwrap();
    let serving = serving(&issuer);
    let head =
        |method: &str, path: &str| format!("{method} {path} HTTP/1.1\r\nHost: crib.example\r\n");
    for (method, path, place, scope) in [
        ("GET", "/v1/tools", "", "tools"),
        ("POST", "/mcp", "/mcp", "tools"),
        ("POST", "/mcp/small", "/mcp/small", "profile:small"),
        ("POST", "/mcp/a%22b%20c", "/mcp/a%22b%20c", "profile:a%22b%20c"),
    ] {
        let refused = serving.send(&head(method, path), "");
        assert_eq!(refused.problem(), "401 unauthenticated");
        let metadata = format!("/.well-known/oauth-protected-resource{place}");
        assert_eq!(
            challenge(&refused),
            format!(
                "Bearer realm=\"toolcrib\", scope=\"{scope}\", \
                 resource_metadata=\"{URL}{metadata}\""
            )
        );
        let told = serving.send(&head("GET", &metadata), "").json();
        assert_eq!(told["resource"], format!("{URL}{place}"));
        assert_eq!(told["authorization_servers"], json!([issuer.name()]));
        assert!(told["scopes_supported"].as_array().unwrap().contains(&json!(scope)), "{told}");
    }
    let without = Serving::start(&[]);
    let place = "/.well-known/oauth-protected-resource/mcp";
    assert_eq!(without.ask("GET", place, "").problem(), "404 unknown-route");
}

#[test]
fn a_client_that_needs_a_further_scope_is_told_which() {
    let issuer = TestIssuer::start().unwrap();
    let serving = serving(&issuer);
    let call = |scope: &str, path: &str, tool: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": tool, "arguments": { "text": "a" }, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let token = signed(&issuer, &claims(&issuer, scope));
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: crib.example\r\n{}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n",
            bearer(&token)
        );
        serving.send(&head, &body.to_string())
    };
    for (scope, path, needed, metadata) in [
        ("tools:read", "/mcp", "tools", "/mcp"),
        ("tools:read", "/mcp/small", "profile:small", "/mcp/small"),
        ("profile:small", "/mcp", "tools", "/mcp"),
        ("profile:other", "/mcp/small", "profile:small", "/mcp/small"),
        ("openid", "/mcp/small", "profile:small", "/mcp/small"),
    ] {
        let answer = call(scope, path, "hash_text");
        assert_eq!(answer.problem(), "403 insufficient-scope", "{scope} {path}: {answer:?}");
        let place = format!("{URL}/.well-known/oauth-protected-resource{metadata}");
        let expected = format!(
            "Bearer realm=\"toolcrib\", error=\"insufficient_scope\", scope=\"{needed}\", \
             resource_metadata=\"{place}\""
        );
        assert_eq!(challenge(&answer), expected, "{scope} {path}");
    }
    // What no scope opens is a tool that is not there.
    for (scope, path, tool) in
        [("tools:read", "/mcp", "nothing"), ("tools:read", "/mcp/small", "uuid_new")]
    {
        let answer = call(scope, path, tool);
        assert!(answer.status == 200 && answer.body.contains("there is no tool"), "{answer:?}");
    }
    for (scope, path) in [("tools", "/mcp"), ("profile:small", "/mcp/small")] {
        let answer = call(scope, path, "hash_text");
        assert!(answer.status == 200 && answer.body.contains("ca978112ca1bbd"), "{answer:?}");
    }
}

#[test]
fn while_an_issuer_is_away_its_keys_hold_and_nobody_is_let_in_without() {
    let issuer = TestIssuer::start().unwrap();
    let serving = serving(&issuer);
    let token =
        |subject: &str| signed(&issuer, &with(claims(&issuer, "tools"), "sub", json!(subject)));
    assert_eq!(status(&serving, &token("ann")), 200);
    issuer.be_down(true);
    assert_eq!(status(&serving, &token("bob")), 200);
    let unknown = json!({ "alg": "RS256", "typ": "JWT", "kid": "new" });
    assert_eq!(status(&serving, &issuer.token(&unknown, &claims(&issuer, "tools"))), 401);
    // One that was never there.
    let away = TestIssuer::start().unwrap();
    away.be_down(true);
    let folder = Folder::new();
    folder.write("crib.toml", &file(&away, ""));
    let serving = Serving::start_in(folder, &[]);
    let answer = ask(&serving, &signed(&away, &claims(&away, "tools")), "GET", "/v1/tools", "");
    assert_eq!(answer.problem(), "503 unavailable", "{answer:?}");
    assert!(answer.head.to_lowercase().contains("retry-after: 30"), "{answer:?}");
    serving.hears("are not to be had");
    assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
}

#[test]
fn a_thousand_unknown_keys_are_asked_for_once() {
    let (begun, issuer) = (Instant::now(), TestIssuer::start().unwrap());
    let serving = serving(&issuer);
    assert!(eventually(|| issuer.asked("/keys") == 1));
    let threads: Vec<Vec<String>> = (0..8)
        .map(|thread| {
            let token = |number| {
                let head =
                    json!({ "alg": "RS256", "typ": "JWT", "kid": format!("{thread}-{number}") });
                issuer.token(&head, &claims(&issuer, "tools"))
            };
            (0..125).map(token).collect()
        })
        .collect();
    std::thread::scope(|scope| {
        for tokens in threads {
            let serving = &serving;
            scope.spawn(move || {
                for token in tokens {
                    assert_eq!(status(serving, &token), 401);
                }
            });
        }
    });
    assert!(issuer.asked("/keys") <= rounds(begun), "{}", issuer.asked("/keys"));
}

#[test]
fn two_organisations_of_an_issuer_share_nothing() {
    let issuer = TestIssuer::start().unwrap();
    let serving = serving(&issuer);
    let token = |org: Value| signed(&issuer, &with(claims(&issuer, "tools"), "org", org));
    let (one, two) = (token(json!("acme")), token(json!("umbrella")));
    let plan = ask(&serving, &one, "POST", "/v1/plan", "{}").json();
    let body = json!({ "plan": plan["plan"], "calls": [] }).to_string();
    assert_eq!(ask(&serving, &one, "POST", "/v1/calls", &body).status, 200);
    assert_eq!(ask(&serving, &two, "POST", "/v1/calls", &body).problem(), "404 unknown-plan");
    for none in [Value::Null, json!(""), json!(1), json!(["acme"]), json!("a\nb")] {
        assert_eq!(status(&serving, &token(none)), 401);
    }
    // Whoever is called as the person at the machine is not that person.
    let local = with(claims(&issuer, "tools"), "sub", json!("local"));
    let local = signed(&issuer, &with(local, "org", json!("local")));
    let answer = ask(&serving, &local, "GET", "/v1/sources", "");
    assert_eq!(answer.problem(), "403 insufficient-scope");
    let boss = signed(&issuer, &claims(&issuer, "operator"));
    assert_eq!(ask(&serving, &boss, "GET", "/v1/sources", "").status, 200);
}
