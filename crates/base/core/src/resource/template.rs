//! Whether an address may be one of a template: the forms of RFC 6570, in time that is bounded by
//! the lengths of both.

/// Expressions of one template that are told apart; the rest of it matches anything.
const MOST: usize = 32;

pub(super) struct UriTemplate(Vec<TemplateSegment>);

enum TemplateSegment {
    Exactly(String),
    /// One part of a path.
    Part,
    Anything,
}

impl UriTemplate {
    pub(super) fn new(template: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some((before, opened)) = rest.split_once('{') {
            let Some((expression, after)) = opened.split_once('}') else { break };
            if !before.is_empty() {
                pieces.push(TemplateSegment::Exactly(before.to_owned()));
            }
            if pieces.len() >= MOST {
                pieces.push(TemplateSegment::Anything);
                return Self(pieces);
            }
            let is_plain =
                expression.starts_with(|c: char| c.is_alphanumeric()) && !expression.ends_with('*');
            pieces.push(if is_plain { TemplateSegment::Part } else { TemplateSegment::Anything });
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(TemplateSegment::Exactly(rest.to_owned()));
        }
        Self(pieces)
    }

    pub(super) fn matches(&self, address: &str) -> bool {
        let bytes = address.as_bytes();
        // Places of the address up to which the pieces so far can reach.
        let mut reached = vec![false; bytes.len() + 1];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        for piece in &self.0 {
            let mut next = vec![false; bytes.len() + 1];
            let mut open = false;
            for (place, is_reached) in reached.iter().enumerate() {
                match piece {
                    TemplateSegment::Exactly(text) if *is_reached => {
                        let rest = bytes.get(place..).unwrap_or_default();
                        if rest.starts_with(text.as_bytes())
                            && let Some(end) = next.get_mut(place + text.len())
                        {
                            *end = true;
                        }
                    }
                    TemplateSegment::Exactly(_) => {}
                    TemplateSegment::Part => {
                        let before = place.checked_sub(1).and_then(|before| bytes.get(before));
                        open &= before.is_some_and(|byte| !matches!(byte, b'/' | b'?' | b'#'));
                        if let Some(here) = next.get_mut(place) {
                            *here = open;
                        }
                        open |= *is_reached;
                    }
                    TemplateSegment::Anything => {
                        open |= *is_reached;
                        if let Some(here) = next.get_mut(place) {
                            *here = open;
                        }
                    }
                }
            }
            reached = next;
        }
        reached.last().is_some_and(|end| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_a_template_or_is_not() {
        for (template, address, is) in [
            ("test://template/{id}/data", "test://template/123/data", true),
            ("test://template/{id}/data", "test://template//data", false),
            ("test://template/{id}/data", "test://template/1/2/data", false),
            ("test://template/{id}/data", "test://template/1/datas", false),
            ("a://{one}-{two}", "a://x-y-z", true),
            ("a://{one}-{two}", "a://x-", false),
            ("file:///{+path}", "file:///a/b/c.txt", true),
            ("file:///{path*}", "file:///a/b", true),
            ("db://t{?limit,page}", "db://t?limit=3", true),
            ("db://t{?limit,page}", "db://t", true),
            ("{any}", "", false),
            ("", "", true),
            ("a{", "a{", true),
        ] {
            assert_eq!(UriTemplate::new(template).matches(address), is, "{template} {address}");
        }
        let many = "{a}".repeat(1_000);
        assert!(UriTemplate::new(&many).matches(&"x".repeat(2_000)));
    }
}
