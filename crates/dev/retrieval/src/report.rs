//! All figures as JSON, and as a table for people.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use toolcrib_search::{SearchIndex, SearchQuery};

use crate::RetrievalError;
use crate::abstention::abstention;
use crate::bm25::{Bm25, Bm25Kind};
use crate::figures::figures;
use crate::labelled_set::{LabelledSet, SETS};
use crate::partitions::partitions;
use crate::scale::scale;
use crate::set_vectors::{EmbeddingModel, SetVectors};

/// The columns of the table, as the JSON names them.
const COLUMNS: [&str; 9] = [
    "recall@1",
    "recall@5",
    "recall@10",
    "nDCG@10",
    "whole sets@10",
    "wrong siblings",
    "tokens",
    "µs p50",
    "µs p99",
];

/// Measures every set of a folder, asking every `step`th question, and then the sizes.
pub fn measure(
    folder: &Path,
    step: usize,
    sizes: &[usize],
    model: Option<&EmbeddingModel>,
) -> Result<Value, RetrievalError> {
    let mut sets = Vec::new();
    let mut found = Map::new();
    for name in SETS {
        let set = LabelledSet::read(folder, name)?;
        found.insert(name.to_owned(), of_set(&set, step, model)?);
        sets.push(set);
    }
    let largest = sets.last().filter(|_| !sizes.is_empty());
    let shared = largest.map_or_else(|| Ok(Vec::new()), partitions)?;
    let sizes: Vec<Value> = sizes.iter().map(|size| scale(&sets, *size)).collect();
    Ok(json!({ "sets": found, "sizes": sizes, "partitions": shared }))
}

/// Measures one set; with a model, also what that adds.
pub fn of_set(
    set: &LabelledSet,
    step: usize,
    model: Option<&EmbeddingModel>,
) -> Result<Value, RetrievalError> {
    let (plain, strong) =
        (Bm25::new(Bm25Kind::Plain, &set.tools), Bm25::new(Bm25Kind::Strong, &set.tools));
    let index = SearchIndex::build(set.tools.iter().map(crate::LabelledTool::document));
    let finds = |query: &SearchQuery<'_>| !index.search(query).hits.is_empty();
    let mut found = json!({
        "tools": set.tools.len(),
        "questions": set.questions.len().div_ceil(step.max(1)),
        "plain BM25": figures(set, step, &mut |text| plain.search(text)).json(),
        "strong BM25": figures(set, step, &mut |text| strong.search(text)).json(),
        "toolcrib": figures(set, step, &mut |text| ranked(&index, text)).json(),
        "toolcrib select": figures(set, step, &mut |text| chosen(&index, text)).json(),
        "abstention": abstention(set, step, &finds)?.json(),
    });
    if let (Some(model), Value::Object(found)) = (model, &mut found) {
        let meaning = SetVectors::of(set, step, model)?;
        let finds = |query: &SearchQuery<'_>| !meaning.search(&index, query).is_empty();
        let mut nearest = |text: &str| meaning.nearest(&set.tools, text);
        let mut both = |text: &str| meaning.search(&index, &asking(text));
        let of_model = [
            ("model alone", figures(set, step, &mut nearest).json()),
            ("toolcrib with model", figures(set, step, &mut both).json()),
            ("abstention with model", abstention(set, step, &finds)?.json()),
        ];
        found.extend(of_model.map(|(name, figures)| (name.to_owned(), figures)));
    }
    Ok(found)
}

fn ranked(index: &SearchIndex, text: &str) -> Vec<usize> {
    index.search(&asking(text)).hits.into_iter().map(|hit| hit.document).collect()
}

/// Ten that serve the question together.
fn chosen(index: &SearchIndex, text: &str) -> Vec<usize> {
    let found = index.search(&SearchQuery { limit: 40, ..asking(text) });
    found.choose(10).into_iter().map(|choice| choice.document).collect()
}

/// The best ten, whether or not they are thought to serve.
fn asking(text: &str) -> SearchQuery<'_> {
    SearchQuery { text, limit: 10, keep_doubtful: true, ..SearchQuery::default() }
}

/// What was measured, as Markdown.
pub fn table(found: &Value) -> String {
    let mut table =
        format!("| set | search | {} |\n|---|---|{}\n", COLUMNS.join(" | "), "---|".repeat(9));
    for (set, of_set) in found["sets"].as_object().into_iter().flatten() {
        let searches = [
            "plain BM25",
            "strong BM25",
            "toolcrib",
            "toolcrib select",
            "model alone",
            "toolcrib with model",
        ];
        for search in searches.into_iter().filter(|search| of_set.get(search).is_some()) {
            let cells = COLUMNS.map(|column| cell(of_set.get(search), column));
            let _ = writeln!(table, "| {set} | {search} | {} |", cells.join(" | "));
        }
    }
    table.push_str("\n| set | unserved answered % | served lost % |\n|---|---|---|\n");
    for (set, of_set) in found["sets"].as_object().into_iter().flatten() {
        for (with, of) in [("", "abstention"), (" with model", "abstention with model")] {
            if let Some(of) = of_set.get(of) {
                let _ = writeln!(table, "| {set}{with} | {} | {} |", of["answered"], of["lost"]);
            }
        }
    }
    table.push_str("\n| tools | build ms | index MiB | peak MiB | µs p50 | µs p99 | µs most |\n");
    table.push_str("|---|---|---|---|---|---|---|\n");
    for size in found["sizes"].as_array().into_iter().flatten() {
        let columns = ["tools", "build ms", "index MiB", "peak MiB", "µs p50", "µs p99", "µs most"];
        let cells = columns.map(|column| cell(Some(size), column));
        let _ = writeln!(table, "| {} |", cells.join(" | "));
    }
    table.push_str(&shared(found));
    table
}

/// How tools were shared out, as Markdown.
pub fn shared(found: &Value) -> String {
    let columns = ["coverage", "cut affinity", "torn pairs of an API", "balance"];
    let mut table = format!("\n| tools | agents | by | {} | µs |\n", columns.join(" | "));
    table.push_str("|---|---|---|---|---|---|---|---|\n");
    for row in found["partitions"].as_array().into_iter().flatten() {
        for by in ["toolcrib", "round robin"] {
            let cells = columns.map(|column| cell(row.get(by), column));
            let took = if by == "toolcrib" { cell(Some(row), "µs") } else { String::new() };
            let (tools, agents) = (&row["tools"], &row["agents"]);
            let _ =
                writeln!(table, "| {tools} | {agents} | {by} | {} | {took} |", cells.join(" | "));
        }
    }
    table
}

/// A figure as it is written into a table.
fn cell(figures: Option<&Value>, column: &str) -> String {
    figures.and_then(|figures| figures.get(column)).unwrap_or(&Value::Null).to_string()
}
