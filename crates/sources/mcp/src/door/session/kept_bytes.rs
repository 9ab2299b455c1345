//! What the streams of all sessions keep together for clients that may come back.

use std::sync::atomic::{AtomicUsize, Ordering};

/// So much they keep; beyond it streams that have ended are forgotten at once, and of the others
/// every notification but the last.
const MOST: usize = 64 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct KeptBytes(AtomicUsize);

impl KeptBytes {
    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn remove(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MOST
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{KeptBytes, MOST};
    use crate::door::client::outbound::OutboundKind;
    use crate::door::session::event_log::EventLog;
    use crate::door::session::streams::SessionStreams;

    #[test]
    fn streams_of_all_sessions_keep_so_much_together_and_no_more() {
        const ANSWER: usize = 1024 * 1024;
        let kept = Arc::new(KeptBytes::default());
        let sessions: Vec<_> = (0..40)
            .map(|_| SessionStreams::new(EventLog::of_session(Arc::clone(&kept), 0), 0))
            .collect();
        let answer = vec![b'x'; ANSWER];
        // Clients that ask, go away, and ask again: 640 answers of a megabyte that nobody has read.
        for _ in 0..16 {
            for session in &sessions {
                let log = session.of_request();
                session.keep(&log);
                log.end(Some(&answer));
                session.forget();
                assert!(kept.0.load(super::Ordering::Relaxed) < MOST + 2 * ANSWER);
            }
        }
        // One that is still asked for keeps its answer whatever the others do.
        let open = sessions[0].of_request();
        sessions[0].keep(&open);
        open.push(b"{}", OutboundKind::Awaited);
        sessions[0].forget();
        assert!(open.number().is_some_and(|number| sessions[0].find(number).is_some()));
        drop((sessions, open));
        assert_eq!(kept.0.load(super::Ordering::Relaxed), 0);
    }
}
