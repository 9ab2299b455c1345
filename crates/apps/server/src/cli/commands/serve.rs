//! `toolcrib serve`: the tools for others, over HTTP, until a signal ends it.

mod greeting;
mod preflight;
mod startup;
pub(crate) mod store_copy;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use toolcrib_auth::ScopedPolicy;
use toolcrib_config::{Environment, ProfileView};
use toolcrib_core::Ledger;
use toolcrib_mcp::wait_for_programs;
use toolcrib_store::Store;

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, ServeArgs};
use crate::cli::context::{LAST_MOMENT, limits, rules};
use crate::cli::output::Output;
use crate::config;
use crate::config::freezes::FreezeFile;
use crate::config::record;
use crate::config::tokens::{self, TokenFolder};
use crate::freeze::{FreezeGuard, FreezePolicy};
use crate::gateway::follow::{WatchedTokens, toolset_splits};
use crate::gateway::hints;
use crate::gateway::serve_config;
use crate::gateway::serving::{self, ServeSignals};
use crate::gateway::start::{GatewayBackend, GatewayStart, PreparedGateway, stop};
use crate::http::listen::workers::Workers;
use crate::http::pipeline::authentication::Authenticator;
use crate::http::rest::sources::pins::LivePins;
use crate::secrets;
use crate::sources::{self, SourceRegistry};
pub(crate) use preflight::refusals;
pub(crate) use startup::open_file;

pub(crate) fn serve(
    global: &GlobalArgs,
    output: &Output,
    words: &ServeArgs,
) -> Result<CommandExit> {
    secrets::stay_in_memory()?;
    let chosen = words.file.as_ref().or(global.config.as_ref());
    let file = open_file(chosen, words.no_overlay, output)?;
    global.start_log(file.checked.log)?;
    let (wishes, notices) = (startup::wishes(words), output.notices());
    let handed = startup::handed()?;
    let start = GatewayStart::of(file, wishes, handed, &global.scopes, notices.clone())?;
    let tokens = tokens(words, &start.guard, output)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let sources = Arc::new(sources::ours());
    let store =
        record::kept(&start.file.path, &start.file.checked).map_err(|error| start.beside(error))?;
    let freezes = FreezeGuard::new(FreezeFile::of(&start.file.path));
    // Kept to the end: it knows what is masked in what is written while all stops.
    let telemetry = Arc::clone(&start.telemetry);
    // Kept until the sources have ended: what a connection began may hold one of theirs.
    let workers = Workers::start().context("cannot start the threads that serve")?;
    let served = runtime.block_on(async {
        telemetry.resume(store.as_ref()).await?;
        let splits = toolset_splits::restored(&sources, &start.file.path, &notices);
        let pins = serve_config::live_pins(&start.file.path)?;
        let means = means(global, &pins, (&sources, &freezes), store.as_ref())?;
        let store = store.clone();
        let backend = GatewayBackend { store, freezes, pins, means, tokens, splits };
        let prepared = start.prepare(backend)?;
        let _named = startup::name(prepared.bound, output);
        greeting::greet(output, words, &prepared.url(), prepared.state.store.as_ref())?;
        greeting::greet_page(&prepared.state.page, words, output)?;
        run(prepared, &workers, output).await
    });
    runtime.block_on(stop(&sources, &telemetry, store.as_ref()));
    drop(workers);
    telemetry.close();
    runtime.shutdown_background();
    wait_for_programs(LAST_MOMENT);
    served.map(|()| CommandExit::Done)
}

/// Serves until a signal, and until the second one at the latest.
async fn run(prepared: PreparedGateway, workers: &Workers, output: &Output) -> Result<()> {
    let PreparedGateway { state, listeners, watched, .. } = prepared;
    let (served, ends) = (Arc::clone(&state), ServeSignals::default());
    let now = ends.now.clone();
    let mut signals = startup::StopSignals::new()?;
    let heard = async {
        signals.next().await;
        // Before it is told: whoever reads that may take it at its word.
        served.announce_stop();
        output.note("stopping: what runs may end; again to stop at once");
        let is_left = tokio::select! {
            () = served.leave() => true,
            () = signals.next() => false,
        };
        if is_left {
            signals.next().await;
        }
        served.stop.cancel();
        now.cancel();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = serving::serve(listeners, state, workers.clone(), watched, ends) => {}
        () = heard => {}
    }
    Ok(())
}

/// Makes the token of the first start, and takes all there are.
fn tokens(words: &ServeArgs, guard: &Authenticator, output: &Output) -> Result<WatchedTokens> {
    let folder = match tokens::folder() {
        Err(_) if words.insecure_local => return Ok(WatchedTokens::None),
        folder => folder?,
    };
    if !words.insecure_local {
        tokens::token(&folder, tokens::LOCAL)?;
    } else if !folder.exists() {
        return Ok(WatchedTokens::None);
    }
    let mut held = TokenFolder::new(&folder);
    let found = held.look();
    output.warn(&found.problems);
    guard.take(&found);
    Ok(WatchedTokens::Folder(held))
}

pub(crate) fn means(
    global: &GlobalArgs,
    pins: &Arc<LivePins>,
    (sources, freezes): (&Arc<SourceRegistry>, &Arc<FreezeGuard>),
    store: Option<&Store>,
) -> Result<Environment> {
    let rules = global.policy.as_deref().map(rules).transpose()?;
    let profile = global.profile.clone();
    let (global, freezes) = (global.clone(), Arc::clone(freezes));
    let adapt = move |profile: Option<&str>, view: ProfileView| {
        let limits = limits(&global, &view.limits);
        let scoped = Arc::new(ScopedPolicy::new(profile, view.policy));
        let policy = Arc::new(FreezePolicy::new(Arc::clone(&freezes), scoped));
        ProfileView { policy, limits, discovery: view.discovery }
    };
    let maker = Arc::<SourceRegistry>::clone(sources);
    Ok(Environment {
        profile,
        ledger: store.map(|store| -> Arc<dyn Ledger> { Arc::new(store.clone()) }),
        rules,
        judge: pins.judge(),
        adapt: Some(Box::new(adapt)),
        hints: hints::ours(),
        ..Environment::new(Arc::new(config::ProcessLookup), maker)
    })
}
