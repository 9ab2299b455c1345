//! Whether an address may be another spelling of one that rules name.
//!
//! What two spellings have in common is for their server to say, so this errs on the side of
//! finding them alike: cases, slashes, hosts of files, ports, dots and blanks at the ends of parts,
//! queries and fragments tell no two addresses apart.

mod glob;
mod spelling;

use std::collections::BTreeSet;

use glob::AddressGlob;

/// An address that somebody asks for, with the forms that a server may take it for.
#[derive(Debug, Clone)]
pub struct ResourceAddress {
    /// What needs no encoding decoded, and all else encoded. `None`: nobody can tell what a server
    /// makes of it.
    normal: Option<String>,
    forms: Vec<AddressGlob>,
}

/// A pattern of names as rules have it, for addresses under any spelling.
#[derive(Debug, Clone)]
pub struct AddressPattern {
    /// As it was written.
    text: String,
    forms: Vec<AddressGlob>,
}

impl ResourceAddress {
    pub fn new(uri: &str) -> Self {
        let decoded = spelling::plainly(uri);
        let mut forms = decoded.as_deref().map(spelling::forms).unwrap_or_default();
        if decoded.is_some() {
            forms.extend(spelling::ends(uri).iter().flat_map(|end| spelling::forms(end)));
        }
        let forms = forms.iter().map(|form| AddressGlob::new(form)).collect();
        Self { normal: decoded.as_deref().map(spelling::normal), forms }
    }

    /// Its normal form. `None`: it leads elsewhere than it says (`..`), is encoded twice, holds
    /// what no address may hold or is too long, so that its forms cannot be told.
    pub fn normal(&self) -> Option<&str> {
        self.normal.as_deref()
    }

    /// Whether some server may take both for the same.
    pub fn is_like(&self, other: &Self) -> bool {
        let like = |form: &AddressGlob| other.forms.iter().any(|other| form.meets(other));
        self.forms.iter().any(like)
    }

    /// Whether the pattern matches a form of it, behind the stem of its source's names.
    pub fn may_be(&self, stem: &str, named: &AddressPattern) -> bool {
        let stem = stem.to_lowercase();
        self.forms.iter().any(|form| {
            let whole = form.behind(&stem);
            named.forms.iter().any(|named| named.meets(&whole))
        })
    }
}

impl AddressPattern {
    /// `pattern`: of whole names; `*` is any run of characters and `?` is one.
    pub fn new(pattern: &str) -> Self {
        let forms: BTreeSet<_> = spelling::of_pattern(pattern);
        let forms = forms.iter().map(|form| AddressGlob::new(form)).collect();
        Self { text: pattern.to_owned(), forms }
    }

    /// Whether it matches everything of a source whose names begin with this stem.
    pub fn is_of_all(&self, stem: &str) -> bool {
        let start = self.text.trim_end_matches('*');
        start.len() < self.text.len() && !start.contains(['*', '?']) && stem.starts_with(start)
    }

    /// Whether it may match an address of such a source: that begins with a scheme and a colon.
    pub fn may_be_address(&self, stem: &str) -> bool {
        let is_wild = |letter: char| matches!(letter, '*' | '?');
        let start = self.text.split(is_wild).next().unwrap_or_default();
        let is_exact = start.len() == self.text.len();
        let Some(scheme) = start.strip_prefix(stem) else {
            return !is_exact && stem.starts_with(start);
        };
        let is_of_scheme = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        match scheme.split_once(':') {
            Some((scheme, _)) => scheme.chars().all(is_of_scheme),
            None => !is_exact && scheme.chars().all(is_of_scheme),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_of_all_of_some_or_of_no_addresses() {
        for (pattern, is_of_all, may_be) in [
            ("*", true, true),
            ("d*", true, true),
            ("docs__*", true, true),
            ("docs__doc://*", false, true),
            ("*secret*", false, true),
            ("*_delete", false, true),
            ("docs__doc://secret", false, true),
            ("docs__delete_*", false, false),
            ("docs__delete", false, false),
            ("other__*", false, false),
            ("other", false, false),
            ("docs__do?:x", false, true),
        ] {
            let named = AddressPattern::new(pattern);
            let found = (named.is_of_all("docs__"), named.may_be_address("docs__"));
            assert_eq!(found, (is_of_all, may_be), "{pattern}");
        }
        assert!(!AddressPattern::new("delete_*").may_be_address(""), "no scheme holds a `_`");
    }
}
