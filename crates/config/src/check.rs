//! From the file as it is written to one that makes sense: all faults at once.

mod issuer;
mod limits;
mod listener;
mod models;
mod observability;
mod profiles;
mod requirements;
mod scalars;
mod server_limits;
mod source;
mod tools;
mod toolsets;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolcrib_core::ToolName;
use toolcrib_engine::rules::{Rules, ToolsetNames};

use crate::config::requirement::{Requirement, RequirementKind};
use crate::config::{Config, StoreBounds};
use crate::file::document::{TomlDocument, TomlTable};
use crate::file::findings::Findings;
use crate::file::toml_path::TomlPath;
use crate::raw::{self, ConfigFile};
use crate::secrets::template::{Template, TemplatePiece};
use crate::settings::cluster::ClusterTemplate;
use crate::settings::listener::ListenerSettings;

/// How long a replica counts as alive if nobody says, and how long it may.
const LEASE: Duration = Duration::from_secs(6);
const LEASES: RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_mins(1);

/// The keys of the file that are rules.
const RULES: [&str; 5] = ["allow", "ask", "deny", "rule", "tests"];

/// Reads what every section means; what is wrong stands in the findings.
pub(crate) fn file(file: &ConfigFile, folder: &Path, findings: &mut Findings<'_, '_>) -> Config {
    let mut check = ConfigChecker {
        findings,
        folder: folder.to_owned(),
        points: Vec::new(),
        locals: Vec::new(),
        toolsets: ToolsetNames::default(),
    };
    let top = TomlPath::default();
    let front = check.front(&file.server, &top.key("server"));
    let page = check.page(&file.page, front.listen, &top.key("page"));
    let front = ListenerSettings { page, ..front };
    let bounds = check.bounds(&file.server.limits, &top.key("server").key("limits"));
    let place = top.key("store");
    let store = file.store.as_ref();
    let kept = store.map(|store| check.kept(store, &place)).unwrap_or_default();
    let store = store.and_then(|store| check.template(&store.url, &place.key("url")));
    let cluster = file.cluster.as_ref();
    let cluster = cluster.and_then(|own| check.cluster(own, store.as_ref(), &top.key("cluster")));
    let embedder = check.embedder(file.embedder.as_ref(), &top.key("embedder"));
    let models = check.models(file.model.as_ref(), &top.key("model"));
    let telemetry = check.telemetry(file.telemetry.as_ref(), &top.key("telemetry"));
    let audit = check.audit(file.audit.as_ref(), &top.key("audit"));
    let log = observability::log(&file.log);
    let sources = check.sources(&file.source);
    check.counterparts(&sources);
    let limits = check.limits(&file.limits, &top.key("limits"));
    let overrides = check.overrides(&file.tool);
    check.toolsets(&file.source, &file.toolset);
    let rules = check.rules("the top of the file", &top);
    let discovery = check.discovery(file.discovery, &file.eager, file.confirm, &top);
    let profiles = check.profiles(&file.profile);
    let agents = check.agents(&file.agent, &models, &profiles);
    let known = (&*sources, &profiles);
    let assign = check.assign(&file.assign, file.unlisted_agents, known);
    let (points, toolsets) = (check.points, check.toolsets.named);
    Config {
        front,
        bounds,
        limits,
        rules,
        discovery,
        profiles,
        assign,
        log,
        audit,
        embedder,
        models,
        agents,
        telemetry,
        kept,
        store,
        cluster,
        sources,
        overrides,
        toolsets: toolsets.into(),
        points,
    }
}

struct ConfigChecker<'f, 'd, 't> {
    findings: &'f mut Findings<'d, 't>,
    /// What relative paths start from.
    folder: PathBuf,
    /// What is outside of the file and must be there.
    points: Vec<Requirement>,
    /// Tools that stand in the place of some of a provider, and where the file names them.
    locals: Vec<(ToolName, TomlPath)>,
    /// Those that patterns may name, once they are read.
    toolsets: ToolsetNames,
}

