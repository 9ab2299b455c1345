//! From a file to sources, policy and limits.

use std::time::Duration;

use toolcrib_config::{Config, CribParts, FailedSource};
use toolcrib_core::{
    Arguments, Caller, Effect, Intent, Policy, SourceId, ToolSpec, Validation, ValidationOrigin,
    Verdict,
};
use toolcrib_engine::{Crib, CribBuilder};
use toolcrib_testkit::spec;

use crate::workshop::{Workshop, config};

fn built(text: &str, workshop: &Workshop) -> CribParts {
    config(text).build(workshop, workshop)
}

pub(crate) async fn crib(built: &CribParts) -> Crib {
    let builder = Crib::builder().policy(std::sync::Arc::clone(&built.policy));
    built.sources.iter().cloned().fold(builder, CribBuilder::placed).build().await
}

pub(crate) fn names(crib: &Crib) -> Vec<String> {
    crib.catalog().tools().iter().map(|listed| listed.spec.name.as_str().to_owned()).collect()
}

/// A source under wishes of every kind.
const WISHES: &str = r#"
[[source]]
id = "clock"
basics = ["time_now", "time_convert", "time_between"]
exclude = ["*_between"]

[[source]]
id = "words"
prefix = ""
basics = true
include = ["text_*", "uuid_new"]
exclude = ["text_case"]

[[source]]
id = "off"
enabled = false
basics = true

[tool.clock__time_now]
enabled = false
exclusive = true
capability = true
takes_control = true
companions = ["uuid_new"]
effect = "destroy"
idempotent = true
timeout = "5s"
max_result = "1KiB"
retries = 0
title = "Now"
summary = "s"
description = "d"
category = "c"
actions = ["a"]
tags = ["t"]
aliases = ["o'clock"]
examples = ["how late is it"]
checks = ["k"]
approval = "because"
validation = "strict"
guidance = { system = "g", reminder = "r" }
"#;

#[tokio::test]
async fn a_source_is_fitted_to_the_wishes_of_the_file() {
    let built = built(WISHES, &Workshop::default());
    let crib = crib(&built).await;
    assert_eq!(
        names(&crib),
        [
            "clock__time_now",
            "clock__time_convert",
            "text_count",
            "text_replace",
            "text_lines",
            "uuid_new"
        ]
    );
    let catalog = crib.catalog();
    let now = &catalog.get("clock__time_now").unwrap().spec;
    assert_eq!(**now, wished());
}

/// What `WISHES` make of a tool.
fn wished() -> ToolSpec {
    let mut expected = ToolSpec::clone(
        &toolcrib_basics::tools().prefix("clock").unwrap().get("clock__time_now").unwrap().spec,
    );
    expected.enabled = false;
    expected.traits.exclusive = true;
    expected.traits.capability = true;
    expected.traits.takes_control = true;
    expected.traits.companions = vec!["uuid_new".to_owned().try_into().unwrap()];
    expected.aliases = vec!["o'clock".to_owned()];
    expected.examples = vec!["how late is it".to_owned()];
    expected.effect = Effect::Destroy;
    expected.idempotent = true;
    expected.limits.timeout = Some(Duration::from_secs(5));
    expected.limits.max_result_bytes = Some(1024);
    expected.limits.retries = Some(0);
    expected.title = Some("Now".into());
    expected.summary = "s".into();
    expected.description = "d".into();
    expected.category = Some("c".into());
    expected.actions = vec!["a".into()];
    expected.tags = vec!["t".into()];
    expected.checks = vec!["k".into()];
    expected.approval = Some("because".into());
    expected.validation = Validation::Strict;
    expected.validation_said = ValidationOrigin::Tool;
    let guidance = std::sync::Arc::make_mut(&mut expected.guidance);
    (guidance.system, guidance.reminder) = ("g".into(), "r".into());
    expected.origin.source = SourceId::new("clock");
    expected
}

#[tokio::test]
async fn a_missing_secret_costs_its_source_alone() {
    let text = r#"
[[source]]
id = "good"
mcp = { url = "https://x/", bearer = "${env:GOOD}" }

[[source]]
id = "bad"
mcp = { command = ["x"], env = { A = "${env:NOWHERE}", B = "${file:/no/such/file}" } }

[[source]]
id = "clock"
basics = true
"#;
    let workshop = Workshop::default();
    workshop.set("GOOD", "a");
    let built = built(text, &workshop);
    let reason = "`${env:NOWHERE}` is not set: export it before the start; \
                  `${file:/no/such/file}` cannot be read (entity not found): check the path";
    assert_eq!(built.failed, [FailedSource { id: SourceId::new("bad"), reason: reason.into() }]);
    let crib = crib(&built).await;
    let states = crib.sources();
    let errors: Vec<_> = states.iter().map(|state| state.error.as_deref()).collect();
    assert_eq!(errors, [None, Some(reason), None]);
    assert!(names(&crib).contains(&"good__echo".to_owned()));
}

