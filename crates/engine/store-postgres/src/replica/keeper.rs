//! Renews the lease of this process, and puts in order what dead ones left.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use toolcrib_core::failpoint;
use toolcrib_store::StoreError;

use super::{Incarnation, ReplicaLife};
use crate::address::DatabaseAddress;
use crate::error::SessionError;
use crate::session::{Answer, Session};
use crate::statements::replicas::{self, Renewal};
use crate::statements::schema;

/// How often a lease is renewed while it lasts.
const RENEWALS: u32 = 3;

/// How soon it is tried again after it failed.
const AGAIN: Duration = Duration::from_millis(200);

/// The thread; dropping it ends the thread.
pub(crate) struct LeaseKeeper {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl LeaseKeeper {
    pub(crate) fn start(
        address: Arc<DatabaseAddress>,
        life: Arc<ReplicaLife>,
        runtime: tokio::runtime::Runtime,
    ) -> Result<Self, std::io::Error> {
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::Builder::new().name("toolcrib-lease".into());
        let thread = thread.spawn(move || {
            let renewing = renew(&address, &life, stopped.clone());
            let reaping = reap(&address, &life, stopped);
            runtime.block_on(async { tokio::join!(renewing, reaping) });
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for LeaseKeeper {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits; whether to go on.
async fn goes_on(stopped: &mut watch::Receiver<bool>, pause: Duration) -> bool {
    tokio::select! {
        () = tokio::time::sleep(pause) => true,
        _ = stopped.wait_for(|stopped| *stopped) => false,
    }
}

async fn renew(address: &DatabaseAddress, life: &ReplicaLife, mut stopped: watch::Receiver<bool>) {
    let whole = life.settings.lease / RENEWALS;
    let (mut session, mut beat, mut pause) = (None, Beat::default(), whole);
    while goes_on(&mut stopped, pause).await {
        let renewed = tokio::select! {
            renewed = renew_once(address, life, &mut session, &mut beat) => renewed,
            _ = stopped.wait_for(|stopped| *stopped) => return,
        };
        match renewed {
            Ok(()) => pause = whole,
            Err(SessionError::Unfit(told)) if beat.went_back => {
                let place = life.place().display().to_string();
                life.break_off(StoreError::Database { place, told, source: None });
                return;
            }
            Err(_) => (session, pause) = (None, AGAIN),
        }
    }
}

/// How often the lease of a replica was renewed, as far as it was told.
#[derive(Default)]
struct Beat {
    of: Option<Incarnation>,
    last: i64,
    went_back: bool,
}

async fn renew_once(
    address: &DatabaseAddress,
    life: &ReplicaLife,
    open: &mut Option<Session>,
    beat: &mut Beat,
) -> Answer<()> {
    let Some(current) = life.current() else { return Ok(()) };
    if beat.of.as_ref() != Some(&current) {
        *beat = Beat { of: Some(current.clone()), ..Beat::default() };
    }
    let known = open.take().filter(|session| !session.is_closed());
    let session = if let Some(session) = known {
        session
    } else {
        let joining = tokio::time::timeout(life.settings.lease / 2, joined(address, &current));
        joining.await.unwrap_or(Err(SessionError::Silent))?
    };
    // By this machine's own clock, from before anything was said.
    let sent = Instant::now();
    let said = life.settings.said.to_string();
    let renewal = replicas::renew(&session, current.id, life.settings.lease, &said);
    // A server that is silent is asked anew before the lease is over.
    let Ok(renewal) = tokio::time::timeout(life.settings.lease / 4, renewal).await else {
        return Err(SessionError::Silent);
    };
    match renewal? {
        Renewal::Beat(now) if now > beat.last => {
            beat.last = now;
            life.hold(sent);
        }
        Renewal::Beat(_) | Renewal::Missing => {
            beat.went_back = true;
            return Err(SessionError::unfit(
                "lacks a part of what was written to it, and what is forgotten could happen \
                 twice (a copy was put back, or a standby took over): bring the newer one back, \
                 or start all replicas anew",
            ));
        }
        Renewal::Dead => {
            life.register(&session).await?;
        }
    }
    *open = Some(session);
    Ok(())
}

/// A session of a replica, which keeps others away that would have the record for themselves.
async fn joined(address: &DatabaseAddress, of: &Incarnation) -> Answer<Session> {
    let mut session = Session::open_brief(address).await?;
    // Whoever is stopped in the middle of it must not hold up the others.
    session.be_one_of_several(vec![of.id]).await?;
    session.inspect().await?;
    schema::share(&session, &format!("{} lease", of.name)).await?;
    Ok(session)
}

async fn reap(address: &DatabaseAddress, life: &ReplicaLife, mut stopped: watch::Receiver<bool>) {
    let pause = life.settings.lease / RENEWALS;
    let mut session = None;
    while goes_on(&mut stopped, pause.min(Duration::from_secs(1))).await {
        let reaped = tokio::select! {
            reaped = reap_once(address, life, &mut session) => reaped,
            _ = stopped.wait_for(|stopped| *stopped) => return,
        };
        // What cannot be put in order now is put in order another time, or by another replica.
        if reaped.is_err() {
            session = None;
        }
    }
}

async fn reap_once(
    address: &DatabaseAddress,
    life: &ReplicaLife,
    open: &mut Option<Session>,
) -> Answer<()> {
    let Some(current) = life.current() else { return Ok(()) };
    let session = match open.take().filter(|session| !session.is_closed()) {
        Some(session) => session,
        None => joined(address, &current).await?,
    };
    replicas::declare_dead(&session).await?;
    for dead in replicas::dead(&session).await? {
        failpoint::reached("replica dead");
        let interrupted = replicas::recover(&session, dead).await?;
        life.shared.interrupted.fetch_add(interrupted, Ordering::AcqRel);
    }
    *open = Some(session);
    Ok(())
}
