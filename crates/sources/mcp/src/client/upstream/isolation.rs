//! Which connection a call runs on where questions do not say whose they are: what may ask has one
//! for itself, of which more are opened beside the first, up to a bound, and ended when idle.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout_at};
use toolcrib_core::{CallContext, LogEntry, LogLevel};

use super::connection_load::{ConnectionLoad, IsolationNeed};
use super::{IsolationState, SideConnection, Upstream, UpstreamRole};
use crate::client::call::outgoing::OutgoingRequest;
use crate::client::call::reply::ServerReply;
use crate::client::connection::CountGuard;
use crate::client::fault::McpFault;
use crate::client::inflight::asking_habits::{CallSubject, SharingRule};
use crate::client::settings::{ConnectionScope, MOST_APART, McpTransport};

/// Of all of them, as many may wait under tickets: those who can be asked must still be asked.
const MOST_BY_TICKET: usize = MOST_APART / 2;
/// How long a call waits for one that is open before another is opened.
const GRACE: Duration = Duration::from_millis(200);
/// A call that waits longer says so.
const SAID: Duration = Duration::from_secs(1);
/// How often one that waits looks whether a question has its answer.
const LOOK: Duration = Duration::from_millis(250);
/// How often a call may be begun anew.
const MOST_MOVES: usize = 4;

/// The place of one call, which is free again when this is dropped.
struct CallPlace {
    base: Arc<Upstream>,
    upstream: Arc<Upstream>,
}

impl ConnectionLoad {
    /// Whether a call may run here now; `Err`: it may soon, unless something else comes.
    fn fits(
        &self,
        of: &Upstream,
        company: SharingRule,
        context: &CallContext,
        now: Instant,
    ) -> Result<bool, Instant> {
        if self.is_free() {
            return Ok(!company.is_alone() || !of.may_speak_for_others(context));
        }
        if company.is_alone() || self.alone || of.is_asking() {
            return Ok(false);
        }
        match self.fresh {
            Some(until) if until > now => Err(until),
            Some(_) | None => Ok(true),
        }
    }
}

impl IsolationState {
    fn all<'a>(
        &'a mut self,
        base: &'a Arc<Upstream>,
    ) -> impl Iterator<Item = (&'a Arc<Upstream>, &'a mut ConnectionLoad)> {
        let beside = self.beside.iter_mut().map(|lane| (&lane.upstream, &mut lane.taken));
        [(base, &mut self.own)].into_iter().chain(beside)
    }

    fn count(&self, is_so: impl Fn(&ConnectionLoad) -> bool) -> usize {
        let beside = self.beside.iter().filter(|lane| is_so(&lane.taken));
        usize::from(is_so(&self.own)) + beside.count()
    }

    /// Whether those that wait for people leave room for this one and for others.
    fn leave_room(&self, IsolationNeed { company, by_ticket }: IsolationNeed) -> bool {
        company != SharingRule::Nobody
            || (self.count(|taken| taken.alone) <= MOST_APART
                && !(by_ticket && self.count(|taken| taken.by_ticket) >= MOST_BY_TICKET))
    }
}

/// Why there is no place.
enum NoCallPlace {
    /// There may be one then.
    Soon(Instant),
    /// Everything waits for people, so that nothing is won by waiting.
    Stands,
    Taken,
}

impl Upstream {
    /// Runs one call.
    pub(crate) async fn call(
        self: &Arc<Self>,
        asked: OutgoingRequest,
        context: &CallContext,
    ) -> Result<ServerReply, McpFault> {
        match self.current() {
            Some(live) if live.facts.is_modern => self.call_here((&asked, None), context).await,
            Some(_) | None => self.call_apart(&asked, context).await,
        }
    }

    /// Runs a call where nobody else's question can be taken for its own.
    async fn call_apart(
        self: &Arc<Self>,
        asked: &OutgoingRequest,
        context: &CallContext,
    ) -> Result<ServerReply, McpFault> {
        let connection = self.connection(Some(context)).await?;
        if connection.facts.is_modern {
            return self.call_here((asked, None), context).await;
        }
        drop(connection);
        let subject = self.opener.askers.subject(asked);
        let mut ended = Err(McpFault::Moved);
        for _ in 0..MOST_MOVES {
            let place = match self.try_place(self.need(&subject, context), context) {
                Ok(place) => place,
                // Rare, and larger than the way of most.
                Err(_) => Box::pin(self.place(&subject, context)).await?,
            };
            ended = place.upstream.call_here((asked, Some(&subject)), context).await;
            if !matches!(ended, Err(McpFault::Moved)) {
                break;
            }
        }
        ended
    }

    /// Whether a question of its server waits for an answer.
    fn is_asking(&self) -> bool {
        self.current().is_some_and(|live| live.calls.is_asking())
    }

    /// Whether its server may still speak of a call of somebody else that was given up.
    fn may_speak_for_others(&self, context: &CallContext) -> bool {
        self.current().is_some_and(|live| live.calls.may_speak_for_others(context))
    }

