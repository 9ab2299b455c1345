//! `toolcrib work`: does the runs of agents that are ready in a record that servers share, and takes
//! no calls.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Result, bail};
use serde_json::json;

use super::{start_all, startup};
use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, ServeArgs, WorkArgs};
use crate::cli::output::Output;
use crate::config::record;
use crate::gateway::listen_address::ListenWishes;
use crate::gateway::start::{GatewayStart, PreparedGateway};
use crate::http::page::door::ListenerKind;
use crate::secrets;

/// Where a worker tells how it is if nobody says.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7412);

pub(crate) fn work(global: &GlobalArgs, output: &Output, words: &WorkArgs) -> Result<CommandExit> {
    secrets::stay_in_memory()?;
    let chosen = words.file.as_ref().or(global.config.as_ref());
    let file = startup::open_file(chosen, words.no_overlay, output)?;
    if record::cluster(&file.checked)?.is_none() {
        bail!(
            "`{}` has no `[cluster]`, so that nobody shares runs with a worker: write it with a \
             `secret`, and `[store]` with the database of Postgres that the servers have",
            file.path.display()
        );
    }
    global.start_log(file.checked.log)?;
    let as_served = ServeArgs {
        file: None,
        listen: Some(words.listen.unwrap_or(LISTEN)),
        insecure_local: false,
        host: words.host.clone(),
        behind_proxy: words.behind_proxy,
        no_overlay: words.no_overlay,
    };
    let wishes = ListenWishes { kind: ListenerKind::Health, ..startup::wishes(&as_served) };
    let start = GatewayStart::of(file, wishes, None, &global.scopes, output.notices())?;
    let greet = |prepared: &PreparedGateway| {
        let url = prepared.url();
        if output.json {
            output.value(&json!({ "listening": url }))?;
        } else {
            output.text(&format!("working; listening on {url}"))?;
        }
        output.note(&format!("takes no calls, and does the runs of agents that servers of the same record leave to it; {url}/readyz tells how it is"));
        Ok(())
    };
    start_all(global, output, false, start, greet)
}
