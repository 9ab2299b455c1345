//! A crib that follows its file.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use toolcrib_config::{ApplyError, ConfigChange, Environment, LiveConfig, OpenError};
use toolcrib_core::{Call, Caller, DoorHints, PlanRequest, RawArguments, SourceId};
use toolcrib_engine::Crib;

use crate::workshop::{Workshop, config};

const FILE: &str = r#"
[[source]]
id = "a"
mcp = { command = ["x"], env = { TOKEN = "${env:TOKEN}" } }

[[source]]
id = "b"
mcp = { url = "https://b/" }
"#;

async fn live(text: &str, workshop: &Workshop) -> LiveConfig {
    workshop.set("TOKEN", "one");
    LiveConfig::start(&config(text), means(workshop)).await.unwrap()
}

fn means(workshop: &Workshop) -> Environment {
    Environment {
        lookup: Arc::new(workshop.clone()),
        maker: Arc::new(workshop.clone()),
        profile: None,
        ledger: None,
        rules: None,
        judge: None,
        adapt: None,
        observer: None,
        hints: DoorHints::default(),
        own_sources: Vec::new(),
    }
}

fn ids(names: &[&str]) -> Vec<SourceId> {
    names.iter().map(SourceId::new).collect()
}

fn loads(workshop: &Workshop, id: &str) -> usize {
    workshop.last(id).loads.load(Ordering::SeqCst)
}

fn names(crib: &Crib) -> Vec<String> {
    crib.catalog().tools().iter().map(|listed| listed.spec.name.as_str().to_owned()).collect()
}

async fn call(crib: &Crib, tool: &str) -> String {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let report = crib.run(&plan, vec![Call::new("1", tool, RawArguments::Absent)]).await;
    report.responses.first().unwrap().content().unwrap().parts[0].in_words()
}

#[tokio::test]
async fn a_file_that_says_the_same_touches_nothing() {
    let workshop = Workshop::default();
    let live = live(FILE, &workshop).await;
    let again = format!("# a remark\n{FILE}");
    let change = live.reload(&again, "crib.toml").await.unwrap();
    assert_eq!(change, ConfigChange { same: ids(&["a", "b"]), ..ConfigChange::default() });
    assert_eq!(workshop.made(), ["a", "b"]);
    assert_eq!((loads(&workshop, "a"), loads(&workshop, "b")), (1, 1));
}

#[tokio::test]
async fn other_wishes_for_a_source_start_nothing_anew() {
    let workshop = Workshop::default();
    let live = live(FILE, &workshop).await;
    let wishes = FILE.replace("id = \"a\"", "id = \"a\"\nprefix = \"z\"\nexclude = [\"wait\"]")
        + "[tool.b__echo]\nsummary = \"other\"\n";
    let change = live.reload(&wishes, "crib.toml").await.unwrap();
    assert_eq!(change, ConfigChange { refitted: ids(&["a", "b"]), ..ConfigChange::default() });
    assert_eq!(names(live.crib()), ["z__echo", "z__nnn", "b__wait", "b__echo", "b__nnn"]);
    assert_eq!(live.crib().catalog().get("b__echo").unwrap().spec.summary, "other");
    assert_eq!(workshop.made(), ["a", "b"]);
    assert_eq!((loads(&workshop, "a"), loads(&workshop, "b")), (1, 1));

    // An operator's own reload goes to the owner of the tools.
    live.crib().reload(&SourceId::new("a")).await;
    assert_eq!((loads(&workshop, "a"), loads(&workshop, "b")), (2, 1));
    let back = live.reload(FILE, "crib.toml").await.unwrap();
    assert_eq!(back.refitted, ids(&["a", "b"]));
    assert_eq!(call(live.crib(), "a__echo").await, "load 2");
}

#[tokio::test]
async fn what_changed_starts_anew_and_what_is_gone_is_let_go() {
    let workshop = Workshop::default();
    let live = live(FILE, &workshop).await;
    let other = FILE.replace("https://b/", "https://c/")
        + "\n[[source]]\nid = \"c\"\nmcp = { url = \"https://c/\" }\n";
    let change = live.reload(&other, "crib.toml").await.unwrap();
    let expected = ConfigChange {
        added: ids(&["c"]),
        restarted: ids(&["b"]),
        same: ids(&["a"]),
        ..ConfigChange::default()
    };
    assert_eq!(change, expected);
    assert_eq!(workshop.made(), ["a", "b", "b", "c"]);

    // A secret is a part of the settings, wherever it stands.
    workshop.set("TOKEN", "two");
    let fewer = FILE.replace("[[source]]\nid = \"b\"", "[[source]]\nid = \"b\"\nenabled = false");
    let change = live.reload(&fewer, "crib.toml").await.unwrap();
    let expected = ConfigChange {
        restarted: ids(&["a"]),
        removed: ids(&["b", "c"]),
        ..ConfigChange::default()
    };
    assert_eq!(change, expected);
    assert_eq!(names(live.crib()), ["a__wait", "a__echo", "a__nnn"]);
}

#[tokio::test]
async fn a_running_call_outlives_the_change_of_its_source() {
    let workshop = Workshop::default();
    let live = live(FILE, &workshop).await;
    let old = workshop.last("b");
    let crib = live.crib().clone();
    let running = tokio::spawn(async move { call(&crib, "b__wait").await });
    old.started.notified().await;
    live.reload("[[source]]\nid = \"b\"\nmcp = { url = \"https://c/\" }\n", "crib.toml")
        .await
        .unwrap();
    live.reload("", "crib.toml").await.unwrap();
    assert_eq!(names(live.crib()), Vec::<String>::new());
    old.leave.notify_one();
    assert_eq!(running.await.unwrap(), "left");
}

