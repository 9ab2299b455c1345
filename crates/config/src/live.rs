//! A crib that follows its file: a change is applied as a difference, or not at all.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;
use tokio::sync::Mutex;
use toolcrib_core::{Catalog, DoorHints, Ledger, Observer, Redactor, SourceId};
use toolcrib_engine::catalog::{Judge, NamedSource};
use toolcrib_engine::rules::Rules;
use toolcrib_engine::selection::AgentRules;
use toolcrib_engine::{Crib, CribBuilder};

use crate::build::{BuiltSource, CribParts, ProfileView, SourceDifference, SourceFactory};
use crate::config::requirement::Requirement;
use crate::config::{Config, unknown};
use crate::file::problem::ConfigProblem;
use crate::secrets::process::{ProcessLookup, inherited_variables, open_ordinary_file};
use crate::secrets::template::SecretLookup;
use crate::source::handle::SourceHandle;
use crate::source::registry::SourceRegistry;

/// Largest file that is read, in bytes.
const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// What a file needs from its process to become a crib.
pub struct Environment {
    pub lookup: Arc<dyn SecretLookup>,
    pub maker: Arc<dyn SourceFactory>,
    /// The profile of the file that holds; `None`: the file without profiles.
    pub profile: Option<String>,
    /// `None`: a ledger in memory.
    pub ledger: Option<Arc<dyn Ledger>>,
    /// Rules that hold beside those of the file, and for each of its profiles.
    pub rules: Option<Rules>,
    /// Judges every tool before it is used: the pins.
    pub judge: Option<Judge>,
    /// What the process makes of the policy and limits of the file, and of each of its profiles,
    /// whose name comes with them.
    pub adapt: Option<ViewHook>,
    /// Sees what is decided and how calls end.
    pub observer: Option<Arc<dyn Observer>>,
    /// The commands and addresses of which the words of its calls should tell.
    pub hints: DoorHints,
    /// Sources of the process itself, behind those of the file and whatever becomes of it. A profile
    /// that names its sources has none of them; no source of the file may have one of their names.
    pub own_sources: Vec<NamedSource>,
}

/// Changes a view before it comes into force.
pub type ViewHook = Box<dyn Fn(Option<&str>, ProfileView) -> ProfileView + Send + Sync>;

impl Environment {
    /// Secrets and sources from these, no profile, a ledger in memory, no pins.
    pub fn new(lookup: Arc<dyn SecretLookup>, maker: Arc<dyn SourceFactory>) -> Self {
        Self {
            lookup,
            maker,
            profile: None,
            ledger: None,
            rules: None,
            judge: None,
            adapt: None,
            observer: None,
            hints: DoorHints::default(),
            own_sources: Vec::new(),
        }
    }
}

/// A crib and the file that it was made of.
pub struct LiveConfig {
    crib: Crib,
    lookup: Arc<dyn SecretLookup>,
    maker: Arc<dyn SourceFactory>,
    profile: Option<String>,
    rules: Option<Rules>,
    adapt: ViewHook,
    own_sources: Vec<NamedSource>,
    secrets: RwLock<Arc<Redactor>>,
    assigned: RwLock<Arc<(AgentRules, Vec<Requirement>)>>,
    /// The same tools under the policy of each profile.
    views: RwLock<BTreeMap<String, Crib>>,
    /// Held while a change is applied, so that two do not mix.
    built: Mutex<CribParts>,
}

/// What a new file changed, by the names of the sources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ConfigChange {
    pub added: Vec<SourceId>,
    /// They start anew.
    pub restarted: Vec<SourceId>,
    /// Only what is wanted of them is another thing; they go on.
    pub refitted: Vec<SourceId>,
    pub removed: Vec<SourceId>,
    pub same: Vec<SourceId>,
}

/// Why a file does not come into force.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Something is wrong with the file itself.
    #[error("the file is wrong: {}", lines(.0))]
    File(Vec<ConfigProblem>),
    #[error("the file has no profile `{0}`: add it, or choose another")]
    Profile(String),
    /// A source that would be lost.
    #[error("the source `{id}` cannot be made: {reason}")]
    Source { id: SourceId, reason: String },
}

/// Why a file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot read `{}`: {cause}; check the path", .path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