    /// What a call may have beside it. Of a client that keeps no conversation nobody knows which of
    /// its calls belong together, where each conversation is to be by itself.
    fn need(&self, subject: &CallSubject, context: &CallContext) -> IsolationNeed {
        let company = self.opener.askers.company(subject);
        let is_unknown =
            self.opener.share() == ConnectionScope::Session && context.session().is_none();
        let is_program = matches!(self.opener.settings.transport, McpTransport::Stdio(_));
        let company = match company {
            SharingRule::Others | SharingRule::OthersSoon if is_unknown => {
                SharingRule::NobodyIfPossible
            }
            // Over HTTP most questions come where they belong.
            SharingRule::OthersSoon if !is_program => SharingRule::Others,
            SharingRule::Others
            | SharingRule::OthersSoon
            | SharingRule::NobodyIfPossible
            | SharingRule::Nobody => company,
        };
        IsolationNeed { company, by_ticket: context.asks_by_ticket() }
    }

    fn try_place(
        self: &Arc<Self>,
        need: IsolationNeed,
        context: &CallContext,
    ) -> Result<CallPlace, NoCallPlace> {
        let now = Instant::now();
        let mut lanes = self.apart.lanes();
        let leaves_room = lanes.leave_room(need);
        let (mut soon, mut stands) = (None::<Instant>, true);
        for (upstream, taken) in lanes.all(self) {
            match taken.fits(upstream, need.company, context, now) {
                Ok(true) if leaves_room => {
                    taken.take(need, now);
                    return Ok(CallPlace {
                        base: Arc::clone(self),
                        upstream: Arc::clone(upstream),
                    });
                }
                // One that is free, and not for this call, is not worth waiting for either.
                Ok(_) => stands &= upstream.is_asking() || (leaves_room && taken.is_free()),
                Err(until) => soon = Some(soon.map_or(until, |before| before.min(until))),
            }
        }
        Err(match soon {
            Some(until) => NoCallPlace::Soon(until),
            None if stands => NoCallPlace::Stands,
            None => NoCallPlace::Taken,
        })
    }

    /// Waits for a place, or makes one.
    async fn place(
        self: &Arc<Self>,
        subject: &CallSubject,
        context: &CallContext,
    ) -> Result<CallPlace, McpFault> {
        let began = Instant::now();
        let patience = self.opener.settings.timeouts.call;
        let (mut is_said, _waits) = (false, CountGuard::new(&self.calls));
        loop {
            let mut changed = pin!(self.apart.changed.notified());
            changed.as_mut().enable();
            let need = self.need(subject, context);
            let mut until = Instant::now() + LOOK;
            match self.try_place(need, context) {
                Ok(place) => return Ok(place),
                Err(NoCallPlace::Soon(then)) => until = then,
                Err(NoCallPlace::Taken) if began.elapsed() < GRACE => until = began + GRACE,
                Err(NoCallPlace::Stands | NoCallPlace::Taken) => {
                    if let Some(place) = self.new_place(need) {
                        return Ok(place);
                    }
                }
            }
            if began.elapsed() >= patience {
                return Err(McpFault::Busy(patience));
            }
            if began.elapsed() >= SAID && !std::mem::replace(&mut is_said, true) {
                context.log(LogEntry {
                    level: LogLevel::Notice,
                    logger: Some("toolcrib".to_owned()),
                    data: json!(WAITS),
                });
            }
            tokio::select! {
                biased;
                () = context.cancelled() => return Err(McpFault::Withdrawn),
                _ = timeout_at(until, changed) => {}
            }
        }
    }

    /// Opens one more connection, or, for what was never seen to ask where there are too many,
    /// joins the fewest others.
    fn new_place(self: &Arc<Self>, need: IsolationNeed) -> Option<CallPlace> {
        let now = Instant::now();
        let mut lanes = self.apart.lanes();
        let may_share = need.company != SharingRule::Nobody;
        if !lanes.leave_room(need) {
            return None;
        }
        if lanes.beside.len() < MOST_APART + usize::from(may_share) {
            let (stop, logs) = (self.stop.child_token(), self.news.lines());
            let opener = Arc::clone(&self.opener);
            let upstream = Self::new(opener, stop, logs, UpstreamRole::Apart);
            *upstream.level() = *self.level();
            let mut taken = ConnectionLoad::default();
            taken.take(need, now);
            let place = CallPlace { base: Arc::clone(self), upstream: Arc::clone(&upstream) };
            lanes.beside.push(SideConnection { upstream, taken });
            return Some(place);
        }
        let shared = lanes.all(self).filter(|(_, taken)| !taken.alone && may_share);
        let (upstream, taken) = shared.min_by_key(|(_, taken)| taken.sharing)?;
        taken.take(IsolationNeed { company: SharingRule::Others, ..need }, now);
        Some(CallPlace { base: Arc::clone(self), upstream: Arc::clone(upstream) })
    }
}

const WAITS: &str = "this call waits: the server asks without saying for which call, so that each \
                     call which may ask has a program of its own, and all of them wait for people; \
                     `share = \"session\"` in `mcp` at the source gives each conversation its own";

impl Drop for CallPlace {
    fn drop(&mut self) {
        let mut lanes = self.base.apart.lanes();
        let mut all = lanes.all(&self.base);
        if let Some((_, taken)) = all.find(|(upstream, _)| Arc::ptr_eq(upstream, &self.upstream)) {
            taken.leave();
            // Others wait for this place, and may not have it as it is. The first connection keeps
            // what its server remembers.
            if taken.is_free() && !Arc::ptr_eq(&self.upstream, &self.base) {
                self.upstream.leave_abandoned();
            }
        }
        drop(all);
        drop(lanes);
        self.base.apart.changed.notify_waiters();
    }
}
