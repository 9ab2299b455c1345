//! `toolcrib doctor`: how every source and the store are doing, and what to do about those that are
//! not well.

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};
use toolcrib_a2a_client::A2aReport;
use toolcrib_config::effects::told_of_undeclared;
use toolcrib_config::set_aside;
use toolcrib_core::{Catalog, QuarantinedTool};
use toolcrib_engine::Crib;
use toolcrib_engine::catalog::SourceState;
use toolcrib_json::schema::Schema;
use toolcrib_mcp::{ConnectionPhase, McpSourceStatus};
use toolcrib_openapi::{ApiReport, BaseUrlSource};

use crate::cli::CommandExit;
use crate::cli::context::CommandContext;
use crate::cli::output::Output;
use crate::config::record::try_store;
use crate::sources::SourceHandle;

/// Lines of a child's standard error that are shown.
const LAST_LINES: usize = 10;
/// Findings of one kind that are shown; the rest is counted.
const SHOWN: usize = 20;

/// How one source is doing.
#[derive(Serialize)]
struct Diagnosis {
    id: String,
    state: SourceHealth,
    tools: usize,
    /// In words: which server, which protocol, which host.
    about: String,
    error: Option<String>,
    /// What works all the same, but not as it should.
    findings: Vec<String>,
    /// How many of its tools declare nothing of what a call does.
    undeclared: usize,
    /// What works as it should, though not as it was written.
    remarks: Vec<String>,
    /// How many notes there are on what a document lost on its way; `detail` has them.
    notes: usize,
    /// The last lines of the child's standard error.
    stderr: Vec<String>,
    detail: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum SourceHealth {
    Ready,
    /// It serves an old list, or leaves something out.
    Doubtful,
    Failed,
}

pub(crate) fn doctor(context: &CommandContext, output: &Output) -> Result<CommandExit> {
    let sources = context.crib.sources();
    let diagnoses: Vec<_> = sources.iter().map(|source| diagnose(context, source)).collect();
    let catalog = context.crib.catalog();
    let file = context.file.as_ref();
    // Where a source is away, its tools are no slips of the pen.
    let whole = sources.iter().all(|source| source.error.is_none())
        && sources.len() == file.map_or(0, |file| file.sources().count());
    let strangers = file.filter(|_| whole).map(|file| file.strangers(&catalog)).unwrap_or_default();
    let unusable = file.and_then(|file| try_store(&context.place, file).err());
    let unusable = unusable.map(|error| format!("{error:#}"));
    if output.json {
        let store = json!({ "error": unusable });
        output.value(&json!({ "sources": diagnoses, "strangers": strangers, "store": store }))?;
    } else if diagnoses.is_empty() {
        output.note("there is no source to look at: write a `crib.toml`, or import one");
    } else {
        show(output, &diagnoses)?;
        output.warn(&set_aside(&catalog, &context.profiles()));
        output.warn(&strangers);
        output.warn(&told_of_undeclared(&catalog));
    }
    if !output.json {
        output.warn(unusable.as_slice());
    }
    let failed = diagnoses.iter().any(|diagnosis| diagnosis.state == SourceHealth::Failed)
        || unusable.is_some();
    Ok(if failed { CommandExit::Failed } else { CommandExit::Done })
}

fn diagnose(context: &CommandContext, source: &SourceState) -> Diagnosis {
    let id = source.id.to_string();
    let mut diagnosis = Diagnosis {
        state: SourceHealth::Ready,
        tools: source.tools,
        about: String::new(),
        error: source.error.clone(),
        findings: kept_out(&context.crib, &id),
        undeclared: undeclared(&context.crib.catalog(), &id),
        remarks: unchecked(&context.crib, &id),
        notes: 0,
        stderr: Vec::new(),
        detail: Value::Null,
        id,
    };
    match context.sources.get(&diagnosis.id) {
        Some(SourceHandle::Mcp(server)) => diagnosis.server(server.status()),
        Some(SourceHandle::Api(api)) => {
            api.report().into_iter().for_each(|told| diagnosis.api(&told));
        }
        Some(SourceHandle::Agent(agent)) => {
            agent.report().into_iter().for_each(|told| diagnosis.agent(&told));
        }
        Some(SourceHandle::Desk(desk)) => diagnosis.about = desk.about(),
        None => {}
    }
    diagnosis.state = match (&diagnosis.error, source.stale) {
        (Some(_), false) => SourceHealth::Failed,
        (None, _) if diagnosis.findings.is_empty() => SourceHealth::Ready,
        (None, _) | (Some(_), true) => SourceHealth::Doubtful,
    };
    diagnosis
}

fn undeclared(catalog: &Catalog, source: &str) -> usize {
    let of_source = catalog.tools().iter().map(|tool| &tool.spec.origin);
    of_source.filter(|origin| origin.undeclared && origin.source.as_str() == source).count()
}

/// What the source has and no plan or list shows.
fn kept_out(crib: &Crib, source: &str) -> Vec<String> {
    let said =
        |tool: &QuarantinedTool| format!("`{}` is kept out: {}", tool.spec.name, tool.reason);
    let catalog = crib.catalog();
    let own =
        catalog.quarantined().iter().filter(|tool| tool.spec.origin.source.as_str() == source);
    let tools: Vec<_> = own.map(said).collect();
    let stock = crib.resources();
    let beside = stock.kept_out().iter().filter(|out| out.source.as_str() == source);
    let beside = beside.map(|out| format!("`{}` is kept out: {}", out.key, out.reason));
    tools.into_iter().chain(beside).collect()
}

/// Parts of schemas that are left to the source, tool by tool.
fn unchecked(crib: &Crib, source: &str) -> Vec<String> {
    let catalog = crib.catalog();
    let own = catalog.tools().iter().filter(|tool| tool.spec.origin.source.as_str() == source);
    own.flat_map(|tool| {
        let left = tool.schema().map(Schema::left).unwrap_or_default();
        left.iter().map(move |left| format!("`{}`: {left}", tool.spec.name))
    })
    .collect()
}

impl Diagnosis {
    fn server(&mut self, status: McpSourceStatus) {
        self.detail = json!(status);
        let called = [status.server.as_deref(), status.version.as_deref()];
        let called = called.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let revision = status.revision.as_deref().map(|revision| format!("MCP {revision}"));
        let parts = [Some(called).filter(|called| !called.is_empty()), revision];
        self.about = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        self.findings.extend(status.notes);
        self.remarks.extend(status.remarks);
        if status.restarts > 0 {
            self.findings.push(format!("it was started again {} times", status.restarts));
        }
        if matches!(status.phase, ConnectionPhase::Failed | ConnectionPhase::BrokenCircuit) {
            self.stderr = status.stderr;
            self.stderr.drain(..self.stderr.len().saturating_sub(LAST_LINES));
            self.error = self.error.take().or(status.last_error);
        }
    }

