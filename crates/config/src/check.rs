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

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolcrib_core::ToolName;
use toolcrib_engine::rules::{Rules, ToolsetNames};

use crate::config::digests::ConfigDigests;
use crate::config::requirement::{Requirement, RequirementKind};
use crate::config::{Config, StoreBounds};
use crate::file::document::{TomlDocument, TomlTable};
use crate::file::findings::Findings;
use crate::file::toml_path::TomlPath;
use crate::raw::{self, ClusterSecretValue, ConfigFile, SecretText};
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
    let (kept, store) = check.store(file.store.as_ref(), &top.key("store"));
    let cluster = file.cluster.as_ref();
    let cluster =
        cluster.and_then(|own| check.cluster(own, (store.as_ref(), &front), &top.key("cluster")));
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
        digests: ConfigDigests::default(),
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

    /// How much is kept, and where.
    fn store(
        &mut self,
        raw: Option<&raw::StoreTable>,
        place: &TomlPath,
    ) -> (StoreBounds, Option<Template>) {
        let Some(raw) = raw else { return (StoreBounds::default(), None) };
        let kept = self.kept(raw, place);
        let store = self.template(&raw.url, &place.key("url"));
        if kept.failover && !store.as_ref().is_some_and(may_be_postgres) {
            let message = "a file has no standby that could take over";
            let cure = "leave out `failover`, or write a `url` that begins with `postgres://`";
            self.problem(&place.key("failover"), message, cure);
        }
        (kept, store)
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
            failover: raw.failover.unwrap_or_default(),
        }
    }

    /// What makes a server one of several. `store`: where they share their record.
    fn cluster(
        &mut self,
        raw: &raw::ClusterTable,
        (store, front): (Option<&Template>, &ListenerSettings),
        place: &TomlPath,
    ) -> Option<ClusterTemplate> {
        if !store.is_some_and(may_be_postgres) {
            let message = "replicas share a record only in a database of Postgres";
            let cure = "write `[store]` with `url = \"postgres://…\"`, or leave out `[cluster]`";
            self.problem(place, message, cure);
        }
        let (secret, opens) = self.cluster_secrets(&raw.secret, &place.key("secret"));
        let address = raw.address.as_deref();
        let address = address.and_then(|text| self.origin(text, &place.key("address")));
        let at = place.key("lease");
        let lease = self.pause(raw.lease.as_ref(), &at).unwrap_or(LEASE);
        if !LEASES.contains(&lease) {
            let message = "a replica counts as dead neither so soon nor so late";
            self.problem(&at, message, "write from `2s` to `60s`");
        }
        let listen = self.listens_for_replicas(raw, front, place);
        Some(ClusterTemplate { secret: secret?, opens, address, listen, lease })
    }

    /// The secret that seals, and the one that opens as well.
    fn cluster_secrets(
        &mut self,
        raw: &ClusterSecretValue,
        place: &TomlPath,
    ) -> (Option<Template>, Option<Template>) {
        let several = match raw {
            ClusterSecretValue::One(secret) => {
                return (self.cluster_secret(secret, place), None);
            }
            ClusterSecretValue::Several(several) => several,
        };
        let [seals, opens] = &several[..] else {
            let message = "a list of secrets has two: the one that seals, and the one before it or \
                           after it";
            self.problem(place, message, "write one secret as a text, or two in a list");
            return (None, None);
        };
        let seals = self.cluster_secret(seals, &place.index(0));
        (seals, self.cluster_secret(opens, &place.index(1)))
    }

    fn cluster_secret(&mut self, raw: &SecretText, place: &TomlPath) -> Option<Template> {
        let secret = self.template(raw, place)?;
        let is_reference =
            matches!(secret.pieces(), [TemplatePiece::Env(_) | TemplatePiece::File { .. }]);
        if !is_reference {
            let cure = "write `${file:PATH}` or `${env:NAME}`, and nothing beside it";
            self.problem(place, "the secret of a cluster does not stand in the file", cure);
            return None;
        }
        self.point(place, RequirementKind::ClusterSecret(secret.clone()));
        Some(secret)
    }

    /// Where replicas ask each other, and nobody else does.
    fn listens_for_replicas(
        &mut self,
        raw: &raw::ClusterTable,
        front: &ListenerSettings,
        place: &TomlPath,
    ) -> Option<SocketAddr> {
        let at = place.key("listen");
        let listen = raw.listen.as_deref().and_then(|text| self.address(text, &at));
        if raw.listen.is_some() != raw.address.is_some() {
            let lacking = if raw.listen.is_some() { "address" } else { "listen" };
            let cure = format!("write `{lacking}` as well, or leave both out");
            self.problem(place, "`listen` and `address` go together", cure);
        }
        let listen = listen?;
        if !listen.ip().is_loopback() && front.tls.is_none() {
            let cure = "name a certificate under `[server.tls]`, or listen on `127.0.0.1`";
            self.problem(&at, "what replicas tell each other would go in the clear", cure);
        }
        if [front.listen, front.page.listen].contains(&Some(listen)) {
            let cure = "name another port, which no client reaches";
            self.problem(&at, "clients are listened for there", cure);
        }
        Some(listen)
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
