//! `toolcrib serve`: the tools for others, over HTTP, until a signal ends it.

pub(crate) mod listen_address;
mod news;
mod page;
mod preflight;
mod startup;
mod watcher;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum as _;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use toolcrib_auth::ScopedPolicy;
use toolcrib_config::{Environment, LiveConfig, ProfileView};
use toolcrib_core::Ledger;
use toolcrib_mcp::wait_for_programs;
use toolcrib_store::{CallState, Store};

use crate::cli::CommandExit;
use crate::cli::args::{ClientName, GlobalArgs, ServeArgs};
use crate::cli::context::{LAST_MOMENT, limits, rules};
use crate::cli::hints;
use crate::cli::output::Output;
use crate::cli::toolset_splits;
use crate::config;
use crate::config::freezes::FreezeFile;
use crate::config::tokens::{self, TokenFolder};
use crate::freeze::{FreezeGuard, FreezePolicy};
use crate::http::a2a::push;
use crate::http::agents::live::recovery;
use crate::http::gateway::gateway;
use crate::http::listen::accept::{self, HttpListener, most_connections};
use crate::http::listen::peers::PeerLimits;
use crate::http::listen::workers::Workers;
use crate::http::page::door::ListenerKind;
use crate::http::pipeline::authentication::Authenticator;
use crate::http::pipeline::host_check::HostNames;
use crate::http::rest::sources::pins::LivePins;
use crate::http::state::{A2aServerSettings, GatewayParts, GatewayState};
use crate::secrets;
use crate::sources::{self, SourceRegistry};
use crate::telemetry::{Telemetry, export};
pub(crate) use listen_address::LISTEN;
use listen_address::ListenAddress;
use page::PageListener;
pub(crate) use preflight::refusals;
pub(crate) use startup::{ServeConfig, bounds, store as open_store, store_of};

/// How long children may take to end.
const LAST_WISHES: Duration = Duration::from_secs(10);
/// How long calls may still take whose sources have ended, and how often they are looked at.
const LAST_CALLS: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Connections at the same time of a page that has a listener of its own.
const PAGE_CONNECTIONS: usize = 512;
/// How long a collector may take for the last messages.
pub(crate) const LAST_SPANS: Duration = Duration::from_secs(3);

pub(crate) fn serve(
    global: &GlobalArgs,
    output: &Output,
    words: &ServeArgs,
) -> Result<CommandExit> {
    secrets::stay_in_memory()?;
    let chosen = words.file.as_ref().or(global.config.as_ref());
    let file = ServeConfig::open(chosen, words.no_overlay, output)?;
    global.start_log(file.checked.log)?;
    let front = &file.checked.front;
    let listening = ListenAddress::of(words, front)?;
    let page = ListenAddress::of_page(words, front)?;
    let beside = |error| listening.beside(error);
    let telemetry = Arc::new(Telemetry::open(&file.checked).map_err(beside)?);
    let tls = startup::tls(front, output)?;
    let card_key = startup::card_key(front, output)?;
    let most = most_connections(file.checked.bounds.connections)?;
    let guard = Authenticator::new(&global.scopes, words.insecure_local);
    guard.admit(front.access.clone());
    let keys = tokens(words, &guard, output)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let sources = Arc::new(sources::ours());
    let store = startup::kept(&file).map_err(beside)?;
    let freezes = FreezeGuard::new(FreezeFile::of(&file.path));
    // Kept until the sources have ended: what a connection began may hold one of theirs.
    let mut workers = Workers::start().context("cannot start the threads that serve")?;
    let served = runtime.block_on(async {
        telemetry.resume(store.as_ref()).await?;
        let splits = toolset_splits::restored(&sources, &file.path, output);
        let pins = pins(&file.path)?;
        let means = means(global, &pins, (&sources, &freezes), store.as_ref())?;
        let live = prepared(&file, means, &telemetry)?;
        let listener = listening.begin()?;
        let bound = listener.local_addr()?;
        let _named = startup::name(bound, output);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let page = PageListener::begin(&listener, page, words, &file.checked.front)?;
        greet(output, words, &format!("{scheme}://{bound}"), store.as_ref())?;
        page.greet(words, output)?;
        telemetry.watched.keep_for(page.keep(&file.checked.front));
        let (page, page_listener) = page.split();
        let gateway = gateway(GatewayParts {
            live,
            names: HostNames::new(bound, &[&words.host[..], &file.checked.front.hosts].concat()),
            guard,
            page,
            overlay: file.overlay_door(),
            freezes,
            bounds: file.checked.bounds.clone(),
            store: store.clone(),
            telemetry: Arc::clone(&telemetry),
            pins,
            a2a: A2aServerSettings { card_key, pushes: file.checked.front.pushes.clone() },
        });
        let doors = listeners((listener, page_listener), &file, tls, most);
        output.warn(&gateway.agents.take(&file.checked));
        gateway.take_file(file.checked.clone());
        run(doors, gateway, &mut workers, watcher::WatchedFiles { file, keys, splits }, output)
            .await
    });
    runtime.block_on(stop(&sources, &telemetry, store.as_ref()));
    drop(workers);
    telemetry.close();
    runtime.shutdown_background();
    wait_for_programs(LAST_MOMENT);
    served.map(|()| CommandExit::Done)
}

