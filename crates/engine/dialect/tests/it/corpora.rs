//! Every function and tool of the public collections in every dialect.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Instant;

use serde_json::Value;
use toolcrib_core::{PlanRequest, ToolName, ToolSpec};

use crate::checker;
use crate::fixture::{plan_of, spec, variants};

/// The lines of a JSON Lines file of the collections; none where those are not there.
pub(crate) fn lines(file: &str) -> Vec<Value> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data");
    let text = std::fs::read_to_string(data.join(file)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The functions of the lines of a file, each schema under a name of its own.
fn specs(file: &str, functions: impl Fn(Value) -> Vec<(Value, Value)>) -> Vec<ToolSpec> {
    let mut seen = HashSet::new();
    let mut specs = Vec::new();
    for line in lines(file) {
        for (name, mut schema) in functions(line) {
            let name = name.as_str().unwrap();
            if !seen.insert(format!("{name}{schema}")) {
                continue;
            }
            // Some collections write `dict` for `object`.
            if schema.get("type").is_none() {
                schema["type"] = "object".into();
            }
            let unique = format!("{}_{}", ToolName::sanitize(name), specs.len());
            specs.push(spec(&unique, "A tool.", schema));
        }
    }
    specs
}

fn bfcl() -> Vec<ToolSpec> {
    specs("formats/bfcl-calls.jsonl", |line| {
        let functions = line["functions"].as_array().unwrap().clone();
        functions.into_iter().map(|f| (f["name"].clone(), f["parameters"].clone())).collect()
    })
}

fn servers() -> Vec<ToolSpec> {
    specs("mcp/real-server-tools.jsonl", |tool| {
        vec![(tool["name"].clone(), tool["inputSchema"].clone())]
    })
}

#[test]
fn every_tool_of_the_collections_is_shown_or_has_a_reason_and_obeys_the_rules() {
    for (collection, specs) in [("bfcl", bfcl()), ("mcp servers", servers())] {
        if specs.is_empty() {
            println!("skipped: the collection `{collection}` is not here");
            continue;
        }
        let plan = plan_of(specs, PlanRequest::default());
        let count = plan.tools().len();
        for (folder, dialect) in variants() {
            let rendering = dialect.rendering(&plan);
            let shown = plan
                .tools()
                .filter(|tool| rendering.wire_name(tool.listed.spec.name.as_str()).is_some());
            assert_eq!(shown.count() + rendering.refused.len(), count, "{folder}");
            assert_eq!(
                checker::problems(dialect.name(), &rendering.tools),
                Vec::<String>::new(),
                "{folder}"
            );
            let mut losses: BTreeMap<&str, usize> = BTreeMap::new();
            for loss in &rendering.losses {
                *losses.entry(&loss.what).or_default() += 1;
            }
            println!(
                "{collection} {folder}: {count} tools, {} refused, {} losses {losses:?}",
                rendering.refused.len(),
                rendering.losses.len()
            );
            assert!(rendering.refused.is_empty(), "{folder}: {:?}", rendering.refused);
        }
    }
}

#[test]
fn a_thousand_tools_are_rendered_quickly() {
    let mut specs = servers();
    if specs.is_empty() {
        specs = crate::fixture::specs();
    }
    let base = specs.len();
    for copy in 0..1_000 {
        let mut spec = specs[copy % base].clone();
        spec.name = ToolName::new(format!("copy_{copy}")).unwrap();
        specs.push(spec);
    }
    specs.drain(..base);
    let plan = plan_of(specs, PlanRequest::default());
    for (folder, dialect) in variants() {
        let started = Instant::now();
        let rendering = dialect.rendering(&plan);
        let first = started.elapsed();
        let started = Instant::now();
        let again = dialect.rendering(&plan);
        let kept = started.elapsed();
        assert!(std::sync::Arc::ptr_eq(&rendering, &again));
        println!(
            "{folder}: 1,000 tools in {first:?}, {} bytes; once more in {kept:?}",
            rendering.tools.to_string().len()
        );
    }
    assert_eq!(plan.tools().len(), 1_000);
}
