//! Which keywords of JSON Schema hold subschemas, and what those are applied to.

/// What a subschema is applied to, seen from the schema that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
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
pub(crate) enum Shape {
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
pub(crate) const KEYWORDS: &[(&str, Shape, Place)] = &[
    ("allOf", Shape::List, Place::Same),
    ("anyOf", Shape::List, Place::Same),
    ("oneOf", Shape::List, Place::Same),
    ("not", Shape::One, Place::Same),
    ("if", Shape::One, Place::Same),
    ("then", Shape::One, Place::Same),
    ("else", Shape::One, Place::Same),
    ("dependentSchemas", Shape::Map, Place::Same),
    ("dependencies", Shape::Map, Place::Same),
    ("properties", Shape::Map, Place::Member),
    ("patternProperties", Shape::Map, Place::Members),
    ("additionalProperties", Shape::One, Place::Members),
    ("unevaluatedProperties", Shape::One, Place::Members),
    ("propertyNames", Shape::One, Place::Names),
    ("prefixItems", Shape::List, Place::Item),
    ("items", Shape::List, Place::Item),
    ("items", Shape::One, Place::Items),
    ("additionalItems", Shape::One, Place::Items),
    ("unevaluatedItems", Shape::One, Place::Items),
    ("contains", Shape::One, Place::Items),
    ("$defs", Shape::Map, Place::Nothing),
    ("definitions", Shape::Map, Place::Nothing),
];
