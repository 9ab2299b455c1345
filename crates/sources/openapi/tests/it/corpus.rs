//! Real documents: every operation has a tool, or a true reason why not.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use toolcrib_core::{CompactJson, ToolSpec};
use toolcrib_json::schema::Schema;
use toolcrib_openapi::{ApiSettings, DocumentLocation, DocumentReport, inspect};

/// What is refused of the corpus, all of it: what two documents refer to is in other files, which
/// nobody reads here.
const REFUSED: [(&str, usize); 2] = [("swagger.json", 1), ("swagger.yaml", 1)];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/openapi")
}

/// Every document below a folder, with its text.
fn documents(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(documents(&path));
        } else if ending == "gz" {
            let mut text = String::new();
            GzDecoder::new(fs::File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
            found.push((name, text));
        } else if matches!(ending, "json" | "yaml") && name != "stats.json" {
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    // Files that others refer to are no documents of their own.
    found.retain(|(_, text)| text.contains("openapi") || text.contains("swagger"));
    found
}

/// Compiles the schemas of a tool, as the catalog does with its input.
fn compile(document: &str, tool: &ToolSpec) -> usize {
    let schemas = [Some(&tool.input), tool.output.as_ref()];
    for schema in schemas.into_iter().flatten().map(CompactJson::value) {
        if let Err(error) = Schema::compile(&schema) {
            panic!("{document}: `{}`: {error}\n{schema:#}", tool.name);
        }
    }
    usize::from(tool.output.is_some())
}

fn row(out: &mut impl Write, name: &str, tools: &[ToolSpec], report: &DocumentReport) {
    let outputs: usize = tools.iter().map(|tool| compile(name, tool)).sum();
    let (operations, refused) = (report.operations, report.refused.len());
    let notes = report.notes.len();
    let sizes = tools.iter().map(|tool| tool.input.value().to_string().len());
    let largest = sizes.max().unwrap_or_default();
    let figures = [operations, tools.len(), refused, tools.len() + outputs, notes, largest];
    write!(out, "{name:32}").unwrap();
    for figure in figures {
        write!(out, "{figure:>11}").unwrap();
    }
    writeln!(out).unwrap();
    for refused in &report.refused {
        writeln!(out, "    {}: {}", refused.key, refused.reason).unwrap();
    }
}

#[test]
fn every_operation_of_real_documents_is_a_tool_or_is_refused_with_a_reason() {
    let mut out = std::io::stdout();
    if !folder().is_dir() {
        writeln!(out, "[skipped] the corpus of documents is not there").unwrap();
        return;
    }
    let heads =
        ["operations", " converted", "   refused", "   schemas", "     notes", "   largest"];
    writeln!(out, "{:32} {}", "document", heads.join(" ")).unwrap();
    let (mut operations, mut refused) = (0, Vec::new());
    for (name, text) in documents(&folder()) {
        let settings = ApiSettings::new(DocumentLocation::Text(String::new()));
        let (tools, report) = inspect(&text, &settings).expect(&name);
        row(&mut out, &name, &tools, &report);
        assert_eq!(tools.len() + report.refused.len(), report.operations, "{name}");
        operations += report.operations;
        if !report.refused.is_empty() {
            refused.push((name, report.refused.len()));
        }
    }
    refused.sort();
    let refused: Vec<_> = refused.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(refused, REFUSED);
    assert!(operations > 3_000, "only {operations} operations were found");
}
