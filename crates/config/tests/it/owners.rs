//! A name belongs to the source whose prefix it has.

use std::sync::Arc;

use toolcrib_config::{Config, SourceFactory};
use toolcrib_core::{Effect, Source, Toolset, raw_tool};
use toolcrib_mcp::McpSourceSettings;
use toolcrib_openapi::ApiSettings;
use toolcrib_testkit::spec;

use crate::build::{crib, names};
use crate::workshop::{Workshop, config};

#[tokio::test]
async fn a_tool_cannot_take_a_name_of_another_source() {
    let source = |id: &str, rest: &str| {
        format!("[[source]]\nid = \"{id}\"\n{rest}\nmcp = {{ command = [\"x\"] }}\n")
    };
    // Every source has `wait`, `echo` and `nnn`.
    let text = [
        source("bare", "prefix = \"\""),
        source("other", "prefix = \"wai\""),
        source("a", "prefix = \"a\""),
    ];
    let workshop = Workshop::default();
    let built = config(&text.concat()).build(&workshop, &workshop);
    assert_eq!(names(&crib(&built).await).len(), 9);

    let longer = Thief(&["b__c", "d"]);
    let first = [source("a", ""), source("a__b", "")].concat();
    let second = [source("bare", "prefix = \"\""), source("b", "")].concat();
    for (text, name, owner) in [(first, "a__b__c", "a__b"), (second, "b__c", "b")] {
        let built = config(&text).build(&Workshop::default(), &longer);
        let crib = crib(&built).await;
        assert_eq!(crib.sources()[0].error, None);
        let catalog = crib.catalog();
        let [kept_out] = catalog.quarantined() else { unreachable!("one is kept out") };
        let told = format!("its name belongs to the source `{owner}`: set another `prefix`");
        assert_eq!(kept_out.spec.name.as_str(), name);
        assert!(kept_out.reason.to_string().starts_with(&told), "{}", kept_out.reason);
        // Its neighbours are there, and nothing of it stands where the other's would.
        let holder = catalog.get(name).map(|tool| tool.spec.origin.source.to_string());
        assert!(holder.is_none_or(|holder| holder == owner), "{name}");
        assert_eq!(catalog.tools().len(), 3);
    }
}

#[tokio::test]
async fn a_name_that_is_too_long_behind_the_prefix_costs_its_tool_alone() {
    let text = "[[source]]\nid = \"a\"\nmcp = { command = [\"x\"] }\n";
    const LONG: &str = concat!(
        "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
        "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    );
    let built = config(text).build(&Workshop::default(), &Thief(&["x", LONG, "y"]));
    let crib = crib(&built).await;
    assert_eq!(crib.sources()[0].error, None);
    assert_eq!(names(&crib), ["a__x", "a__y"]);
    let catalog = crib.catalog();
    let [kept_out] = catalog.quarantined() else { unreachable!("one is kept out") };
    let told = "behind `a__` its name is longer than 128 characters: set a shorter `prefix`, or \
                `exclude` it";
    assert_eq!((kept_out.spec.name.as_str(), &*kept_out.reason.to_string()), (LONG, told));
    let line = format!("1 tool of `a` is kept out: `{LONG}` ({told})");
    assert_eq!(toolcrib_config::kept_out(&catalog), [line]);
}

/// Makes sources with tools of these names.
struct Thief(&'static [&'static str]);

impl SourceFactory for Thief {
    fn mcp(&self, _: &str, _: McpSourceSettings) -> Arc<dyn Source> {
        let tool =
            |name: &&str| raw_tool(spec(name, Effect::Read), |_, _| async { unreachable!() });
        Arc::new(Toolset::of(self.0.iter().map(tool)).unwrap())
    }

    fn api(&self, _: &str, _: ApiSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }
}

#[test]
fn an_assigned_tool_that_no_source_can_have_is_warned_about() {
    let text = r#"
[[source]]
id = "math"
basics = true

[[source]]
id = "off"
enabled = false
basics = true

[assign]
Ann = ["math__add", "add", "off__x"]
"#;
    let warnings = |text: &str| -> Vec<String> {
        let read = Config::read(text, "crib.toml");
        assert_eq!(read.problems, vec![]);
        read.warnings.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        warnings(text),
        [
            "crib.toml:12:21: assign.Ann[1]: no source has tools whose names begin so; write it with \
          the prefix of its source: `math__`, `off__`"
        ]
    );
    assert_eq!(warnings(&text.replace("id = \"math\"", "id = \"math\"\nprefix = \"\"")), [""; 0]);
}

#[test]
fn the_longest_prefix_tells_who_may_own_a_tool() {
    let source = |id: &str, prefix: &str| {
        format!("[[source]]\nid = \"{id}\"\nprefix = \"{prefix}\"\nbasics = true\n")
    };
    let text = [("bare", ""), ("a", "a"), ("ab", "a__b"), ("c", "c"), ("d", "c")];
    let text: String = text.iter().map(|(id, prefix)| source(id, prefix)).collect();
    let config = config(&text);
    let owners = |tool: &str| {
        config.owners_of(tool).into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    let owners = ["a__x", "a__b__x", "a__bx", "x", "ax", "c__x"].map(owners);
    assert_eq!(owners, ["a", "ab", "a", "bare", "bare", "c d"]);
}
