//! The ways to sign that are accepted: those by which only the issuer can sign (RFC 7518, 8037).

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, EcdsaVerificationAlgorithm,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

/// How a signature is checked.
pub(crate) enum SignatureScheme {
    Rsa(&'static RsaParameters),
    Elliptic(&'static EcdsaVerificationAlgorithm),
    Edwards(&'static ring::signature::EdDSAParameters),
}

impl Algorithm {
    pub(crate) const NAMES: [(&'static str, Self); 10] = [
        ("RS256", Self::Rs256),
        ("RS384", Self::Rs384),
        ("RS512", Self::Rs512),
        ("PS256", Self::Ps256),
        ("PS384", Self::Ps384),
        ("PS512", Self::Ps512),
        ("ES256", Self::Es256),
        ("ES384", Self::Es384),
        ("EdDSA", Self::EdDsa),
        ("Ed25519", Self::EdDsa),
    ];

    /// The algorithm of this name, letter by letter.
    pub fn named(name: &str) -> Option<Self> {
        let named = Self::NAMES.iter().find(|(known, _)| *known == name);
        named.map(|(_, algorithm)| *algorithm)
    }

    pub(crate) fn check(self) -> SignatureScheme {
        match self {
            Self::Rs256 => SignatureScheme::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => SignatureScheme::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => SignatureScheme::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => SignatureScheme::Rsa(&RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => SignatureScheme::Rsa(&RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => SignatureScheme::Rsa(&RSA_PSS_2048_8192_SHA512),
            Self::Es256 => SignatureScheme::Elliptic(&ECDSA_P256_SHA256_FIXED),
            Self::Es384 => SignatureScheme::Elliptic(&ECDSA_P384_SHA384_FIXED),
            Self::EdDsa => SignatureScheme::Edwards(&ED25519),
        }
    }
}
