//! What becomes of a field that is updated.

/// What an update does to a field: an absent field and an explicit null are two things.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FieldChange<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> FieldChange<T> {
    /// What the field is afterwards.
    pub fn over(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Keep => before,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}
