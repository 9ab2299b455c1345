//! A file that is right as far as it alone can tell: no secret is filled in, nothing is started.

mod foreign;
pub(crate) mod overlay;
pub(crate) mod parsed;
pub(crate) mod requirement;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use toolcrib_agent::model::ModelSettings;
use toolcrib_core::{Catalog, CribLimits, Secret, SourceId, Validation};
use toolcrib_engine::discovery::DiscoverySettings;
use toolcrib_engine::rules::{NamedToolset, Rules};
use toolcrib_engine::selection::AgentRules;
use toolcrib_engine::source::ToolOverride;
use toolcrib_engine::toolsets::{ToolsetGrouping, ToolsetSplit};

use self::requirement::Requirement;
use crate::file::problem::ConfigProblem;
use crate::secrets::template::{SecretLookup, Template, TemplateResolution, UnresolvedReference};
use crate::settings::SourceTemplate;
use crate::settings::agents::{AgentSettings, AgentTemplate, ModelTemplate, agents};
use crate::settings::cluster::{ClusterSettings, ClusterTemplate};
use crate::settings::embedder::{EmbedderSettings, EmbedderTemplate};
use crate::settings::listener::ListenerSettings;
use crate::settings::observability::{
    AuditSettings, LogSettings, TelemetrySettings, TelemetryTemplate,
};
use crate::settings::server_limits::ServerLimits;

/// A checked `crib.toml`.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where a server of it listens, and for whom.
    pub front: ListenerSettings,
    /// What a server of it takes from whoever comes.
    pub bounds: ServerLimits,
    pub limits: CribLimits,
    /// The rules at the top of the file, if there are any.
    pub rules: Option<Rules>,
    /// How tools are shown where no profile is chosen.
    pub discovery: DiscoverySettings,
    pub profiles: BTreeMap<String, Profile>,
    /// Which tools an agent has, by the name of the agent.
    pub assign: AgentRules,
    pub log: LogSettings,
    /// `None`: nothing is recorded.
    pub audit: Option<AuditSettings>,
    pub(crate) embedder: Option<EmbedderTemplate>,
    pub(crate) models: Vec<ModelTemplate>,
    pub(crate) agents: Vec<AgentTemplate>,
    pub(crate) telemetry: Option<TelemetryTemplate>,
    /// The bounds of the database.
    pub kept: StoreBounds,
    pub(crate) store: Option<Template>,
    pub(crate) cluster: Option<ClusterTemplate>,
    pub(crate) sources: Vec<SourceEntry>,
    pub(crate) overrides: BTreeMap<String, ToolOverride>,
    /// Those that are written by hand.
    pub(crate) toolsets: Arc<[NamedToolset]>,
    /// What the file only names.
    pub(crate) points: Vec<Requirement>,
}

/// How much the database keeps and for how long; what is not said is left to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreBounds {
    pub calls_for: Option<Duration>,
    pub most_calls: Option<u64>,
    pub results_for: Option<Duration>,
    /// Bytes.
    pub results_per_tenant: Option<u64>,
    pub keys_for: Option<Duration>,
    /// Bytes.
    pub max_size: Option<u64>,
}

/// One view of the tools.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The sources that are seen; `None`: all of them.
    pub sources: Option<Vec<SourceId>>,
    /// The rules of the view, which hold beside those at the top of the file.
    pub rules: Option<Rules>,
    /// Calls of one batch that run.
    pub max_calls: Option<usize>,
    /// How arguments meet the schemas of its tools, unless their tables say so.
    pub validation: Option<Validation>,
    pub discovery: DiscoverySettings,
}

/// One source of the file.
#[derive(Debug, Clone)]
pub(crate) struct SourceEntry {
    pub(crate) id: SourceId,
    pub(crate) enabled: bool,
    pub(crate) prefix: String,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) validation: Option<Validation>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) grouping: Option<ToolsetGrouping>,
    pub(crate) kind: SourceTemplate,
}

impl SourceEntry {
    /// How the names of its tools begin.
    pub(crate) fn stem(&self) -> String {
        if self.prefix.is_empty() { String::new() } else { format!("{}__", self.prefix) }
    }
}

/// How the names of the views of agents begin, which stand beside the profiles.
pub(crate) const AGENT_VIEW: &str = "agent:";

/// The name under which an agent of `[assign]` is found among the profiles.
pub fn agent_view(agent: &str) -> String {
    format!("{AGENT_VIEW}{agent}")
}

/// The keys that say which tools agents have: in a `crib.toml`, and in a file of MAS-Arena.
pub(crate) const ASSIGN: [&str; 2] = ["assign", "tool_assignment"];

/// What a catalog does not have of what was named, in the order of the file.
pub(crate) fn unknown(points: &[Requirement], catalog: &Catalog) -> Vec<ConfigProblem> {
    let mut strangers: Vec<_> = points.iter().filter_map(|point| point.stranger(catalog)).collect();
    in_order(&mut strangers);
    strangers
}

pub(crate) fn in_order(problems: &mut [ConfigProblem]) {
    problems.sort_by_key(|problem| (problem.line, problem.column));
}

impl Config {
    /// Looks for what the file only names: secrets, documents, folders, programs; but not for
    /// those of sources that are left out. Starts nothing and reaches no network.
    ///
    /// Gives the problems and the warnings, in the order of the file.
    pub fn examine(&self, lookup: &dyn SecretLookup) -> (Vec<ConfigProblem>, Vec<ConfigProblem>) {
        let (mut problems, mut warnings) = (Vec::new(), Vec::new());
        for point in &self.points {
            point.look(lookup, &mut problems, &mut warnings);
        }
        in_order(&mut problems);
        in_order(&mut warnings);
        (problems, warnings)
    }

