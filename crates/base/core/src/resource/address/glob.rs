//! Globs that are compared with globs: whether any text matches both.

/// `*` is any run of letters, `?` is one, all else is itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AddressGlob(Vec<char>);

impl AddressGlob {
    pub(super) fn new(text: &str) -> Self {
        Self(text.chars().collect())
    }

    /// The same with a text before it.
    pub(super) fn behind(&self, stem: &str) -> Self {
        Self(stem.chars().chain(self.0.iter().copied()).collect())
    }

    /// Whether there is a text that both match, in at most as many steps as the product of their
    /// lengths.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let (own, letters) = (&self.0, &other.0);
        let differ = |(one, two): (&char, &char)| {
            let is_wild = |letter: &char| matches!(letter, '*' | '?');
            (is_wild(one) || is_wild(two), one != two)
        };
        // Most differ before the first wildcard.
        let first = own.iter().zip(letters).map(differ).find(|(wild, differ)| *wild || *differ);
        if first == Some((false, true)) {
            return false;
        }
        // Places of `own` that can be reached with the letters so far.
        let mut reached = vec![false; own.len() + 1];
        if let Some(start) = reached.first_mut() {
            *start = true;
        }
        pass_stars(own, &mut reached);
        for letter in letters {
            let mut next = vec![false; own.len() + 1];
            if *letter == '*' {
                // Any letters: everything from the first place on.
                let from = reached.iter().position(|is_reached| *is_reached);
                let Some(from) = from else { return false };
                next.iter_mut().skip(from).for_each(|place| *place = true);
            } else {
                for (place, wanted) in own.iter().enumerate() {
                    if reached.get(place) != Some(&true) {
                        continue;
                    }
                    let to = match wanted {
                        '*' => place,
                        '?' => place + 1,
                        wanted if *letter == '?' || wanted == letter => place + 1,
                        _ => continue,
                    };
                    if let Some(to) = next.get_mut(to) {
                        *to = true;
                    }
                }
            }
            pass_stars(own, &mut next);
            reached = next;
        }
        reached.last() == Some(&true)
    }
}

/// A star may be nothing.
fn pass_stars(own: &[char], reached: &mut [bool]) {
    for (place, letter) in own.iter().enumerate() {
        if *letter == '*'
            && reached.get(place) == Some(&true)
            && let Some(after) = reached.get_mut(place + 1)
        {
            *after = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, as slow as it is plain.
    fn plainly(one: &[char], two: &[char]) -> bool {
        match (one.split_first(), two.split_first()) {
            (None, None) => true,
            (Some(('*', after)), _) => {
                plainly(after, two) || two.split_first().is_some_and(|(_, rest)| plainly(one, rest))
            }
            (_, Some(('*', after))) => {
                plainly(one, after) || one.split_first().is_some_and(|(_, rest)| plainly(rest, two))
            }
            (Some((a, one)), Some((b, two))) => {
                (a == b || *a == '?' || *b == '?') && plainly(one, two)
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn two_globs_meet_as_their_definition_says(one in "[ab*?]{0,7}", two in "[ab*?]{0,7}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            let meets = AddressGlob::new(&one).meets(&AddressGlob::new(&two));
            prop_assert_eq!(meets, plainly(&letters(&one), &letters(&two)));
        }
    }
}