impl<'d, 't> ConfigChecker<'_, 'd, 't> {
    fn problem(&mut self, place: &TomlPath, message: impl Into<String>, cure: impl Into<String>) {
        self.findings.problem(place, message, cure);
    }

    fn document(&self) -> &'d TomlDocument<'t> {
        self.findings.document
    }

    fn kept(&mut self, raw: &raw::StoreTable, place: &TomlPath) -> StoreBounds {
        if raw.most_calls == Some(0) {
            let cure = "write 1 or more";
            self.problem(&place.key("most_calls"), "a call that runs is always kept", cure);
        }
        let mut size = |text, key| {
            let size: Option<usize> = self.size(text, &place.key(key));
            size.and_then(|size| u64::try_from(size).ok())
        };
        let results_per_tenant = size(raw.results_per_tenant.as_ref(), "results_per_tenant");
        let max_size = size(raw.max_size.as_ref(), "max_size");
        let mut time = |text, key| self.timeout(text, &place.key(key));
        StoreBounds {
            calls_for: time(raw.calls_for.as_ref(), "calls_for"),
            most_calls: raw.most_calls,
            results_for: time(raw.results_for.as_ref(), "results_for"),
            results_per_tenant,
            keys_for: time(raw.keys_for.as_ref(), "keys_for"),
            max_size,
        }
    }

    /// What makes a server one of several. `store`: where they share their record.
    fn cluster(
        &mut self,
        raw: &raw::ClusterTable,
        store: Option<&Template>,
        place: &TomlPath,
    ) -> Option<ClusterTemplate> {
        if !store.is_some_and(may_be_postgres) {
            let message = "replicas share a record only in a database of Postgres";
            let cure = "write `[store]` with `url = \"postgres://…\"`, or leave out `[cluster]`";
            self.problem(place, message, cure);
        }
        let at = place.key("secret");
        let secret = self.template(&raw.secret, &at);
        let is_reference = secret.as_ref().is_some_and(|secret| {
            matches!(secret.pieces(), [TemplatePiece::Env(_) | TemplatePiece::File { .. }])
        });
        if secret.is_some() && !is_reference {
            let cure = "write `${file:PATH}` or `${env:NAME}`, and nothing beside it";
            self.problem(&at, "the secret of a cluster does not stand in the file", cure);
        }
        let secret = secret.filter(|_| is_reference);
        if let Some(secret) = &secret {
            self.point(&at, RequirementKind::ClusterSecret(secret.clone()));
        }
        let address = raw.address.as_deref();
        let address = address.and_then(|text| self.origin(text, &place.key("address")));
        let at = place.key("lease");
        let lease = self.pause(raw.lease.as_ref(), &at).unwrap_or(LEASE);
        if !LEASES.contains(&lease) {
            let message = "a replica counts as dead neither so soon nor so late";
            self.problem(&at, message, "write from `2s` to `60s`");
        }
        Some(ClusterTemplate { secret: secret?, address, lease })
    }

    /// The rules within a table, read by the engine itself; `None` if it names no key of theirs.
    /// A list without a pattern is named: who writes `allow = []` permits nothing.
    fn rules(&mut self, label: &str, place: &TomlPath) -> Option<Rules> {
        let whole = self.document().table_at(place)?;
        if !RULES.iter().any(|key| whole.contains_key(*key)) {
            return None;
        }
        let is_rule = |key: &str| RULES.contains(&key);
        let rows = whole.iter().filter(|(key, _)| is_rule(key.get_ref()));
        let table: TomlTable<'_> = rows.map(|(key, item)| (key.clone(), item.clone())).collect();
        self.toolsets_of_rules(&table, place);
        match Rules::of_table(label, &table, self.document().text(), Some(&self.toolsets)) {
            Ok(rules) => Some(rules),
            Err(problems) => {
                for problem in problems.iter().take(50) {
                    let place = self.document().place_at(problem.at);
                    let (what, cure) = (problem.what.clone(), problem.cure.clone());
                    // A wrong key or type was told already, in other words.
                    if !self.findings.has_problem_at(problem.at) {
                        self.findings.problem_from(problem.at, &place, what, cure);
                    }
                }
                None
            }
        }
    }
}

/// Whether an address can be one of Postgres. What a reference stands for is not known yet.
fn may_be_postgres(address: &Template) -> bool {
    match address.pieces().first() {
        Some(TemplatePiece::Text(text)) => {
            ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
        }
        Some(TemplatePiece::Env(_) | TemplatePiece::File { .. }) => true,
        None => false,
    }
}