#[tokio::test]
async fn on_any_problem_all_stays_as_it_was() {
    let workshop = Workshop::default();
    let live = live(FILE, &workshop).await;
    let before = names(live.crib());
    let refused = live.reload("[[source]]\nid = \"a\"\n", "crib.toml").await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the file is wrong: \ncrib.toml:1:1: source[0]: the source says nothing of where its \
         tools are; add one of `mcp`, `openapi`, `a2a`, `basics`, `desk`, `builtin`"
    );
    let lost = FILE.replace("env:TOKEN", "env:TOKENN") + "[tool.b__echo]\nenabled = false\n";
    let refused = live.reload(&lost, "crib.toml").await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the source `a` cannot be made: `${env:TOKENN}` is not set: export it before the start"
    );
    assert_eq!(names(live.crib()), before);
    assert_eq!(workshop.made(), ["a", "b"]);
    let change = live.reload(FILE, "crib.toml").await.unwrap();
    assert_eq!(change.same, ids(&["a", "b"]));
}

#[tokio::test]
async fn a_source_that_failed_before_hinders_no_other_change() {
    let workshop = Workshop::default();
    let text = FILE.replace("env:TOKEN", "env:LATER");
    let live = live(&text, &workshop).await;
    let more = text.clone() + "\n[[source]]\nid = \"c\"\nmcp = { url = \"https://c/\" }\n";
    let change = live.reload(&more, "crib.toml").await.unwrap();
    assert_eq!(
        change,
        ConfigChange { added: ids(&["c"]), same: ids(&["a", "b"]), ..ConfigChange::default() }
    );
    workshop.set("LATER", "now");
    let change = live.reload(&more, "crib.toml").await.unwrap();
    assert_eq!(change.restarted, ids(&["a"]));
    assert!(names(live.crib()).contains(&"a__echo".to_owned()));
}

#[tokio::test]
async fn news_of_a_source_are_not_lost_between_two_wrappers() {
    let workshop = Workshop::default();
    let live = live(FILE, &workshop).await;
    for round in 0..4 {
        workshop.last("b").changed.notify_one();
        let wishes = format!("{FILE}[tool.b__echo]\nsummary = \"{round}\"\n");
        live.reload(&wishes, "crib.toml").await.unwrap();
        assert_eq!(live.crib().catalog().get("b__echo").unwrap().spec.summary, round.to_string());
        // Each news is asked for, by the wrapper before or by the one after.
        let wanted = format!("load {}", round + 2);
        for _ in 0..500 {
            if call(live.crib(), "b__echo").await == wanted {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(call(live.crib(), "b__echo").await, wanted, "round {round}");
    }
    assert_eq!(workshop.made(), ["a", "b"]);
}

#[tokio::test]
async fn a_profile_holds_and_must_be_there() {
    let workshop = Workshop::default();
    workshop.set("TOKEN", "one");
    let text = format!("{FILE}\n[profile.p]\nsources = [\"b\"]\n");
    let with =
        |profile: &str| Environment { profile: Some(profile.to_owned()), ..means(&workshop) };
    let missing = LiveConfig::start(&config(&text), with("q")).await.err().unwrap();
    assert_eq!(missing.to_string(), "the file has no profile `q`: add it, or choose another");
    let live = LiveConfig::start(&config(&text), with("p")).await.unwrap();
    let plan = live.crib().plan(&Caller::local(), PlanRequest::default()).unwrap();
    let seen: Vec<_> = plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect();
    assert_eq!(seen, ["b__wait", "b__echo", "b__nnn"]);
    assert!(matches!(live.reload(FILE, "crib.toml").await, Err(ApplyError::Profile(_))));
}

#[tokio::test]
async fn every_profile_has_its_view_of_the_same_tools() {
    let workshop = Workshop::default();
    workshop.set("TOKEN", "one");
    let text = format!("{FILE}\n[profile.p]\nsources = [\"b\"]\n");
    let live = LiveConfig::prepare(&config(&text), means(&workshop)).unwrap();
    assert_eq!(names(live.crib()), Vec::<String>::new(), "nothing is started yet");
    live.crib().start().await;
    let seen = |crib: &Crib| -> Vec<String> {
        let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
        plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect()
    };
    let view = live.view("p").unwrap();
    assert_eq!(seen(&view), ["b__wait", "b__echo", "b__nnn"]);
    assert_eq!(seen(live.crib()).len(), 6);
    assert!(live.view("q").is_none());
    live.reload(&text.replace("profile.p", "profile.q"), "crib.toml").await.unwrap();
    assert!(live.view("p").is_none());
    assert_eq!(seen(&live.view("q").unwrap()), seen(&view));
}

#[tokio::test]
async fn a_file_is_opened_in_one_line_or_says_why_not() {
    let folder = std::env::temp_dir().join(format!("toolcrib-open-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (good, bad) = (folder.join("crib.toml"), folder.join("bad.toml"));
    std::fs::write(&good, "[[source]]\nid = \"clock\"\nbasics = [\"time_now\"]\n").unwrap();
    std::fs::write(&bad, "[[source]]\nid = \"clock\"\nbasic = 1\n").unwrap();

    let live = LiveConfig::open(&good).await.unwrap();
    assert_eq!(names(live.crib()), ["clock__time_now"]);
    let refused = LiveConfig::open(&bad).await.err().unwrap().to_string();
    assert!(refused.starts_with("the file is wrong: ") && refused.contains("basic"), "{refused}");
    let missing = LiveConfig::open(folder.join("none.toml")).await.err().unwrap();
    assert!(matches!(&missing, OpenError::Unreadable { path, .. } if path.ends_with("none.toml")));
    assert!(missing.to_string().ends_with("; check the path"), "{missing}");
    std::fs::remove_dir_all(folder).unwrap();
}
