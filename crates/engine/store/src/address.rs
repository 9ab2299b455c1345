//! Where the file is: a path, or a path behind `sqlite:`.

use std::path::PathBuf;

use crate::error::StoreError;

/// The path that an address means. An address may hold a password, and no error repeats it.
pub fn path(address: &str) -> Result<PathBuf, StoreError> {
    let path = match address.split_once(':') {
        Some(("sqlite", rest)) => rest.strip_prefix("//").unwrap_or(rest),
        Some((scheme, rest)) if rest.starts_with("//") && !scheme.contains('/') => {
            return Err(StoreError::Address("another kind of database"));
        }
        Some(_) | None => address,
    };
    if path.is_empty() {
        return Err(StoreError::Address("no file"));
    }
    if path == ":memory:" {
        return Err(StoreError::Address("memory, which does not last"));
    }
    if path.contains(['?', '#', '\0']) {
        return Err(StoreError::Address("a file with `?`, `#` or a zero byte in it"));
    }
    Ok(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_itself_and_another_scheme_is_refused_without_its_words() {
        let told = |address: &str| match path(address) {
            Ok(path) => path.display().to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(told("crib.db"), "crib.db");
        assert_eq!(told("sqlite://crib.db"), "crib.db");
        assert_eq!(told("sqlite:///var/lib/crib.db"), "/var/lib/crib.db");
        assert_eq!(told("sqlite:crib.db"), "crib.db");
        assert_eq!(told("a:b.db"), "a:b.db");
        for refused in
            ["postgres://me:hunter2@host/db", "", "sqlite://", "sqlite::memory:", "sqlite://a?b=c"]
        {
            let told = told(refused);
            assert!(told.starts_with("a store cannot be opened at an address of "), "{told}");
            assert!(!told.contains("hunter2"));
        }
    }
}
