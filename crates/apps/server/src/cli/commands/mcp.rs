//! `toolcrib mcp`: the tools for one client, over standard input and output.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolcrib_config::effects::told_of_undeclared;
use toolcrib_config::{Environment, LiveConfig, kept_out, set_aside};
use toolcrib_engine::Crib;
use toolcrib_engine::toolsets::ToolsetSplits;
use toolcrib_mcp::{McpPersistence, McpServerSettings, wait_for_programs};
use toolcrib_store::Store;

use super::serve::{means, open_file};
use crate::cli::CommandExit;
use crate::cli::args::GlobalArgs;
use crate::cli::context::{LAST_MOMENT, caller};
use crate::cli::control::listener::{ControlBackend, ControlListener};
use crate::cli::output::Output;
use crate::config::freezes::FreezeFile;
use crate::config::record;
use crate::freeze::FreezeGuard;
use crate::gateway::follow::{embeddings, toolset_splits};
use crate::gateway::serve_config::{self, ServeConfig};
use crate::gateway::serving::LAST_SPANS;
use crate::gateway::start::stop;
use crate::http;
use crate::http::rest::sources::pins::LivePins;
use crate::secrets;
use crate::sources;
use crate::telemetry::{Telemetry, export};

/// How long a client waits for sources: many ask for the tools once and never again.
const PATIENCE: Duration = Duration::from_secs(10);

/// By what the person decides about a call that waits here.
const DECIDES: &str = "toolcrib tickets";

pub(crate) fn mcp(
    global: &GlobalArgs,
    output: &Output,
    file: Option<&PathBuf>,
) -> Result<CommandExit> {
    secrets::stay_in_memory()?;
    let file = open_file(file.or(global.config.as_ref()), false, output)?;
    global.start_log(file.checked.log)?;
    let telemetry = Arc::new(Telemetry::open(&file.checked)?);
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let sources = Arc::new(sources::ours());
    let store = record::store_of(&file.path, &file.checked)?;
    let freezes = FreezeGuard::new(FreezeFile::of(&file.path));
    let served = runtime.block_on(async {
        telemetry.resume(store.as_ref()).await?;
        let splits = toolset_splits::restored(&sources, &file.path, &output.notices());
        let pins = serve_config::live_pins(&file.path)?;
        let live = Arc::new(LiveConfig::prepare(
            &file.checked,
            Environment {
                observer: Some(Arc::<Telemetry>::clone(&telemetry)),
                ..means(global, &pins, (&sources, &freezes), store.as_ref())?
            },
        )?);
        secrets::keep(vec![live.redactor()]);
        let crib = live.crib().clone();
        let starting = tokio::spawn(async move { crib.start().await });
        let beside = (store.as_ref(), &telemetry, &pins, &freezes);
        let near = ControlListener::open(global, inside(&file, &live, beside)).await;
        // Those that need longer join when they are there.
        let _ = tokio::time::timeout(PATIENCE, starting).await;
        tell_doubts(&live, output);
        let stop_asking = ask_models(&file, live.crib().clone(), splits, output);
        let traced = telemetry.spans.is_some();
        let decides = near.is_some().then_some(DECIDES);
        let request = file.checked.bounds.json();
        let settings =
            McpServerSettings { request, traced, decides, ..McpServerSettings::default() };
        let door = http::mcp::server(&live, &telemetry, settings, McpPersistence::default());
        let sent = CancellationToken::new();
        let sending = export::export(Arc::clone(&telemetry), None, sent.clone());
        let sending = tokio::spawn(sending);
        let (input, out) = (tokio::io::stdin(), tokio::io::stdout());
        let served = Box::pin(door.serve_stdio(input, out, caller(global), None)).await;
        if let Some(near) = near {
            near.close().await;
        }
        sent.cancel();
        stop_asking();
        // A collector that is away keeps nobody.
        let _ = tokio::time::timeout(LAST_SPANS, sending).await;
        served?;
        anyhow::Ok(())
    });
    runtime.block_on(stop(&sources, &telemetry, store.as_ref()));
    telemetry.close();
    runtime.shutdown_background();
    wait_for_programs(LAST_MOMENT);
    served.map(|()| CommandExit::Done)
}

/// Says what is not there, and what is not as it should be.
fn tell_doubts(live: &LiveConfig, output: &Output) {
    for state in live.crib().sources() {
        if let Some(error) = state.error {
            output.warn(&[format!("the source `{}` gives no tools: {error}", state.id)]);
        }
    }
    let catalog = live.crib().catalog();
    output.warn(&set_aside(&catalog, &live.profiles()));
    output.warn(&kept_out(&catalog));
    output.warn(&live.unknown_assigned());
    output.warn(&told_of_undeclared(&catalog));
}

/// Has models split toolsets and find tools by their meaning, beside what is served, until what
/// comes back is called.
fn ask_models(
    file: &ServeConfig,
    crib: Crib,
    splits: Option<Arc<ToolsetSplits>>,
    output: &Output,
) -> impl FnOnce() + use<> {
    let notices = output.notices();
    let (askers, asker) = watch::channel(toolset_splits::wanted(&file.checked, &notices));
    let splitting = splits.map(|splits| {
        let (path, told) = (file.path.clone(), notices.clone());
        tokio::spawn(toolset_splits::follow(splits, path, asker, told))
    });
    let (wishes, wish) = watch::channel(embeddings::wanted(&file.checked, &notices));
    let meant = tokio::spawn(embeddings::follow(crib, file.path.clone(), wish, notices));
    move || {
        drop((askers, wishes));
        meant.abort();
        if let Some(splitting) = splitting {
            splitting.abort();
        }
    }
}

fn inside(
    file: &ServeConfig,
    live: &Arc<LiveConfig>,
    (store, telemetry, pins, freezes): (
        Option<&Store>,
        &Arc<Telemetry>,
        &Arc<LivePins>,
        &Arc<FreezeGuard>,
    ),
) -> ControlBackend {
    ControlBackend {
        live: Arc::clone(live),
        file: file.checked.clone(),
        pins: Arc::clone(pins),
        store: store.cloned(),
        telemetry: Arc::clone(telemetry),
        freezes: Arc::clone(freezes),
    }
}
