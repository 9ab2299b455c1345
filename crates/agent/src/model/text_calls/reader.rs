//! An answer in which calls stand among words, read while it comes.

use super::bare::{self, CallShape};
use super::blocks::{self, BlockBegin};
use super::cursor::open_end;
use super::format::{TextCallFormat, TextPart, TextPiece, TextTurn};
use super::llama;
use super::react::{self, Label, LineBegin};
use super::tools::TextTools;

const THINK: &str = "<think>";
const END_OF_THINKING: &str = "</think>";

/// Where in an answer the reading stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before its first letter.
    Begin {
        is_behind_thought: bool,
    },
    /// Between `<think>` and `</think>`.
    Thinking,
    Words,
    /// All that comes is words.
    Open,
    /// From here on there may be calls: it is told or read when the answer is whole.
    Held {
        at: usize,
        is_message: bool,
    },
}

/// Takes an answer in pieces, and tells its words as soon as it is plain that they are none of a
/// call. However it is cut, the same is told of it in the end.
pub(crate) struct TextCallReader<'a> {
    format: TextCallFormat,
    tools: &'a TextTools,
    text: String,
    stage: Stage,
    /// Up to here it is known what the text is.
    seen: usize,
    /// Up to here it was told, or is not to be told.
    told: usize,
    said: String,
    thought: String,
    is_thought: bool,
    is_fenced: bool,
    /// Blanks that come next are those behind a label.
    is_behind_label: bool,
    /// Its first letter that is no thought.
    first: usize,
    /// The same, once it thought.
    begin: usize,
    pieces: Vec<TextPiece>,
}

impl<'a> TextCallReader<'a> {
    pub(crate) fn new(format: TextCallFormat, tools: &'a TextTools) -> Self {
        Self {
            format,
            tools,
            text: String::new(),
            stage: Stage::Begin { is_behind_thought: false },
            seen: 0,
            told: 0,
            said: String::new(),
            thought: String::new(),
            is_thought: false,
            is_fenced: false,
            is_behind_label: false,
            first: 0,
            begin: 0,
            pieces: Vec::new(),
        }
    }

    /// Takes what comes next, and gives what can be told.
    pub(crate) fn push(&mut self, piece: &str) -> Vec<TextPiece> {
        self.text.push_str(piece);
        self.advance(false);
        std::mem::take(&mut self.pieces)
    }

    /// The whole, with what is still to be told.
    pub(crate) fn finish(mut self) -> (Vec<TextPiece>, TextTurn) {
        self.advance(true);
        let mut calls = Vec::new();
        if let Stage::Held { at, is_message } = self.stage {
            for part in self.parts(at, is_message) {
                match part {
                    TextPart::Call(call) => calls.push(call),
                    TextPart::Words(words) if !words.trim().is_empty() => {
                        let gap = if self.said.is_empty() { "" } else { "\n" };
                        self.tell(&format!("{gap}{}", words.trim()));
                    }
                    TextPart::Words(_) => {}
                }
            }
        } else {
            let rest = self.text.get(self.told..).unwrap_or_default();
            let rest = if self.is_behind_label { rest.trim_start() } else { rest }.to_owned();
            self.tell(&rest);
        }
        if self.said.is_empty() && calls.is_empty() && self.format == TextCallFormat::React {
            // A thought that leads to nothing is all the answer that there is.
            self.is_thought = false;
            let thought = std::mem::take(&mut self.thought);
            self.tell(thought.trim());
        }
        (self.pieces, TextTurn { text: self.said, calls, begin: self.begin })
    }

    /// What stands in the part that was held back; the words alone if there is no call in it.
    fn parts(&mut self, at: usize, is_message: bool) -> Vec<TextPart> {
        let held = self.text.get(at..).unwrap_or_default();
        let whole = match self.format {
            TextCallFormat::Json => bare::read(held, at, CallShape::Exact),
            TextCallFormat::Llama if is_message => llama::whole(held, at, self.tools),
            TextCallFormat::React => {
                return react::read(held, at, self.tools);
            }
            TextCallFormat::Hermes | TextCallFormat::Cline | TextCallFormat::Llama => None,
        };
        let parts = match whole {
            Some(calls) => calls.into_iter().map(TextPart::Call).collect(),
            None => blocks::read(self.format, self.tools, held, (at, self.is_fenced)),
        };
        if parts.iter().any(|part| matches!(part, TextPart::Call(_))) {
            return parts;
        }
        let rest = self.text.get(self.told..).unwrap_or_default().to_owned();
        self.tell(&rest);
        Vec::new()
    }

    fn tell(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if self.is_thought {
            self.thought.push_str(piece);
            self.pieces.push(TextPiece::Thought(piece.to_owned()));
        } else {
            self.said.push_str(piece);
            self.pieces.push(TextPiece::Said(piece.to_owned()));
        }
    }

    /// Tells what was seen but for the blanks at its end: behind them a block may come.
    fn tell_seen(&mut self) {
        let seen = self.text.get(self.told..self.seen).unwrap_or_default().trim_end();
        let told = self.told + seen.len();
        let seen = if self.is_behind_label { seen.trim_start() } else { seen }.to_owned();
        self.is_behind_label &= seen.is_empty();
        self.told = told;
        self.tell(&seen);
    }

