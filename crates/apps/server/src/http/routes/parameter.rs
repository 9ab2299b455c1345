//! What a query may say.

/// A parameter of the query.
pub(crate) struct QueryParameter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) takes: ParameterType,
}

/// What may stand behind the name of a parameter.
#[derive(Clone, Copy)]
pub(crate) enum ParameterType {
    Text,
    /// A time as RFC 3339 writes it.
    Time,
    /// A whole number: the least and the largest.
    Number(usize, usize),
    OneOf(&'static [&'static str]),
    /// Some of these, with commas between them.
    SomeOf(&'static [&'static str]),
}
