//! Names as a model API allows them, and back.

use std::borrow::Cow;
use std::collections::HashMap;

use sha2::{Digest, Sha256};
use toolcrib_core::{Plan, ToolName};

/// What a wire name may look like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameAlphabet {
    pub(crate) longest: usize,
    pub(crate) first: fn(u8) -> bool,
    pub(crate) rest: fn(u8) -> bool,
    /// Names that the API, or we, give to something else.
    pub(crate) reserved: &'static [&'static str],
}

/// What the chat templates of some models call the list of all tools.
const GROUPS: [&str; 3] = ["functions", "tools", "default_api"];

/// `_x` and ten hexadecimal digits.
const SUFFIX: usize = 12;

impl NameAlphabet {
    /// The wire form of a name: itself where that is legal, else its legal characters and a
    /// piece of its hash.
    ///
    /// It depends on the name alone, so that another tool never changes it. Two names never meet:
    /// a name that already looks like one of ours is encoded too, and the hashes tell the rest
    /// apart.
    pub(crate) fn encode<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.is_legal(name) && !is_suffixed(name) && !self.reserved.contains(&name) {
            return Cow::Borrowed(name);
        }
        let mut wire: String = name
            .chars()
            .map(|c| {
                let legal = u8::try_from(c).is_ok_and(self.rest);
                if legal { c } else { '_' }
            })
            .take(self.longest.saturating_sub(SUFFIX))
            .collect();
        if !wire.bytes().next().is_some_and(self.first) {
            wire.replace_range(..usize::from(!wire.is_empty()), "_");
        }
        wire.push_str("_x");
        let hash = Sha256::digest(name.as_bytes());
        wire.extend(hash.iter().take(5).map(|byte| format!("{byte:02x}")));
        Cow::Owned(wire)
    }

    fn is_legal(&self, name: &str) -> bool {
        let mut bytes = name.bytes();
        name.len() <= self.longest && bytes.next().is_some_and(self.first) && bytes.all(self.rest)
    }
}

fn is_suffixed(name: &str) -> bool {
    let bytes = name.as_bytes();
    let tail = bytes.len().checked_sub(SUFFIX).and_then(|at| bytes.get(at..));
    tail.and_then(|tail| tail.strip_prefix(b"_x"))
        .is_some_and(|digits| digits.iter().all(|d| matches!(d, b'0'..=b'9' | b'a'..=b'f')))
}

/// The tools of a rendering under their wire names.
#[derive(Debug, Clone, Default)]
pub(crate) struct WireNames {
    tools: HashMap<String, ToolName>,
    wires: HashMap<ToolName, String>,
}

impl WireNames {
    /// `false`: another tool has this wire name already.
    pub(crate) fn take(&mut self, wire: &str, tool: &ToolName) -> bool {
        if self.tools.contains_key(wire) {
            return false;
        }
        self.tools.insert(wire.to_owned(), tool.clone());
        self.wires.insert(tool.clone(), wire.to_owned());
        true
    }

    pub(crate) fn wire(&self, tool: &str) -> Option<&str> {
        self.wires.get(tool).map(String::as_str)
    }

    /// The crib's name for what a model wrote.
    ///
    /// Models also write the crib's own name where they saw it in a text, and put the name of a
    /// group before it (`functions.add`). Both are understood where they can mean one tool only;
    /// anything else is passed on as it is, and the executor says that there is no such tool.
    pub(crate) fn decode<'a>(&'a self, plan: &Plan, wire: &'a str) -> &'a str {
        if let Some(tool) = self.tools.get(wire) {
            return tool.as_str();
        }
        if plan.get(wire).is_some() {
            return wire;
        }
        let grouped = wire.split_once(['.', ':', '/']);
        grouped
            .filter(|(group, _)| GROUPS.contains(group))
            .and_then(|(_, name)| self.tools.get(name))
            .map_or(wire, ToolName::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const NARROW: NameAlphabet = NameAlphabet {
        longest: 20,
        first: |byte| byte.is_ascii_alphabetic() || byte == b'_',
        rest: |byte| byte.is_ascii_alphanumeric() || byte == b'_',
        reserved: &["search"],
    };

    #[test]
    fn a_name_that_is_legal_passes_and_every_other_is_encoded() {
        let encode = |name: &'static str| NARROW.encode(name).into_owned();
        assert_eq!(encode("add"), "add");
        assert_eq!(encode("math.add"), "math_add_xecef409b9d");
        assert_eq!(encode("search"), "search_x2419329067");
        assert_eq!(encode("1st"), "_st_xe01ddf6594");
        assert_eq!(encode(""), "__xe3b0c44298");
    }

    proptest! {
        #[test]
        fn encoded_names_are_legal_and_never_meet(
            names in prop::collection::hash_set("[a-z.1_x]{0,30}", 0..60),
        ) {
            let mut wires = HashMap::new();
            // What was encoded once is a foreign name to the second pass.
            let twice: Vec<_> = names.iter().map(|name| NARROW.encode(name).into_owned()).collect();
            for name in names.iter().chain(&twice) {
                let wire = NARROW.encode(name).into_owned();
                prop_assert!(NARROW.is_legal(&wire), "{wire}");
                let other = wires.insert(wire, name);
                prop_assert!(other.is_none_or(|other| other == name));
            }
        }
    }
}
