//! Toolsets that a model splits: it is asked beside what serves, and what it said is kept.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use toolcrib_agent::model::ModelSettings;
use toolcrib_agent::model::{CallChoice, ModelClient, ModelFault, ModelFaultKind, ModelRequest};
use toolcrib_agent::{InputPart, ThreadItem, Usage};
use toolcrib_config::{Config, SourceFactory as _};
use toolcrib_core::Fingerprint;
use toolcrib_engine::toolsets::{SplitOutcome, SplitQuestion, ToolsetSplits};

use crate::config::{self, LOCK};
use crate::gateway::notices::Notices;
use crate::sources::SourceRegistry;

/// Before a model is asked again that gave no answer; then twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LAST_PAUSE: Duration = Duration::from_mins(10);
/// Largest file of outcomes that is read, in bytes.
const LARGEST_FILE: u64 = 16 << 20;

/// What is kept over a restart.
#[derive(Default, Serialize, Deserialize)]
struct KeptSplits {
    outcomes: BTreeMap<Fingerprint, SplitOutcome>,
}

/// The model that a file wants to be asked; a key that is missing is told, and nobody is asked.
pub(crate) fn wanted(file: &Config, notices: &Notices) -> Option<ModelSettings> {
    file.toolset_model(&config::ProcessLookup).unwrap_or_else(|missing| {
        let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
        let lines = lines.join("; ");
        notices.warn(&[format!("no model splits toolsets: {lines}")]);
        None
    })
}

/// Where these sources ask, with what a model said before for a configuration at this path. What
/// cannot be read is asked for again.
pub(crate) fn restored(
    sources: &SourceRegistry,
    path: &Path,
    notices: &Notices,
) -> Option<Arc<ToolsetSplits>> {
    let splits = sources.splits()?;
    match place(path).map_or_else(|| Ok(KeptSplits::default()), |file| read(&file)) {
        Ok(kept) if kept.outcomes.is_empty() => {}
        Ok(kept) => splits.tell_all(kept.outcomes),
        Err(error) => {
            notices.warn(&[format!("models are asked again how to split toolsets: {error:#}")]);
        }
    }
    Some(splits)
}

/// Keeps what is known.
pub(crate) fn keep(splits: &ToolsetSplits, path: &Path) -> Result<()> {
    let Some(file) = place(path) else { return Ok(()) };
    let folder = file.parent().unwrap_or(Path::new("."));
    let shown = file.display();
    config::private_folder(folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))?;
    let text = serde_json::to_vec(&KeptSplits { outcomes: splits.outcomes() })?;
    // Whoever reads it sees the old one or the new one.
    let beside = file.with_extension("new");
    fs::write(&beside, text).with_context(|| format!("cannot write `{}`", beside.display()))?;
    fs::rename(&beside, &file).with_context(|| format!("cannot write `{shown}`"))
}

fn read(file: &Path) -> Result<KeptSplits> {
    let shown = file.display();
    let opened = match fs::File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(KeptSplits::default());
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read `{shown}`")),
    };
    let mut text = String::new();
    let read = opened.take(LARGEST_FILE).read_to_string(&mut text);
    read.with_context(|| format!("cannot read `{shown}`"))?;
    serde_json::from_str(&text).with_context(|| format!("`{shown}` is damaged"))
}

/// A file of its own for each folder of a configuration; `None`: there is no place for one.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = config::state_folder()?.join("toolsets");
    let path = path.with_file_name(LOCK);
    let whole = std::path::absolute(&path).unwrap_or(path);
    let name = Fingerprint::of(&whole.display().to_string().into());
    Some(folder.join(format!("{name}.json")))
}

/// Asks a model about one group.
///
/// # Errors
/// It gave no answer; another time it may.
pub(crate) async fn ask(
    client: &ModelClient,
    question: &SplitQuestion,
) -> Result<SplitOutcome, ModelFault> {
    let (instructions, text) = (question.instructions(), question.list());
    let items = [ThreadItem::User { parts: vec![InputPart::Text { text }] }];
    let request = ModelRequest {
        instructions: &instructions,
        items: &items,
        plan: None,
        is_last: true,
        choice: &CallChoice::Free,
        caller_tools: &[],
        max_tokens: u64::from(client.settings().max_tokens),
        before: None,
    };
    match client.answer(&request, &mut Usage::default(), &mut |_| {}).await {
        Ok(answer) => Ok(SplitOutcome::read(&answer.text, &question.names())),
        Err(fault) if is_of_content(fault.kind) => Ok(SplitOutcome::Useless(fault.message)),
        Err(fault) => Err(fault),
    }
}

/// Whether the same request would have the same end.
fn is_of_content(kind: ModelFaultKind) -> bool {
    match kind {
        ModelFaultKind::TooLong | ModelFaultKind::Blocked | ModelFaultKind::Refused => true,
        ModelFaultKind::Unreachable
        | ModelFaultKind::Unauthorized
        | ModelFaultKind::NotFound
        | ModelFaultKind::RateLimited
        | ModelFaultKind::Unavailable
        | ModelFaultKind::Timeout
        | ModelFaultKind::Broken => false,
    }
}

/// Asks the model of the file for as long as there are questions and anybody can wish.
pub(crate) async fn follow(
    splits: Arc<ToolsetSplits>,
    path: PathBuf,
    mut wish: watch::Receiver<Option<ModelSettings>>,
    notices: Notices,
) {
    let mut pause = FIRST_PAUSE;
    let mut told = String::new();
    loop {
        let settings = wish.borrow_and_update().clone();
        let (asked, waiting) = (splits.asked(), splits.waiting());
        let client = match settings.filter(|_| !waiting.is_empty()).map(ModelClient::new) {
            Some(Ok(client)) => Some(client),
            Some(Err(fault)) => {
                tell(&mut told, &fault, &notices);
                None
            }
            None => None,
        };
        let Some(client) = client else {
            tokio::select! {
                () = asked => {}
                changed = wish.changed() => if changed.is_err() { return },
            }
            continue;
        };
        let fault = ask_all(&client, &splits, waiting, &notices).await;
        let (kept, at) = (Arc::clone(&splits), path.clone());
        if let Ok(Err(error)) = spawn_blocking(move || keep(&kept, &at)).await {
            notices.warn(&[format!("a model will be asked again after a restart: {error:#}")]);
        }
        let Some(fault) = fault else {
            (pause, told) = (FIRST_PAUSE, String::new());
            continue;
        };
        tell(&mut told, &fault, &notices);
        tokio::select! {
            () = tokio::time::sleep(fault.retry_after.unwrap_or(pause).min(LAST_PAUSE)) => {}
            changed = wish.changed() => if changed.is_err() { return },
        }
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

/// The fault that ended it, if the model gives no answers now.
async fn ask_all(
    client: &ModelClient,
    splits: &ToolsetSplits,
    questions: Vec<SplitQuestion>,
    notices: &Notices,
) -> Option<ModelFault> {
    for question in questions {
        match ask(client, &question).await {
            Ok(outcome) => {
                if let SplitOutcome::Useless(reason) = &outcome {
                    notices.warn(&[format!(
                        "the toolset `{}` stays whole: the model gave no groups: {reason}; \
                         `toolcrib toolsets --ask` asks again",
                        question.title
                    )]);
                }
                splits.tell(question.fingerprint, outcome);
            }
            Err(fault) => return Some(fault),
        }
    }
    None
}

fn tell(told: &mut String, fault: &ModelFault, notices: &Notices) {
    if *told != fault.message {
        told.clone_from(&fault.message);
        notices.warn(&[format!("toolsets are split without a model for now: {}", fault.message)]);
    }
}