impl LiveConfig {
    /// Opens a `crib.toml` and starts its sources. Must be called within a tokio runtime.
    ///
    /// Secrets come from the environment and the files of this process ([`ProcessLookup`]), child
    /// processes inherit harmless variables such as `PATH`, and the ledger is in memory. Whoever
    /// wants another thing makes an [`Environment`] and calls [`LiveConfig::start`].
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let mut text = String::new();
        let read = open_ordinary_file(path)
            .and_then(|file| file.take(LARGEST_FILE).read_to_string(&mut text));
        read.map_err(|cause| OpenError::Unreadable { path: path.to_owned(), cause })?;
        let read = Config::read(&text, &path.to_string_lossy());
        let config = read.config.ok_or(ApplyError::File(read.problems))?;
        let sources = Arc::new(SourceRegistry::new(inherited_variables(), None));
        let environment = Environment::new(Arc::new(ProcessLookup), sources);
        Ok(Self::start(&config, environment).await?)
    }

    /// Starts the sources, and waits until each has answered or failed. Must be called within a
    /// tokio runtime. A source that cannot be made is there and fails.
    pub async fn start(config: &Config, means: Environment) -> Result<Self, ApplyError> {
        let live = Self::prepare(config, means)?;
        live.crib.start().await;
        Ok(live)
    }

    /// The same without a wait: `live.crib().start()` starts the sources, and meanwhile whatever
    /// is there can be used.
    pub fn prepare(config: &Config, means: Environment) -> Result<Self, ApplyError> {
        let Environment {
            lookup,
            maker,
            profile,
            ledger,
            rules,
            judge,
            adapt,
            observer,
            hints,
            own_sources,
        } = means;
        let adapt = adapt.unwrap_or_else(|| Box::new(|_, view| view));
        let built = ruled(config.build(&*lookup, &*maker), config, rules.as_ref());
        admit(&own_sources, &built)?;
        let view = adapt(profile.as_deref(), view(&built, profile.as_deref())?);
        let mut builder = Crib::builder().policy(view.policy).limits(view.limits).hints(hints);
        let sources = built.sources.iter().chain(&own_sources).cloned();
        builder = sources.fold(builder, CribBuilder::placed);
        if let Some(ledger) = ledger {
            builder = builder.ledger(ledger);
        }
        if let Some(judge) = judge {
            builder = builder.judge(judge);
        }
        if let Some(observer) = observer {
            builder = builder.observer(observer);
        }
        let crib = builder.discovery(view.discovery).open();
        crib.restrict_sources(
            profile.as_ref().and_then(|profile| built.named.get(profile)).cloned(),
        );
        let views = RwLock::new(views(&crib, &built, &adapt));
        let secrets = RwLock::new(Arc::clone(&built.redactor));
        let assigned = RwLock::new(Arc::new((built.assign.clone(), built.assigned.clone())));
        let built = Mutex::new(built);
        Ok(Self {
            crib,
            lookup,
            maker,
            profile,
            rules,
            adapt,
            own_sources,
            secrets,
            assigned,
            views,
            built,
        })
    }

    /// The tools as a profile of the file has them; `None`: the file has no such profile, or
    /// another one holds for all.
    pub fn view(&self, profile: &str) -> Option<Crib> {
        match &self.profile {
            Some(own) => (own == profile).then(|| self.crib.clone()),
            None => self.views.read().unwrap_or_else(PoisonError::into_inner).get(profile).cloned(),
        }
    }

    /// Which tools an agent has, as the file that is in force says it.
    pub fn agent_rules(&self) -> AgentRules {
        self.assigned().0.clone()
    }

    /// The tools that these rules name and that are not there now, with their places in the file.
    pub fn unknown_assigned(&self) -> Vec<ConfigProblem> {
        unknown(&self.assigned().1, &self.crib.catalog())
    }

    fn assigned(&self) -> Arc<(AgentRules, Vec<Requirement>)> {
        Arc::clone(&self.assigned.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What each profile shows now, with what policy may hide; none where one holds for all.
    pub fn profiles(&self) -> Vec<(String, Arc<Catalog>)> {
        if self.profile.is_some() {
            return Vec::new();
        }
        let views = self.views.read().unwrap_or_else(PoisonError::into_inner);
        views.iter().map(|(name, crib)| (name.clone(), crib.catalog())).collect()
    }

    /// Knows the secrets of the file that is in force: for whoever prints or records. What was one
    /// before, and tokens that were had since, the maker has [learned](SourceFactory::learned).
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.secrets.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What stands behind a source now; `None`: nothing that its maker knows.
    pub fn source(&self, id: &str) -> Option<SourceHandle> {
        self.maker.handle(id)
    }

    pub fn crib(&self) -> &Crib {
        &self.crib
    }

    /// Reads a text and applies it; see [`LiveConfig::apply`]. A text with problems changes
    /// nothing.
    pub async fn reload(&self, text: &str, file: &str) -> Result<ConfigChange, ApplyError> {
        let read = Config::read(text, file);
        match read.config {
            Some(config) => self.apply(&config).await,
            None => Err(ApplyError::File(read.problems)),
        }
    }

    /// Applies a file as a difference: what did not change is not touched, what runs goes on as
    /// it began. On any problem all stays as it was; a secret that is missing is one, unless it
    /// was missing before.
    pub async fn apply(&self, config: &Config) -> Result<ConfigChange, ApplyError> {
        let mut before = self.built.lock().await;
        let built = config.build_after(&*self.lookup, &*self.maker, &before.kept);
        let built = ruled(built, config, self.rules.as_ref());
        let view = view(&built, self.profile.as_deref())?;
        let view = (self.adapt)(self.profile.as_deref(), view);
        admit(&self.own_sources, &built)?;
        let new = built.failed.iter().find(|failed| !before.failed.contains(failed));
        if let Some(failed) = new.cloned() {
            return Err(ApplyError::Source { id: failed.id, reason: failed.reason });
        }
        *self.views.write().unwrap_or_else(PoisonError::into_inner) =
            views(&self.crib, &built, &self.adapt);
        *self.assigned.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new((built.assign.clone(), built.assigned.clone()));
        let change = ConfigChange::between(&before.kept, &built.kept);
        let own = self.profile.as_ref().and_then(|profile| built.named.get(profile));
        self.crib.restrict_sources(own.cloned());
        let sources: Vec<_> = built.sources.iter().chain(&self.own_sources).cloned().collect();
        // What was a secret a moment ago still stands in what is under way.
        let gone = before.secrets.iter().filter(|old| !built.secrets.contains(old));
        self.maker.learned().learn(gone);
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&built.redactor);
        let is_shown_anew = !before.shows_as(&built);
        self.crib.set_discovery(view.discovery);
        // The crib changes before it waits for what is new, so this holds if nobody waits on.
        *before = built;
        if is_shown_anew {
            self.crib.notify_changed();
        }
        self.crib.replace(sources, view.policy, view.limits).await;
        Ok(change)
    }
}

