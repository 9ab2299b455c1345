//! What every command works on: the tools, the policy, the pins, and who asks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use toolcrib_config::{Config, CribParts};
use toolcrib_core::{
    Caller, Catalog, ChoiceScope, CribLimits, Discovery, Ledger, Plan, PlanRequest, Run, SourceId,
};
use toolcrib_dialect::{Anthropic, Dialect, Gemini, OpenAiChat, OpenAiResponses, StrictMode};
use toolcrib_engine::catalog::SourceState;
use toolcrib_engine::pins::PinFile;
use toolcrib_engine::rules::Rules;
use toolcrib_engine::{Crib, CribBuilder};
use toolcrib_mcp::wait_for_programs;

use super::args::{CONFIG, DialectName, GlobalArgs, LOCK, ModeName, RequestArgs, ScopeName};
use super::output::Output;
use super::signals::told_to_end;
use super::trust;
use crate::config::freezes::FreezeFile;
use crate::config::overlays;
use crate::config::trust::OverFile;
use crate::freeze::{FreezeGuard, FreezePolicy};
use crate::gateway::follow::toolset_splits;
use crate::gateway::hints;
use crate::sources::{self, SourceRegistry};
use crate::telemetry::Telemetry;
use crate::{config, secrets};

/// What there is without a configuration.
pub(super) const DEFAULT: &str = include_str!("default.toml");
/// After each such time a person is told what is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a call of a rollout waits for its place: its deadline comes first.
const LONGEST_QUEUE: Duration = Duration::from_hours(24);
/// How long programs have to be found and killed; what is left after it the next start finds.
pub(super) const LAST_MOMENT: Duration = Duration::from_secs(10);

pub(super) struct CommandContext {
    pub(super) runtime: Runtime,
    pub(super) crib: Crib,
    pub(super) caller: Caller,
    /// What stands behind the sources of a configuration.
    pub(super) sources: SourceRegistry,
    /// The file that they are made of, if there is one.
    pub(super) file: Option<Config>,
    /// Where that stands.
    pub(super) place: PathBuf,
    /// By profile, the sources that it names.
    pub(super) named: BTreeMap<String, BTreeSet<SourceId>>,
    /// The pin file that holds, whether or not it is there.
    pub(super) lock: PathBuf,
    /// Sees what is called, if the file wants a record.
    record: Option<Arc<Telemetry>>,
}

/// Which sources a command needs.
#[derive(Clone, Copy)]
pub(super) enum RequiredSources<'a> {
    All,
    /// Those that may have this tool, if its name tells; else all.
    Tool(&'a str),
    /// Those of these names; all, if there are none.
    Sources(&'a [String]),
    None,
}

/// What a command is about to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandPurpose {
    Look,
    /// Calls are made, of which a record is kept if the file wants one.
    Call,
    /// The same for so many runs at a time, which wait for their places and are told of no other.
    Rollout(usize),
}

