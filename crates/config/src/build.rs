//! From a checked file to sources, policy and limits.

mod policy;
mod source_factory;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{CribLimits, Mask, Policy, Redactor, Secret, Source, SourceId};
use toolcrib_engine::catalog::{LOAD_DEADLINE, NamedSource};
use toolcrib_engine::discovery::DiscoverySettings;
use toolcrib_engine::policy::{AssignedTools, strictest};
use toolcrib_engine::rules::{Glob, Rules};
use toolcrib_engine::selection::AgentRules;
use toolcrib_engine::source::{SharedSource, SourceView, SourceViewSettings, masked};
use toolcrib_engine::toolsets::{SharedSplits, ToolsetSplits};
use toolcrib_mcp::{HttpAuthorization, McpSourceSettings, McpTransport};

use crate::config::requirement::Requirement;
use crate::config::{AGENT_VIEW, Config, SourceEntry, agent_view};
use crate::secrets::template::{SecretLookup, TemplateResolution};
use crate::settings::SourceSettings;
use crate::settings::agents::agents;
pub(crate) use source_factory::BASICS;
pub use source_factory::SourceFactory;
use source_factory::{FailingSource, make};

/// What a crib is made of.
#[derive(Clone)]
pub struct CribParts {
    /// In the order of the file; one that could not be made is there too, and fails to load.
    pub sources: Vec<NamedSource>,
    pub policy: Arc<dyn Policy>,
    pub limits: CribLimits,
    pub discovery: DiscoverySettings,
    /// The profiles of the file, and the agents of `[assign]`.
    pub views: BTreeMap<String, ProfileView>,
    /// Which tools an agent has; each that is listed has a view of its own, [`agent_view`].
    pub assign: AgentRules,
    /// The tools that these rules name.
    pub(crate) assigned: Vec<Requirement>,
    /// By profile, the sources that it names.
    pub named: BTreeMap<String, BTreeSet<SourceId>>,
    /// Sources that could not be made.
    pub failed: Vec<FailedSource>,
    /// The address of the database, if the file names one that can be told.
    pub store: Option<Secret>,
    /// Knows the secrets of all sources: for whoever prints or records what the sources say.
    pub redactor: Arc<Redactor>,
    /// What it knows.
    pub(crate) secrets: Vec<Secret>,
    pub(crate) kept: Vec<BuiltSource>,
}

/// What a profile makes of the same sources.
#[derive(Clone)]
pub struct ProfileView {
    /// The strictest of the profile and of the rules at the top of the file.
    pub policy: Arc<dyn Policy>,
    pub limits: CribLimits,
    pub discovery: DiscoverySettings,
}

impl CribParts {
    /// Whether both show the same in the same way in every profile, of the same sources.
    pub(crate) fn shows_as(&self, other: &Self) -> bool {
        let profiles = |built: &Self| -> Vec<_> {
            let shown = |(name, view): (&String, &ProfileView)| {
                (name.clone(), view.discovery.clone(), view.policy.version())
            };
            built.views.iter().map(shown).collect()
        };
        self.discovery == other.discovery && profiles(self) == profiles(other)
    }
}

/// A source that could not be made, and why: names references and never a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedSource {
    pub id: SourceId,
    pub reason: String,
}

/// A source with all that decides whether it may stay as it is.
#[derive(Clone)]
pub(crate) struct BuiltSource {
    pub(crate) id: SourceId,
    pub(crate) made: SourceBuild,
    secrets: Vec<Secret>,
    source: Arc<dyn Source>,
    deadline: Duration,
}

#[derive(Clone)]
pub(crate) enum SourceBuild {
    Whole { settings: Box<SourceSettings>, owner: Arc<SharedSource>, fit: Box<SourceViewSettings> },
    Failed(String),
}

impl Config {
    /// Makes the sources and the policy; nothing is started yet. A source whose secrets are
    /// missing costs itself alone.
    pub fn build(&self, lookup: &dyn SecretLookup, maker: &dyn SourceFactory) -> CribParts {
        self.build_after(lookup, maker, &[])
    }

