//! Credentials that are none, at every route of the table.

use std::time::Instant;

use serde_json::{Value, json};
use toolcrib_testkit::TestIssuer;
use toolcrib_testkit::hostile::HostileServer;

use super::keys::make;
use super::routes::{self, Route};
use super::support::{Answer, Serving, bearer, eventually};
use super::tokens::{URL, ask, challenge, claims, file, now, rounds, signed, with};
use crate::process::Folder;

/// Credentials that are none, each as the lines of a head.
pub(super) type Bad = Vec<(String, Vec<String>)>;

fn line(value: &str) -> Vec<String> {
    vec![format!("Authorization: {value}")]
}

/// Whatever somebody may make of a token that is right.
pub(super) fn bent(token: &str) -> Bad {
    let half = &token[..20];
    let other =
        format!("{}{}", &token[..token.len() - 1], if token.ends_with('0') { '1' } else { '0' });
    let values = [
        String::new(),
        " ".to_owned(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer  ".to_owned(),
        "Bearer x".to_owned(),
        "Bearer null".to_owned(),
        "Bearer undefined".to_owned(),
        "Bearer local".to_owned(),
        "Bearer *".to_owned(),
        "Bearer tc_".to_owned(),
        format!("Bearer tc_{}", "0".repeat(64)),
        format!("Bearer {half}"),
        format!("Bearer {half}{}", "f".repeat(47)),
        format!("Bearer {other}"),
        format!("Bearer {token}0"),
        format!("Bearer {token} {token}"),
        format!("Bearer {token},"),
        format!("Bearer {token};x=1"),
        format!("Bearer \"{token}\""),
        format!("Bearer  {token}"),
        format!("Bearer\t{token}"),
        format!("Bearer {}", token.to_uppercase()),
        format!("Bearer {}", &token[3..]),
        format!("Bearer {token}%00"),
        format!("Bearer={token}"),
        format!("Bearer:{token}"),
        format!("Basic {token}"),
        "Basic bG9jYWw6".to_owned(),
        format!("Token {token}"),
        format!("DPoP {token}"),
        format!("Negotiate {token}"),
        token.to_owned(),
        format!("{token} Bearer"),
        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJsb2NhbCJ9.".to_owned(),
        "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsb2NhbCJ9.c2lnbmVk".to_owned(),
        format!("Bearer {}", "a".repeat(8000)),
        format!("Bearer {}", "é"),
    ];
    let mut bad: Bad = values.into_iter().map(|value| (value.clone(), line(&value))).collect();
    bad.push(("two".into(), [line("Bearer x"), vec![bearer(token)]].concat()));
    bad.push(("twice the same".into(), vec![bearer(token), bearer(token)]));
    bad
}

/// Claims of which one is not what it must be.
fn wrong_claims(issuer: &TestIssuer) -> Vec<(&'static str, Value)> {
    let other = |name: &str, value: Value| with(claims(issuer, "tools operator"), name, value);
    let name = issuer.name();
    vec![
        ("another issuer", other("iss", json!("https://id.example"))),
        ("an issuer with a slash", other("iss", json!(format!("{name}/")))),
        ("two issuers", other("iss", json!([name]))),
        ("no issuer", other("iss", Value::Null)),
        ("no audience", other("aud", Value::Null)),
        ("no audience in a list", other("aud", json!([]))),
        ("a neighbour", other("aud", json!("https://other.example"))),
        ("a slash more", other("aud", json!(format!("{URL}/")))),
        ("a letter more", other("aud", json!(format!("{URL}s")))),
        ("a letter less", other("aud", json!(&URL[..URL.len() - 1]))),
        ("without TLS", other("aud", json!(URL.replace("https", "http")))),
        ("with a port", other("aud", json!(format!("{URL}:443")))),
        ("in capitals", other("aud", json!(URL.to_uppercase()))),
        ("a list in a list", other("aud", json!([[URL]]))),
        ("over", other("exp", json!(now() - 61))),
        ("no end", other("exp", Value::Null)),
        ("an end in words", other("exp", json!((now() + 600).to_string()))),
        ("an end before all time", other("exp", json!(-1))),
        ("not yet", other("nbf", json!(now() + 86_400))),
        ("made tomorrow", other("iat", json!(now() + 86_400))),
        ("nobody's", other("sub", Value::Null)),
        ("an empty name", other("sub", json!(""))),
        ("a name of two lines", other("sub", json!("ann\nX: y"))),
        ("no organisation", other("org", Value::Null)),
        ("scopes by number", other("scope", json!(7))),
        ("bound to a key", other("cnf", json!({ "jkt": "x" }))),
    ]
}

/// Tokens that the issuer has signed, or that look so.
fn tokens(issuer: &TestIssuer) -> Bad {
    let good = claims(issuer, "tools operator");
    let head = json!({ "alg": "RS256", "typ": "JWT", "kid": "rsa" });
    let whole = issuer.token(&head, &good);
    let (signed_part, signature) = whole.rsplit_once('.').unwrap();
    let (first, second) = signed_part.split_once('.').unwrap();
    let of = |name: &str, value: Value| issuer.token(&with(head.clone(), name, value), &good);
    let twice = good.to_string().replacen('{', "{\"sub\":\"local\",", 1);
    let twice_head = head.to_string().replacen('{', "{\"alg\":\"none\",", 1);
    let other = issuer.token(&head, &with(good.clone(), "sub", json!("bob")));
    let mut bad: Vec<(&str, String)> = vec![
        ("alg none", of("alg", json!("none"))),
        (
            "alg None without a signature",
            format!("{}.", of("alg", json!("None")).trim_end_matches('.')),
        ),
        ("HS256 by the public key", of("alg", json!("HS256"))),
        ("an algorithm in small letters", of("alg", json!("rs256"))),
        ("the algorithm of another key", of("alg", json!("ES256"))),
        ("no algorithm", of("alg", Value::Null)),
        ("an unknown key", of("kid", json!("unknown"))),
        ("a key that is a path", of("kid", json!("../../dev/null"))),
        ("a key that is a number", of("kid", json!(1))),
        ("a key of another kind", of("kid", json!("ed25519"))),
        ("a shared secret", of("kid", json!("oct"))),
        ("a key for something else", of("kid", json!("enc"))),
        ("a logout", of("typ", json!("logout+jwt"))),
        ("no kind", of("typ", Value::Null)),
        ("marks that nobody knows", of("crit", json!(["exp"]))),
        ("signed by nobody", format!("{signed_part}.")),
        ("with the signature of another", {
            format!("{signed_part}.{}", other.rsplit_once('.').unwrap().1)
        }),
        ("with padding", format!("{whole}==")),
        ("of two parts", signed_part.to_owned()),
        ("of four parts", format!("{whole}.{signature}")),
        ("turned round", format!("{second}.{first}.{signature}")),
        ("cut", whole[..whole.len() - 1].to_owned()),
        ("a claim twice", issuer.token_of(&head.to_string(), &twice)),
        ("an algorithm twice", issuer.token_of(&twice_head, &good.to_string())),
        ("claims that are a list", issuer.token_of(&head.to_string(), &format!("[{good}]"))),
        ("claims that are too long", {
            let long = with(good.clone(), "long", json!("x".repeat(12_000)));
            issuer.token(&head, &long)
        }),
    ];
    bad.extend(
        wrong_claims(issuer).into_iter().map(|(name, claims)| (name, signed(issuer, &claims))),
    );
    let bearer =
        |(name, token): (&str, String)| (name.to_owned(), line(&format!("Bearer {token}")));
    bad.into_iter().map(bearer).collect()
}

fn send(serving: &Serving, route: &Route, lines: &[String]) -> Answer {
    let lines = lines.iter().fold(String::new(), |all, line| all + line + "\r\n");
    let (method, path) = (route.method, route.filled());
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: crib.example\r\n{lines}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n"
    );
    serving.send(&head, if route.takes_body { "{}" } else { "" })
}

