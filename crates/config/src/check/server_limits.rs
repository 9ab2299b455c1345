//! The bounds of a server.

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;
use crate::settings::server_limits::{SHARES, ServerLimits};

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn bounds(
        &mut self,
        raw: &raw::ServerLimitsTable,
        place: &TomlPath,
    ) -> ServerLimits {
        let default = ServerLimits::default();
        let body = self.size(raw.body.as_ref(), &place.key("body")).unwrap_or(default.body);
        let mut count = |number: Option<u32>, key: &str, default: usize| {
            if number == Some(0) {
                self.problem(&place.key(key), "nobody could come in with 0", "write 1 or more");
            }
            number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let connections = raw.connections.map(|number| count(Some(number), "connections", 0));
        let per_peer = raw.connections_per_peer;
        let connections_per_peer = per_peer.map(|own| count(Some(own), "connections_per_peer", 0));
        let requests = count(raw.requests, "requests", default.requests);
        let per_caller = count(raw.per_caller, "per_caller", default.per_caller);
        let sessions = count(raw.sessions, "sessions", default.sessions);
        let mut time = |text, key, default| self.timeout(text, &place.key(key)).unwrap_or(default);
        ServerLimits {
            body,
            head_time: time(raw.head_time.as_ref(), "head_time", default.head_time),
            body_time: time(raw.body_time.as_ref(), "body_time", default.body_time),
            stall: time(raw.stall.as_ref(), "stall", default.stall),
            linger: time(raw.linger.as_ref(), "linger", default.linger),
            drain: time(raw.drain.as_ref(), "drain", default.drain),
            connections,
            connections_per_peer,
            requests,
            per_caller,
            sessions,
            sessions_per_caller: (sessions / SHARES).max(1),
            longest_session: time(
                raw.longest_session.as_ref(),
                "longest_session",
                default.longest_session,
            ),
            patience: time(raw.patience.as_ref(), "patience", default.patience),
            task_after: time(raw.task_after.as_ref(), "task_after", default.task_after),
            ..default
        }
    }
}
