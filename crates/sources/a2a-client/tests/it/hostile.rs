//! Agents that hang, flood, lie and point elsewhere.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_a2a_client::{A2aCredential, A2aSettings};
use toolcrib_core::{ErrorKind, Secret, ToolOutcome};
use url::Url;

use crate::crib::{Agency, load, settings};
use crate::stand_in::{
    StandIn, StreamEnd, artifact, card, endless, events, plain, refusal, result, status, task, with,
};

async fn told(settings: A2aSettings) -> String {
    let error = load(settings).await.err().unwrap();
    let mut text = error.to_string();
    let mut next = std::error::Error::source(&error);
    while let Some(cause) = next {
        text.push_str(" / ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

#[tokio::test]
async fn an_endless_card_is_read_up_to_its_bound() {
    let agent = StandIn::start(|_, _| endless("application/json", &" ".repeat(64 * 1024))).await;
    let told = told(settings(&format!("{}/card", agent.base))).await;
    assert!(
        told.contains("is larger than 1048576 bytes: correct `card`, or raise `limits.card`"),
        "{told}"
    );
}

#[tokio::test]
async fn a_card_may_point_to_public_places_alone_and_takes_no_credential_there() {
    let inner = StandIn::start(|_, base| plain(&card(base, false))).await;
    let target = format!("{}/inner", inner.base);
    let agent = StandIn::start(move |_, _| with(302, &[("location", &target)], "")).await;
    let told = told(settings(&format!("{}/card", agent.base))).await;
    assert!(told.contains("it is not a public address"), "{told}");
    assert!(told.contains("a place that others name must be public"), "{told}");
    assert_eq!(inner.asked().len(), 0);
    // What the operator opens may be reached, and is not told who we are.
    let mut open = settings(&format!("{}/card", agent.base));
    open.network.private.push("127.0.0.0/8".parse().unwrap());
    open.credential = Some(A2aCredential::Bearer(Secret::new("the-token")));
    let refused = self::told(open).await;
    assert!(refused.contains("set `url` of this source if it is meant"), "{refused}");
    let (at_agent, at_inner) = (agent.asked(), inner.asked());
    assert_eq!(at_agent.last().unwrap().headers["authorization"], "Bearer the-token");
    assert_eq!(at_inner[0].headers.get("authorization"), None);
}

#[tokio::test]
async fn a_card_that_names_an_inner_place_is_refused_when_it_is_read() {
    let agent = StandIn::start(|_, _| plain(&card("http://127.0.0.2:9", false))).await;
    let told = told(settings(&agent.base)).await;
    assert!(told.starts_with("the card says that the agent is at `http://127.0.0.2:9`"), "{told}");
    assert!(
        told.contains("set `url` of this source, or open its address under `private`"),
        "{told}"
    );
}

#[tokio::test]
async fn a_card_that_offers_nothing_that_is_spoken_here_is_refused_with_what_it_offers() {
    let agent = StandIn::start(|_, base| {
        let mut card = card(base, false);
        card["supportedInterfaces"] = json!([
            { "url": "https://a.example/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0" },
            { "url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "2.4" },
        ]);
        plain(&card)
    })
    .await;
    let text = told(settings(&agent.base)).await;
    assert_eq!(
        text,
        "the agent offers `GRPC` 1.0 at `https://a.example/grpc`, `JSONRPC` 2.4 at \
         `https://a.example/`, and here `JSONRPC` and `HTTP+JSON` of 1.0 and 0.3 are spoken: have \
         it offer one of them, or set `version` of this source if the card is wrong"
    );
}

#[tokio::test]
async fn what_is_no_card_and_no_agent_is_told_with_the_cure() {
    let agent = StandIn::start(|asked, _| match asked.line.as_str() {
        "GET /page" => with(200, &[("content-type", "text/html")], "<h1>Hello</h1>"),
        "GET /list" => plain(&json!([1, 2])),
        "GET /locked" => with(401, &[], ""),
        _ => with(404, &[], ""),
    })
    .await;
    for (path, cure) in [
        ("/page", "is no JSON: correct `card` of this source"),
        ("/list", "is no card of an agent: correct `card`"),
        ("/locked", "is refused (HTTP 401): check `auth` of this source"),
        ("/gone", "there is no card at"),
        ("", "has no card at `/.well-known/agent-card.json` nor at `/.well-known/agent.json`"),
    ] {
        let told = told(settings(&format!("{}{path}", agent.base))).await;
        assert!(told.contains(cure), "{told}");
    }
    let silent = told(settings("http://127.0.0.1:9/card")).await;
    assert!(silent.contains("start the agent, or correct `card` of this source"), "{silent}");
}

#[tokio::test]
async fn an_agent_that_lies_about_its_version_is_told_of_with_the_cure() {
    for code in [-32009, -32601] {
        let agent = StandIn::start(move |asked, base| match asked.method().as_str() {
            "SendMessage" => refusal(code, "I speak something else"),
            _ => plain(&card(base, false)),
        })
        .await;
        let said = Agency::open(settings(&agent.base)).await.say("hello").await;
        assert!(said.text().contains("set `version` of this source"), "{said:?}");
    }
}

#[tokio::test]
async fn an_agent_that_hangs_costs_no_more_than_the_time_of_the_call() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendStreamingMessage" => events(&[], StreamEnd::Hang),
        _ => plain(&card(base, true)),
    })
    .await;
    let mut settings = settings(&agent.base);
    settings.timeout = Duration::from_millis(300);
    let began = Instant::now();
    let said = Agency::open(settings).await.say("hello").await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let ToolOutcome::Failed(error) = &said.outcome else { panic!("{said:?}") };
    assert_eq!(error.kind, ErrorKind::UnknownOutcome, "{said:?}");
}

#[tokio::test]
async fn a_flood_is_cut_off_and_its_task_cancelled() {
    let words = "x".repeat(64 * 1024);
    let flood = |event: &Value| {
        let event = json!({ "jsonrpc": "2.0", "id": 1, "result": event });
        format!("data: {event}\n\n")
    };
    let floods = [
        (flood(&status("TASK_STATE_WORKING", &words)), 67_108_864_u64),
        (flood(&artifact("a", &words, true)), 8_388_608),
        (format!("data: {words}"), 8_388_608),
    ];
    for (chunk, most) in floods {
        let agent = StandIn::start(move |asked, base| match asked.method().as_str() {
            "SendStreamingMessage" => endless("text/event-stream", &chunk),
            "CancelTask" => result(task("TASK_STATE_CANCELED", json!({}))),
            _ => plain(&card(base, true)),
        })
        .await;
        let said = Agency::open(settings(&agent.base)).await.say("hello").await;
        assert!(said.text().contains(&format!("sent more than {most} bytes")), "{said:?}");
    }
}

#[tokio::test]
async fn an_answer_of_a_hundred_megabytes_is_not_kept() {
    let agent = StandIn::start(|asked, base| match asked.method().as_str() {
        "SendMessage" => endless("application/json", &"[".repeat(64 * 1024)),
        _ => plain(&card(base, false)),
    })
    .await;
    let said = Agency::open(settings(&agent.base)).await.say("hello").await;
    assert!(said.text().contains("larger than 8388608 bytes"), "{said:?}");
}

#[tokio::test]
async fn a_message_follows_no_redirect() {
    let inner = StandIn::start(|_, base| plain(&card(base, false))).await;
    let target = inner.base.clone();
    let agent = StandIn::start(move |asked, base| match asked.method().as_str() {
        "SendMessage" => with(307, &[("location", &target)], ""),
        _ => plain(&card(base, false)),
    })
    .await;
    let said = Agency::open(settings(&agent.base)).await.say("hello").await;
    assert!(said.text().contains("messages follow no redirect: set `url`"), "{said:?}");
    assert_eq!(inner.asked().len(), 0);
}

#[tokio::test]
async fn no_answer_shows_the_credential_elsewhere_than_it_is_for() {
    let agent = StandIn::start(|asked, _| match asked.method().as_str() {
        "GET /.well-known/agent-card.json" => plain(&card("https://elsewhere.example", false)),
        _ => result(json!({})),
    })
    .await;
    let mut settings = settings(&agent.base);
    settings.credential = Some(A2aCredential::Bearer(Secret::new("the-token")));
    let refused = told(settings.clone()).await;
    assert!(refused.contains("at `https://elsewhere.example`, and the credential"), "{refused}");
    settings.url = Some(Url::parse(&format!("{}/rpc", agent.base)).unwrap());
    load(settings).await.unwrap();
}