    /// The address of the database; `None`: the file names none.
    pub fn store(
        &self,
        lookup: &dyn SecretLookup,
    ) -> Result<Option<Secret>, Vec<UnresolvedReference>> {
        let mut found = TemplateResolution::default();
        let store = self.store.as_ref().map(|store| store.resolve(lookup, &mut found));
        if found.missing.is_empty() { Ok(store) } else { Err(found.missing) }
    }

    /// What makes this server one of several; `None`: it is alone.
    pub fn cluster(
        &self,
        lookup: &dyn SecretLookup,
    ) -> Result<Option<ClusterSettings>, Vec<UnresolvedReference>> {
        let mut found = TemplateResolution::default();
        let settings = self.cluster.as_ref().map(|own| own.resolve(lookup, &mut found));
        if found.missing.is_empty() { Ok(settings) } else { Err(found.missing) }
    }

    /// What finds tools by their meaning; `None`: the file names nothing.
    pub fn embedder(
        &self,
        lookup: &dyn SecretLookup,
    ) -> Result<Option<EmbedderSettings>, Vec<UnresolvedReference>> {
        let mut found = TemplateResolution::default();
        let settings = self.embedder.as_ref().map(|own| own.resolve(lookup, &mut found));
        if found.missing.is_empty() { Ok(settings) } else { Err(found.missing) }
    }

    /// The agents, each with its model; none where the file names no model.
    pub fn agents(
        &self,
        lookup: &dyn SecretLookup,
    ) -> Result<Vec<AgentSettings>, Vec<UnresolvedReference>> {
        let mut found = TemplateResolution::default();
        let settings = agents(&self.models, &self.agents, &self.assign, lookup, &mut found);
        if found.missing.is_empty() { Ok(settings) } else { Err(found.missing) }
    }

    /// The model that is asked how to split toolsets; `None`: no source wishes that.
    pub fn toolset_model(
        &self,
        lookup: &dyn SecretLookup,
    ) -> Result<Option<ModelSettings>, Vec<UnresolvedReference>> {
        let asks = |entry: &&SourceEntry| {
            entry.enabled && entry.grouping.is_some_and(|own| own.split == ToolsetSplit::Model)
        };
        let model = self.models.first().filter(|_| self.sources.iter().any(|entry| asks(&entry)));
        let Some(ModelTemplate { plain, key, .. }) = model else { return Ok(None) };
        let mut found = TemplateResolution::default();
        let key = key.as_ref().map(|key| key.secret(lookup, &mut found));
        let settings = ModelSettings { key, ..plain.clone() };
        if found.missing.is_empty() { Ok(Some(settings)) } else { Err(found.missing) }
    }

    /// The collector of traces and figures; `None`: the file names none.
    pub fn telemetry(
        &self,
        lookup: &dyn SecretLookup,
    ) -> Result<Option<TelemetrySettings>, Vec<UnresolvedReference>> {
        let mut found = TemplateResolution::default();
        let settings = self.telemetry.as_ref().map(|own| own.resolve(lookup, &mut found));
        if found.missing.is_empty() { Ok(settings) } else { Err(found.missing) }
    }

    /// The sources that can have a tool of this name, as far as their prefixes tell: of those that
    /// fit the longest counts, as it does when the sources are built.
    pub fn owners_of(&self, tool: &str) -> Vec<&SourceId> {
        let enabled = self.sources.iter().filter(|entry| entry.enabled);
        let fitting: Vec<_> = enabled.filter(|entry| tool.starts_with(&entry.stem())).collect();
        let longest = fitting.iter().map(|entry| entry.stem().len()).max();
        let owners = fitting.iter().filter(|entry| Some(entry.stem().len()) == longest);
        owners.map(|entry| &entry.id).collect()
    }

    /// What would be run, word for word, by the sources that are programs and to be used: for a
    /// person to see before the first start.
    pub fn commands(&self) -> Vec<(SourceId, Vec<String>)> {
        let entries = self.sources.iter().filter(|entry| entry.enabled);
        let commands = entries.filter_map(|entry| Some((entry.id.clone(), entry.kind.command()?)));
        commands.collect()
    }

    /// What the file says of tools that a catalog does not have: a slip of the pen, or a source
    /// that is away.
    pub fn strangers(&self, catalog: &Catalog) -> Vec<ConfigProblem> {
        unknown(&self.points, catalog)
    }

    /// The same of what `[assign]` says alone.
    pub fn unknown_assigned(&self, catalog: &Catalog) -> Vec<ConfigProblem> {
        unknown(&self.assigned(), catalog)
    }

    /// The tools that `[assign]` names.
    pub(crate) fn assigned(&self) -> Vec<Requirement> {
        let is_assigned = |point: &&Requirement| {
            ASSIGN.iter().any(|key| {
                let rest = point.at.path.strip_prefix(key);
                rest.is_some_and(|rest| rest.starts_with(['.', '[']))
            })
        };
        self.points.iter().filter(is_assigned).cloned().collect()
    }

    /// The same without these sources.
    #[must_use]
    pub fn without(&self, sources: &[SourceId]) -> Self {
        let mut rest = self.clone();
        rest.sources.retain(|entry| !sources.contains(&entry.id));
        rest
    }

    /// The names of the sources that are to be used, in their order.
    pub fn sources(&self) -> impl Iterator<Item = &SourceId> {
        self.sources.iter().filter(|entry| entry.enabled).map(|entry| &entry.id)
    }
}
