//! HTML of mails as plain text that a person can read.

use mail_parser::decoders::html::html_to_text;

/// Bytes of HTML that are looked at.
const MOST: usize = 2 << 20;
/// Longer addresses of links say nothing to a reader.
const LONGEST_LINK: usize = 300;

/// Elements that stand on lines of their own.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "blockquote",
    "dd",
    "div",
    "dl",
    "dt",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "ol",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
];

/// The text: a line for each block, a dash before each item of a list, links with their address.
pub(super) fn to_text(html: &str) -> String {
    let html = cut(html, MOST);
    let mut marked = String::with_capacity(html.len() + html.len() / 8);
    let mut link: Option<&str> = None;
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        marked.push_str(before);
        let Some((tag, after)) = tag.split_once('>') else {
            // Not closed: it is not to swallow what is said.
            marked.push_str("&lt;");
            rest = tag;
            continue;
        };
        let name = name_of(tag);
        if is_one_of(name, BLOCKS) {
            marked.push_str("<br>");
        } else if name.eq_ignore_ascii_case("li") && !tag.starts_with('/') {
            marked.push_str("<br>- ");
        } else if is_one_of(name, &["td", "th"]) && tag.starts_with('/') {
            marked.push(' ');
        } else if name.eq_ignore_ascii_case("a") {
            match link.take() {
                Some(address) if tag.starts_with('/') => {
                    marked.extend([" &lt;", address, "&gt;"]);
                }
                _ => link = target(tag),
            }
        }
        marked.push('<');
        marked.push_str(tag);
        marked.push('>');
        rest = after;
    }
    marked.push_str(rest);
    tidy(&html_to_text(&marked))
}

/// What a page says in place of its pictures.
pub(super) fn alternatives(html: &str) -> String {
    let mut said = Vec::new();
    let mut rest = cut(html, MOST);
    while let Some((_, tag)) = rest.split_once('<') {
        let Some((tag, after)) = tag.split_once('>') else { break };
        if is_one_of(name_of(tag), &["img", "area"])
            && let Some(text) = attribute(tag, "alt").filter(|text| !text.trim().is_empty())
        {
            said.push(tidy(&html_to_text(text)));
        }
        rest = after;
    }
    said.join("\n")
}

/// The value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let lower = tag.to_ascii_lowercase();
    let at = lower.find(&format!(" {name}"))? + 1 + name.len();
    let value = tag.get(at..)?.trim_start().strip_prefix('=')?.trim_start();
    match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next(),
        _ => value.split_ascii_whitespace().next(),
    }
}

fn name_of(tag: &str) -> &str {
    let tag = tag.trim_start_matches('/');
    let end = tag.find(|character: char| !character.is_ascii_alphanumeric());
    end.and_then(|end| tag.get(..end)).unwrap_or(tag)
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Where a link leads, if a reader could follow it.
fn target(tag: &str) -> Option<&str> {
    let at = tag.to_ascii_lowercase().find("href")?;
    let value = tag.get(at + 4..)?.trim_start().strip_prefix('=')?.trim_start();
    let address = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next()?,
        _ => value.split_ascii_whitespace().next()?,
    };
    let address = address.trim();
    let scheme = address.split(':').next()?;
    let is_fit = is_one_of(scheme, &["http", "https", "mailto"])
        && address.len() <= LONGEST_LINK
        && !address.contains(|character: char| character == '<' || character.is_control());
    is_fit.then_some(address)
}

/// Without spaces at the ends of lines, and with one empty line at most between two.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            empty += 1;
            continue;
        }
        if !tidied.is_empty() {
            tidied.push_str(if empty > 0 { "\n\n" } else { "\n" });
        }
        tidied.push_str(line);
        empty = 0;
    }
    tidied
}

/// The first bytes of a text, to the end of a character.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}
