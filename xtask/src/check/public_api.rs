//! What the library offers, as lines of text: a change of it is seen in a commit, and is no accident.
//!
//! They are read from the pages that rustdoc makes, since its other output needs a compiler of the
//! night. Which toolchain makes them is said in `rust-toolchain.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::machine::{cargo, root, target};
use crate::report::{RunReport, finish};

/// Where the lines are kept.
const KEPT: &str = "crates/apps/toolcrib/public-api.txt";

/// The crates whose items a user of the library can name; those of the core and of the engine stand
/// in the pages of the first.
const CRATES: [&str; 14] = [
    "toolcrib",
    "toolcrib_a2a_client",
    "toolcrib_a2a_server",
    "toolcrib_agent",
    "toolcrib_auth",
    "toolcrib_basics",
    "toolcrib_config",
    "toolcrib_desk",
    "toolcrib_dialect",
    "toolcrib_egress",
    "toolcrib_json",
    "toolcrib_mcp",
    "toolcrib_openapi",
    "toolcrib_store",
];

/// Compares what is offered with what is kept; the documentation is there already.
pub(super) fn step(report: &mut RunReport) {
    report.work("public API", || {
        let (now, path) = (offered()?, root().join(KEPT));
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let (new, old) = (lines_of(&now), lines_of(&kept));
        let gone = old.difference(&new).map(|line| format!("- {line}"));
        let added = new.difference(&old).map(|line| format!("+ {line}"));
        let changed = gone.chain(added).collect::<Vec<_>>().join("\n");
        ensure!(
            changed.is_empty(),
            "the library offers something else than `{KEPT}` says; if that is meant, run `cargo \
             xtask api` and tell it in CHANGELOG.md:\n{changed}"
        );
        Ok(())
    });
}

fn lines_of(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

/// `cargo xtask api`: writes down what is offered now.
pub(crate) fn write() -> Result<()> {
    finish(cargo().args(["doc", "--workspace", "--no-deps", "--all-features", "--quiet"]))?;
    Ok(fs::write(root().join(KEPT), offered()?)?)
}

fn offered() -> Result<String> {
    let mut lines = Vec::new();
    for name in CRATES {
        let folder = target().join("doc").join(name);
        let index = folder.join("all.html");
        let text = fs::read_to_string(&index)
            .with_context(|| format!("no documentation in `{}`", index.display()))?;
        // Pages of what is gone may still lie there: what the index names counts.
        let list = text.split("id=\"main-content\"").nth(1).unwrap_or_default();
        for link in list.split("href=\"").skip(1) {
            let link = link.split('"').next().unwrap_or_default();
            let is_page = Path::new(link).extension().is_some_and(|ending| ending == "html");
            if is_page && !link.starts_with("..") {
                lines.extend(item(name, link, &folder.join(link))?);
            }
        }
    }
    lines.sort();
    lines.dedup();
    Ok(lines.join("\n") + "\n")
}

/// The lines of one item: itself, its own methods, and the traits that are written for it.
fn item(name: &str, link: &str, page: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(page)?;
    let path = link.trim_end_matches(".html").replace('/', "::");
    let (folder, last) = path.rsplit_once("::").unwrap_or(("", &path));
    let (kind, own) = last.split_once('.').unwrap_or(("", last));
    let mut place = vec![name, folder, own];
    place.retain(|part| !part.is_empty());
    let place = place.join("::");
    let body = text.split("<h2 id=\"synthetic-implementations\"").next().unwrap_or_default();
    let (own, traits) = body.split_once("<h2 id=\"trait-implementations\"").unwrap_or((body, ""));
    let mut lines = vec![place.clone()];
    for declared in between(own, "<pre class=\"rust item-decl\">", "</pre>") {
        lines.push(format!("{place}: {}", words(declared)));
    }
    // The methods of a trait stand in its declaration.
    if kind != "trait" {
        let methods = between(own, "<h4 class=\"code-header\">", "</h4>");
        lines.extend(methods.map(|method| format!("{place}: {}", words(method))));
        let written = between(traits, "<h3 class=\"code-header\">", "</h3>");
        lines.extend(written.map(|written| format!("{place}: {}", words(written))));
    }
    Ok(lines)
}

fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).filter_map(move |rest| rest.split(end).next())
}

/// The text of a piece of a page, in one line.
fn words(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let text = marks.iter().fold(text, |text, (mark, letter)| text.replace(mark, letter));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_piece_of_a_page_becomes_one_line() {
        let page = "pub fn <a href=\"#x\" class=\"fn\">of</a>(\n    it: &amp;Vec&lt;u8&gt;,\n)";
        assert_eq!(words(page), "pub fn of( it: &Vec<u8>, )");
    }
}
