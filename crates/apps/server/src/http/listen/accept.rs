//! Takes connections, as many as there is room for, until it is told to stop.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolcrib_egress::PrivateTarget;

use super::overload::OverloadReason;
use super::peers::{PeerAdmission, PeerLimits, PeerPermit};
use super::spare_descriptor::SpareDescriptor;
use super::workers::Workers;
use super::{connection, overload};
use crate::http::page::door::{ListenerKind, Visit};
use crate::http::state::GatewayState;

/// Connections at the same time where the system allows them.
const MOST: usize = 4096;
/// Connections that wait to be taken: as many as the system allows, 4,096 as Linux comes. Whoever
/// finds no room among them tries again a second later.
const QUEUE: u32 = u16::MAX as u32;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Listens with a longer queue than the 128 that the library asks for.
pub(crate) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    bound(address)?.listen(QUEUE)
}

/// A socket that has this address, and to which nobody can connect yet.
pub(crate) fn bound(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // There it would let another program listen beside this one.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// A listener and its bounds.
pub(crate) struct HttpListener {
    pub(crate) listener: TcpListener,
    pub(crate) kind: ListenerKind,
    /// Connections at the same time.
    pub(crate) most: usize,
    pub(crate) peers: Arc<PeerLimits>,
    /// From which connections are taken, beside this machine; empty: from everywhere.
    pub(crate) proxies: Vec<PrivateTarget>,
    /// `None`: requests come as they are.
    pub(crate) tls: Option<TlsAcceptor>,
}

impl HttpListener {
    /// The places that one more connection of a peer takes, or why it is turned away; `None`: its
    /// peer was told so often enough.
    fn enters(
        &self,
        free: &Arc<Semaphore>,
        peer: SocketAddr,
    ) -> Result<(OwnedSemaphorePermit, PeerPermit), Option<(OverloadReason, PeerPermit)>> {
        // Behind proxies everybody comes from them.
        let comes = if self.proxies.is_empty() {
            self.peers.comes(peer.ip())
        } else {
            PeerAdmission::In(PeerPermit::uncounted())
        };
        match comes {
            PeerAdmission::Away => Err(None),
            PeerAdmission::TooMany(held) => Err(Some((OverloadReason::TooMany, held))),
            PeerAdmission::In(held) => match Arc::clone(free).try_acquire_owned() {
                Ok(place) => Ok((place, held)),
                Err(_) => Err(Some((OverloadReason::Full, held))),
            },
        }
    }

    /// Waits until there may be room again; gives how long the next wait is. One who came and was
    /// not taken yet is told, by the descriptor that is kept back for this.
    async fn rests(
        &self,
        spare: &mut SpareDescriptor,
        (spot, connections): (OwnedSemaphorePermit, &TaskTracker),
        pause: Duration,
    ) -> Duration {
        let tells_one = spare.give();
        if tells_one
            && let Ok(Ok((stream, peer))) = timeout(FIRST_PAUSE, self.listener.accept()).await
            && self.admits(peer)
        {
            let places = (spot, PeerPermit::uncounted());
            connections.spawn(overload::turn_away(
                stream,
                self.tls.clone(),
                OverloadReason::Full,
                places,
            ));
        }
        sleep(pause).await;
        spare.keep(&self.listener);
        if tells_one { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) }
    }

    fn admits(&self, peer: SocketAddr) -> bool {
        let address = peer.ip().to_canonical();
        let is_proxy = |proxy: &PrivateTarget| proxy.contains(address, peer.port());
        self.proxies.is_empty() || address.is_loopback() || self.proxies.iter().any(is_proxy)
    }
}

