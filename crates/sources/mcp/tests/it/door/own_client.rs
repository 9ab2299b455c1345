//! Our own source in front of our own door: what went in at one end comes out at the other.

use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{AllowAll, Caller, CribLimits, PlanRequest, Secret, Source, SourceId};
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpEra, McpServerSettings, McpTransport};

use super::support::open;
use crate::over_http;
use crate::support::{crib, run, settings, source, until};

#[tokio::test]
async fn calls_go_through_the_door_between_all_eras() {
    for upstream in ["legacy", "modern"] {
        let inner = crib(&source(settings(&[upstream]))).await;
        let url = open(inner.clone(), &[], McpServerSettings::default()).await;
        for era in [McpEra::Legacy, McpEra::Modern] {
            let near = source(in_front_of(&url, era));
            let outer = crib(&near).await;
            let names = |crib: &toolcrib_engine::Crib| {
                let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
                plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect::<Vec<_>>()
            };
            assert_eq!(names(&outer), names(&inner));
            assert_eq!(near.status().era, Some(era));
            let cell = format!("{upstream} behind, {era:?} in front");
            let echo = run(&outer, "echo", json!({ "text": "hi" })).await;
            assert_eq!(echo.text(), r#"{"text":"hi"}"#, "{cell}");
            let fail = run(&outer, "fail", json!({})).await;
            assert_eq!(fail.text(), run(&inner, "fail", json!({})).await.text(), "{cell}");
            let (rich, whole) =
                (run(&outer, "rich", json!({})).await, run(&inner, "rich", json!({})).await);
            assert_eq!(known(&rich), known(&whole), "{cell}");
        }
    }
}

#[tokio::test]
async fn a_client_of_each_era_is_told_when_the_list_changes() {
    for era in [McpEra::Legacy, McpEra::Modern] {
        let (one, two) = (source(settings(&["modern"])), source(settings(&["modern", "pages=2"])));
        let placed = |id: &str, source| (SourceId::new(id), source, Duration::from_mins(1));
        let first = placed("one", Arc::clone(&one) as Arc<dyn Source>);
        let inner = Crib::builder().policy(AllowAll).placed(first.clone()).build().await;
        let url = open(inner.clone(), &[], McpServerSettings::default()).await;
        let outer = crib(&source(in_front_of(&url, era))).await;
        let has = || outer.catalog().get("tool_1").is_some();
        assert!(!has());
        let both = [first, placed("two", two)];
        inner.replace(both, Arc::new(AllowAll), CribLimits::default()).await;
        until(&format!("{era:?} knows the new tool"), has).await;
    }
}

/// A client of one era at this door.
pub(super) fn in_front_of(url: &str, era: McpEra) -> toolcrib_mcp::McpSourceSettings {
    let mut settings = over_http::settings(url);
    if let (McpTransport::Http(http), McpEra::Legacy) = (&mut settings.transport, era) {
        http.headers.push(("x-era".to_owned(), Secret::new("old")));
    }
    settings
}

/// The content but for blocks that nobody knows, which go out as words.
fn known(response: &toolcrib_core::Response) -> toolcrib_core::Content {
    let mut content = response.content().unwrap().clone();
    for part in &mut content.parts {
        if let toolcrib_core::Part::Text { extra, .. } = part {
            extra.retain(|key, _| key != "type" && key != "beam" || key == "resource");
        }
    }
    content
}
