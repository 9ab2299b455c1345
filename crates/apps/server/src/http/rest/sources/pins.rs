//! The accepted tools while a server runs: what judges them, and how another one is accepted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::{Context as _, Result, anyhow};
use tokio::sync::Mutex;
use toolcrib_config::LiveConfig;
use toolcrib_core::{Catalog, ToolSpec};
use toolcrib_engine::catalog::Judge;
use toolcrib_engine::pins::PinFile;

use crate::config;

/// The pin file beside a configuration, as it is in force.
pub(crate) struct LivePins {
    path: PathBuf,
    /// `None`: nothing is pinned, from the start to the end of the process.
    held: Option<RwLock<PinsInForce>>,
    /// Held while a change is made, so that two do not mix.
    changing: Mutex<()>,
}

struct PinsInForce {
    pins: Arc<PinFile>,
    judge: Judge,
}

impl PinsInForce {
    fn of(pins: PinFile) -> Self {
        let judge = pins.judge();
        Self { pins: Arc::new(pins), judge }
    }
}

impl LivePins {
    /// Those of a file, if it is there.
    pub(crate) fn open(path: PathBuf) -> Result<Arc<Self>> {
        let pins = config::file_if_any(&path)?.map(|text| PinFile::parse(&text)).transpose();
        let pins = pins.with_context(|| format!("cannot use `{}`", path.display()))?;
        let held = pins.map(|pins| RwLock::new(PinsInForce::of(pins)));
        Ok(Arc::new(Self { path, held, changing: Mutex::default() }))
    }

    /// None, and no place for any: there is no configuration beside which they could lie.
    pub(crate) fn none() -> Arc<Self> {
        Arc::new(Self { path: PathBuf::new(), held: None, changing: Mutex::default() })
    }

    /// Judges as the pins of the moment say.
    pub(crate) fn judge(self: &Arc<Self>) -> Option<Judge> {
        self.held.as_ref()?;
        let own = Arc::clone(self);
        Some(Box::new(move |spec, now| {
            let held = own.held.as_ref()?.read().unwrap_or_else(PoisonError::into_inner);
            (held.judge)(spec, now)
        }))
    }

    /// `None`: nothing is pinned.
    pub(crate) fn now(&self) -> Option<Arc<PinFile>> {
        let held = self.held.as_ref()?.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&held.pins))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Changes the file, which may say more by now than what is in force, and takes all of it.
    /// `before`: is asked at the last moment, and nothing is changed if it fails.
    pub(crate) async fn change(
        &self,
        change: impl FnOnce(&mut PinFile) + Send + 'static,
        before: impl Future<Output = Result<()>> + Send,
    ) -> Result<()> {
        let held = self.held.as_ref().context("nothing is pinned")?;
        let _alone = self.changing.lock().await;
        let path = self.path.clone();
        let changed = move || -> Result<_> {
            let text = config::file(&path)?;
            let mut pins = PinFile::parse(&text)?;
            change(&mut pins);
            Ok((text, pins))
        };
        let (text, pins) = aside(changed).await?;
        before.await?;
        let (path, after) = (self.path.clone(), pins.to_text());
        aside(move || config::replace(&path, &text, &after)).await?;
        *held.write().unwrap_or_else(PoisonError::into_inner) = PinsInForce::of(pins);
        Ok(())
    }
}

/// Off the threads that serve: a disk may be slow.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| anyhow!("it broke off: look at the pin file"))?
}

/// The tools that are kept out until somebody accepts them, in what the file shows and in what its
/// profiles do; each once.
pub(crate) fn kept_out(live: &LiveConfig) -> Vec<Arc<ToolSpec>> {
    let whole = live.crib().catalog();
    let shown = live.profiles().into_iter().map(|(_, catalog)| catalog);
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    let mut seen: Vec<Arc<Catalog>> = Vec::new();
    for catalog in std::iter::once(whole).chain(shown) {
        // Most profiles show the whole snapshot.
        if seen.iter().any(|seen| Arc::ptr_eq(seen, &catalog)) {
            continue;
        }
        for tool in catalog.quarantined().iter().filter(|tool| tool.reason.is_for_acceptance()) {
            if known.insert((tool.spec.origin.source.clone(), tool.spec.name.clone())) {
                found.push(Arc::clone(&tool.spec));
            }
        }
        seen.push(catalog);
    }
    found.sort_by(|one, other| {
        (&one.origin.source, &one.name).cmp(&(&other.origin.source, &other.name))
    });
    found
}