    /// The same, with the sources of before that need not change.
    pub(crate) fn build_after(
        &self,
        lookup: &dyn SecretLookup,
        maker: &dyn SourceFactory,
        before: &[BuiltSource],
    ) -> CribParts {
        let entries = self.sources.iter().filter(|entry| entry.enabled);
        let kept: Vec<_> = entries.map(|entry| self.source(entry, lookup, maker, before)).collect();
        let placed =
            |kept: &BuiltSource| (kept.id.clone(), Arc::clone(&kept.source), kept.deadline);
        let own: Vec<_> = self.rules.iter().collect();
        let views = self.profiles.iter().map(|(name, profile)| {
            let policy = policy::policy(&own, Some(profile));
            let max_calls = profile.max_calls.unwrap_or(self.limits.max_calls);
            let validation = profile.validation;
            let limits = CribLimits { max_calls, validation, ..self.limits.clone() };
            let discovery = profile.discovery.clone();
            (name.clone(), ProfileView { policy, limits, discovery })
        });
        let named = self.profiles.iter().filter_map(|(name, profile)| {
            Some((name.clone(), profile.sources.as_ref()?.iter().cloned().collect()))
        });
        let mut found = TemplateResolution::default();
        let store = self.store.as_ref().map(|store| store.resolve(lookup, &mut found));
        let secrets = kept.iter().flat_map(|kept| kept.secrets.iter().cloned());
        let mut beside = TemplateResolution::default();
        let _ = self.telemetry.as_ref().map(|own| own.resolve(lookup, &mut beside));
        let _ = self.embedder.as_ref().map(|own| own.resolve(lookup, &mut beside));
        let _ = self.cluster.as_ref().map(|own| own.resolve(lookup, &mut beside));
        let _ = agents(&self.models, &self.agents, &self.assign, lookup, &mut beside);
        let of_process = found.secrets.into_iter().chain(beside.secrets);
        let secrets: Vec<_> = secrets.chain(of_process).collect();
        let redactor = Redactor::new(secrets.iter().cloned());
        CribParts {
            sources: kept.iter().map(placed).collect(),
            policy: policy::policy(&own, None),
            limits: self.limits.clone(),
            discovery: self.discovery.clone(),
            views: views.chain(self.agent_views()).collect(),
            assign: self.assign.clone(),
            assigned: self.assigned(),
            named: named.collect(),
            failed: kept.iter().filter_map(BuiltSource::failed).collect(),
            store: store.filter(|_| found.missing.is_empty()),
            redactor: Arc::new(redactor),
            secrets,
            kept,
        }
    }

    fn source(
        &self,
        entry: &SourceEntry,
        lookup: &dyn SecretLookup,
        maker: &dyn SourceFactory,
        before: &[BuiltSource],
    ) -> BuiltSource {
        let id = entry.id.clone();
        let deadline = entry.timeout.unwrap_or(LOAD_DEADLINE);
        let old = before.iter().find(|kept| kept.id == id);
        let (settings, secrets) = match entry.kind.resolve(lookup) {
            Ok(resolved) => resolved,
            Err(missing) => {
                let reasons: Vec<_> = missing.iter().map(ToString::to_string).collect();
                let reason = reasons.join("; ");
                let same = old
                    .filter(|old| matches!(&old.made, SourceBuild::Failed(old) if *old == reason));
                let source = same.map_or_else(
                    || -> Arc<dyn Source> { Arc::new(FailingSource(reason.clone())) },
                    |old| Arc::clone(&old.source),
                );
                let made = SourceBuild::Failed(reason);
                return BuiltSource { id, made, secrets: Vec::new(), source, deadline };
            }
        };
        let fit = self.fit(entry, maker.splits());
        let same = old.and_then(|old| match &old.made {
            SourceBuild::Whole { settings: old_settings, owner, fit }
                if **old_settings == settings =>
            {
                Some((old, owner, fit))
            }
            SourceBuild::Whole { .. } | SourceBuild::Failed(_) => None,
        });
        let (owner, source): (_, Arc<dyn Source>) = match same {
            Some((old, owner, old_fit)) if **old_fit == fit => {
                (Arc::clone(owner), Arc::clone(&old.source))
            }
            Some((_, owner, _)) => {
                (Arc::clone(owner), SourceView::new(Arc::clone(owner), fit.clone()))
            }
            None => {
                let made = make(id.as_str(), &settings, maker);
                let mask = mask(&settings, &secrets, maker);
                let made = match mask {
                    Some(mask) => masked(made, mask),
                    None => made,
                };
                let owner = SharedSource::new(made);
                (Arc::clone(&owner), SourceView::new(owner, fit.clone()))
            }
        };
        let made = SourceBuild::Whole { settings: Box::new(settings), owner, fit: Box::new(fit) };
        BuiltSource { id, made, secrets, source, deadline }
    }

    /// The policy of the file, or of one of its profiles; `None`: there is no such profile.
    pub fn policy(&self, profile: Option<&str>) -> Option<Arc<dyn Policy>> {
        let rules: Vec<_> = self.rules.iter().collect();
        let Some(name) = profile else { return Some(policy::policy(&rules, None)) };
        self.profiles.get(name).map(|profile| policy::policy(&rules, Some(profile)))
    }

