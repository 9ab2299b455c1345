//! Follows what may change while it serves: the file, the tokens, how the sources are doing.

pub(crate) mod embeddings;
mod news;
pub(crate) mod toolset_splits;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use toolcrib_agent::model::ModelSettings;
use toolcrib_config::effects::told_of_undeclared;
use toolcrib_config::{
    ApplyError, Config, ConfigChange, EmbedderSettings, Overlay, kept_out, set_aside,
};
use toolcrib_core::{Redactor, Secret};
use toolcrib_engine::catalog::SourceState;
use toolcrib_engine::toolsets::ToolsetSplits;

use super::notices::Notices;
use super::serve_config::ServeConfig;
use crate::config;
use crate::config::overlays::{self, OverlayFile};
use crate::config::tokens::{CallerToken, TokenFolder, TokenScan};
use crate::config::trust::{OverFile, TrustRequest};
use crate::http::changes::freeze::keep_held;
use crate::http::changes::history::note;
use crate::http::changes::overlay_door::FollowedOverlay;
use crate::http::state::GatewayState;

const PAUSE: Duration = Duration::from_secs(1);
/// How often it is tried to write down what could not be.
const KEEPS: Duration = Duration::from_secs(5);

/// What the file that is in force wants for finding tools.
type EmbedderSender = watch::Sender<Option<EmbedderSettings>>;

/// What it wants for splitting toolsets.
type SplitterSender = watch::Sender<Option<ModelSettings>>;

pub(crate) struct WatchedFiles {
    pub(crate) file: ServeConfig,
    pub(crate) tokens: WatchedTokens,
    /// What a model is asked about toolsets.
    pub(crate) splits: Option<Arc<ToolsetSplits>>,
    pub(crate) notices: Notices,
}

/// The tokens by which callers of this machine come in.
pub(crate) enum WatchedTokens {
    /// There are none anywhere.
    None,
    Folder(TokenFolder),
    /// A program gives them out.
    Given(Vec<CallerToken>),
}

impl WatchedTokens {
    /// Those of now; `None`: nobody has any.
    pub(crate) fn look(&mut self) -> Option<TokenScan> {
        match self {
            Self::None => None,
            Self::Folder(folder) => Some(folder.look()),
            Self::Given(keys) => {
                let keys = keys.clone();
                Some(TokenScan { keys, problems: Vec::new(), is_partial: false })
            }
        }
    }
}

pub(crate) async fn follow(outside: WatchedFiles, gateway: Arc<GatewayState>) {
    let WatchedFiles { file, tokens, splits, notices } = outside;
    let (askers, asker) = watch::channel(toolset_splits::wanted(&file.checked, &notices));
    let (path, told) = (file.path.clone(), notices.clone());
    let splitting = async {
        if let Some(splits) = splits {
            toolset_splits::follow(splits, path, asker, told).await;
        }
    };
    let (wishes, wish) = watch::channel(embeddings::wanted(&file.checked, &notices));
    let meant =
        embeddings::follow(gateway.live.crib().clone(), file.path.clone(), wish, notices.clone());
    // A new source that is slow to start delays no change of the tokens.
    tokio::join!(
        follow_file((file, wishes, askers), &gateway, &notices),
        meant,
        splitting,
        follow_rest(tokens, &gateway, &notices),
        follow_issuers(&gateway, &notices),
    );
}

