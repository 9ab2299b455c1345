//! Phrases: words (`lex`) are walked along (`cursor`) and fill the places of a sentence
//! (`sentence`): days (`day`), times of day (`clock`), lengths (`amount`), recurrences (`repeat`).
//! What stands in the places becomes a reading (`resolve`, and what it is made of).

mod amount;
mod calendar;
mod clock;
mod cursor;
mod dates;
mod day;
mod days;
mod duration;
mod lex;
mod moment;
mod night;
mod period;
mod range;
mod recur;
mod repeat;
mod resolve;
mod sentence;
mod side;

pub use self::duration::duration;
pub use self::resolve::read;
