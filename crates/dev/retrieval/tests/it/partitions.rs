//! Tools are shared out better than by dealing them out, in every size that is measured.

use std::io::Write as _;

use serde_json::Value;
use toolcrib_retrieval::{LabelledSet, folder, partitions, shared};

use crate::figure;

/// What is wrong with a row.
fn broken(row: &Value) -> Option<String> {
    let ours = |which| figure(row, "toolcrib", which);
    let dealt = |which| figure(row, "round robin", which);
    let is_whole = ours("coverage") >= 100.0;
    let is_nearer = ours("cut affinity") < dealt("cut affinity")
        && ours("torn pairs of an API") <= dealt("torn pairs of an API");
    // Half more than an equal share, rounded up.
    let is_fair = ours("balance") <= 1.8;
    (!is_whole || !is_nearer || !is_fair).then(|| row.to_string())
}

#[test]
fn every_tool_is_placed_nearer_to_what_belongs_to_it_than_by_dealing() {
    if !folder().is_dir() {
        drop(writeln!(std::io::stdout(), "[skipped] no labelled sets in {}", folder().display()));
        return;
    }
    let set = LabelledSet::read(&folder(), "stabletoolbench").unwrap();
    let rows = partitions(&set).unwrap();
    let broken: Vec<String> = rows.iter().filter_map(broken).collect();
    // Of a build of the tests: the promise is of one that is optimised.
    let table = shared(&serde_json::json!({ "partitions": rows }));
    drop(writeln!(std::io::stdout(), "{table}"));
    assert_eq!(broken, Vec::<String>::new());
}
