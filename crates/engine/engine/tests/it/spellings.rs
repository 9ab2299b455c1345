//! A resource that rules keep out is not had under another spelling of its address.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, Caller, ClientSession, CodeResources, JsonFields, Policy, ResourceOperation,
    ResourceRequest, ToolError, Toolset, WithResources,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;

fn fields(value: Value) -> JsonFields {
    serde_json::from_value(value).unwrap()
}

/// A server that knows more ways to write an address than a list has: it takes whatever is asked
/// for, and tells what that was.
fn takes_anything(read: &Arc<Mutex<Vec<String>>>, template: &str) -> CodeResources {
    let all = |read: &Arc<Mutex<Vec<String>>>| {
        let read = Arc::clone(read);
        move |params: JsonFields, _| {
            read.lock().unwrap().push(params["uri"].as_str().unwrap_or_default().to_owned());
            async { Ok(fields(json!({ "contents": [] }))) }
        }
    };
    CodeResources::default()
        .resource(fields(json!({ "uri": "doc://secret", "name": "s" })), all(read))
        .resource(fields(json!({ "uri": "file:///srv/secret.txt", "name": "f" })), all(read))
        .resource(fields(json!({ "uri": "doc://open", "name": "o" })), all(read))
        .resource(fields(json!({ "uri": "doc://my%20open", "name": "m" })), all(read))
        .template(fields(json!({ "uriTemplate": template, "name": "any" })), all(read))
        .completion(|_, _| async {
            Ok(fields(
                json!({ "completion": { "values": ["secret", "SECRET/", "open"], "total": 3 } }),
            ))
        })
}

struct SpellingFixture {
    crib: Crib,
    read: Arc<Mutex<Vec<String>>>,
}

impl SpellingFixture {
    async fn new(policy: impl Policy + 'static, template: &str) -> Self {
        let read = Arc::default();
        let library = takes_anything(&read, template);
        let source = WithResources::new(Toolset::default(), Arc::new(library));
        let crib = Crib::builder().policy(policy).source("docs", source).build().await;
        Self { crib, read }
    }

    async fn under(rules: &str) -> Self {
        Self::new(Rules::parse(rules).unwrap(), "{+anything}").await
    }

    async fn ask(&self, about: ResourceOperation, params: Value) -> Result<JsonFields, ToolError> {
        let caller = Arc::new(Caller::new("house", "ann").with_scopes(["guest".to_owned()]));
        let visitor = ClientSession { caller, session: None };
        let inquiry = ResourceRequest { about, params: fields(params) };
        self.crib.inquire(&visitor, inquiry, BatchOptions::default()).await
    }

    /// Reading, completing and following alike.
    async fn has(&self, uri: &str) -> bool {
        let read = self.ask(ResourceOperation::Resource, json!({ "uri": uri })).await.is_ok();
        let about = json!({
            "ref": { "type": "ref/resource", "uri": uri },
            "argument": { "name": "a", "value": "" },
        });
        let completed = self.ask(ResourceOperation::Completion, about).await.is_ok();
        let visitor = ClientSession { caller: Arc::new(guest()), session: None };
        let followed =
            self.crib.follow(&visitor, uri.to_owned(), BatchOptions::default()).await.is_ok();
        assert_eq!((read, completed, followed), (read, read, read), "{uri}");
        let was_read = self.read.lock().unwrap().pop();
        assert_eq!(was_read.is_some(), read, "{uri}");
        read
    }
}

fn guest() -> Caller {
    Caller::new("house", "ann").with_scopes(["guest".to_owned()])
}