    fn agent(&mut self, report: &A2aReport) {
        let A2aReport { agent, version, place, speaks, skills, streaming } = report;
        let called = [Some(agent.as_str()), version.as_deref()];
        let called = called.into_iter().flatten().collect::<Vec<_>>().join(" ");
        self.about = format!("{called}, {speaks}, {place}");
        self.detail = json!({
            "agent": agent, "version": version, "place": place, "speaks": speaks,
            "skills": skills, "streaming": streaming,
        });
    }

    fn api(&mut self, report: &ApiReport) {
        self.detail = json!(report);
        let by = match report.base_url_by {
            BaseUrlSource::Configuration => "",
            BaseUrlSource::Document => " (as the document proposes)",
        };
        let ApiReport { title, version, base_url, .. } = report;
        self.about = format!("{title} {version}, {base_url}{by}");
        let refused = report.refused.iter();
        let said = refused.map(|one| format!("`{}` is left out: {}", one.key, one.reason));
        self.findings.extend(said);
        let missing = report.credentials_missing.iter();
        self.findings.extend(missing.map(|scheme| {
            format!("no credential is set for `{scheme}`: calls that need it are refused")
        }));
        self.notes = report.notes.len();
        self.remarks.extend(report.words.iter().map(|word| format!("note: {word}")));
    }
}

fn show(output: &Output, diagnoses: &[Diagnosis]) -> Result<()> {
    let row = |diagnosis: &Diagnosis| {
        let state = match diagnosis.state {
            SourceHealth::Ready => "ready",
            SourceHealth::Doubtful => "doubtful",
            SourceHealth::Failed => "FAILED",
        };
        let tools = diagnosis.tools.to_string();
        [diagnosis.id.clone(), state.to_owned(), tools, diagnosis.about.clone()]
    };
    output.table(["SOURCE", "STATE", "TOOLS", "ABOUT"], diagnoses.iter().map(row))?;
    for diagnosis in diagnoses {
        let told = [&diagnosis.findings, &diagnosis.remarks];
        if diagnosis.error.is_none() && told.iter().all(|told| told.is_empty()) {
            continue;
        }
        output.text("")?;
        output.heading(&diagnosis.id)?;
        if let Some(error) = &diagnosis.error {
            output.indented(error)?;
        }
        for told in told {
            for told in told.iter().take(SHOWN) {
                output.indented(told)?;
            }
            let more = told.len().saturating_sub(SHOWN);
            if more > 0 {
                output.indented(&format!("and {more} more: `toolcrib doctor --json` tells all"))?;
            }
        }
        if !diagnosis.stderr.is_empty() {
            output.indented("the last it wrote to standard error:")?;
            output.indented(&format!("  {}", diagnosis.stderr.join("\n  ")))?;
        }
    }
    Ok(())
}
