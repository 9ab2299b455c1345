//! Which addresses we write to: the plain ones.

/// Longest address that servers pass on (RFC 5321, 4.5.3.1.3).
const LONGEST: usize = 254;

/// What cannot be written into a header or said to a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address of mail: write it as `name@example.org`, in ASCII and without a name")]
pub struct NotAnAddress(pub String);

/// Whether a text is `local@domain` of characters that need no quotes anywhere: nothing in it can
/// end a header, a line or a command.
pub fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let fits = |part: &str, more: &[u8]| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || more.contains(&byte);
        !part.is_empty()
            && part.bytes().all(plain)
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.contains("..")
    };
    text.len() <= LONGEST && fits(local, b"!#$%&'*+-/=?^_`{|}~.") && fits(domain, b"-.")
}

/// The address, if it is one.
pub(super) fn checked(text: &str) -> Result<&str, NotAnAddress> {
    if is_address(text) {
        return Ok(text);
    }
    let shown = text.chars().filter(|character| !character.is_control()).take(80).collect();
    Err(NotAnAddress(shown))
}
