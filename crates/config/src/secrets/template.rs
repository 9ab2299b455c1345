//! Strings with references to secrets: read once, filled in when the sources are made.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use toolcrib_core::Secret;
use toolcrib_json::invisible::exact;

/// Longest secret that a reference may bring, in bytes.
const LONGEST_SECRET: usize = 64 * 1024;
/// Shortest part of a secret that is secret by itself, in bytes.
const LONG_PART: usize = 16;

/// Where secrets come from; the binary reads the environment and the files.
pub trait SecretLookup: Send + Sync {
    /// A variable of the environment.
    fn env(&self, name: &str) -> Option<String>;

    /// The text of a file.
    fn file(&self, path: &Path) -> io::Result<String>;

    /// Whether others than the owner may read a file; `false` where nobody can tell.
    fn is_open_to_others(&self, path: &Path) -> bool {
        let _ = path;
        false
    }
}

/// A reference that leads to nothing: names it, and never a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{reference}` {reason}")]
pub struct UnresolvedReference {
    /// As it is written in the file.
    pub reference: String,
    pub reason: String,
}

/// A string with references in it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Template(Vec<TemplatePiece>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplatePiece {
    Text(String),
    Env(String),
    File {
        /// As it is written.
        written: String,
        path: PathBuf,
    },
}

/// What came to light while templates were resolved.
#[derive(Debug, Default)]
pub(crate) struct TemplateResolution {
    pub(crate) missing: Vec<UnresolvedReference>,
    /// What must not be told to anybody.
    pub(crate) secrets: Vec<Secret>,
}

impl TemplateResolution {
    fn secret(&mut self, text: &str) {
        self.secrets.push(Secret::new(text));
        // A key of many lines is often written out line by line.
        let lines = text.lines().map(str::trim).filter(|line| line.len() >= LONG_PART);
        self.secrets.extend(lines.filter(|line| *line != text).map(Secret::new));
    }
}

/// What is wrong with a reference, and the cure.
type ReferenceFault = (String, String);

impl Template {
    /// Reads the references of a text; a file is looked for beside `folder`.
    pub(crate) fn parse(text: &str, folder: &Path) -> Result<Self, ReferenceFault> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            plain.push_str(before);
            rest = after;
            // `$${` is how a plain `${` is written.
            if plain.ends_with('$') {
                plain.push('{');
                continue;
            }
            let Some((reference, after)) = after.split_once('}') else {
                return Err(("a `${` has no `}`".into(), "close it, or write `$${`".into()));
            };
            rest = after;
            if !plain.is_empty() {
                pieces.push(TemplatePiece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(TemplatePiece::read(reference, folder)?);
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(TemplatePiece::Text(plain));
        }
        Ok(Self(pieces))
    }

    pub(crate) fn pieces(&self) -> &[TemplatePiece] {
        &self.0
    }

    /// The text without references, if it has none.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [TemplatePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with what its references stand for; what is secret or missing is noted.
    pub(crate) fn resolve(
        &self,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> Secret {
        let mut text = String::new();
        for piece in &self.0 {
            match piece.value(lookup) {
                Ok(value) => {
                    if !matches!(piece, TemplatePiece::Text(_)) {
                        found.secret(&value);
                    }
                    text.push_str(&value);
                }
                Err(unresolved) => found.missing.push(unresolved),
            }
        }
        Secret::new(text)
    }

    /// The same of a text that is a secret whether or not it has references.
    pub(crate) fn secret(
        &self,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> Secret {
        let secret = self.resolve(lookup, found);
        // `Bearer TOKEN`: the token alone tells as much.
        let words = secret.expose().split_whitespace();
        words.filter(|word| word.len() >= LONG_PART).for_each(|word| found.secret(word));
        found.secret(secret.expose());
        secret
    }
}

impl TemplatePiece {
    fn read(reference: &str, folder: &Path) -> Result<Self, ReferenceFault> {
        let shown = crate::file::schema_check::shown(reference);
        match reference.split_once(':') {
            Some(("env", name)) if is_variable(name) => Ok(Self::Env(name.to_owned())),
            Some(("env", _)) => {
                let cure = "use letters, digits and `_`, as in `${env:API_KEY}`";
                Err((format!("`${{{shown}}}` names no variable"), cure.into()))
            }
            Some(("file", path)) if !path.is_empty() && !path.contains('\0') => {
                Ok(Self::File { written: path.to_owned(), path: folder.join(path) })
            }
            Some(("file", _)) => {
                let cure = "name one, as in `${file:/run/secrets/key}`";
                Err((format!("`${{{shown}}}` names no file"), cure.into()))
            }
            Some(_) | None => {
                let cure = "write `${env:NAME}`, `${file:PATH}`, or `$${` for a plain `${`";
                Err((format!("`${{{shown}}}` is no reference"), cure.into()))
            }
        }
    }

    fn value(&self, lookup: &dyn SecretLookup) -> Result<String, UnresolvedReference> {
        let reference = self.to_string();
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Env(name) => {
                let value = lookup.env(name).filter(|value| !value.is_empty());
                value.filter(|value| value.len() <= LONGEST_SECRET).ok_or_else(|| {
                    let reason = "is not set: export it before the start".into();
                    UnresolvedReference { reference, reason }
                })
            }
            Self::File { path, .. } => {
                let unresolved =
                    |reason| UnresolvedReference { reference: reference.clone(), reason };
                let text = lookup.file(path).map_err(|error| {
                    unresolved(format!("cannot be read ({}): check the path", error.kind()))
                })?;
                // An editor ends a file with a newline, which is no part of the secret.
                let text = text.trim_end_matches(['\r', '\n']);
                match text.len() {
                    0 => Err(unresolved("is empty: write the secret into it".to_owned())),
                    1..=LONGEST_SECRET => Ok(text.to_owned()),
                    _ => Err(unresolved(format!("is longer than {LONGEST_SECRET} bytes"))),
                }
            }
        }
    }
}

fn is_variable(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.len() <= 256 && name.bytes().all(letter)
}

impl fmt::Display for TemplatePiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("[text]"),
            Self::Env(name) => write!(f, "${{env:{name}}}"),
            Self::File { written, .. } => write!(f, "${{file:{}}}", exact(written)),
        }
    }
}

/// What stands between the references may be a secret too.
impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(ToString::to_string)).finish()
    }
}