/// Whether what a file makes can stand beside the sources of the process.
fn admit(own: &[NamedSource], built: &CribParts) -> Result<(), ApplyError> {
    let taken = built.kept.iter().find(|kept| own.iter().any(|(id, ..)| *id == kept.id));
    taken.map_or(Ok(()), |taken| {
        let reason =
            "the program has a source of this name itself: give it another one in the file";
        Err(ApplyError::Source { id: taken.id.clone(), reason: reason.to_owned() })
    })
}

/// What is built, with further rules beside those of the file.
fn ruled(mut built: CribParts, config: &Config, rules: Option<&Rules>) -> CribParts {
    let Some(rules) = rules else { return built };
    built.policy = config.policy_with(None, rules).unwrap_or(built.policy);
    for (name, view) in &mut built.views {
        if let Some(policy) = config.policy_with(Some(name), rules) {
            view.policy = policy;
        }
    }
    built
}

fn view(built: &CribParts, profile: Option<&str>) -> Result<ProfileView, ApplyError> {
    match profile {
        None => Ok(ProfileView {
            policy: Arc::clone(&built.policy),
            limits: built.limits.clone(),
            discovery: built.discovery.clone(),
        }),
        Some(name) => {
            built.views.get(name).cloned().ok_or_else(|| ApplyError::Profile(name.to_owned()))
        }
    }
}

fn views(crib: &Crib, built: &CribParts, adapt: &ViewHook) -> BTreeMap<String, Crib> {
    let view = |(name, view): (&String, &ProfileView)| {
        let ProfileView { policy, limits, discovery } = adapt(Some(name), view.clone());
        let crib = crib.with_policy(policy, limits).for_profile(name);
        crib.set_discovery(discovery);
        crib.restrict_sources(built.named.get(name).cloned());
        (name.clone(), crib)
    };
    built.views.iter().map(view).collect()
}

impl ConfigChange {
    fn between(before: &[BuiltSource], now: &[BuiltSource]) -> Self {
        let mut change = Self::default();
        for kept in now {
            let old = before.iter().find(|old| old.id == kept.id);
            let list = match old.map(|old| kept.differs(old)) {
                None => &mut change.added,
                Some(None) => &mut change.same,
                Some(Some(SourceDifference::Fit)) => &mut change.refitted,
                Some(Some(SourceDifference::Owner)) => &mut change.restarted,
            };
            list.push(kept.id.clone());
        }
        let gone = before.iter().filter(|old| !now.iter().any(|kept| kept.id == old.id));
        change.removed = gone.map(|old| old.id.clone()).collect();
        change
    }
}

fn lines(problems: &[ConfigProblem]) -> String {
    let lines: Vec<_> = problems.iter().map(|problem| format!("\n{problem}")).collect();
    lines.concat()
}
