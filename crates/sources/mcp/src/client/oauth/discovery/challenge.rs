//! What a server says when it refuses a request: `WWW-Authenticate`, RFC 9110 section 11.6.1.

use crate::client::http::token_provider::TokenRefusal;

/// More parameters than any server sends.
const MOST_PARAMETERS: usize = 64;
/// Longer headers are not read.
const LONGEST: usize = 16 * 1024;

/// The first `Bearer` challenge of a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BearerChallenge {
    /// Where the metadata of the resource stands.
    pub(crate) resource_metadata: Option<String>,
    pub(crate) scope: Option<String>,
    pub(crate) error: Option<String>,
}

impl TokenRefusal {
    pub(crate) fn challenge(&self) -> BearerChallenge {
        self.challenges.iter().find_map(|header| bearer(header)).unwrap_or_default()
    }

    /// Whether another token with more scopes would do.
    pub(crate) fn wants_more_scopes(&self) -> bool {
        self.status == 403 && self.challenge().error.as_deref() == Some("insufficient_scope")
    }
}

impl BearerChallenge {
    pub(crate) fn scopes(&self) -> Vec<String> {
        crate::client::oauth::renewal::scopes::split(self.scope.as_deref().unwrap_or_default())
    }
}

/// One header may hold several challenges, and a quoted value may hold anything at all, so the
/// header is read from left to right and not searched.
fn bearer(header: &str) -> Option<BearerChallenge> {
    if header.len() > LONGEST {
        return None;
    }
    let mut rest = header;
    let mut found: Option<BearerChallenge> = None;
    let mut inside = false;
    for _ in 0..MOST_PARAMETERS {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (word, after) = token(rest);
        if word.is_empty() {
            break;
        }
        let after = after.trim_start_matches([' ', '\t']);
        let Some(value) = after.strip_prefix('=') else {
            // A word without a value is the scheme of the next challenge.
            if found.is_some() {
                break;
            }
            inside = word.eq_ignore_ascii_case("bearer");
            if inside {
                found = Some(BearerChallenge::default());
            }
            rest = after;
            continue;
        };
        let (value, after) = value_of(value.trim_start_matches([' ', '\t']))?;
        rest = after;
        if let Some(challenge) = found.as_mut().filter(|_| inside) {
            challenge.take(word, value);
        }
    }
    found
}

impl BearerChallenge {
    /// Of a parameter that comes twice the first counts.
    fn take(&mut self, name: &str, value: String) {
        let place = match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => &mut self.resource_metadata,
            "scope" => &mut self.scope,
            "error" => &mut self.error,
            _ => return,
        };
        place.get_or_insert(value);
    }
}

/// The word at the beginning, and what follows it.
fn token(text: &str) -> (&str, &str) {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '=' | '"' | ';');
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

/// A quoted string or a bare value, and what follows it; `None`: a quote is never closed.
fn value_of(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        // Bare values are addresses at times, which hold more than a token may.
        let end = text.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return Some((value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, quoted.get(at + 1..)?)),
            '\\' => value.push(letters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str) -> BearerChallenge {
        TokenRefusal { status: 401, challenges: vec![header.to_owned()] }.challenge()
    }

    #[test]
    fn the_bearer_challenge_is_read_wherever_it_stands() {
        let wanted = BearerChallenge {
            resource_metadata: Some("https://a.example/.well-known/x".to_owned()),
            scope: Some("a b".to_owned()),
            error: Some("insufficient_scope".to_owned()),
        };
        for header in [
            r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://a.example/.well-known/x""#,
            r#"bearer resource_metadata=https://a.example/.well-known/x,scope="a b",error=insufficient_scope"#,
            r#"Basic realm="x, Bearer scope=\"no\"", Bearer scope="a b" , error = "insufficient_scope", resource_metadata="https://a.example/.well-known/x""#,
            r#"Bearer scope="a b", error="insufficient_scope", resource_metadata="https://a.example/.well-known/x", DPoP scope="other""#,
        ] {
            assert_eq!(read(header), wanted, "{header}");
        }
    }

    #[test]
    fn words_inside_a_quoted_value_are_no_parameters() {
        let header = r#"Bearer error_description="say scope=\"admin\", error=x", scope="mine""#;
        assert_eq!(
            read(header),
            BearerChallenge { scope: Some("mine".to_owned()), ..BearerChallenge::default() }
        );
    }

    #[test]
    fn what_is_no_challenge_says_nothing() {
        for header in ["", "Bearer", "Basic realm=x", "Bearer scope=\"open", ",,,=", "Bearer =\"\""]
        {
            assert_eq!(read(header), BearerChallenge::default(), "{header}");
        }
        let long = format!("Bearer scope=\"{}\"", "x".repeat(LONGEST));
        assert_eq!(read(&long), BearerChallenge::default());
    }

    #[test]
    fn broken_headers_are_read_to_their_end() {
        let whole =
            r#"Basic realm="a\"b", Bearer scope="x y", error=z, resource_metadata="https://a/""#;
        for (at, _) in whole.char_indices() {
            read(whole.get(..at).unwrap());
            for odd in ["\"", "\\", "=", ",", " ", "\u{1F980}", ""] {
                let broken = format!("{}{odd}{}", &whole[..at], &whole[at + 1..]);
                let scopes = read(&broken).scopes();
                assert!(scopes.len() <= 64, "{broken}");
            }
        }
    }
}
