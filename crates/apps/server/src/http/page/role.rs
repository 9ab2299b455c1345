//! What a person may do on the page, by the scopes of whoever signed in.

use toolcrib_auth::{LOCAL, is_operator};
use toolcrib_core::Caller;

/// Opens the page.
pub(super) const VIEW: &str = "page:view";
/// The same, to decide about calls that wait.
pub(crate) const APPROVE: &str = "page:approve";

/// Adds sources that take more of this machine than a way to the public network: programs, files.
pub(crate) const EXECUTE: &str = "sources:exec";

/// Whether a caller may add such a source, as far as it may change anything.
pub(crate) fn executes(caller: &Caller) -> bool {
    // Scopes of other local callers are words for the rules alone.
    is_operator(caller) && (caller.tenant == LOCAL || caller.scopes.contains(EXECUTE))
}

/// The role of a caller; `None`: the page is not for it.
pub(super) fn role(caller: &Caller) -> Option<&'static str> {
    let has = |scope: &str| caller.scopes.contains(scope);
    if is_operator(caller) {
        Some("admin")
    } else if has(APPROVE) {
        Some("approver")
    } else {
        (has(VIEW) || caller.tenant == LOCAL).then_some("viewer")
    }
}

/// Whether a session of this caller decides about calls that wait, or answers them.
pub(crate) fn approves(caller: &Caller) -> bool {
    matches!(role(caller), Some("approver" | "admin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_follows_from_the_scopes_and_from_nothing_else() {
        let of = |tenant: &str, scopes: &[&str]| {
            role(&Caller::new(tenant, "ann").with_scopes(scopes.iter().copied()))
        };
        assert_eq!(of("acme", &[]), None);
        assert_eq!(of("acme", &["tools"]), None);
        assert_eq!(of("acme", &[VIEW]), Some("viewer"));
        assert_eq!(of("acme", &[VIEW, APPROVE]), Some("approver"));
        assert_eq!(of("acme", &[APPROVE, "operator"]), Some("admin"));
        assert_eq!(of(LOCAL, &["operator"]), Some("viewer"));
        assert_eq!(role(&Caller::local()), Some("admin"));
        let adds = |tenant: &str, scopes: &[&str]| {
            executes(&Caller::new(tenant, "ann").with_scopes(scopes.iter().copied()))
        };
        assert!(executes(&Caller::local()));
        assert!(adds("acme", &["operator", EXECUTE]));
        assert!(!adds("acme", &["operator"]));
        assert!(!adds("acme", &[EXECUTE]));
        assert!(!adds(LOCAL, &["operator", EXECUTE]));
    }
}
