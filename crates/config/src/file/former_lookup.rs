//! Finds what a file names that is a constant now, and whether the file asked for less.

use toml::de::DeValue;

use super::former_options::{FORMER_OPTIONS, FormerOption};
use super::toml_path::{TomlPath, TomlPathStep};
use super::units;

/// Pauses before something is done again: who wished a longer one wished less of it.
const LARGER_IS_STRICTER: [&str; 4] = [
    "limits.backoff",
    "source.mcp.limits.first_pause",
    "source.mcp.limits.longest_pause",
    "source.mcp.limits.restarts_within",
];

/// What a constant counts: values are compared in this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Count,
    Pause,
    Size,
}

impl FormerOption {
    /// The one at a place of the file.
    pub(crate) fn at(place: &TomlPath) -> Option<&'static Self> {
        FORMER_OPTIONS.iter().find(|option| option.rest_after(place) == Some(0))
    }

    /// Whether a place is of a table that had such options and nothing else.
    pub(crate) fn any_below(place: &TomlPath) -> bool {
        FORMER_OPTIONS.iter().any(|option| option.rest_after(place).is_some_and(|rest| rest > 0))
    }

    /// How many of its keys follow a place on its way.
    fn rest_after(&self, place: &TomlPath) -> Option<usize> {
        let mut own = self.path.split('.');
        let keys = place.steps().iter().filter_map(|step| match step {
            TomlPathStep::Key(key) => Some(key.as_str()),
            TomlPathStep::Index(_) => None,
        });
        for key in keys {
            own.next().filter(|own| *own == key)?;
        }
        Some(own.count())
    }

    /// Whether the constant permits no more than this value of a file did. What is no such value
    /// says nothing that could be kept.
    pub(crate) fn keeps(&self, value: &DeValue<'_>) -> bool {
        let Some((measure, most)) = self.amount() else { return false };
        let wished = match value {
            DeValue::Integer(number) => {
                let number = u64::from_str_radix(number.as_str(), number.radix()).ok();
                let factor = if measure == Measure::Pause { 1000 } else { 1 };
                number.and_then(|number| number.checked_mul(factor))
            }
            DeValue::String(text) => match measure {
                Measure::Count => None,
                Measure::Pause => units::pause(text),
                Measure::Size => units::size(text),
            },
            DeValue::Boolean(_)
            | DeValue::Float(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        };
        let is_stricter = LARGER_IS_STRICTER.contains(&self.path);
        wished.is_some_and(|wished| if is_stricter { wished <= most } else { wished >= most })
    }

    fn amount(&self) -> Option<(Measure, u64)> {
        let count = self.value.parse().ok().map(|count| (Measure::Count, count));
        let pause = || units::pause(self.value).map(|pause| (Measure::Pause, pause));
        let size = || units::size(self.value).map(|size| (Measure::Size, size));
        count.or_else(pause).or_else(size)
    }
}
