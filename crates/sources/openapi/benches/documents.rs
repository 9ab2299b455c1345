//! What a large document costs, against reading its JSON alone in the same run.
#![expect(clippy::unwrap_used, reason = "a benchmark stops at what it cannot read")]

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use flate2::read::GzDecoder;
use serde_json::{Map, Value};
use toolcrib_core::{SourceId, ToolSpec, Toolset};
use toolcrib_engine::toolsets::{ToolsetBy, ToolsetGrouping, ToolsetSplit, in_groups};
use toolcrib_openapi::{ApiSettings, DocumentLocation, OperationFilter, inspect};
use toolcrib_testkit::{Behaviour, Oracle};

/// As in the binary: a document is many small pieces of memory.
#[global_allocator]
static MEMORY: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const DOCUMENTS: [&str; 4] = [
    "github-api.github.com.json.gz",
    "kubernetes-swagger2.json.gz",
    "openai-3.1.json.gz",
    "stripe.json.gz",
];

/// A document of the corpus, if that is there.
fn document(name: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/openapi");
    let mut text = String::new();
    GzDecoder::new(fs::File::open(folder.join(name)).ok()?).read_to_string(&mut text).unwrap();
    Some(text)
}

fn tools(text: &str) -> usize {
    inspect(text, &ApiSettings::new(DocumentLocation::Text(String::new()))).unwrap().0.len()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A figure of this process from the kernel, in kilobytes; nothing where there is none.
fn kilobytes(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().ok()
}

/// What was resident at most while something ran, beyond what was before, in MiB.
///
/// The kernel forgets the peak on request, so no allocator has to count.
fn peak<T>(run: impl FnOnce() -> T) -> Option<u64> {
    fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = kilobytes("VmRSS")?;
    black_box(run());
    Some(kilobytes("VmHWM")?.saturating_sub(before) / 1024)
}

/// The best of several runs: what the work takes, and not what disturbs it.
fn best<T>(run: impl Fn() -> T) -> Duration {
    let once = || {
        let start = Instant::now();
        let made = black_box(run());
        let taken = start.elapsed();
        drop(made);
        taken
    };
    (0..7).map(|_| once()).min().unwrap_or_default()
}

fn table(out: &mut impl Write) {
    writeln!(out, "{:32} tools   JSON ms  tools ms  ratio  peak MiB", "document").unwrap();
    for name in DOCUMENTS {
        let Some(text) = document(name) else {
            writeln!(out, "[skipped] {name} is not there").unwrap();
            continue;
        };
        let settings = ApiSettings::new(DocumentLocation::Text(String::new()));
        // The first is the largest: what it leaves to the allocator hides the peaks of the others.
        let first = DOCUMENTS.first() == Some(&name);
        let peak = first.then(|| peak(|| inspect(&text, &settings))).flatten();
        let json = best(|| parsed(&text)).as_secs_f64() * 1e3;
        let all = best(|| inspect(&text, &settings)).as_secs_f64() * 1e3;
        let peak = peak.map_or("-".to_owned(), |mib| mib.to_string());
        let (ratio, count) = (all / json, tools(&text));
        writeln!(out, "{name:32} {count:5} {json:9.1} {all:9.1} {ratio:6.2} {peak:>9}").unwrap();
    }
}

/// The operations of a document over and over, each time under another path and other ids.
fn repeated(text: &str, count: usize) -> String {
    let document = parsed(text);
    let mut whole = document.clone();
    let Some(Value::Object(once)) = document.get("paths") else { return String::new() };
    let mut paths = Map::new();
    let mut operations = 0;
    for round in 0.. {
        for (path, item) in once {
            let mut item = item.clone();
            for operation in item.as_object_mut().into_iter().flat_map(Map::values_mut) {
                let Some(id) = operation.get("operationId").and_then(Value::as_str) else {
                    continue;
                };
                let id = format!("{id}-{round}");
                operations += 1;
                operation.as_object_mut().unwrap().insert("operationId".to_owned(), id.into());
            }
            paths.insert(format!("/r{round}{path}"), item);
            if operations >= count {
                whole.as_object_mut().unwrap().insert("paths".to_owned(), Value::Object(paths));
                return whole.to_string();
            }
        }
    }
    String::new()
}

/// What forty thousand operations cost, and what the few that are wanted of them do.
fn many(out: &mut impl Write) {
    let Some(text) = document("github-api.github.com.json.gz") else { return };
    let text = repeated(&text, 40_000);
    let all = ApiSettings::new(DocumentLocation::Text(String::new()));
    let few =
        OperationFilter::new(vec!["*_7".to_owned()], Vec::new(), |name: &str| name.ends_with("_7"));
    let few = ApiSettings { pick: few, ..all.clone() };
    for (about, settings) in [("few are wanted", few), ("all are wanted", all)] {
        let mut count = 0;
        let start = Instant::now();
        let peak = peak(|| {
            let (tools, report) = inspect(&text, &settings).unwrap();
            assert_eq!(report.refused, []);
            count = tools.len();
            tools
        });
        let (taken, megabytes) = (start.elapsed().as_secs_f64(), text.len() / 1_000_000);
        let peak = peak.map_or("-".to_owned(), |mib| mib.to_string());
        writeln!(out, "{megabytes} MB, {about}: {count} tools, {taken:.2} s, {peak} MiB beyond it")
            .unwrap();
    }
}

/// Tools in groups, beside what a map from first tags to tools takes.
fn grouping(out: &mut impl Write) {
    let Some(text) = document("github-api.github.com.json.gz") else { return };
    let settings = ApiSettings::new(DocumentLocation::Text(String::new()));
    let (tools, _) = inspect(&text, &settings).unwrap();
    let tags = || {
        let mut groups: BTreeMap<&str, Vec<&ToolSpec>> = BTreeMap::new();
        for tool in &tools {
            let tag = tool.tags.first().map_or("", String::as_str);
            groups.entry(tag).or_default().push(tool);
        }
        groups
    };
    let largest = tags().values().map(Vec::len).max().unwrap_or_default();
    let bare = best(tags).as_secs_f64() * 1e3;
    writeln!(out, "{:32} groups  largest        ms", "grouping of 1,223 operations").unwrap();
    writeln!(out, "{:32} {:6} {largest:8} {bare:9.2}", "first tags alone", tags().len()).unwrap();
    let oracle = Oracle::default();
    let loaded = tools.iter().map(|spec| oracle.tool(spec.clone(), Behaviour::Echo));
    let loaded = Toolset::of(loaded).unwrap();
    let source = SourceId::new("github");
    for (name, by, split) in [
        ("by = tag, split = none", ToolsetBy::Tag, ToolsetSplit::None),
        ("by = tag, split = cluster", ToolsetBy::Tag, ToolsetSplit::Cluster),
        ("by = path, split = cluster", ToolsetBy::Path, ToolsetSplit::Cluster),
        ("by = all, split = cluster", ToolsetBy::All, ToolsetSplit::Cluster),
        ("by = cluster", ToolsetBy::Cluster, ToolsetSplit::Cluster),
    ] {
        let grouping = ToolsetGrouping { by, split, max_tools: 10 };
        let grouped = || in_groups(&loaded, &source, &grouping, None);
        let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
        for tool in grouped().iter() {
            let own = tool.spec.toolsets.iter().filter(|own| !own.toolset.is_split);
            for membership in own {
                *sizes.entry(membership.toolset.id.clone()).or_default() += 1;
            }
        }
        let largest = sizes.values().max().copied().unwrap_or_default();
        let taken = best(grouped).as_secs_f64() * 1e3;
        writeln!(out, "{name:32} {:6} {largest:8} {taken:9.2}", sizes.len()).unwrap();
    }
}

fn documents(criterion: &mut Criterion) {
    grouping(&mut std::io::stdout());
    many(&mut std::io::stdout());
    table(&mut std::io::stdout());
    let Some(text) = document("github-api.github.com.json.gz") else { return };
    let mut group = criterion.benchmark_group("github");
    group.sample_size(10);
    group.bench_function("json", |bencher| bencher.iter(|| parsed(&text)));
    group.bench_function("tools", |bencher| bencher.iter(|| tools(&text)));
    group.finish();
}

criterion_group!(benches, documents);
criterion_main!(benches);
