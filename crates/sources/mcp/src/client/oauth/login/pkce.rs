//! What only we know: the verifier of a code, and the state of a log-in.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use toolcrib_core::Secret;
use uuid::Uuid;

/// 64 letters, 244 of their bits random; RFC 7636 wants 43 to 128 letters.
pub(crate) fn unguessable() -> Secret {
    Secret::new(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
}

/// S256 of RFC 7636.
pub(crate) fn challenge(verifier: &Secret) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.expose()))
}

/// Compares without telling by the time it takes how much was right.
pub(crate) fn same(own: &Secret, given: &str) -> bool {
    Sha256::digest(own.expose()) == Sha256::digest(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge(&verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn no_two_are_the_same() {
        let one = unguessable();
        assert_eq!(one.expose().len(), 64);
        assert!(!same(&one, unguessable().expose()));
        assert!(same(&one, one.expose()));
    }
}
