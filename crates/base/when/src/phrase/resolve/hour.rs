//! The hour of a side: what a bare number is, and the words that said it.

use crate::error::{TIMES, TimeParseError, TimeParseProblem};
use crate::phrase::parse::time_expression::TimeExpression;
use crate::phrase::syntax::{ClockPhrase, WithWords};
use crate::recurrence::wording::ordinal;

/// A number that nothing else explains is an hour, if there is a day to it.
pub(crate) fn settle_number(side: &mut TimeExpression) -> Result<(), TimeParseError> {
    let Some(number) = side.bare.take() else { return Ok(()) };
    let is_hour = side.day.is_some() || side.part.is_some();
    if !is_hour || side.clock.is_some() {
        let WithWords { what, said } = &number;
        let cure = format!("say `{what}:00`, `at {what}` or `the {}`", ordinal(i64::from(*what)));
        return Err(TimeParseError::new(
            TimeParseProblem::Ambiguous,
            said,
            "may be an hour or a day",
            &cure,
        ));
    }
    side.clock = Some(hour_of(number)?);
    Ok(())
}

pub(crate) fn hour_of(number: WithWords<u32>) -> Result<WithWords<ClockPhrase>, TimeParseError> {
    let WithWords { what, said } = number;
    let is_24 = what == 0 || what > 12 || said.starts_with('0');
    let what = match i8::try_from(what) {
        Ok(hour @ 0..=23) if is_24 => ClockPhrase::Exact(
            jiff::civil::Time::new(hour, 0, 0, 0).unwrap_or(jiff::civil::Time::MIN),
        ),
        Ok(hour @ 1..=12) => ClockPhrase::Bare { hour, minute: 0, is_full: false },
        Ok(24) => ClockPhrase::DayEnd,
        Ok(_) | Err(_) => {
            return Err(TimeParseError::new(
                TimeParseProblem::Impossible,
                &said,
                "is no time of day",
                TIMES,
            ));
        }
    };
    Ok(WithWords { what, said })
}

pub(crate) fn said_clock(side: &TimeExpression) -> String {
    let clock = side.clock.as_ref().map(|clock| clock.said.clone());
    clock.or(side.part.as_ref().map(|part| part.said.clone())).unwrap_or_default()
}
