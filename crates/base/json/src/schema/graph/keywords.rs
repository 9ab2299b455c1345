//! Which keywords of JSON Schema hold subschemas, and what those are applied to.

/// What a subschema is applied to, seen from the schema that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaTarget {
    /// The same value: `allOf`, `not`, `$ref`.
    Same,
    /// The member of the name that follows the keyword: `properties`.
    Member,
    /// Members by a rule of their names: `patternProperties`, `additionalProperties`.
    Members,
    /// The names of members.
    Names,
    /// The item at the index that follows the keyword: `prefixItems`.
    Item,
    /// Items by a rule: `items`, `contains`.
    Items,
    /// Nothing, until a reference leads there: `$defs`.
    Nothing,
}

/// How the subschemas hang below their keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaLayout {
    /// The keyword's value is the subschema.
    One,
    /// The keyword's value is a list of subschemas.
    List,
    /// The keyword's value is a map of subschemas.
    Map,
}

/// Every keyword with subschemas, of every draft: a keyword that a draft does not know is not
/// evaluated there, and counting it costs nothing.
///
/// Source: the core, applicator and unevaluated vocabularies of 2020-12 and the meta-schemas of
/// 2019-09, 7, 6 and 4. `items` and `dependencies` take two shapes each.
pub(crate) const KEYWORDS: &[(&str, SubschemaLayout, SubschemaTarget)] = &[
    ("allOf", SubschemaLayout::List, SubschemaTarget::Same),
    ("anyOf", SubschemaLayout::List, SubschemaTarget::Same),
    ("oneOf", SubschemaLayout::List, SubschemaTarget::Same),
    ("not", SubschemaLayout::One, SubschemaTarget::Same),
    ("if", SubschemaLayout::One, SubschemaTarget::Same),
    ("then", SubschemaLayout::One, SubschemaTarget::Same),
    ("else", SubschemaLayout::One, SubschemaTarget::Same),
    ("dependentSchemas", SubschemaLayout::Map, SubschemaTarget::Same),
    ("dependencies", SubschemaLayout::Map, SubschemaTarget::Same),
    ("properties", SubschemaLayout::Map, SubschemaTarget::Member),
    ("patternProperties", SubschemaLayout::Map, SubschemaTarget::Members),
    ("additionalProperties", SubschemaLayout::One, SubschemaTarget::Members),
    ("unevaluatedProperties", SubschemaLayout::One, SubschemaTarget::Members),
    ("propertyNames", SubschemaLayout::One, SubschemaTarget::Names),
    ("prefixItems", SubschemaLayout::List, SubschemaTarget::Item),
    ("items", SubschemaLayout::List, SubschemaTarget::Item),
    ("items", SubschemaLayout::One, SubschemaTarget::Items),
    ("additionalItems", SubschemaLayout::One, SubschemaTarget::Items),
    ("unevaluatedItems", SubschemaLayout::One, SubschemaTarget::Items),
    ("contains", SubschemaLayout::One, SubschemaTarget::Items),
    ("$defs", SubschemaLayout::Map, SubschemaTarget::Nothing),
    ("definitions", SubschemaLayout::Map, SubschemaTarget::Nothing),
];