#[tokio::test]
async fn a_name_that_becomes_too_long_is_told_with_its_cure() {
    let text = "[[source]]\nid = \"long\"\nmcp = { command = [\"long\"] }\n";
    let crib = crib(&built(text, &Workshop::default())).await;
    assert_eq!(crib.sources()[0].error, None);
    let catalog = crib.catalog();
    let reason = catalog.quarantined()[0].reason.to_string();
    let told = "behind `long__` its name is longer than 128 characters: set a shorter `prefix`";
    assert!(reason.starts_with(told), "{reason}");
}

async fn verdict(policy: &dyn Policy, tool: &ToolSpec) -> Verdict {
    let (caller, arguments) = (Caller::local(), Arguments::default());
    let verdict = policy.decide(Intent { caller: &caller, tool, arguments: &arguments }).await;
    if !policy.sees(&caller, tool) {
        assert!(matches!(verdict, Verdict::Deny(_)), "hidden, and {verdict:?}");
    }
    verdict
}

#[tokio::test]
async fn a_profile_narrows_what_the_file_permits() {
    let text = r#"
deny = ["tag:secret"]
allow = ["*"]

[limits]
max_calls = 7
per_source = 3

[[source]]
id = "a"
basics = true

[[source]]
id = "b"
basics = true
prefix = "b"

[profile.plain]

[profile.narrow]
sources = ["a"]
allow = ["effect:read"]
ask = ["effect:write"]
max_calls = 2
"#;
    let built = built(text, &Workshop::default());
    let tool = |source: &str, effect, tag: &str| {
        let mut tool = spec("t", effect);
        tool.origin.source = SourceId::new(source);
        tool.tags = vec![tag.to_owned()];
        tool
    };
    let (read, write) = (tool("a", Effect::Read, ""), tool("a", Effect::Write, ""));
    let (secret, other) = (tool("a", Effect::Read, "secret"), tool("b", Effect::Read, ""));
    let destroy = tool("a", Effect::Destroy, "");
    let denied = Verdict::Deny("the rules do not permit it".into());
    let ask = Verdict::Ask("the rules ask for consent".into());
    let narrow = &built.views["narrow"];
    let mut verdicts = Vec::new();
    for tool in [&read, &write, &destroy, &secret, &other] {
        let plain = verdict(&*built.views["plain"].policy, tool).await;
        assert_eq!(plain, verdict(&*built.policy, tool).await);
        verdicts.push((plain, verdict(&*narrow.policy, tool).await));
    }
    let allow = Verdict::Allow;
    assert_eq!(
        verdicts,
        [
            (allow.clone(), allow.clone()),
            (allow.clone(), ask),
            (allow.clone(), denied.clone()),
            (denied.clone(), denied.clone()),
            (allow, denied),
        ]
    );
    assert_eq!((built.limits.max_calls, built.limits.per_source), (7, 3));
    assert_eq!((narrow.limits.max_calls, narrow.limits.per_source), (2, 3));
}

#[tokio::test]
async fn a_list_without_a_pattern_permits_nothing() {
    let denied = Verdict::Deny("the rules do not permit it".into());
    let read = spec("t", Effect::Read);
    for list in ["allow = []", "ask = []", "deny = []", "rule = []"] {
        let top = built(&format!("{list}\n"), &Workshop::default());
        assert_eq!(verdict(&*top.policy, &read).await, denied, "{list}");
        if list != "rule = []" {
            let profile = format!("allow = [\"*\"]\n[profile.p]\n{list}\n");
            let profile = built(&profile, &Workshop::default());
            assert_eq!(verdict(&*profile.views["p"].policy, &read).await, denied, "{list}");
            assert_eq!(verdict(&*profile.policy, &read).await, Verdict::Allow, "{list}");
        }
    }
}