/// What the file says, ready to serve.
fn prepared(
    file: &ServeConfig,
    means: Environment,
    telemetry: &Arc<Telemetry>,
) -> Result<Arc<LiveConfig>> {
    let observer = Arc::<Telemetry>::clone(telemetry);
    let means = Environment { observer: Some(observer), ..means };
    let live = Arc::new(LiveConfig::prepare(&file.checked, means)?);
    secrets::keep(vec![live.redactor()]);
    Ok(live)
}

/// The listener of all doors, and that of the page if it has one of its own, which says whether it
/// is to be encrypted.
fn listeners(
    (doors, page): (TcpListener, Option<(TcpListener, bool)>),
    file: &ServeConfig,
    tls: Option<TlsAcceptor>,
    most: usize,
) -> (HttpListener, Option<HttpListener>) {
    let peers = Arc::new(PeerLimits::new(file.checked.bounds.connections_per_peer, most));
    let proxies = file.checked.front.proxies.clone();
    let page = page.map(|(listener, takes_tls)| HttpListener {
        listener,
        kind: ListenerKind::Page,
        most: PAGE_CONNECTIONS.min(most),
        peers: Arc::clone(&peers),
        proxies: proxies.clone(),
        tls: tls.clone().filter(|_| takes_tls),
    });
    (HttpListener { listener: doors, kind: ListenerKind::Doors, most, peers, proxies, tls }, page)
}