/// Each is one of the two that are denied to some server that we know of.
const SPELLINGS: &[&str] = &[
    "doc://secret",
    "DOC://secret",
    "Doc://SECRET",
    "doc://Secret",
    "doc://%73ecret",
    "doc://%73%65%63%72%65%74",
    "doc://secre%74",
    "doc://%2573ecret",
    "doc://%252573ecret",
    "doc://secret/",
    "doc://secret//",
    "doc:///secret",
    "doc:////secret",
    "doc:/secret",
    "doc:secret",
    "doc://secret.",
    "doc://secret./",
    "doc://secret%2e",
    "doc://./secret",
    "doc://../secret",
    "doc://x/../secret",
    "doc://x/%2e%2e/secret",
    "doc://x/%2E./secret",
    "doc://x%2f..%2fsecret",
    "doc://x%2fsecret",
    "doc://x%5csecret",
    "doc://x/..%2fsecret",
    "doc://x/..;/secret",
    "doc://x/...//secret",
    "doc://x\\..\\secret",
    "doc:\\\\secret",
    "doc:%2f%2fsecret",
    "doc%3a//secret",
    "doc://secret?",
    "doc://secret?x=1",
    "doc://secret#",
    "doc://secret#part",
    "doc://secret%23",
    "doc://secret%3Fx",
    "doc://secret;v=1",
    "doc://secret:80",
    "doc://secret:",
    "doc://user@secret",
    "doc://user:password@secret",
    "doc://user%40secret",
    " doc://secret",
    "doc://secret ",
    "doc://secret%20",
    "doc://%20secret",
    "doc://secret\t",
    "doc://secret\n",
    "doc://secret%0a",
    "doc://secret%00",
    "doc://secret%00.txt",
    "doc://secret\0",
    "doc://sec\u{200b}ret",
    "doc://sec%e2%80%8bret",
    "doc://sec\u{ad}ret",
    "doc://\u{ff53}ecret",
    "doc://%ef%bd%93ecret",
    "doc://\u{17f}ecret",
    "doc://secre\u{1d42d}",
    "doc://s\u{e9}cret",
    "doc://se\u{301}cret",
    "doc://secret\u{2026}",
    "doc://x\u{ff0f}..\u{ff0f}secret",
    "{doc://secret}",
    "<doc://secret>",
    "file:///srv/secret.txt",
    "FILE:///srv/secret.txt",
    "file://localhost/srv/secret.txt",
    "file://LOCALHOST/srv/secret.txt",
    "file://127.0.0.1/srv/secret.txt",
    "file://[::1]/srv/secret.txt",
    "file:/srv/secret.txt",
    "file:srv/secret.txt",
    "file://srv/secret.txt",
    "file:////srv/secret.txt",
    "file:///srv//secret.txt",
    "file:///srv/./secret.txt",
    "file:///srv/x/../secret.txt",
    "file:///x/../srv/secret.txt",
    "file:///../srv/secret.txt",
    "file:///srv/secret.txt/",
    "file:///srv/secret.txt/.",
    "file:///srv/secret.txt.",
    "file:///srv/secret.txt%20",
    "file:///srv/secret.txt::$DATA",
    "file:///SRV/SECRET.TXT",
    "file:///srv%2fsecret.txt",
    "file:///srv%5csecret.txt",
    "file:///srv\\secret.txt",
    "file:///srv/%73ecret.txt",
    "file:///srv/secret%2Etxt",
    "file:///srv/secret.txt?raw",
    "file:///srv/secret.txt#L1",
    "file://user@localhost/srv/secret.txt",
    "file://localhost:80/srv/secret.txt",
    "file%3a///srv/secret.txt",
];

const DENIED: &str = r#"
    allow = ["*"]
    deny = ["name:doc://secret", "name:file:///srv/secret.txt"]
"#;

#[tokio::test]
async fn no_spelling_of_what_is_denied_is_had() {
    let asks = DENIED.replace("deny", "ask");
    let guests = r#"
        allow = ["*"]
        [[rule]]
        when = { scope = "guest" }
        deny = ["*//secret", "*/srv/secret.*"]
    "#;
    let by_category = r#"
        allow = ["*"]
        deny = ["category:resource name:*secret*"]
    "#;
    let listed = "allow = [\"name:doc://open\", \"name:*://public/*\"]";
    for rules in [DENIED, &asks, guests, by_category, listed] {
        let fixture = SpellingFixture::under(rules).await;
        for uri in SPELLINGS {
            assert!(!fixture.has(uri).await, "{uri:?} under {rules}");
        }
        assert!(fixture.has("doc://open").await, "{rules}");
    }
}

#[tokio::test]
async fn what_is_another_resource_is_had_beside_one_that_is_denied() {
    let fixture = SpellingFixture::under(DENIED).await;
    for uri in [
        "doc://my%20open",
        "doc://public",
        "doc://public/page",
        "doc://Public/Page?size=3",
        "doc://secrets",
        "doc://z%C3%BCrich",
        "doc://z\u{fc}rich",
        "file:///srv/notes/today.txt",
        "https://example.com:8443/a?b=c#d",
        "npm://@types/node",
        "repo://name/src%2Fmain.rs",
    ] {
        assert!(fixture.has(uri).await, "{uri}");
    }
    // What is listed is had as it is listed.
    for uri in ["doc://OPEN", "doc://%6fpen", "doc://my open", "doc://my%2520open"] {
        assert!(!fixture.has(uri).await, "{uri}");
    }
}

#[tokio::test]
async fn without_such_a_rule_any_address_goes_to_its_server() {
    for rules in [
        "allow = [\"*\"]",
        "allow = [\"source:docs\"]\ndeny = [\"docs__delete_*\", \"other__*\", \"effect:destroy\"]",
        "allow = [\"*\"]\n[[rule]]\nwhen = { scope = \"visitor\" }\ndeny = [\"*secret*\"]",
    ] {
        let fixture = SpellingFixture::under(rules).await;
        for uri in SPELLINGS {
            assert!(fixture.has(uri).await, "{uri:?} under {rules}");
        }
    }
}