#[tokio::test]
async fn without_rules_what_may_destroy_is_asked_about() {
    let built = built("[profile.p]\nsources = []\n", &Workshop::default());
    let asked = verdict(&*built.policy, &spec("t", Effect::Destroy)).await;
    assert_eq!(asked, Verdict::Ask("it may destroy data".into()));
    let none = verdict(&*built.views["p"].policy, &spec("t", Effect::Read)).await;
    assert_eq!(none, Verdict::Deny("the rules do not permit it".into()));
}

/// What is told of the tools that a file names, once its sources are there.
async fn strangers(text: &str) -> Vec<String> {
    let config = config(text);
    let workshop = Workshop::default();
    let crib = crib(&config.build(&workshop, &workshop)).await;
    config.strangers(&crib.catalog()).iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn names_of_tools_that_nobody_has_are_told() {
    let text = r#"
[[source]]
id = "clock"
basics = ["time_now"]

[tool.clock__time_noww]
enabled = false

[tool.clock__time_now]
companions = ["x"]

[assign]
Ann = ["clock__time_now", "time_now"]
"#;
    assert_eq!(
        strangers(text).await,
        [
            "crib.toml:6:1: tool.clock__time_noww: there is no tool `clock__time_noww` now; did \
             you mean `clock__time_now`?",
            "crib.toml:10:15: tool.clock__time_now.companions[0]: there is no tool `x` now; use \
             one of `clock__time_now`",
            "crib.toml:13:27: assign.Ann[1]: there is no tool `time_now` now; use one of \
             `clock__time_now`",
        ]
    );
}

#[tokio::test]
async fn a_lookup_that_can_never_be_made_is_told() {
    let text = r#"
[[source]]
id = "clock"
prefix = ""
basics = ["time_now", "text_count", "text_case", "text_lines"]

[tool.time_now.verify]
tool = "time_noww"

[tool.text_case]
effect = "write"
verify = { tool = "time_now" }

[tool.text_lines]
approval = "it is late"
verify = { tool = "text_case" }

[tool.text_count.verify]
tool = "text_lines"
"#;
    assert_eq!(
        strangers(text).await,
        [
            "crib.toml:8:8: tool.time_now.verify.tool: there is no tool `time_noww` now; did you \
             mean `time_now`?",
            "crib.toml:16:19: tool.text_lines.verify.tool: `text_case` does not only read, so no \
             call is looked up by it; name one that reads, or write `effect = \"read\"` at it if \
             it does",
            "crib.toml:19:8: tool.text_count.verify.tool: `text_lines` wants a person's yes, so no \
             call is looked up by it; name one without `approval`",
        ]
    );
}

#[test]
fn what_the_file_only_names_is_looked_for() {
    let folder = std::env::temp_dir().join(format!("crib-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("open.key"), "secret\n").unwrap();
    std::fs::write(folder.join("api.json"), "{}").unwrap();
    let text = r#"
[store]
url = "${env:NO_STORE}"

[[source]]
id = "a"
openapi = { document = "api.json", auth = { key = "${file:open.key}" } }

[[source]]
id = "b"
openapi = { document = "gone.json" }

[[source]]
id = "c"
mcp = { command = ["no-such-program"], cwd = "gone" }

[[source]]
id = "d"
mcp = { command = ["sh"] }
"#;
    let workshop = Workshop::default();
    workshop.set("PATH", "/nowhere:/bin:/usr/bin");
    let file = folder.join("crib.toml");
    let read = Config::read(text, file.to_str().unwrap());
    let (problems, warnings) = read.config.unwrap().examine(&workshop);
    let shown = |list: &[toolcrib_config::ConfigProblem]| -> Vec<String> {
        let lines = list.iter().map(ToString::to_string);
        lines.map(|line| line.replace(folder.to_str().unwrap(), "")).collect()
    };
    assert_eq!(
        shown(&problems),
        [
            "/crib.toml:3:7: store.url: `${env:NO_STORE}` is not set; export it before the start",
            "/crib.toml:11:24: source[1].openapi.document: there is no file `/gone.json`; correct \
             the path",
            "/crib.toml:15:46: source[2].mcp.cwd: there is no folder `/gone`; make it, or correct \
             the path",
        ]
    );
    assert_eq!(
        shown(&warnings),
        [
            "/crib.toml:7:51: source[0].openapi.auth.key: others can read the file of \
             `${file:open.key}`; run `chmod 600` on it",
            "/crib.toml:15:20: source[2].mcp.command[0]: no program `no-such-program` is found; \
             install it, or name its whole path",
        ]
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
