//! What the scopes of a caller open.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use toolcrib_core::Caller;

/// The tenant of the person at the machine and of everybody to whom that person gave a token by
/// hand: nothing is closed to them but what is the operator's. No key and no issuer names it.
pub const LOCAL: &str = "local";
/// How the sources are doing, and to load them anew.
pub const OPERATOR: &str = "operator";
/// Every tool, under the whole file and under each profile of it.
pub const TOOLS: &str = "tools";
/// The same, but only tools that read.
pub const READ: &str = "tools:read";
/// With the name of a profile after it: the tools of that profile.
pub const PROFILE: &str = "profile:";

/// What stands in a scope and in an address as it is.
pub(crate) const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// How far a caller gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessLevel {
    Nothing,
    /// Tools that read.
    Reads,
    /// Every tool that policy permits.
    All,
}

/// How far a caller gets under a profile; `None`: under the whole file.
pub fn reach(caller: &Caller, profile: Option<&str>) -> AccessLevel {
    reach_by(caller, profile.map(of_profile).as_deref())
}

/// `own`: the scope of the profile.
pub(crate) fn reach_by(caller: &Caller, own: Option<&str>) -> AccessLevel {
    let has = |scope: &str| caller.scopes.contains(scope);
    if caller.tenant == LOCAL || has(TOOLS) || own.is_some_and(has) {
        AccessLevel::All
    } else if has(READ) {
        AccessLevel::Reads
    } else {
        AccessLevel::Nothing
    }
}

/// Whether a caller gets anywhere at all.
pub fn enters(caller: &Caller) -> bool {
    reach(caller, None) != AccessLevel::Nothing
        || caller.scopes.iter().any(|scope| scope.starts_with(PROFILE))
}

/// Whether this is the person who started the server, or somebody whom that person made one.
pub fn is_operator(caller: &Caller) -> bool {
    match caller.tenant.as_str() {
        // The scopes of these are words for the rules alone.
        LOCAL => caller.is(&Caller::local()),
        _ => caller.scopes.contains(OPERATOR),
    }
}

/// The least that opens a profile; `None`: the whole file.
pub fn needed(profile: Option<&str>) -> String {
    profile.map_or_else(|| TOOLS.to_owned(), of_profile)
}

/// The profiles for each of which the caller has a scope.
pub fn profiles(caller: &Caller) -> impl Iterator<Item = String> {
    let named = caller.scopes.iter().filter_map(|scope| scope.strip_prefix(PROFILE));
    named.filter_map(|name| percent_decode_str(name).decode_utf8().ok().map(Into::into))
}

/// The scope of a profile: a name may hold what no scope can.
pub(crate) fn of_profile(name: &str) -> String {
    format!("{PROFILE}{}", utf8_percent_encode(name, PLAIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(scopes: &[&str]) -> Caller {
        Caller::new("acme", "ann").with_scopes(scopes.iter().copied())
    }

    #[test]
    fn each_scope_opens_its_own_and_no_more() {
        let of = |scopes: &[&str]| {
            let caller = caller(scopes);
            (
                reach(&caller, None),
                reach(&caller, Some("a")),
                reach(&caller, Some("b")),
                enters(&caller),
                is_operator(&caller),
            )
        };
        use AccessLevel::{All, Nothing, Reads};
        assert_eq!(of(&[]), (Nothing, Nothing, Nothing, false, false));
        assert!(!of(&["tool", "Tools", "tools:", "profile"]).3);
        assert_eq!(of(&[TOOLS]), (All, All, All, true, false));
        assert_eq!(of(&[READ]), (Reads, Reads, Reads, true, false));
        assert_eq!(of(&["profile:a"]), (Nothing, All, Nothing, true, false));
        assert_eq!(of(&["profile:a", READ]), (Reads, All, Reads, true, false));
        assert_eq!(of(&["profile:*"]), (Nothing, Nothing, Nothing, true, false));
        assert_eq!(of(&[OPERATOR]), (Nothing, Nothing, Nothing, false, true));
    }

    #[test]
    fn the_person_at_the_machine_needs_no_scopes() {
        let local = Caller::local();
        assert_eq!((reach(&local, None), is_operator(&local)), (AccessLevel::All, true));
        let other = Caller::new(LOCAL, "other").with_scopes([OPERATOR]);
        assert_eq!((reach(&other, Some("a")), is_operator(&other)), (AccessLevel::All, false));
        assert!(!is_operator(&Caller::new("acme", "local")));
    }

    #[test]
    fn a_profile_of_any_name_has_a_scope_of_one_word() {
        assert_eq!(needed(Some("a b\"\\é")), "profile:a%20b%22%5C%C3%A9");
        assert_eq!(needed(None), "tools");
        assert_eq!(reach(&caller(&["profile:a%20b"]), Some("a b")), AccessLevel::All);
    }
}