#[tokio::test]
async fn what_completes_a_template_names_nothing_that_is_kept_out() {
    let about = json!({
        "ref": { "type": "ref/resource", "uri": "doc://{name}" },
        "argument": { "name": "name", "value": "" },
    });
    for (rules, expected) in [
        (DENIED, json!({ "values": ["open"] })),
        ("allow = [\"*\"]", json!({ "values": ["secret", "SECRET/", "open"], "total": 3 })),
    ] {
        let fixture = SpellingFixture::new(Rules::parse(rules).unwrap(), "doc://{name}").await;
        let answer = fixture.ask(ResourceOperation::Completion, about.clone()).await.unwrap();
        assert_eq!(answer["completion"], expected, "{rules}");
    }
}

#[tokio::test]
async fn what_no_list_and_no_template_has_is_had_by_name_alone() {
    let template = "note://{id}";
    let rules = |more: &str| Rules::parse(&format!("allow = [\"*\"{more}]\ndeny = [\"*secret*\"]"));
    let free = SpellingFixture::new(Rules::parse("allow = [\"*\"]").unwrap(), template).await;
    let bound = SpellingFixture::new(rules("").unwrap(), template).await;
    let named = SpellingFixture::new(rules(", \"name:doc://public/*\"").unwrap(), template).await;
    let had = |uri: &'static str| {
        let rooms = [&free, &bound, &named];
        async move {
            let mut had = Vec::new();
            for fixture in rooms {
                // The library itself reads nothing that it does not know.
                let about = json!({
                    "ref": { "type": "ref/resource", "uri": uri },
                    "argument": { "name": "a", "value": "" },
                });
                had.push(fixture.ask(ResourceOperation::Completion, about).await.is_ok());
            }
            had
        }
    };
    assert_eq!(had("doc://alias").await, [true, false, false]);
    assert_eq!(had("doc://public/a").await, [true, false, true]);
    assert_eq!(had("doc://public/../alias").await, [true, false, false]);
    assert_eq!(had("note://a").await, [true, true, true]);
}

/// A spelling of the address that is denied, by a hand that tries.
fn respelled() -> impl Strategy<Value = String> {
    let letter = |letter: char| {
        let upper = letter.to_ascii_uppercase();
        let code = u32::from(letter);
        let wide = char::from_u32(0xff00 + code - 0x20).unwrap_or(letter);
        prop_oneof![
            6 => Just(letter.to_string()),
            1 => Just(upper.to_string()),
            1 => Just(format!("%{code:02x}")),
            1 => Just(format!("%{code:02X}")),
            1 => Just(format!("%25{code:02x}")),
            1 => Just(wide.to_string()),
            1 => Just(format!("{letter}\u{200d}")),
        ]
    };
    let slash = prop_oneof![
        6 => Just("/"),
        1 => Just("//"),
        1 => Just("/./"),
        1 => Just("/x/../"),
        1 => Just("/%2e/"),
        1 => Just("%2f"),
        1 => Just("\\"),
        1 => Just("/x/..%2f"),
        1 => Just(";v/"),
    ];
    let start = prop_oneof![
        4 => Just("file:///"),
        1 => Just("FILE:///"),
        1 => Just("fIlE://localhost/"),
        1 => Just("file:/"),
        1 => Just("file:"),
        1 => Just("file:////"),
        1 => Just("file://me@localhost:80/"),
    ];
    let end = prop_oneof![
        4 => Just(""),
        1 => Just("/"),
        1 => Just("."),
        1 => Just("?a=b"),
        1 => Just("#c"),
        1 => Just("%20"),
        1 => Just(" "),
        1 => Just("%00"),
        1 => Just("::$DATA"),
        1 => Just(";type=a"),
        1 => Just("/.. "),
    ];
    let word = |word: &'static str| word.chars().map(letter).collect::<Vec<_>>();
    (start, word("srv"), slash, word("secret.txt"), end).prop_map(
        |(start, srv, slash, file, end)| {
            format!("{start}{}{slash}{}{end}", srv.concat(), file.concat())
        },
    )
}

proptest! {
    #[test]
    fn no_random_spelling_of_what_is_denied_is_had(uri in respelled()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for rules in [DENIED, "allow = [\"*\"]\nask = [\"*/secret.txt\"]"] {
                let fixture = SpellingFixture::under(rules).await;
                assert!(!fixture.has(&uri).await, "{uri:?} under {rules}");
            }
        });
    }
}