impl CommandContext {
    /// `None` if a person interrupted the start.
    pub(super) fn open(
        global: &GlobalArgs,
        output: &Output,
        (need, deed): (RequiredSources<'_>, CommandPurpose),
    ) -> Result<Option<Self>> {
        Self::of_config(found(global, output)?, global, output, (need, deed), None)
    }

    /// The same for a configuration that was read before. `ledger`: where calls and tickets are
    /// kept, if not in memory.
    pub(super) fn of_config(
        config: CommandConfig,
        global: &GlobalArgs,
        output: &Output,
        (need, deed): (RequiredSources<'_>, CommandPurpose),
        ledger: Option<Arc<dyn Ledger>>,
    ) -> Result<Option<Self>> {
        let mut runtime = match deed {
            CommandPurpose::Look | CommandPurpose::Call => Builder::new_current_thread(),
            CommandPurpose::Rollout(_) => Builder::new_multi_thread(),
        };
        let runtime = runtime.enable_all().build()?;
        let CommandConfig { path, checked, is_there } = config;
        let recorded = deed != CommandPurpose::Look && checked.audit.is_some();
        let record = recorded.then(|| Telemetry::open(&checked)).transpose()?.map(Arc::new);
        let sources = sources::ours();
        let _ = toolset_splits::restored(&sources, &path, &output.notices());
        let built = checked.build(&config::ProcessLookup, &sources);
        secrets::keep(vec![Arc::clone(&built.redactor)]);
        let (lock, named) = (path.with_file_name(LOCK), built.named.clone());
        let freezes = FreezeGuard::new(FreezeFile::of(&path));
        let builder = assembled(&checked, built, global, (need, deed), &freezes)?;
        let builder = pinned(builder, &lock)?;
        let builder = builder.hints(hints::ours());
        let builder = match ledger {
            Some(ledger) => builder.ledger(ledger),
            None => builder,
        };
        let builder = match &record {
            Some(record) => builder.observer(Arc::<Telemetry>::clone(record)),
            None => builder,
        };
        // Sources take hold of the runtime that they were made in.
        let (crib, is_started) = runtime.block_on(async {
            let crib = builder.open();
            crib.restrict_sources(
                global.profile.as_ref().and_then(|name| named.get(name)).cloned(),
            );
            let is_started = tokio::select! {
                () = start(&crib, output) => true,
                heard = told_to_end() => heard.is_err(),
            };
            (crib, is_started)
        });
        let file = is_there.then_some(checked);
        let caller = caller(global);
        let context =
            Self { runtime, crib, caller, sources, file, place: path, named, lock, record };
        if is_started {
            return Ok(Some(context));
        }
        context.close();
        Ok(None)
    }

    /// Says which sources have no list to give, or an old one.
    pub(super) fn note_failed(&self, output: &Output) {
        for SourceState { id, error, .. } in self.crib.sources() {
            if let Some(error) = error {
                output.warn(&[format!("the source `{id}` gives no tools: {error}")]);
            }
        }
    }

    /// What each profile of the file shows.
    pub(super) fn profiles(&self) -> Vec<(String, Arc<Catalog>)> {
        let shown = |(name, sources): (&String, &BTreeSet<SourceId>)| {
            let crib = self.crib.for_profile(name);
            crib.restrict_sources(Some(sources.clone()));
            (name.clone(), crib.catalog())
        };
        self.named.iter().map(shown).collect()
    }

    /// The plan of a request; `wire`: for a model of this API, by what it holds back itself and has of
    /// its own.
    pub(super) fn plan(&self, words: &RequestArgs, wire: Option<&dyn Dialect>) -> Result<Plan> {
        let request = request(words)?;
        let request = match wire {
            None => request,
            Some(wire) => request.api_defers(wire.defers()).told_in(wire.name()),
        };
        Ok(self.crib.plan(&self.caller, request)?)
    }

    /// The plan of a request without wishes, for a person: nothing is hidden that may be called.
    pub(super) fn plain_plan(&self) -> Result<Plan> {
        Ok(self.crib.plan(&self.caller, PlanRequest::default().show(Discovery::Direct))?)
    }

    /// Lets the sources end in their own way.
    pub(super) fn close(self) {
        self.runtime.block_on(self.sources.stop());
        if let Some(record) = &self.record {
            record.close();
        }
        // A thread that still waits for a line of the person is left behind.
        self.runtime.shutdown_background();
        // What was half started is killed with the tasks that started it.
        wait_for_programs(LAST_MOMENT);
    }
}

/// A configuration, and where it stands or would.
pub(super) struct CommandConfig {
    pub(super) path: PathBuf,
    pub(super) checked: Config,
    /// `false`: there is no file, and the default holds.
    pub(super) is_there: bool,
}

/// The configuration of a command, which is trusted.
pub(super) fn found(global: &GlobalArgs, output: &Output) -> Result<CommandConfig> {
    let named = configuration(global)?;
    if let (None, Some(name)) = (&named, &global.profile) {
        bail!("there is no `{CONFIG}` with a profile `{name}`: write one, or name it");
    }
    let is_there = named.is_some();
    let (path, text) = named.unwrap_or_else(|| (CONFIG.into(), DEFAULT.to_owned()));
    let (held, at) = (overlays::overlay(&path)?, overlays::now());
    let over = OverFile { text: &text, held: &held, at };
    let mut checked = read(&path, over, output)?;
    if is_there && global.config.is_none() {
        trust::pass(&path, &mut checked, over, output)?;
    }
    Ok(CommandConfig { path, checked, is_there })
}

/// The file that the command line names, else the one that stands where the command is run.
fn configuration(global: &GlobalArgs) -> Result<Option<(PathBuf, String)>> {
    match &global.config {
        Some(path) => Ok(Some((path.clone(), config::file(path)?))),
        None => Ok(config::file_if_any(Path::new(CONFIG))?.map(|text| (CONFIG.into(), text))),
    }
}

/// A configuration without a problem; what is doubtful is told.
fn read(path: &Path, over: OverFile<'_>, output: &Output) -> Result<Config> {
    let OverFile { text, held, at } = over;
    let read = Config::read_over(text, &path.display().to_string(), held, at);
    output.warn(&read.warnings);
    read.config.ok_or_else(|| {
        let lines: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
        anyhow!("`{}` cannot be used:\n{}", path.display(), lines.join("\n"))
    })
}

fn assembled(
    checked: &Config,
    built: CribParts,
    global: &GlobalArgs,
    (need, deed): (RequiredSources<'_>, CommandPurpose),
    freezes: &Arc<FreezeGuard>,
) -> Result<CribBuilder> {
    let (mut policy, own, discovery) = match &global.profile {
        None => (built.policy, built.limits, built.discovery),
        Some(name) => {
            let Some(view) = built.views.get(name) else {
                let known: Vec<_> = built.views.keys().map(|known| format!("`{known}`")).collect();
                bail!("there is no profile `{name}`: the file has {}", listed(&known));
            };
            (Arc::clone(&view.policy), view.limits.clone(), view.discovery.clone())
        }
    };
    if let Some(path) = &global.policy {
        let further = checked.policy_with(global.profile.as_deref(), &rules(path)?);
        policy = further.unwrap_or(policy);
    }
    policy = Arc::new(FreezePolicy::new(Arc::clone(freezes), policy));
    let known: Vec<_> = checked.sources().map(ToString::to_string).collect();
    let wanted: Vec<&str> = match need {
        RequiredSources::All | RequiredSources::Sources([]) => {
            known.iter().map(String::as_str).collect()
        }
        RequiredSources::None => Vec::new(),
        // With a wrong name all are asked: one of them may have a tool of a name like it.
        RequiredSources::Tool(name) => match checked.owners_of(name).as_slice() {
            [] => known.iter().map(String::as_str).collect(),
            owners => owners.iter().map(|id| id.as_str()).collect(),
        },
        RequiredSources::Sources(names) => {
            if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
                bail!("there is no source `{unknown}`: the file has {}", listed(&known));
            }
            names.iter().map(String::as_str).collect()
        }
    };
    let sources = built.sources.into_iter().filter(|(id, ..)| wanted.contains(&id.as_str()));
    let limits = within(limits(global, &own), deed);
    let builder = Crib::builder().limits(limits).discovery(discovery);
    Ok(sources.fold(builder, CribBuilder::placed).policy(policy))
}

/// What is meant for callers who are told to come again is not meant for runs that wait.
fn within(limits: CribLimits, deed: CommandPurpose) -> CribLimits {
    let CommandPurpose::Rollout(runs) = deed else { return limits };
    CribLimits {
        queue: limits.queue.max(LONGEST_QUEUE),
        most_queued: limits.most_queued.max(runs.saturating_mul(limits.max_calls)),
        ..limits
    }
}

pub(crate) fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Starts the sources; a person who waits is told for what.
async fn start(crib: &Crib, output: &Output) {
    let mut starting = std::pin::pin!(crib.start());
    while tokio::time::timeout(PATIENCE, &mut starting).await.is_err() {
        let silent = |source: &SourceState| source.age_seconds.is_none() && source.error.is_none();
        let waiting = crib.sources().into_iter().filter(silent);
        let names: Vec<_> = waiting.map(|source| format!("`{}`", source.id)).collect();
        if output.is_watched() {
            output.note(&format!("waiting for {}", names.join(", ")));
        }
    }
}

fn pinned(builder: CribBuilder, path: &Path) -> Result<CribBuilder> {
    let Some(text) = config::file_if_any(path)? else { return Ok(builder) };
    let lock = PinFile::parse(&text).with_context(|| format!("cannot use `{}`", path.display()))?;
    Ok(builder.judge(lock.judge()))
}

pub(super) fn caller(global: &GlobalArgs) -> Caller {
    Caller::local().with_scopes(global.scopes.iter().cloned())
}

pub(super) fn limits(global: &GlobalArgs, own: &CribLimits) -> CribLimits {
    CribLimits {
        max_calls: global.max_calls.unwrap_or(own.max_calls),
        timeout: global.timeout.unwrap_or(own.timeout),
        longest_timeout: global.timeout.or(own.longest_timeout),
        ..own.clone()
    }
}

pub(super) fn rules(path: &Path) -> Result<Rules> {
    let text = config::file(path)?;
    Rules::parse(&text)
        .map_err(|problems| anyhow!("`{}` cannot be used:\n{problems}", path.display()))
}

fn request(words: &RequestArgs) -> Result<PlanRequest> {
    let run: Run = serde_json::from_value(json!({ "turn": words.turn }))?;
    let request = PlanRequest {
        choices: words.choose.clone(),
        choice_scope: match words.choice_scope {
            ScopeName::FirstTurn => ChoiceScope::FirstTurn,
            ScopeName::Run => ChoiceScope::Run,
        },
        disabled: words.disable.clone(),
        deferred: words.defer.clone(),
        discovery: words.discovery.map(|mode| match mode {
            ModeName::Direct => Discovery::Direct,
            ModeName::Lazy => Discovery::Lazy,
            ModeName::Auto => Discovery::Auto,
        }),
        ..PlanRequest::default()
    };
    Ok(request.after(&run))
}

/// The dialect of a name; `strict` where the API can hold the model to the schemas.
pub(super) fn dialect(name: DialectName, strict: bool) -> Box<dyn Dialect> {
    let strict = if strict { StrictMode::On } else { StrictMode::Off };
    match name {
        DialectName::OpenaiChat => Box::new(OpenAiChat { strict }),
        DialectName::OpenaiResponses => {
            Box::new(OpenAiResponses { strict, ..OpenAiResponses::default() })
        }
        DialectName::Anthropic => Box::new(Anthropic { strict }),
        DialectName::Gemini => Box::new(Gemini),
    }
}
