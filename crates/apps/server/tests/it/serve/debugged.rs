//! What was asked of the model of a run, for whoever looks for a fault.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::serving;
use crate::keep::killed;

const FILE: &str = "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n";

#[test]
fn a_run_tells_its_caller_what_was_asked_and_the_operator_why_it_failed_over_a_kill() {
    let down = || ScriptedTurn::Refuses(500, Vec::new(), "full: /srv/models".to_owned());
    let counts = || ScriptedTurn::call("text_count", json!({ "text": "a" }));
    let turns = [counts(), down(), down(), down(), counts(), down(), down(), down()];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, FILE);
    let other = serving.token_of("other");
    let body = json!({ "input": "Count.", "wait": true }).to_string();
    let own = serving.ask("POST", "/v1/runs", &body).json();
    let theirs = serving.ask_as(&other, "POST", "/v1/runs", &body).json();
    assert_eq!((&own["stop"], &theirs["stop"]), (&json!("fault"), &json!("fault")), "{theirs}");
    assert!(own["debug"].is_null(), "{own}");

    let serving = killed(serving);
    let path = |run: &Value| format!("/v1/runs/{}?debug=true", run["id"].as_str().unwrap());
    let shown = serving.ask("GET", &path(&own), "").json()["debug"].clone();
    let kinds: Vec<_> = shown.as_array().unwrap().iter().map(|one| &one["purpose"]).collect();
    assert_eq!(kinds, ["turn", "turn"], "{shown}");
    let tools = shown[0]["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("text_count")), "{shown}");
    assert_eq!((&shown[0]["entries"], &shown[1]["entries"]), (&json!(1), &json!(3)), "{shown}");
    assert_eq!(shown[1]["fault"]["detail"], "full: /srv/models", "{shown}");
    let shown = serving.ask_as(&other, "GET", &path(&theirs), "");
    let fault = shown.json()["debug"][1]["fault"].clone();
    assert_eq!(fault["kind"], "unavailable", "{shown:?}");
    assert!(!shown.body.contains("/srv/models"), "{shown:?}");
    assert_eq!(serving.ask_as(&other, "GET", &path(&own), "").status, 404);
    // So it is with the events.
    let path = |run: &Value| format!("/v1/runs/{}/events", run["id"].as_str().unwrap());
    let told = serving.ask("GET", &path(&own), "").body;
    assert!(told.contains("/srv/models"), "{told}");
    let told = serving.ask_as(&other, "GET", &path(&theirs), "").body;
    assert!(told.contains("unavailable") && !told.contains("/srv/models"), "{told}");
}
