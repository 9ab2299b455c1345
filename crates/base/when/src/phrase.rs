//! Phrases: words (`lex`) are walked along (`cursor`) and fill the places of a sentence
//! (`sentence`): days (`day`), times of day (`clock`), lengths (`amount`), recurrences (`repeat`).
//! What stands in the places becomes a reading (`resolve`, and what it is made of).

mod duration;
mod parse;
mod resolve;
mod syntax;

pub use self::duration::duration;
pub use self::resolve::read;