async fn follow_file(
    (mut file, wishes, askers): (ServeConfig, EmbedderSender, SplitterSender),
    gateway: &GatewayState,
    notices: &Notices,
) {
    if !file.has_place() {
        return std::future::pending().await;
    }
    let (mut seen, mut applied, mut distrusted) = (None, None, None);
    let mut unread = String::new();
    // When a change over the file ends by itself.
    let mut end = None;
    let mut told = file.held.clone();
    loop {
        // What is written while it is read is read again, and what is being written, such as the
        // first half of a file whose second half forbids something, is read once it stands still.
        let now = Some((config::stamp(&file.path), file.overlay.as_ref().map(OverlayFile::stamp)));
        let stands_still = now == seen;
        if now.is_some_and(|(own, _)| own.is_none() && seen.is_some_and(|(own, _)| own.is_some())) {
            notices.note("the configuration is gone: the last one stays in force");
        }
        seen = now;
        let is_over = end.is_some_and(|end| end <= overlays::now());
        let is_new = now != applied || is_over;
        if stands_still && (is_new || distrusted.as_ref().is_some_and(TrustRequest::is_trusted)) {
            let overlay = file.overlay.as_ref().map(OverlayFile::read).transpose();
            match overlay.and_then(|held| Ok((config::file_if_any(&file.path)?, held))) {
                Ok((text, held)) => {
                    if !std::mem::take(&mut unread).is_empty() {
                        gateway.refuse_file(Vec::new());
                    }
                    applied = now;
                    let held = held.unwrap_or_default();
                    end = held.next_end(overlays::now());
                    let wishes = (&mut file, &wishes, &askers);
                    distrusted = reload(wishes, (text, &held), gateway, notices).await;
                    let added = file.added(&held, overlays::now());
                    gateway.overlay.follows(FollowedOverlay { version: held.version, added });
                    news::of_overlay(&told, &held, &gateway.telemetry);
                    told = held;
                }
                // Descriptors may be lacking only now, so it is tried again.
                Err(error) => {
                    let told = format!("{error:#}");
                    if told != unread {
                        notices.error(&error);
                        gateway.refuse_file(vec![told.clone()]);
                        unread = told;
                    }
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = gateway.overlay.changed() => {
                // It is put in place whole, so that nobody meets half of it.
                applied = None;
                if let Some((_, over)) = &mut seen {
                    *over = file.overlay.as_ref().map(OverlayFile::stamp);
                }
            }
        }
    }
}

async fn follow_rest(mut held: WatchedTokens, gateway: &GatewayState, notices: &Notices) {
    let (mut states, mut faults) = (Vec::new(), Vec::new());
    let mut seen = gateway.live.crib().catalog();
    let mut thawed = None;
    let mut kept = Instant::now();
    let mut keeping = tokio::spawn(async {});
    let (mut masked, mut aside, mut undeclared) =
        (ActiveSecrets::default(), Vec::new(), Vec::new());
    loop {
        let found = held.look();
        if let Some(found) = &found {
            gateway.guard.take(found);
            if found.problems != faults {
                notices.warn(&found.problems);
                faults.clone_from(&found.problems);
            }
        }
        masked.follow(gateway, found.as_ref().map_or(&[], |found| &found.keys));
        let current = gateway.live.crib().sources();
        tell_sources(&states, &current, notices);
        news::of_sources(&states, &current, &gateway.telemetry.feed);
        states = current;
        if keeping.is_finished() && kept.elapsed() >= KEEPS && !gateway.freezes.held().is_empty() {
            // Nothing here waits for a disk.
            kept = Instant::now();
            keeping = keep_freezes(gateway);
        }
        let frozen = gateway.freezes.state();
        news::of_freezes(&mut thawed, &frozen, &gateway.telemetry, notices);
        let now = gateway.live.crib().catalog();
        news::of_catalog(&seen, &now, &gateway.telemetry.feed);
        let redefined = news::redefined(&seen, &now);
        if let Some(history) = gateway.overlay.history().filter(|_| !redefined.is_empty()) {
            tokio::task::spawn_blocking(move || note(&history, redefined));
        }
        seen = now;
        // Who lost a name is known when all had their chance.
        if gateway.started.load(Ordering::Relaxed) {
            let catalog = gateway.live.crib().catalog();
            let told = told_of_undeclared(&catalog);
            if told != undeclared {
                notices.warn(&told);
                undeclared = told;
            }
            let mut told = set_aside(&catalog, &gateway.live.profiles());
            told.extend(kept_out(&catalog));
            told.extend(gateway.live.unknown_assigned().iter().map(ToString::to_string));
            if told != aside {
                notices.warn(&told);
                aside = told;
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Writes down the freezes that are held in memory, if that can be done by now.
fn keep_freezes(gateway: &GatewayState) -> JoinHandle<()> {
    let (freezes, telemetry) = (Arc::clone(&gateway.freezes), Arc::clone(&gateway.telemetry));
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        keep_held(&freezes, |line| {
            let Some(audit) = &telemetry.audit else { return Ok(()) };
            Ok(runtime.block_on(audit.changed(vec![line]))?)
        });
    })
}

/// Has the keys of issuers at hand, and says which are not.
async fn follow_issuers(gateway: &GatewayState, notices: &Notices) {
    let mut told = Vec::new();
    loop {
        let access = gateway.guard.access();
        access.warm().await;
        let troubles = access.troubles();
        if troubles != told {
            notices.warn(&troubles);
            told = troubles;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The secrets of the file that is in force and the tokens, which nothing may print.
#[derive(Default)]
struct ActiveSecrets {
    tokens: Vec<Secret>,
    of_file: Option<Arc<Redactor>>,
}

impl ActiveSecrets {
    fn follow(&mut self, gateway: &GatewayState, keys: &[CallerToken]) {
        let of_file = gateway.live.redactor();
        let tokens: Vec<_> = keys.iter().map(|key| key.token.clone()).collect();
        let same = self.of_file.as_ref().is_some_and(|known| Arc::ptr_eq(known, &of_file));
        if same && tokens == self.tokens {
            return;
        }
        gateway.telemetry.secrets.keep(Arc::clone(&of_file), tokens.clone());
        *self = Self { tokens, of_file: Some(of_file) };
    }
}

/// Applies the text of the file if it says something else; a bad one changes nothing. Gives what it
/// would do if it must be trusted first.
async fn reload(
    (file, wanted_now, asker): (&mut ServeConfig, &EmbedderSender, &SplitterSender),
    (text, held): (Option<String>, &Overlay),
    gateway: &GatewayState,
    notices: &Notices,
) -> Option<TrustRequest> {
    let now = overlays::now();
    let text = text.or_else(|| file.text.clone());
    let own = text.as_deref().unwrap_or(file.default);
    let name = file.path.display().to_string();
    let folded = Some(held.folded(own, &name, now));
    if folded == file.folded {
        return None;
    }
    let read = Config::read_over(own, &name, held, now);
    let applied = match read.config {
        None => Err(ApplyError::File(read.problems)),
        Some(config) => match passed(config, file, OverFile { text: own, held, at: now }) {
            Ok(config) => gateway.live.apply(&config).await.map(|change| (change, config)),
            Err(wishes) => {
                let told = wishes.told();
                notices.warn(&[format!("{told}\nit comes into force with `toolcrib trust`")]);
                let told = format!("`{name}` is not in force: it waits for `toolcrib trust`");
                gateway.refuse_file(vec![told]);
                return Some(wishes);
            }
        },
    };
    match applied {
        Ok((change, config)) => {
            let wanted = embeddings::wanted(&config, notices);
            wish(wanted_now, wanted);
            wish(asker, toolset_splits::wanted(&config, notices));
            notices.warn(&gateway.agents.take(&config));
            gateway.take_file(config.clone());
            gateway.guard.admit(config.front.access);
            notices.note(&format!("`{name}` is in force: {}", told(&change)));
            // Other rules may hold for the same tools.
            gateway.telemetry.feed.catalog(&[], &[], &[]);
            gateway.refuse_file(Vec::new());
        }
        Err(ApplyError::File(problems)) => {
            notices.warn(&problems);
            notices.warn(&[format!("`{name}` stays as it was until this is put right")]);
            gateway.refuse_file(problems.iter().map(ToString::to_string).collect());
        }
        Err(refused) => {
            let told = format!("`{name}` stays as it was: {refused}");
            notices.warn(&[&told]);
            gateway.refuse_file(vec![told]);
        }
    }
    (file.text, file.folded) = (text, folded);
    None
}

/// Tells whoever follows a wish, if it is another one.
fn wish<T: PartialEq>(sender: &watch::Sender<T>, wanted: T) {
    sender.send_if_modified(|now| {
        let is_other = *now != wanted;
        *now = wanted;
        is_other
    });
}

/// The file, if it was named or is trusted, and held then to what is told of it.
fn passed(
    mut config: Config,
    file: &ServeConfig,
    over: OverFile<'_>,
) -> Result<Config, TrustRequest> {
    if !file.is_found {
        return Ok(config);
    }
    // A large document takes a moment, in which the thread serves nobody.
    let wishes =
        tokio::task::block_in_place(|| TrustRequest::untrusted(&file.path, &mut config, over));
    match wishes {
        None => Ok(config),
        Some(wishes) => Err(wishes),
    }
}

fn told(change: &ConfigChange) -> String {
    let lists = [
        ("added", &change.added),
        ("restarted", &change.restarted),
        ("refitted", &change.refitted),
        ("removed", &change.removed),
    ];
    let words = lists.iter().filter(|(_, list)| !list.is_empty()).map(|(word, list)| {
        let names: Vec<_> = list.iter().map(|id| format!("`{id}`")).collect();
        format!("{word} {}", names.join(", "))
    });
    let words: Vec<_> = words.collect();
    if words.is_empty() { "no source changed".to_owned() } else { words.join("; ") }
}

/// Names the tools whose authors hid something in their texts.
fn tell_hidden(state: &SourceState, notices: &Notices) {
    let names: Vec<_> = state.unhidden.iter().take(10).map(|name| format!("`{name}`")).collect();
    if !names.is_empty() {
        let more = state.unhidden.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notices.warn(&[format!(
            "`{}` hides characters that nobody sees in the texts of {}{more}: they were taken out",
            state.id,
            names.join(", ")
        )]);
    }
}

/// Says of each source when it comes, when it fails, and when it has other tools.
fn tell_sources(before: &[SourceState], now: &[SourceState], notices: &Notices) {
    for state in now {
        let old = before.iter().find(|old| old.id == state.id);
        let same = |old: &SourceState| old.error == state.error && old.tools == state.tools;
        let silent = state.age_seconds.is_none() && state.error.is_none();
        if silent || old.is_some_and(same) {
            continue;
        }
        let id = &state.id;
        match &state.error {
            Some(error) if state.stale => {
                notices.warn(&[format!("`{id}` keeps its last list of tools: {error}")]);
            }
            Some(error) => notices.warn(&[format!("the source `{id}` gives no tools: {error}")]),
            None => {
                notices.note(&format!("`{id}`: {} tools", state.tools));
                tell_hidden(state, notices);
            }
        }
    }
}