    fn rest(&self) -> &str {
        self.text.get(self.seen..).unwrap_or_default()
    }

    fn advance(&mut self, is_end: bool) {
        if let Stage::Begin { is_behind_thought } = self.stage {
            self.first_letter(is_behind_thought, is_end);
        }
        if self.stage == Stage::Thinking {
            self.think(is_end);
        }
        if self.stage == Stage::Words {
            match self.format {
                TextCallFormat::React => self.lines(is_end),
                TextCallFormat::Json => self.stage = Stage::Open,
                TextCallFormat::Hermes | TextCallFormat::Llama | TextCallFormat::Cline => {
                    self.words(is_end);
                }
            }
        }
        if self.stage == Stage::Open {
            self.seen = self.text.len();
            self.tell_seen();
        }
    }

    fn first_letter(&mut self, is_behind_thought: bool, is_end: bool) {
        let blanks = self.rest().len() - self.rest().trim_start().len();
        self.seen += blanks;
        self.told = self.seen;
        self.first = self.seen;
        if is_behind_thought {
            self.begin = self.seen;
        }
        let rest = self.rest();
        if rest.is_empty() {
            return;
        }
        let is_thought = !is_behind_thought && rest.starts_with(THINK);
        if !is_behind_thought && !is_end && !is_thought && THINK.starts_with(rest) {
            return;
        }
        if is_thought {
            self.seen += THINK.len();
            self.told = self.seen;
            self.stage = Stage::Thinking;
            return;
        }
        self.stage = match self.message_begin() {
            BlockBegin::Maybe if !is_end => return,
            BlockBegin::Yes => Stage::Held { at: self.seen, is_message: true },
            BlockBegin::Maybe | BlockBegin::No => Stage::Words,
        };
    }

    /// Whether the whole answer may be calls and nothing else.
    fn message_begin(&self) -> BlockBegin {
        let is_bare = matches!(self.format, TextCallFormat::Json | TextCallFormat::Llama);
        let rest = self.rest();
        if !is_bare {
            return BlockBegin::No;
        }
        let content = if rest.starts_with('`') { blocks::content(rest) } else { Ok(rest) };
        match content {
            Ok(content) if content.starts_with(['{', '[']) => BlockBegin::Yes,
            Ok(_) => BlockBegin::No,
            Err(begin) => begin,
        }
    }

    fn think(&mut self, is_end: bool) {
        self.is_thought = true;
        if let Some(end) = self.rest().find(END_OF_THINKING) {
            self.seen += end;
            self.tell_seen();
            self.seen += END_OF_THINKING.len();
            self.told = self.seen;
            self.is_thought = false;
            self.stage = Stage::Begin { is_behind_thought: true };
            self.first_letter(true, is_end);
            return;
        }
        let kept = if is_end { 0 } else { open_end(self.rest(), END_OF_THINKING) };
        self.seen = self.text.len() - kept;
        self.tell_seen();
    }

    fn words(&mut self, is_end: bool) {
        while let Some(found) = self.rest().find(['<', '`']) {
            self.seen += found;
            let rest = self.rest();
            let is_line = blocks::is_line_begin(self.text.get(..self.seen).unwrap_or_default());
            let is_fence = is_line && rest.starts_with("```");
            let begin = if is_fence && self.is_fenced {
                BlockBegin::No
            } else {
                blocks::begin(self.format, self.tools, rest, is_line)
            };
            match begin {
                BlockBegin::Maybe if !is_end => return self.tell_seen(),
                BlockBegin::Yes => {
                    self.tell_seen();
                    self.stage = Stage::Held { at: self.seen, is_message: false };
                    return;
                }
                BlockBegin::Maybe | BlockBegin::No => {
                    self.is_fenced ^= is_fence;
                    self.seen += if is_fence { 3 } else { 1 };
                }
            }
        }
        self.seen = self.text.len();
        self.tell_seen();
    }

    fn lines(&mut self, is_end: bool) {
        while self.seen < self.text.len() {
            let before = self.text.get(..self.seen).unwrap_or_default();
            let is_line = self.seen == self.first || before.ends_with('\n');
            let begin =
                if is_line { react::line_begin(self.rest(), is_end) } else { LineBegin::Plain };
            match begin {
                LineBegin::Maybe if !is_end => break,
                LineBegin::Labelled(Label::Thought, length) => {
                    self.tell_seen();
                    self.pass_label(length);
                    self.is_thought = true;
                }
                LineBegin::Labelled(Label::Answer, length) => {
                    self.tell_seen();
                    self.pass_label(length);
                    self.is_thought = false;
                    self.stage = Stage::Open;
                    return;
                }
                LineBegin::Labelled(Label::Action | Label::Input, _) => {
                    self.tell_seen();
                    self.is_thought = false;
                    self.stage = Stage::Held { at: self.seen, is_message: false };
                    return;
                }
                LineBegin::Labelled(Label::Observation, _)
                | LineBegin::Maybe
                | LineBegin::Plain => {
                    let end = self.rest().find('\n').map(|end| end + 1);
                    self.seen += end.unwrap_or(self.rest().len());
                }
            }
        }
        self.tell_seen();
    }

