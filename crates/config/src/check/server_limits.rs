//! The bounds of a server.

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;
use crate::settings::server_limits::{SHARES, ServerLimits};

/// A buffer of two heads is as small as a parser of them works with.
const LEAST_HEAD: usize = 4 << 10;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn bounds(
        &mut self,
        raw: &raw::ServerLimitsTable,
        place: &TomlPath,
    ) -> ServerLimits {
        let default = ServerLimits::default();
        let head = self.size(raw.head.as_ref(), &place.key("head")).unwrap_or(default.head);
        if head < LEAST_HEAD {
            self.problem(&place.key("head"), "no head fits into this", "write `4KiB` or more");
        }
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
        let headers = count(raw.headers, "headers", default.headers);
        let requests = count(raw.requests, "requests", default.requests);
        let per_caller = count(raw.per_caller, "per_caller", default.per_caller);
        let sessions = count(raw.sessions, "sessions", default.sessions);
        let share = (sessions / SHARES).max(1);
        let sessions_per_caller = count(raw.sessions_per_caller, "sessions_per_caller", share);
        let waiting = count(raw.waiting, "waiting", default.waiting);
        let tasks = count(raw.tasks, "tasks", default.tasks);
        let values = count(raw.values, "values", default.values);
        let depth = self.depth(raw.depth, &place.key("depth"), default.depth);
        let mut time = |text, key, default| self.timeout(text, &place.key(key)).unwrap_or(default);
        ServerLimits {
            body,
            depth,
            values,
            head,
            headers,
            head_time: time(raw.head_time.as_ref(), "head_time", default.head_time),
            body_pause: time(raw.body_pause.as_ref(), "body_pause", default.body_pause),
            body_time: time(raw.body_time.as_ref(), "body_time", default.body_time),
            stall: time(raw.stall.as_ref(), "stall", default.stall),
            linger: time(raw.linger.as_ref(), "linger", default.linger),
            drain: time(raw.drain.as_ref(), "drain", default.drain),
            connections,
            connections_per_peer,
            requests,
            per_caller,
            sessions,
            sessions_per_caller,
            session_life: time(raw.session_life.as_ref(), "session_life", default.session_life),
            longest_session: time(
                raw.longest_session.as_ref(),
                "longest_session",
                default.longest_session,
            ),
            waiting,
            patience: time(raw.patience.as_ref(), "patience", default.patience),
            tasks,
            task_after: time(raw.task_after.as_ref(), "task_after", default.task_after),
            task_life: time(raw.task_life.as_ref(), "task_life", default.task_life),
        }
    }
}