    /// The policy of the file, or of one of its profiles, with further rules: the strictest of all
    /// counts. `None`: there is no such profile.
    pub fn policy_with(&self, profile: Option<&str>, further: &Rules) -> Option<Arc<dyn Policy>> {
        let rules: Vec<_> = self.rules.iter().chain([further]).collect();
        let Some(name) = profile else { return Some(policy::policy(&rules, None)) };
        if let Some(profile) = self.profiles.get(name) {
            return Some(policy::policy(&rules, Some(profile)));
        }
        let agent = name.strip_prefix(AGENT_VIEW)?;
        Some(self.agent_policy(agent, policy::policy(&rules, None)))
    }

    /// The agents of `[assign]`, each with its own tools of the whole file.
    fn agent_views(&self) -> impl Iterator<Item = (String, ProfileView)> {
        let rules: Vec<_> = self.rules.iter().collect();
        let whole = policy::policy(&rules, None);
        self.assign.listed.keys().map(move |agent| {
            let policy = self.agent_policy(agent, Arc::clone(&whole));
            let (limits, discovery) = (self.limits.clone(), self.discovery.clone());
            (agent_view(agent), ProfileView { policy, limits, discovery })
        })
    }

    /// A policy within what `[assign]` gives an agent that it lists; of another one, nothing.
    fn agent_policy(&self, agent: &str, whole: Arc<dyn Policy>) -> Arc<dyn Policy> {
        let tools = self.assign.listed.get(agent).cloned().unwrap_or_default();
        strictest(whole, vec![Arc::new(AssignedTools::new(tools))])
    }

    /// What is wanted of a source; only what can meet its tools counts as a change of it.
    fn fit(&self, entry: &SourceEntry, splits: Option<Arc<ToolsetSplits>>) -> SourceViewSettings {
        let globs = |patterns: &[String]| patterns.iter().map(|text| Glob::new(text)).collect();
        let stem = entry.stem();
        let longer = self.sources.iter().filter(|other| other.enabled && other.id != entry.id);
        let longer = longer
            .map(|other| (other.stem(), other.id.clone()))
            .filter(|(other, _)| other.len() > stem.len() && other.starts_with(&stem));
        let overrides = self.overrides.iter().filter(|(name, _)| name.starts_with(&stem));
        SourceViewSettings {
            id: entry.id.clone(),
            named: Arc::clone(&self.toolsets),
            grouping: entry.grouping,
            splits: splits.map(SharedSplits),
            prefix: entry.prefix.clone(),
            foreign: longer.collect(),
            include: globs(&entry.include),
            exclude: globs(&entry.exclude),
            validation: entry.validation,
            overrides: overrides.map(|(name, over)| (name.clone(), over.clone())).collect(),
        }
    }
}

impl BuiltSource {
    pub(crate) fn failed(&self) -> Option<FailedSource> {
        match &self.made {
            SourceBuild::Failed(reason) => {
                Some(FailedSource { id: self.id.clone(), reason: reason.clone() })
            }
            SourceBuild::Whole { .. } => None,
        }
    }

    /// Whether both are the very same object, and how they differ if not.
    pub(crate) fn differs(&self, old: &Self) -> Option<SourceDifference> {
        if Arc::ptr_eq(&self.source, &old.source) && self.deadline == old.deadline {
            return None;
        }
        match (&self.made, &old.made) {
            (SourceBuild::Whole { owner, .. }, SourceBuild::Whole { owner: old, .. })
                if Arc::ptr_eq(owner, old) =>
            {
                Some(SourceDifference::Fit)
            }
            _ => Some(SourceDifference::Owner),
        }
    }
}

/// What is taken out of all that a source says, if it does not do so itself.
fn mask(settings: &SourceSettings, secrets: &[Secret], maker: &dyn SourceFactory) -> Option<Mask> {
    let learns = match settings {
        SourceSettings::Mcp(server) => learns(server),
        SourceSettings::Desk(_) | SourceSettings::A2a(_) => false,
        SourceSettings::OpenApi(_) | SourceSettings::Basics(_) | SourceSettings::Builtin(_) => {
            return None;
        }
    };
    let given = Redactor::new(secrets.iter().cloned());
    (learns || !given.is_idle()).then(|| Mask::new(given, maker.learned()))
}

/// Whether a server is sent tokens that no file names.
fn learns(server: &McpSourceSettings) -> bool {
    match &server.transport {
        McpTransport::Http(http) => matches!(http.authorization, HttpAuthorization::OAuth(_)),
        McpTransport::Stdio(_) => false,
    }
}

pub(crate) enum SourceDifference {
    /// The owner of the tools goes on, what is wanted of it is new.
    Fit,
    /// The owner of the tools starts anew.
    Owner,
}
