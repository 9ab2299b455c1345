//! What the file says of a remote agent, as its source gets it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolcrib_a2a_client::protocol::wire::{ProtocolBinding, ProtocolVersion};
use toolcrib_a2a_client::{
    A2aBounds, A2aCredential, A2aSettings, A2aSource, A2aTools, ConversationScope,
};
use toolcrib_config::{Config, Disclosure, SourceFactory};
use toolcrib_core::{Secret, Source, SourceId};
use toolcrib_mcp::McpSourceSettings;
use toolcrib_openapi::ApiSettings;
use url::Url;

use crate::workshop::{Workshop, config};

/// Keeps what it is to make sources of.
#[derive(Default)]
struct Listening(Mutex<Vec<A2aSettings>>);

impl SourceFactory for Listening {
    fn mcp(&self, _: &str, _: McpSourceSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }

    fn api(&self, _: &str, _: ApiSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }

    fn agent(&self, id: &str, settings: A2aSettings) -> Arc<dyn Source> {
        self.0.lock().unwrap().push(settings.clone());
        Arc::new(A2aSource::new(SourceId::new(id), settings))
    }
}

const WHOLE: &str = r#"
[[source]]
id = "usual"
a2a = { card = "https://agent.example" }

[[source]]
id = "whole"
[source.a2a]
card = "https://agent.example/card.json"
url = "https://other.example/rpc"
transport = "http+json"
version = "0.3"
auth = { bearer = "${env:TOKEN}" }
headers = { X-Team = "red" }
keys = [{ kty = "OKP", crv = "Ed25519", x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }]
private = ["10.0.0.0/8"]
by = "skill"
reuse = true
input_schema = { type = "object", properties = { city = { type = "string" } } }
timeout = "2h"
poll = "5s"
limits = { answer = "16MiB" }
"#;

#[test]
fn all_that_the_file_says_of_an_agent_reaches_its_source() {
    let workshop = Workshop::default();
    workshop.set("TOKEN", "the-token");
    let heard = Listening::default();
    let built = config(WHOLE).build(&workshop, &heard);
    let [usual, whole] = <[A2aSettings; 2]>::try_from(heard.0.into_inner().unwrap()).unwrap();
    let address = |text: &str| Url::parse(text).unwrap();
    assert_eq!(usual, A2aSettings::new(address("https://agent.example/")));
    let mut wanted = A2aSettings::new(address("https://agent.example/card.json"));
    wanted.url = Some(address("https://other.example/rpc"));
    wanted.binding = Some(ProtocolBinding::HttpJson);
    wanted.version = Some(ProtocolVersion::V03);
    wanted.credential = Some(A2aCredential::Bearer(Secret::new("the-token")));
    wanted.headers = vec![("X-Team".to_owned(), Secret::new("red"))];
    wanted.network.private.push("10.0.0.0/8".parse().unwrap());
    wanted.tools = A2aTools::Skill;
    wanted.conversation = ConversationScope::Session;
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    wanted.input = schema.as_object().cloned();
    wanted.timeout = Duration::from_hours(2);
    wanted.poll = Duration::from_secs(5);
    wanted.bounds = A2aBounds { answer: 16 << 20, ..A2aBounds::default() };
    let keys = whole.keys.clone().unwrap();
    assert_eq!(
        keys.print,
        r#"[{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]"#
    );
    wanted.keys = Some(keys);
    assert_eq!(whole, wanted);
    assert_eq!(built.redactor.text("the-token"), "[secret]");
}

#[test]
fn where_an_agent_is_and_what_it_is_sent_is_told_before_it_is_trusted() {
    assert_eq!(
        config(WHOLE).reaches(Disclosure::Whole),
        [
            "`usual` asks the agent of https://agent.example/",
            "`whole` asks the agent at https://other.example/rpc (card: \
             https://agent.example/card.json) with ${env:TOKEN}",
        ]
    );
}

#[test]
fn what_is_wrong_of_an_agent_is_told_with_its_place_and_its_cure() {
    for (a2a, place, words) in [
        ("{ card = \"https://a.example\", keys = [] }", "source[0].a2a.keys", "add a key"),
        (
            "{ card = \"https://a.example\", keys = [{ kty = \"OKP\", d = \"x\" }] }",
            "source[0].a2a.keys[0]",
            "write its public half here",
        ),
        (
            "{ card = \"https://a.example\", keys = [{ kty = \"oct\" }] }",
            "source[0].a2a.keys[0]",
            "write a key of P-256",
        ),
        ("{ card = \"agent.json\" }", "source[0].a2a.card", "write it as `https://host/path`"),
        ("{ card = \"https://a.example\", auth = {} }", "source[0].a2a.auth", "add `bearer`"),
        (
            "{ card = \"https://a.example\", auth = { bearer = \"${env:A}\", key = \"${env:B}\" } }",
            "source[0].a2a.auth",
            "keep one of them",
        ),
        (
            "{ card = \"https://a.example\", auth = { bearer = \"${env:A}\" }, headers = { \
             Authorization = \"${env:B}\" } }",
            "source[0].a2a.headers",
            "remove the header `Authorization`, or `auth`",
        ),
        (
            "{ card = \"https://a.example\", input_schema = { type = \"string\" } }",
            "source[0].a2a.input_schema",
            "write `type = \"object\"`",
        ),
        (
            "{ card = \"https://a.example\", input_schema = {}, message = \"Ask.\" }",
            "source[0].a2a.message",
            "describe it in `input_schema`",
        ),
        (
            "{ card = \"https://a.example\", limits = { answer = \"1GiB\" } }",
            "source[0].a2a.limits.answer",
            "write `256MiB` or less",
        ),
        ("{ card = \"https://a.example\", version = \"2.0\" }", "source[0].a2a.version", ""),
    ] {
        let text = format!("[[source]]\nid = \"agent\"\na2a = {a2a}\n");
        let read = Config::read(&text, "crib.toml");
        let problems: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
        let told = problems.iter().any(|told| told.contains(place) && told.contains(words));
        assert!(told, "{a2a}: {problems:?}");
    }
}
