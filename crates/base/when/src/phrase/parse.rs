//! Phrases read: words are split (`lexer`), walked along (`cursor`) and fill a sentence.
pub(crate) mod amount;
mod clock;
pub(crate) mod cursor;
mod day;
pub(crate) mod lexer;
mod numeric_date;
pub(crate) mod recurrence;
pub(crate) mod sentence;
pub(crate) mod time_expression;