    /// Steps over a label; the blanks behind it are not told either.
    fn pass_label(&mut self, length: usize) {
        self.seen += length;
        self.told = self.seen;
        self.is_behind_label = true;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use serde_json::{Value, json};
    use toolcrib_core::{Caller, Effect, PlanRequest, RawArguments};
    use toolcrib_engine::Crib;
    use toolcrib_testkit::Oracle;

    use super::super::format::TextCall;
    use super::super::thread::written;
    use super::*;

    /// Two tools with an integer and a text.
    static TOOLS: LazyLock<TextTools> = LazyLock::new(|| {
        let crib = Crib::new([Oracle::default().echo("other", Effect::Read)]).unwrap();
        let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
        let fields = json!({ "n": { "type": "integer" }, "text": { "type": "string" } });
        let typed = ["look", "write"].map(|name| {
            let parameters = json!({ "type": "object", "properties": fields });
            json!({ "type": "function", "function": { "name": name, "parameters": parameters } })
        });
        TextTools::of(&plan, typed)
    });

    fn formats() -> impl Iterator<Item = TextCallFormat> {
        TextCallFormat::WORDS.into_iter().map(|(_, format)| format)
    }

    /// All that was told, and the turn.
    fn read(format: TextCallFormat, text: &str, cuts: &[usize]) -> (String, String, TextTurn) {
        let mut reader = TextCallReader::new(format, &TOOLS);
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
        cuts.retain(|cut| text.is_char_boundary(*cut));
        cuts.sort_unstable();
        let (mut told, mut from) = (Vec::new(), 0);
        for to in cuts.into_iter().chain([text.len()]) {
            told.extend(reader.push(&text[from..to]));
            from = to;
        }
        let (held, turn) = reader.finish();
        let (mut said, mut thought) = (String::new(), String::new());
        for piece in told.into_iter().chain(held) {
            match piece {
                TextPiece::Said(piece) => said.push_str(&piece),
                TextPiece::Thought(piece) => thought.push_str(&piece),
            }
        }
        (said, thought, turn)
    }

    const PIECES: &str = "(<tool_call>|</tool_call>|\\{\"name\": \"look\", \"arguments\": \\{\"n\": 1\\}\\}|\
        \\{|\\}|\\[|\\]|\"|\n|\n```json\n|```|<look>|</look>|<n>|</n>|<a_b>\n?|1|<function=look>|\
        </function>|<\\|python_tag\\|>|look\\(n=1\\)|\n?Action: look|\n\\*\\*Action Input:\\*\\*|\nThought:|\
        \n\\*?Observation:|\n(\\*\\*)?Final Answer:|\\*|<think>|</think>|<|`| |é|; |word){0,24}";

    proptest! {
        #[test]
        fn however_an_answer_is_cut_the_same_is_told_of_it(
            text in PIECES,
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            for format in formats() {
                let whole = read(format, &text, &[]);
                prop_assert_eq!(&whole.0, &whole.2.text);
                prop_assert_eq!(read(format, &text, &cuts), whole);
            }
        }

        #[test]
        fn what_is_written_as_calls_is_read_as_the_same_calls(
            names in prop::collection::vec("look|write", 1..4),
            n in any::<i32>(),
            text in "[a-z \\\\\"{}éß;,.]{1,20}",
        ) {
            let arguments = json!({ "n": n, "text": text });
            let calls: Vec<(&str, Value)> =
                names.iter().map(|name| (name.as_str(), arguments.clone())).collect();
            for format in formats() {
                let written = written(format, &calls);
                let expected = calls.iter().map(|(name, arguments)| TextCall::Read {
                    name: (*name).to_owned(),
                    arguments: RawArguments::Value(arguments.clone()),
                });
                prop_assert_eq!(read(format, &written, &[]).2.calls, expected.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_hostile_answer_takes_no_more_time_than_its_length_asks_for() {
        let hostile = [
            "<tool_call>{</tool_call>",
            "<tool_call>{\"",
            "<function=look>{\"",
            "```\n<tool_call>",
            "<look><a>",
            "<look></a>",
            "\n<a_b><",
            "[look(",
            "{\"name\": ",
            "[[",
            "\nAction: a",
            "\nThought",
            "`",
            "<",
            " ",
            "\n",
            "<think>",
            "{}",
            "look(n=",
            "</look>\n<look><a>",
        ];
        for format in formats() {
            for piece in hostile {
                let text = piece.repeat(50_000 / piece.len());
                let closed = format!("{text}{}", "}".repeat(20_000));
                let began = Instant::now();
                read(format, &closed, &[]);
                let cuts: Vec<_> = (0..text.len()).step_by(7).collect();
                read(format, &text, &cuts);
                let took = began.elapsed();
                assert!(took < Duration::from_secs(5), "{format:?} {piece:?}: {took:?}");
            }
        }
    }
}
