//! Toolsets: tools that are meant together, wherever patterns and names of tools are written.

use std::sync::Arc;

use toolcrib_config::Config;
use toolcrib_core::{Caller, CribLimits, Discovery, Exposure, PlanRequest};
use toolcrib_engine::Crib;
use toolcrib_engine::policy::OnlyTools;
use toolcrib_engine::rules::ToolPatterns;

use crate::build::crib;
use crate::workshop::{Workshop, config};

/// Two sources, with sets across them.
const FILE: &str = r#"
deny = ["toolset:words effect:write"]
allow = ["toolset:clock", "toolset:words"]

[[source]]
id = "a"
basics = ["time_now", "time_between", "text_case", "uuid_new"]

[[source]]
id = "b"
basics = ["time_now", "text_lines"]

[tool.b__text_lines]
effect = "write"

[toolset.clock]
tools = ["*__time_*"]
title = "The clock"
summary = "Tells the time."

[toolset.words]
tools = ["source:b", "a__text_case"]

[profile.clock]
allow = ["toolset:clock"]
discovery = "lazy"
eager = ["toolset:clock source:b"]

[[tests]]
tool = { name = "a__time_now", effect = "read" }
expect = "allow"

[[tests]]
tool = { name = "b__anything", source = "b", effect = "write" }
expect = "deny"
"#;

fn problems(text: &str) -> Vec<String> {
    Config::read(text, "crib.toml").problems.iter().map(ToString::to_string).collect()
}

async fn built(text: &str) -> Crib {
    let workshop = Workshop::default();
    crib(&config(text).build(&workshop, &workshop)).await
}

fn shown(crib: &Crib, request: PlanRequest) -> Vec<String> {
    let plan = crib.plan(&Caller::local(), request).unwrap();
    let listed = plan.tools().filter(|tool| tool.exposure == Exposure::Listed);
    listed.map(|tool| tool.listed.spec.name.to_string()).collect()
}

#[tokio::test]
async fn a_toolset_is_meant_where_patterns_are_written() {
    let crib = built(FILE).await;
    // `b__text_lines` is denied as a writer, `a__uuid_new` is in no set.
    let seen = ["a__time_now", "a__time_between", "a__text_case", "b__time_now"];
    assert_eq!(shown(&crib, PlanRequest::default()), seen);

    let workshop = Workshop::default();
    let parts = config(FILE).build(&workshop, &workshop);
    let view = &parts.views["clock"];
    let profile = crib.with_policy(Arc::clone(&view.policy), view.limits.clone());
    profile.set_discovery(view.discovery.clone());
    let listed = shown(&profile, PlanRequest::default());
    assert_eq!(listed[0], "b__time_now");
    assert!(!listed.iter().any(|name| name == "a__time_now"), "{listed:?}");
    assert_eq!(
        shown(&profile, PlanRequest::default().show(Discovery::Direct)),
        ["a__time_now", "a__time_between", "b__time_now"]
    );

    let clock = ToolPatterns::read(&["toolset:clock source:a"]).unwrap();
    let agent = crib.narrowed(Arc::new(OnlyTools::new(clock)));
    assert_eq!(shown(&agent, PlanRequest::default()), ["a__time_now", "a__time_between"]);
}

#[tokio::test]
async fn a_request_names_toolsets_where_it_names_tools() {
    let crib = built(FILE).await;
    let chosen = PlanRequest::default().choose("toolset:clock");
    let plan = crib.plan(&Caller::local(), chosen.clone()).unwrap();
    assert_eq!(shown(&crib, chosen.clone()), ["a__time_now", "a__time_between", "b__time_now"]);
    // A model may use what it needs of a set; what is chosen by name it must call.
    assert_eq!(plan.forced().count(), 0);
    let both = chosen.clone().choose("a__text_case");
    let plan = crib.plan(&Caller::local(), both).unwrap();
    let forced: Vec<_> = plan.forced().map(|tool| tool.listed.spec.name.to_string()).collect();
    assert_eq!((forced.as_slice(), plan.tools().count()), (&["a__text_case".to_owned()][..], 4));

    let without = PlanRequest::default().disable("toolset:clock");
    assert_eq!(shown(&crib, without), ["a__text_case"]);
    let hidden = PlanRequest::default().hide("toolset:clock");
    assert_eq!(shown(&crib, hidden), ["a__text_case"]);

    let wrong = crib.plan(&Caller::local(), PlanRequest::default().choose("toolset:clocks"));
    assert_eq!(
        wrong.err().unwrap().to_string(),
        "none of the chosen tools is left: no tool of the toolset `clocks` is available; did you \
         mean `clock`?"
    );
    let plan = crib.plan(&Caller::local(), PlanRequest::default().disable("toolset:word")).unwrap();
    assert_eq!(
        plan.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["no tool of the toolset `word` is available; did you mean `words`?"]
    );
}

