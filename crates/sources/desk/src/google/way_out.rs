//! How Google is reached: which addresses, and how long it may take.

use toolcrib_egress::{Egress, EgressTimeouts, Network};

use super::settings::GoogleSettings;
use crate::backend::{BackendError, BackendErrorKind};

/// Reaches Google's addresses of the settings, and nothing else.
pub(super) fn way_out(settings: &GoogleSettings) -> Result<Egress, BackendError> {
    let GoogleSettings { calendar, tasks, gmail, token, .. } = settings;
    let named = [calendar, tasks, gmail, token].map(Clone::clone);
    Egress::only(named, Network::default()).map_err(|cause| {
        BackendError::new(BackendErrorKind::Invalid, "the addresses of Google cannot be reached")
            .because(cause)
    })
}

pub(super) fn timeouts(settings: &GoogleSettings) -> EgressTimeouts {
    let total = settings.deadline;
    let usual = EgressTimeouts::default();
    EgressTimeouts {
        connect: usual.connect.min(total),
        first_byte: total,
        idle: usual.idle.min(total),
        total,
    }
}
