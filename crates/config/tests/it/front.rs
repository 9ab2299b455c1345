//! The door of the process: what may be said of it, and what is told of what may not.

use toolcrib_config::{Config, ListenerSettings};

fn front(text: &str) -> ListenerSettings {
    let read = Config::read(text, "crib.toml");
    assert_eq!((read.problems, read.warnings), (vec![], vec![]));
    read.config.unwrap().front
}

fn problems(text: &str) -> Vec<String> {
    Config::read(text, "crib.toml").problems.iter().map(ToString::to_string).collect()
}

fn key(id: &str, further: &str) -> String {
    let digest = "ab".repeat(32);
    format!(
        "[[server.key]]\nid = \"{id}\"\nsha256 = \"{digest}\"\nscopes = [\"tools\"]\n{further}\n"
    )
}

const ISSUER: &str = "[[server.issuer]]\nurl = \"https://a.example\"\n";

fn issuer(url: &str, further: &str) -> String {
    let server = "[server]\nurl = \"https://crib.example\"\n";
    format!("{server}[[server.issuer]]\nurl = \"{url}\"\n{further}\n")
}

#[test]
fn an_issuer_has_the_usual_claims_unless_it_says_otherwise() {
    let issuer = &front(&issuer("https://a.example", "")).access.issuers[0];
    let told = [issuer.tenant.as_str(), &issuer.subject_claim, &issuer.scope_claim];
    assert_eq!(told, ["default", "sub", "scope"]);
    assert_eq!((issuer.name.as_str(), &issuer.jwks), ("https://a.example", &None));
}

#[test]
fn a_key_is_whose_it_says_or_its_own() {
    let keys =
        front(&(key("ci", "") + &key("ci-2", "subject = \"ci\"\ntenant = \"acme\""))).access.keys;
    let told: Vec<_> = keys
        .iter()
        .map(|key| (key.id.as_str(), key.tenant.as_str(), key.subject.as_str()))
        .collect();
    assert_eq!(told, [("ci", "default", "ci"), ("ci-2", "acme", "ci")]);
    assert_eq!(keys[0].digest, [0xab; 32]);
    let ending = &front(&key("ci", "expires = \"2027-01-31\"")).access.keys[0];
    assert_eq!(ending.expires.unwrap().to_string(), "2027-01-31T00:00:00Z");
}

#[test]
fn the_address_of_others_is_a_name_of_the_server() {
    let front =
        front("[server]\nurl = \"https://Crib.example:8443\"\nhosts = [\"crib.internal\"]\n");
    assert_eq!(front.hosts, ["crib.internal", "crib.example:8443"]);
}

#[test]
fn what_cannot_be_is_told_with_its_cure() {
    let two = key("a", "subject = \"x\"") + &key("b", "subject = \"x\"");
    for (text, expected) in [
        (key("a", "") + &key("a", "subject = \"b\""), "server.key[1].id: two keys have this name"),
        (two.clone() + &key("c", "subject = \"x\""), "server.key[2]: `x` has more than 2 keys"),
        (key("a", "tenant = \"local\""), "`local` is the tenant of the person at this machine"),
        (key("a", "tenant = \"a/b\""), "this cannot name a tenant"),
        (key("a", "expires = \"soon\""), "this is no moment"),
        (key("a", "subject = \"a\\nb\""), "this cannot name a caller"),
        (key("a b", ""), "server.key[0].id"),
        (key("a", "").replace("ab", "AB").replace("AB", "xy"), "server.key[0].sha256"),
        (key("a", "").replace("\"tools\"", "\"two words\""), "this is no scope"),
        ("[server]\nurl = \"https://a.example/mcp\"".to_owned(), "at the root of its host"),
        ("[server]\nurl = \"a.example\"".to_owned(), "no address of the web"),
        ("[server]\nhosts = [\"https://a.example\"]".to_owned(), "no name of a host"),
        ("[server]\ntls = { certificate = \"a.pem\" }".to_owned(), "`key` is missing"),
        (issuer("https://a.example/x?y", ""), "this cannot name an issuer"),
        (issuer("a.example", ""), "no address of the web"),
        (issuer("https://a.example", "tenant = \"local\""), "`local` is the tenant"),
        (issuer("https://a.example", "tenant_claim = \"\""), "no name of a claim"),
        (issuer("https://a.example", "") + ISSUER, "this issuer is there twice"),
        (issuer("https://b.example", "") + ISSUER, "could speak for the callers of the other"),
        (ISSUER.to_owned(), "tokens are made out to an address"),
        ("[server]\nbehind_proxy = [\"proxy\"]".to_owned(), "no network address"),
        ("[server]\npush_private = [\"receiver\"]".to_owned(), "no network address"),
    ] {
        let told = problems(&text);
        assert!(told.len() == 1 && told[0].contains(expected), "{text}: {told:#?}");
    }
    assert_eq!(
        problems(&(two + &key("c", "subject = \"x\"\ntenant = \"other\""))),
        Vec::<String>::new()
    );
}

#[test]
fn the_page_is_where_the_file_says_and_at_one_place_alone() {
    let page = |text: &str| front(text).page;
    assert_eq!((page("").listen, page("").public), (None, false));
    assert!(page("[page]\npublic = true\n").public);
    let own = page("[page]\nlisten = \"127.0.0.1:7412\"\n").listen;
    assert_eq!(own, "127.0.0.1:7412".parse().ok());
    let both = "[server]\nlisten = \"127.0.0.1:7411\"\n[page]\nlisten = \"127.0.0.1:7411\"\n";
    let told = problems(&format!("{both}public = true\n"));
    assert!(told.len() == 2, "{told:#?}");
    assert!(told[0].contains("page.listen: the server listens there itself"), "{told:#?}");
    assert!(told[1].contains("page.public: a page at an address of its own is at no other"));
}
