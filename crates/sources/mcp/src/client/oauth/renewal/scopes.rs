//! Which scopes are asked for.

/// What a server may name; more is cut.
const MOST: usize = 64;
const LONGEST: usize = 256;

/// The scope that makes a server give a refresh token.
pub(crate) const OFFLINE: &str = "offline_access";

/// The words of a `scope` that are scopes, each once.
pub(crate) fn split(text: &str) -> Vec<String> {
    merged(text.split_ascii_whitespace())
}

/// Scopes of several places, each once, in the order in which they come; what can be no scope is
/// left out.
pub(crate) fn merged<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in scopes {
        if is_scope(scope) && all.len() < MOST && !all.iter().any(|known| known == scope) {
            all.push(scope.to_owned());
        }
    }
    all
}

/// RFC 6749 section 3.3: printable, without blank, quote and backslash.
fn is_scope(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.len() <= LONGEST && text.bytes().all(fits)
}

/// What there is to choose from.
pub(crate) struct ScopeChoice<'a> {
    /// By the operator.
    pub(crate) configured: &'a [String],
    /// By the refusal.
    pub(crate) challenged: &'a [String],
    /// By the metadata of the resource.
    pub(crate) supported: &'a [String],
    /// Asked for before, of the same issuer.
    pub(crate) before: &'a [String],
    /// Whether the authorization server knows `offline_access`.
    pub(crate) offline: bool,
}

impl ScopeChoice<'_> {
    /// What the refusal names, else what the resource knows; with it what was asked for before,
    /// so that one step up does not lose another. Nothing at all means the server's own default.
    pub(crate) fn scopes(&self) -> Vec<String> {
        let named = self.challenged.iter().chain(self.configured);
        let mut scopes = merged(self.before.iter().chain(named).map(String::as_str));
        if self.challenged.is_empty() && self.configured.is_empty() {
            let all = scopes.iter().chain(self.supported);
            scopes = merged(all.map(String::as_str));
        }
        if self.offline && !scopes.is_empty() {
            scopes = merged(scopes.iter().map(String::as_str).chain([OFFLINE]));
        }
        scopes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(configured: &str, challenged: &str, supported: &str, before: &str) -> String {
        let [configured, challenged, supported, before] =
            [configured, challenged, supported, before].map(split);
        ScopeChoice {
            configured: &configured,
            challenged: &challenged,
            supported: &supported,
            before: &before,
            offline: false,
        }
        .scopes()
        .join(" ")
    }

    #[test]
    fn the_refusal_goes_before_the_metadata() {
        assert_eq!(chosen("", "a", "b c", ""), "a");
        assert_eq!(chosen("", "", "b c", ""), "b c");
        assert_eq!(chosen("", "", "", ""), "");
        assert_eq!(chosen("mine", "a", "b c", ""), "a mine");
    }

    #[test]
    fn a_step_up_keeps_what_was_asked_for_before() {
        assert_eq!(chosen("", "write", "b c", "basic"), "basic write");
    }

    #[test]
    fn a_refresh_token_is_asked_for_where_there_are_scopes() {
        let none = ScopeChoice {
            configured: &[],
            challenged: &[],
            supported: &[],
            before: &[],
            offline: true,
        };
        assert_eq!(none.scopes(), Vec::<String>::new());
        let one = split("a");
        assert_eq!(ScopeChoice { challenged: &one, ..none }.scopes(), ["a", OFFLINE]);
    }

    #[test]
    fn what_can_be_no_scope_is_left_out() {
        assert_eq!(merged(["a\"b", "", "ü", "a", "a", "b c", "d"]), ["a", "d"]);
        let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(merged(many.iter().map(String::as_str)).len(), MOST);
    }
}
