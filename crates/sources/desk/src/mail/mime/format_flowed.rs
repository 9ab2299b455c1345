//! Text whose lines were broken to travel (`format=flowed`, RFC 3676), joined again.

/// What opens the signature of a message; it never goes on a paragraph.
const SIGNATURE: &str = "-- ";

/// The paragraphs of a text, each on one line; with `DelSp` the space before a soft break is none.
pub(super) fn joined(text: &str, del_sp: bool) -> String {
    let mut out = String::with_capacity(text.len());
    // The depth of the quote that goes on with the next line.
    let mut open: Option<usize> = None;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let said = line.trim_start_matches('>');
        let depth = line.len() - said.len();
        let said = said.strip_prefix(' ').unwrap_or(said);
        let is_signature = said == SIGNATURE;
        // An empty line parts paragraphs, whatever the line before it ends with.
        let goes_on = open == Some(depth) && !is_signature && !said.is_empty();
        if !goes_on {
            if open.is_some() {
                // A soft break before something else is a hard one.
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
            }
            out.extend(std::iter::repeat_n('>', depth));
            if depth > 0 && !said.is_empty() {
                out.push(' ');
            }
        }
        let is_soft = said.ends_with(' ') && !is_signature;
        let kept = if is_soft && del_sp { said.strip_suffix(' ').unwrap_or(said) } else { said };
        out.push_str(kept);
        open = is_soft.then_some(depth);
        if !is_soft {
            out.push('\n');
        }
    }
    // The last line had no break after it.
    if open.is_none() {
        out.pop();
    }
    out
}