/// As many connections as leave files for the sources: a part of those that may be open. More
/// than these cannot be wished for.
pub(crate) fn most_connections(wished: Option<usize>) -> Result<usize> {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let files = files.and_then(|files| usize::try_from(files).ok());
    let allowed = files.map_or(usize::MAX, |files| files / 10 * 8).max(1);
    let Some(wished) = wished else { return Ok(allowed.min(MOST)) };
    ensure!(
        wished <= allowed,
        "`connections` under `[server.limits]` is {wished}, and the system lets this process open \
         files for {allowed}: write {allowed} or less, or raise its limit with `ulimit -n`"
    );
    Ok(wished)
}

/// Serves until `stop`, then until the last answer is out; `now` ends that wait. Tells what keeps
/// it from taking connections.
pub(crate) async fn serve(
    door: HttpListener,
    gateway: Arc<GatewayState>,
    workers: &mut Workers,
    (stop, now): (CancellationToken, CancellationToken),
    tell: impl Fn(&str),
) {
    let free = Arc::new(Semaphore::new(door.most));
    // Whoever finds no room is told so, a few at the same time.
    let accepting = Arc::new(Semaphore::new((door.most / 16).clamp(1, overload::MOST)));
    let (mut greeter, connections) = (overload::TlsGreetingLimit::new(), TaskTracker::new());
    let mut pause = FIRST_PAUSE;
    let (mut spare, mut is_told) = (SpareDescriptor::of(&door.listener), false);
    loop {
        let next = async {
            // Nobody closes the semaphore.
            let spot = Arc::clone(&accepting).acquire_owned().await.ok()?;
            Some((spot, door.listener.accept().await))
        };
        let taken = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            taken = next => taken,
        };
        let Some((spot, accepted)) = taken else { break };
        match accepted {
            Ok((_, peer)) if !door.admits(peer) => {}
            Ok((stream, peer)) => {
                (pause, is_told) = (FIRST_PAUSE, false);
                spare.keep(&door.listener);
                let tls = door.tls.clone();
                let places = match door.enters(&free, peer) {
                    Ok(places) => places,
                    Err(None) => continue,
                    Err(Some((why, held))) => {
                        gateway.turned_away(why);
                        if tls.is_none() || greeter.greets_one_more() {
                            let telling = overload::turn_away(stream, tls, why, (spot, held));
                            connections.spawn(telling);
                        }
                        continue;
                    }
                };
                // It is given to the driver of the thread that serves it.
                let (Some(worker), Ok(stream)) = (workers.next(), stream.into_std()) else {
                    continue;
                };
                let (now, stop) = (now.clone(), stop.clone());
                let gateway = (Arc::clone(&gateway), Visit::of(peer, door.kind));
                let serving = async move {
                    let _places = places;
                    let Ok(stream) = TcpStream::from_std(stream) else { return };
                    now.run_until_cancelled(connection::serve(stream, gateway, tls, stop)).await;
                };
                connections.spawn_on(serving, worker);
            }
            Err(error) if is_of_the_peer(error.kind()) => {}
            Err(error) => {
                gateway.turned_away(OverloadReason::Full);
                // No file is left, say: to try at once would only burn time.
                if !std::mem::replace(&mut is_told, true) {
                    tell(&format!("cannot take connections now: {error}"));
                }
                pause = door.rests(&mut spare, (spot, &connections), pause).await;
            }
        }
    }
    // Both are of one socket, at which nobody is to wait any more.
    drop((door.listener, spare));
    drain(&connections, &gateway, &now, tell).await;
}

/// Waits for the last answers, as long as that may take.
async fn drain(
    connections: &TaskTracker,
    gateway: &GatewayState,
    now: &CancellationToken,
    tell: impl Fn(&str),
) {
    connections.close();
    let done = async {
        connections.wait().await;
        now.run_until_cancelled(gateway.door.settle()).await;
    };
    if timeout(gateway.bounds.drain, done).await.is_err() {
        tell("some answers were not done in time");
        now.cancel();
        connections.wait().await;
    }
}

fn is_of_the_peer(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionRefused
            | ErrorKind::Interrupted
    )
}