/// Ends the children, and waits for the calls that end with them and for the last rows of the
/// record.
pub(crate) async fn stop(sources: &SourceRegistry, telemetry: &Telemetry, store: Option<&Store>) {
    let _ = tokio::time::timeout(LAST_WISHES, sources.stop()).await;
    let calls = async {
        // Nobody waits for them any more; each says that it has ended once that is on record.
        while !telemetry.recent.running().is_empty() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    let _ = tokio::time::timeout(LAST_CALLS, calls).await;
    if let Some(store) = store {
        let _ = tokio::time::timeout(LAST_WISHES, store.flush()).await;
    }
}

async fn run(
    (door, page): (HttpListener, Option<HttpListener>),
    gateway: Arc<GatewayState>,
    workers: &mut Workers,
    outside: watcher::WatchedFiles,
    output: &Output,
) -> Result<()> {
    gateway.is_encrypted.store(door.tls.is_some(), Ordering::Relaxed);
    let (stop, now) = (gateway.stop.clone(), CancellationToken::new());
    let mut signals = startup::StopSignals::new()?;
    let (sender, redeemed) = tokio::sync::mpsc::unbounded_channel();
    let _ = gateway.telemetry.redeemed.set(sender);
    let starting = tokio::spawn({
        let gateway = Arc::clone(&gateway);
        async move {
            gateway.live.crib().start().await;
            gateway.started.store(true, Ordering::Relaxed);
            push::resume(&gateway).await;
            recovery::follow(gateway, redeemed).await;
        }
    });
    let sent = CancellationToken::new();
    let (telemetry, figures) = (Arc::clone(&gateway.telemetry), Some(Arc::clone(&gateway)));
    let sending = tokio::spawn(export::export(telemetry, figures, sent.clone()));
    let following = tokio::spawn(watcher::follow(outside, Arc::clone(&gateway), output.clone()));
    let heard = async {
        signals.next().await;
        output.note("stopping: what runs may end; again to stop at once");
        stop.cancel();
        signals.next().await;
        now.cancel();
        std::future::pending::<()>().await;
    };
    let ends = (stop.clone(), now.clone());
    let tell = |trouble: &str| output.note(trouble);
    let of_page = async {
        if let Some(page) = page {
            let (gateway, ends) = (Arc::clone(&gateway), ends.clone());
            accept::serve(page, gateway, &mut Workers::here(), ends, tell).await;
        }
    };
    let serving = accept::serve(door, Arc::clone(&gateway), workers, ends.clone(), tell);
    tokio::select! {
        ((), ()) = futures_util::future::join(serving, of_page) => {}
        () = heard => {}
    }
    following.abort();
    starting.abort();
    sent.cancel();
    let _ = tokio::time::timeout(LAST_SPANS, sending).await;
    Ok(())
}

/// Makes the token of the first start, and takes all there are. `None`: nobody needs one.
fn tokens(
    words: &ServeArgs,
    guard: &Authenticator,
    output: &Output,
) -> Result<Option<TokenFolder>> {
    let folder = match tokens::folder() {
        Err(_) if words.insecure_local => return Ok(None),
        folder => folder?,
    };
    if !words.insecure_local {
        tokens::token(&folder, tokens::LOCAL)?;
    } else if !folder.exists() {
        return Ok(None);
    }
    let mut held = TokenFolder::new(&folder);
    let found = held.look();
    output.warn(&found.problems);
    guard.take(&found);
    Ok(Some(held))
}

/// The accepted tools of the pin file beside a configuration, if there is one.
pub(crate) fn pins(file: &Path) -> Result<Arc<LivePins>> {
    LivePins::open(file.with_file_name(crate::cli::args::LOCK))
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
    Ok(Environment {
        lookup: Arc::new(config::ProcessLookup),
        maker: Arc::<SourceRegistry>::clone(sources),
        profile,
        ledger: store.map(|store| -> Arc<dyn Ledger> { Arc::new(store.clone()) }),
        rules,
        judge: pins.judge(),
        adapt: Some(Box::new(adapt)),
        observer: None,
        hints: hints::ours(),
    })
}

/// Says where we are, and how to come in; never the token itself. Then what there is to know of the
/// record.
fn greet(output: &Output, words: &ServeArgs, url: &str, store: Option<&Store>) -> Result<()> {
    if output.json {
        output.value(&json!({ "listening": url }))?;
    } else {
        output.text(&format!("listening on {url}"))?;
    }
    if words.insecure_local {
        output.warn(&["no token is asked for: every program of this machine may call the tools"]);
    } else {
        output.note(&format!(
            "try: curl -H \"Authorization: Bearer $(toolcrib token)\" {url}/v1/tools"
        ));
    }
    output.note(&for_clients(words, url));
    if words.behind_proxy {
        output.warn(&["tokens come in the clear: only a proxy that ends TLS may reach us"]);
    }
    if let Some(Err(fault)) = store.map(Store::works) {
        let told = "calls cannot be recorded now, and what may change something is refused until";
        output.warn(&[format!("{told} they can: {fault}")]);
    }
    match store.map(Store::interrupted) {
        None => {
            let cure = "name a file to keep them: `[store]` with `url = \"sqlite://crib.db\"`";
            let what = "the record of calls and the waiting approvals end with this process";
            output.warn(&[format!("{what}; {cure}")]);
        }
        Some(0) => {}
        Some(count) => {
            let calls = if count == 1 { "1 call".to_owned() } else { format!("{count} calls") };
            let them = if count == 1 { "it" } else { "them" };
            output.warn(&[format!(
                "{calls} had no end when the server was last stopped, and may or may not have \
                 taken effect: {} shows {them}",
                to_look(words, url, CallState::Interrupted)
            )]);
        }
    }
    Ok(())
}

/// Where MCP clients connect, and what prints what they want to read.
fn for_clients(words: &ServeArgs, url: &str) -> String {
    let known = ClientName::value_variants().iter().filter(|client| **client != ClientName::Curl);
    let names = known.filter_map(ClientName::to_possible_value);
    let names: Vec<_> = names.map(|name| name.get_name().to_owned()).collect();
    let names = names.join(", ");
    let told = format!("`toolcrib connect CLIENT{}` prints what to tell one of {names}", at(url));
    let without = if words.insecure_local { "; leave its token out" } else { "" };
    format!("MCP clients: {url}/mcp; {told}{without}")
}

/// The words that lead other commands to this server.
fn at(url: &str) -> String {
    let is_found = url == format!("http://{LISTEN}");
    if is_found { String::new() } else { format!(" --url {url}") }
}

/// What shows the calls of a state, for whoever reads it beside this server.
fn to_look(words: &ServeArgs, url: &str, state: CallState) -> String {
    let state = state.as_str();
    if words.insecure_local {
        // There may be no token, and none is asked for.
        return format!("`curl \"{url}/v1/record?state={state}\"`");
    }
    format!("`toolcrib calls --state {state}{}`", at(url))
}