/// A server with every way to come in, before an upstream that remembers what it was asked.
fn serving(issuer: &TestIssuer, upstream: &HostileServer) -> (Serving, String) {
    let folder = Folder::new();
    let (key, entry) = make(&folder, &["gone"]);
    let source = format!("[[source]]\nid = \"far\"\nmcp = {{ url = \"{}\" }}\n", upstream.url());
    let without = "allow = [\"*\"]\n".to_owned() + &file(issuer, "") + &source;
    folder.write("crib.toml", &(without.clone() + &entry));
    let serving = Serving::start_in(folder, &[]);
    assert_eq!(ask(&serving, &key, "GET", "/v1/tools", "").status, 200);
    serving.folder.write("crib.toml", &without);
    assert!(eventually(|| ask(&serving, &key, "GET", "/v1/tools", "").status == 401));
    (serving, key)
}

#[test]
fn every_route_refuses_every_bad_credential() {
    let begun = Instant::now();
    let (issuer, upstream) = (TestIssuer::start().unwrap(), HostileServer::start(&[]).unwrap());
    let (serving, gone) = serving(&issuer, &upstream);
    let good = signed(&issuer, &claims(&issuer, "tools operator"));
    assert_eq!(ask(&serving, &good, "GET", "/v1/tools", "").status, 200);
    let mut bad = bent(&serving.token);
    assert!(bad.len() >= 40);
    bad.extend(tokens(&issuer));
    // It begins as one that was accepted a moment ago.
    let alike = format!("{}{}", &good[..good.len() - 20], "A".repeat(20));
    bad.push(("alike".to_owned(), line(&format!("Bearer {alike}"))));
    bad.push(("a key that was taken out".to_owned(), line(&format!("Bearer {gone}"))));
    for route in routes::all() {
        for (name, lines) in &bad {
            let answer = send(&serving, &route, lines);
            let told = format!("{} {} with {name}: {answer:?}", route.method, route.path);
            assert_eq!(answer.problem(), "401 unauthenticated", "{told}");
            let challenge = challenge(&answer);
            let start = "Bearer realm=\"toolcrib\", error=\"invalid_token\", scope=\"";
            assert!(challenge.starts_with(start), "{told}");
            let place = format!(", resource_metadata=\"{URL}/.well-known/oauth-protected-resource");
            assert!(challenge.contains(&place), "{told}");
            let is_mcp = route.path.starts_with("/mcp");
            assert_eq!(challenge.contains("oauth-protected-resource/mcp"), is_mcp, "{told}");
        }
    }
    assert_eq!(calls(&upstream), 0);
    assert!(issuer.asked("/keys") <= rounds(begun), "{}", issuer.asked("/keys"));
    // A head of a million letters is not read to its end.
    let long = line(&format!("Bearer {}", "a".repeat(1_000_000)));
    for route in routes::all() {
        let status = send(&serving, &route, &long).status;
        assert!(status == 431 || status == 0, "{route:?}: {status}");
    }
}