#[tokio::test]
async fn a_toolset_that_a_caller_sees_nothing_of_is_none() {
    let text =
        FILE.replace(r#"allow = ["toolset:clock", "toolset:words"]"#, r#"allow = ["*__text_*"]"#);
    let text = text.replace(r#"expect = "allow""#, r#"expect = "deny""#);
    let crib = built(&text).await;
    let chosen = crib.plan(&Caller::local(), PlanRequest::default().choose("toolset:clock"));
    assert_eq!(
        chosen.err().unwrap().to_string(),
        "none of the chosen tools is left: no tool of the toolset `clock` is available"
    );
}

#[test]
fn a_toolset_that_no_file_has_is_an_error_with_the_nearest_name() {
    let text = r#"
allow = ["toolset:clok", "toolset:cl*"]
eager = ["toolset:word"]

[[source]]
id = "a"
basics = true

[toolset.clock]
tools = ["*__time_*"]

[toolset.words]
tools = ["toolset:clock", "scope:x", "a b:c"]

[toolset."two words"]
tools = ["*"]

[profile.p]
deny = ["toolset:nothing_like_it"]

[[rule]]
deny = ["toolset:clokc"]

[[tests]]
tool = { name = "x", toolsets = ["clokk"] }
expect = "deny"
"#;
    assert_eq!(
        problems(text),
        [
            "crib.toml:2:10: allow[0]: there is no toolset `clok`; did you mean `clock`?",
            "crib.toml:3:10: eager[0]: there is no toolset `word`; did you mean `words`?",
            "crib.toml:13:10: toolset.words.tools[0]: `clock` is written by hand too, and such a \
             set names no other; write its patterns here",
            "crib.toml:13:27: toolset.words.tools[1]: `scope` is of the caller, and these are \
             tools; name tools, tags, actions, toolsets, categories, sources or effects",
            "crib.toml:13:38: toolset.words.tools[2]: `b` is no field of a pattern; use one of \
             `name`, `tag`, `action`, `toolset`, `category`, `source`, `effect`, `scope`, \
             `tenant`, `subject` (a tool name with a colon is `name:b:c`)",
            "crib.toml:15:1: toolset.\"two words\": this cannot name a toolset; use 1 to 64 letters, \
             digits, `_` and `-`",
            "crib.toml:19:9: profile.p.deny[0]: there is no toolset `nothing_like_it`; use one of \
             `clock`, `words`",
            "crib.toml:22:9: rule[0].deny[0]: there is no toolset `clokc`; did you mean `clock`?",
            "crib.toml:25:34: tests[0].tool.toolsets[0]: there is no toolset `clokk`; name one of \
             the file, or take it out",
        ]
    );
}

#[tokio::test]
async fn a_toolset_without_tools_is_warned_about() {
    let text = r#"
[[source]]
id = "a"
basics = ["time_now"]

[toolset.clock]
tools = ["a__time_*"]

[toolset.nothing]
tools = []

[toolset.klock]
tools = ["b__time_*"]
"#;
    let read = Config::read(text, "crib.toml");
    let warnings: Vec<_> = read.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["crib.toml:9:1: toolset.nothing: no tool is in this toolset; add `tools = \
          [\"PATTERN\"]`, or remove it"]
    );
    let workshop = Workshop::default();
    let file = read.config.unwrap();
    let crib = crib(&file.build(&workshop, &workshop)).await;
    let strangers = file.strangers(&crib.catalog());
    assert_eq!(
        strangers.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["crib.toml:12:1: toolset.klock: no tool is in the toolset `klock` now; did you mean \
          `clock`?"]
    );
}

#[test]
fn toolsets_of_sources_are_checked_and_can_be_named() {
    let text = r#"
allow = ["toolset:a_tag", "toolset:c_tag"]

[[source]]
id = "a"
basics = true
toolsets = { by = "tag", max_tools = 0 }

[[source]]
id = "a_b"
basics = true
toolsets = { by = "cluster", split = "model" }

[[source]]
id = "c"
basics = true
toolsets = { by = "none" }

[toolset.a_b]
tools = ["*"]
"#;
    assert_eq!(
        problems(text),
        [
            "crib.toml:2:27: allow[1]: there is no toolset `c_tag`; use one of `a_b`",
            "crib.toml:4:1: source: toolsets of the sources `a` and `a_b` could have one name; \
             rename one of them, as in `a-b` for `a_b`",
            "crib.toml:7:38: source[0].toolsets.max_tools: this number is too small or too large; \
             write a whole number from 1",
            "crib.toml:12:38: source[1].toolsets.split: there is no model to ask; add a \
             `[model]`, or write `split = \"cluster\"`",
            "crib.toml:19:1: toolset.a_b: the toolsets that the source `a` makes begin so; choose \
             another name",
        ]
    );
}

#[tokio::test]
async fn rules_that_go_by_no_set_or_by_one_that_may_change_are_told() {
    let text = r#"
deny = ["toolset:a_tme", "toolset:b_*"]
allow = ["toolset:a_time", "*"]

[[source]]
id = "a"
basics = ["time_now", "time_between", "text_case", "text_lines"]
toolsets = { by = "tag", max_tools = 2 }

[[source]]
id = "b"
basics = ["time_now", "time_between", "text_case", "text_lines"]
toolsets = { by = "cluster", max_tools = 2 }

[profile.p]
allow = ["toolset:CLUSTER"]
"#;
    let workshop = Workshop::default();
    let catalog = built(&text.replace("CLUSTER", "b_x")).await.catalog();
    let cluster = catalog.get("b__text_case").unwrap().spec.toolsets[0].toolset.id.clone();
    assert!(cluster.starts_with("b_set-"), "{cluster}");
    let text = text.replace("CLUSTER", &cluster);
    let file = config(&text);
    let crib = crib(&file.build(&workshop, &workshop)).await;
    let told: Vec<_> = file.strangers(&crib.catalog()).iter().map(ToString::to_string).collect();
    let first =
        "crib.toml:2:9: deny[0]: no tool is in the toolset `a_tme` now; did you mean `a_time`?";
    let second = format!(
        "crib.toml:16:10: profile.p.allow[0]: rules do not go by `{cluster}`: its tools may be \
         others with the next list; write `[toolset.NAME]` with the tools that are meant"
    );
    assert_eq!(told, [first, &second]);
    let parts = file.build(&workshop, &workshop);
    let profile = crib.with_policy(Arc::clone(&parts.views["p"].policy), CribLimits::default());
    assert_eq!(shown(&profile, PlanRequest::default()), Vec::<String>::new());
}
