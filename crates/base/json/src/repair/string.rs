//! One string: how it opens, where it ends and what it says.

mod end;
pub(super) mod escape;
mod unclosed;

use super::lookahead::{GrammarPlace, opens_string};
use super::note::RepairKind;
use super::parser::RepairParser;
use super::unreadable::UnreadableJson;
use end::{StringClosing, StringOpening};

impl RepairParser<'_> {
    /// The string whose opening quote stands here.
    pub(super) fn string(&mut self, place: GrammarPlace) -> Result<String, UnreadableJson> {
        let start = self.cursor.at;
        let quote = self.cursor.peek().unwrap_or('"');
        match quote {
            '"' => {}
            '\'' | '`' => self.notes.add(RepairKind::SingleQuote, start),
            _ => self.notes.add(RepairKind::TypographicQuote, start),
        }
        let behind = self.cursor.skip(start, |character| character == quote);
        let run = (behind - start) / quote.len_utf8();
        let count = match run {
            2 if self.empty_ends(behind) => 0,
            1..=3 => run,
            _ => 0,
        };
        if run > 2 || count == 2 {
            self.notes.add(RepairKind::DoubledQuote, start);
        }
        if count == 0 {
            self.cursor.at = behind;
            return Ok(String::new());
        }
        let span = self.string_end(StringOpening { content: behind, quote, count, place });
        match span.closing {
            StringClosing::Quote => {}
            StringClosing::Repeated => self.notes.add(RepairKind::DoubledQuote, span.content_end),
            StringClosing::Missing => self.notes.add(RepairKind::MissingQuote, span.content_end),
            StringClosing::Lost => {
                self.cursor.at = self.cursor.after(span.resume);
                return Err(self.unexpected("a comma or a closing bracket"));
            }
        }
        self.cursor.at = span.resume;
        let mut content = self.cursor.slice(behind, span.content_end);
        let solid = content.trim_end();
        if place == GrammarPlace::Key
            && content.get(solid.len()..).is_some_and(|end| end.contains('\n'))
        {
            // A line break between a key and its closing quote is layout.
            self.notes.add(RepairKind::RawControl, behind + solid.len());
            content = solid;
        }
        Ok(escape::decode(content, quote, behind, &mut self.notes))
    }

    /// Whether two quotes that end at `behind` are an empty string.
    fn empty_ends(&self, behind: usize) -> bool {
        let solid = self.cursor.skip_space(behind);
        self.separates(solid)
            || self.cursor.char(solid).is_some_and(|next| {
                matches!(next, ':' | '=') || opens_string(next) || self.key_begins(solid)
            })
    }
}
