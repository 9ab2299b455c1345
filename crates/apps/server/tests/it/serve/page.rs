//! The page: what its replies tell a browser, and who is let in by a session.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::support::{Answer, Serving, bearer, head};
use crate::process::Folder;

const OF_THE_PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
    blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action \
    'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const OF_ANSWERS: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";
const JSON: &str = "Content-Type: application/json";

/// Both halves of a session, as headers.
struct Halves {
    cookie: String,
    page: String,
}

impl Halves {
    fn headers(&self) -> [&str; 2] {
        [&self.cookie, &self.page]
    }
}

fn told(answer: &Answer, name: &str) -> Option<String> {
    let mut lines = answer.head.lines().skip(1).filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

/// The code of a new link.
fn code(serving: &Serving) -> String {
    let link = serving.ask("POST", "/v1/session/link", "{}").json();
    let url = link["url"].as_str().unwrap();
    let (base, code) = url.split_once("/#login=").unwrap();
    assert_eq!(base, format!("http://{}", serving.address));
    assert!(code.len() == 32 && code.bytes().all(|byte| byte.is_ascii_hexdigit()), "{url}");
    code.to_owned()
}

fn ask(serving: &Serving, line: (&str, &str), headers: &[&str], body: &str) -> Answer {
    serving.send(&head(line.0, line.1, serving, headers), body)
}

fn spend(serving: &Serving, code: &str, headers: &[&str]) -> Answer {
    let body = json!({ "code": code }).to_string();
    ask(serving, ("POST", "/v1/session"), &[&[JSON], headers].concat(), &body)
}

fn halves(answer: &Answer) -> Halves {
    assert_eq!(answer.status, 200, "{answer:?}");
    let cookie = told(answer, "set-cookie").unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let page = answer.json()["page_key"].as_str().unwrap().to_owned();
    Halves { cookie: format!("Cookie: {cookie}"), page: format!("Toolcrib-Page: {page}") }
}

fn sign_in(serving: &Serving) -> Halves {
    halves(&spend(serving, &code(serving), &[]))
}

/// What an answer came to: the status, or the problem.
fn end(answer: &Answer) -> String {
    answer.problem()
}

fn asset(serving: &Serving, ending: &str) -> String {
    let document = ask(serving, ("GET", "/"), &[], "");
    let found = document.body.split('"').find(|text| text.ends_with(ending));
    found.unwrap().trim_start_matches('.').to_owned()
}

#[test]
fn every_reply_tells_a_browser_what_it_may_do_with_it() {
    let serving = Serving::start(&[]);
    let script = asset(&serving, ".js");
    let expected = |policy: &str| -> BTreeMap<&str, String> {
        [
            ("content-security-policy", policy),
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", "camera=(), microphone=(), geolocation=(), clipboard-read=()"),
        ]
        .map(|(name, value)| (name, value.to_owned()))
        .into()
    };
    let of = |path: &str, headers: &[&str]| {
        let answer = ask(&serving, ("GET", path), headers, "");
        let names = expected("");
        let found = names.keys().filter_map(|name| Some((*name, told(&answer, name)?)));
        (answer.status, found.collect::<BTreeMap<_, _>>())
    };
    let token = bearer(&serving.token);
    let pages = [("/", 200), (&script, 200), ("/assets/none.js", 404)];
    for (path, status) in pages {
        assert_eq!(of(path, &[]), (status, expected(OF_THE_PAGE)), "{path}");
    }
    assert_eq!(of("/none", &[]), (404, expected(OF_ANSWERS)));
    assert_eq!(of("/v1/tools", &[]), (401, expected(OF_ANSWERS)));
    assert_eq!(of("/v1/tools", &[&token]), (200, expected(OF_ANSWERS)));
    assert_eq!(of("/v1/openapi.json", &[]), (200, expected(OF_ANSWERS)));
}

#[test]
fn the_document_is_fetched_anew_and_its_files_are_kept_and_come_compressed() {
    let serving = Serving::start(&[]);
    let document = ask(&serving, ("GET", "/"), &[], "");
    assert_eq!(told(&document, "cache-control").as_deref(), Some("no-store"));
    assert_eq!(told(&document, "content-type").as_deref(), Some("text/html; charset=utf-8"));
    assert!(!document.body.contains(" style=") && !document.body.contains("<script>"));
    let script = asset(&serving, ".js");
    let plain = ask(&serving, ("GET", &script), &[], "");
    let brotli = ask(&serving, ("GET", &script), &["Accept-Encoding: gzip, br"], "");
    let length =
        |answer: &Answer| -> usize { told(answer, "content-length").unwrap().parse().unwrap() };
    let of = |answer: &Answer| {
        ["cache-control", "content-type", "content-encoding", "vary"].map(|name| told(answer, name))
    };
    let kept = Some("public, max-age=31536000, immutable".to_owned());
    let kind = Some("text/javascript; charset=utf-8".to_owned());
    let vary = Some("accept-encoding".to_owned());
    assert_eq!(of(&plain), [kept.clone(), kind.clone(), None, vary.clone()]);
    assert_eq!(of(&brotli), [kept, kind, Some("br".to_owned()), vary]);
    assert!(length(&brotli) * 2 < length(&plain));
}

#[test]
fn a_code_signs_in_once_and_both_halves_open_what_its_maker_may_do() {
    let serving = Serving::start(&[]);
    let code = code(&serving);
    let signed = spend(&serving, &code, &[]);
    let cookie = told(&signed, "set-cookie").unwrap();
    let port = serving.address.rsplit(':').next().unwrap();
    let (value, rest) = cookie.split_once("; ").unwrap();
    assert!(value.starts_with(&format!("toolcrib_{port}=tc_")), "{cookie}");
    assert_eq!(rest, "Path=/; Max-Age=604800; HttpOnly; SameSite=Strict");
    let halves = halves(&signed);
    let mut session = signed.json();
    session.as_object_mut().unwrap().remove("page_key");
    assert_eq!((&session["role"], &session["subject"]), (&json!("admin"), &json!("local")));
    let with = |line| ask(&serving, line, &halves.headers(), "");
    assert_eq!(with(("GET", "/v1/session")).json()["server"], session["server"]);
    assert_eq!(with(("GET", "/v1/tools")).status, 200);
    assert_eq!(with(("GET", "/v1/sources")).status, 200);
    assert_eq!(end(&spend(&serving, &code, &[])), "401 unauthenticated");
    assert_eq!(with(("DELETE", "/v1/session")).json(), json!({ "ended": 1 }));
    assert_eq!(end(&with(("GET", "/v1/tools"))), "401 unauthenticated");
}

#[test]
fn half_a_session_opens_nothing_and_is_not_passed_over() {
    let serving = Serving::start(&[]);
    let (mine, other) = (sign_in(&serving), sign_in(&serving));
    let token = bearer(&serving.token);
    let get = |headers: &[&str]| end(&ask(&serving, ("GET", "/v1/tools"), headers, ""));
    let refused = "401 unauthenticated";
    assert_eq!(get(&mine.headers()), "200");
    assert_eq!(get(&[&mine.cookie]), refused, "what another port of this host is sent");
    assert_eq!(get(&[&mine.page]), refused, "what a script in the page could take");
    assert_eq!(get(&[&mine.cookie, &other.page]), refused);
    assert_eq!(get(&[&mine.cookie, "Toolcrib-Page: tc_0000"]), refused);
    assert_eq!(get(&[&mine.cookie, &token]), refused, "no token makes up for the other half");
    assert_eq!(get(&[&mine.cookie, &mine.page, &token]), refused);
    assert_eq!(get(&[&mine.cookie, &other.cookie, &mine.page]), "400 bad-request");
    assert_eq!(get(&[&mine.cookie.replace("Cookie: ", "Cookie: a=b; "), &mine.page]), "200");
    // Doors of programs never look at it.
    let mcp = |headers: &[&str]| {
        let accepts = "Accept: application/json, text/event-stream";
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
        end(&ask(&serving, ("POST", "/mcp"), &[headers, &[JSON, accepts]].concat(), &body))
    };
    assert_eq!(mcp(&mine.headers()), refused);
    assert_eq!(get(&mine.headers()), "200", "what was refused ended nothing");
}

#[test]
fn a_request_that_another_page_sends_is_refused_and_does_nothing() {
    let folder = Folder::new();
    folder.write("crib.toml", "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n");
    let serving = Serving::start_in(folder, &[]);
    let mine = sign_in(&serving);
    let call = json!({ "calls": [{ "name": "uuid_new" }] }).to_string();
    let sends = |headers: &[&str]| {
        let all = [&mine.headers()[..], headers].concat();
        end(&ask(&serving, ("POST", "/v1/calls"), &all, &call))
    };
    let port = serving.address.rsplit(':').next().unwrap();
    let (own, secure) = (
        format!("Origin: http://{}", serving.address),
        format!("Origin: https://{}", serving.address),
    );
    let name = format!("Origin: http://localhost:{port}");
    assert_eq!(sends(&[JSON, &secure]), "403 bad-origin", "another scheme");
    assert_eq!(sends(&[JSON, &name]), "403 bad-origin", "a name of ours, but another one");
    for origin in ["null", "http://127.0.0.1:1", "http://127.0.0.1", "http://evil.example"] {
        assert_eq!(sends(&[JSON, &format!("Origin: {origin}")]), "403 bad-origin", "{origin}");
    }
    for site in ["same-site", "cross-site", "none", ""] {
        assert_eq!(sends(&[JSON, &format!("Sec-Fetch-Site: {site}")]), "403 bad-origin", "{site}");
    }
    assert_eq!(sends(&["Content-Type: text/plain", &own]), "415 not-json");
    let recorded = serving.ask("GET", "/v1/calls", "").json();
    assert_eq!(recorded["calls"], json!([]), "nothing of it ran");
    assert_eq!(sends(&[JSON, &own, "Sec-Fetch-Site: same-origin"]), "200");
    // To sign in is not open to another page either.
    let code = code(&serving);
    let other = spend(&serving, &code, &["Sec-Fetch-Site: same-site"]);
    assert_eq!(end(&other), "403 bad-origin");
    assert_eq!(end(&spend(&serving, &code, &[])), "200", "and spends no code");
}

#[test]
fn whoever_guesses_codes_waits_and_no_code_is_in_a_log() {
    let serving = Serving::start(&["--log", "debug"]);
    let code = code(&serving);
    let guesses: Vec<_> =
        (0..6).map(|guess| end(&spend(&serving, &format!("{guess:032}"), &[]))).collect();
    let (wrong, last) = guesses.split_at(5);
    assert!(wrong.iter().all(|end| end == "401 unauthenticated"), "{guesses:?}");
    assert_eq!(last, ["429 too-many"]);
    assert_eq!(end(&spend(&serving, &code, &[])), "429 too-many", "and so does the right one");
    // The token is another way in, and takes part in no guessing.
    let token = bearer(&serving.token);
    let signed = ask(&serving, ("POST", "/v1/session"), &[JSON, &token], "{}");
    let halves = halves(&signed);
    let all = ask(&serving, ("DELETE", "/v1/session"), &[&token], "").json();
    assert_eq!(all, json!({ "ended": 1 }), "a token ends the sessions of its caller");
    let tools = ask(&serving, ("GET", "/v1/tools"), &halves.headers(), "");
    assert_eq!(end(&tools), "401 unauthenticated");
    let log = serving.told.lock().unwrap().clone();
    assert!(log.contains("/v1/session") && !log.contains("#login="), "{log}");
    for secret in [&code, &halves.page, &halves.cookie, &serving.token] {
        let secret = secret.rsplit(['=', ' ']).next().unwrap();
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

fn key(serving_folder: &Folder, name: &str, scopes: &[&str]) -> (String, String) {
    let mut words = vec!["token", name, "--key", "--tenant", "acme", "--json"];
    for scope in scopes {
        words.extend(["--scope", scope]);
    }
    let state = super::support::state(serving_folder);
    let out = crate::process::run_in(serving_folder, &words, &[("XDG_STATE_HOME", &state)]).out;
    let made: Value = serde_json::from_str(&out).unwrap();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("key"), text("entry"))
}

#[test]
fn a_session_may_do_what_its_key_may_and_is_over_with_it() {
    let folder = Folder::new();
    let viewer = key(&folder, "viewer", &["page:view", "tools:read"]);
    let caller = key(&folder, "caller", &["tools"]);
    let mut file = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n".to_owned();
    write!(file, "{}{}", viewer.1, caller.1).unwrap();
    folder.write("crib.toml", &file);
    let serving = Serving::start_in(folder, &[]);
    let begin = |key: &str| ask(&serving, ("POST", "/v1/session"), &[JSON, &bearer(key)], "{}");
    assert_eq!(end(&begin(&caller.0)), "403 insufficient-scope");
    assert_eq!(end(&begin("tc_none")), "401 unauthenticated");
    let none = ask(&serving, ("POST", "/v1/session"), &[JSON], "{}");
    assert_eq!(end(&none), "401 unauthenticated");
    let signed = begin(&viewer.0);
    assert_eq!(signed.json()["role"], "viewer");
    let halves = halves(&signed);
    let get = |path: &str| end(&ask(&serving, ("GET", path), &halves.headers(), ""));
    assert_eq!(get("/v1/tools"), "200");
    for route in super::routes::all() {
        if route.access == "operator" && !route.takes_body && route.path.starts_with("/v1/") {
            let answer = ask(&serving, (route.method, &route.filled()), &halves.headers(), "");
            assert_eq!(end(&answer), "403 insufficient-scope", "{}", route.path);
        }
    }
    serving.folder.write("crib.toml", &file.replace(&viewer.1, ""));
    assert!(super::support::eventually(|| get("/v1/tools") == "401 unauthenticated"));
    serving.folder.write("crib.toml", &(file + "\n"));
    serving.hears("is in force");
    assert_eq!(get("/v1/tools"), "401 unauthenticated", "the key is back, the session is not");
}

#[test]
fn beyond_this_machine_the_page_is_only_where_the_file_says_so() {
    let behind = |page: &str| {
        let folder = Folder::new();
        folder.write("crib.toml", page);
        Serving::start_in(folder, &["--behind-proxy"])
    };
    let status = |serving: &Serving| ask(serving, ("GET", "/"), &[], "").status;
    let serving = behind("");
    assert_eq!(status(&serving), 404);
    assert_eq!(end(&serving.ask("POST", "/v1/session", "{}")), "404 unknown-route");
    assert_eq!(end(&serving.ask("POST", "/v1/session/link", "{}")), "404 unknown-route");
    let serving = behind("[page]\npublic = true\n");
    assert_eq!(status(&serving), 200);
    let link = serving.ask("POST", "/v1/session/link", "{}").json();
    let code = link["url"].as_str().unwrap().split_once("#login=").unwrap().1.to_owned();
    let signed = spend(&serving, &code, &[&format!("Origin: https://{}", serving.address)]);
    let cookie = told(&signed, "set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-toolcrib_") && cookie.ends_with("; Secure"), "{cookie}");
}

#[test]
fn a_page_at_an_address_of_its_own_is_there_alone_and_has_no_other_door() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = Folder::new();
    folder.write("crib.toml", &format!("[page]\nlisten = \"127.0.0.1:{port}\"\n"));
    let mut serving = Serving::start_in(folder, &[]);
    assert_eq!(ask(&serving, ("GET", "/"), &[], "").status, 404);
    let link = serving.ask("POST", "/v1/session/link", "{}").json();
    let (base, code) = link["url"].as_str().unwrap().split_once("/#login=").unwrap();
    assert_eq!(base, format!("http://127.0.0.1:{port}"));
    let code = code.to_owned();
    let doors = std::mem::replace(&mut serving.address, format!("127.0.0.1:{port}"));
    assert_eq!(ask(&serving, ("GET", "/"), &[], "").status, 200);
    let mine = halves(&spend(&serving, &code, &[]));
    assert!(mine.cookie.starts_with(&format!("Cookie: toolcrib_{port}=")));
    assert_eq!(ask(&serving, ("GET", "/v1/tools"), &mine.headers(), "").status, 200);
    assert_eq!(end(&serving.ask("POST", "/mcp", "{}")), "404 unknown-route");
    serving.address = doors;
    let elsewhere = ask(&serving, ("GET", "/v1/tools"), &mine.headers(), "");
    assert_eq!(end(&elsewhere), "401 unauthenticated");
}