fn calls(upstream: &HostileServer) -> usize {
    let received = upstream.received();
    received.iter().filter(|(_, body)| body.contains("tools/call")).count()
}

#[test]
fn a_token_that_lacks_every_scope_opens_nothing() {
    let issuer = TestIssuer::start().unwrap();
    let upstream = HostileServer::start(&[]).unwrap();
    let (serving, _) = serving(&issuer, &upstream);
    for scope in ["", "openid profile email", "Tools", "tools:write", "profile", "operators"] {
        let token = signed(&issuer, &claims(&issuer, scope));
        for route in routes::all().iter().filter(|route| route.access != "anybody") {
            let answer = send(&serving, route, &line(&format!("Bearer {token}")));
            assert_eq!(answer.problem(), "403 insufficient-scope", "{route:?} {scope}: {answer:?}");
            assert!(challenge(&answer).contains("error=\"insufficient_scope\""), "{answer:?}");
        }
    }
    assert_eq!(calls(&upstream), 0);
}

#[test]
fn without_a_token_only_what_tells_nothing_is_answered() {
    let serving = Serving::start(&[]);
    for route in routes::all() {
        let lines = ["Content-Type: application/json", "Cookie: token=x", "X-Api-Key: x"];
        let head = super::support::head(route.method, &route.filled(), &serving, &lines);
        let status = serving.send(&head, "{}").status;
        // What signs in is open to anybody, and tells nobody anything without a code or a token.
        let is_open = route.access == "anybody" && route.path != "/v1/session";
        let expected: &[u16] = if is_open { &[200, 503, 404] } else { &[401] };
        assert!(expected.contains(&status), "{route:?}: {status}");
    }
    let path = format!("/v1/tools?token={0}&access_token={0}", serving.token);
    let head = super::support::head("GET", &path, &serving, &[]);
    assert_eq!(serving.send(&head, "").status, 401);
}
