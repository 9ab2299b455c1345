//! Every operation of a document as what a request is built of, and the spec of its tool.

use indexmap::IndexMap;
use toolcrib_core::ToolSpec;

use super::DeclaredOperation;
use super::argument_names::ArgumentNames;
use super::conversion_state::ConversionState;
use super::names;
use super::parameters::{self, DeclaredLocation, DeclaredParameter};
use super::{path, responses, spec};
use crate::document::document_set::DocumentSet;
use crate::document::error::{
    DocumentError, DocumentNote, DocumentNotes, DocumentReport, RefusedOperation,
};
use crate::document::schema::assemble::{ToolArgument, ToolInput, arguments};
use crate::document::schema::{SchemaDefinitions, SchemaDirection};
use crate::document::security;
use crate::document::servers;
use crate::document::text::{line, member};
use crate::document::{ApiAddresses, ConvertedDocument, FormatVersion, body};
use crate::operation::{ApiOperation, BodyShape, FixedPair, OperationParameter, ParameterLocation};
use crate::request::as_read;
use crate::settings::ApiSettings;

/// Operations that are wanted. A crib has a bound of its own for the tools of all its sources.
const MOST_TOOLS: usize = 100_000;

/// Of all operations but their schemas: real documents stay below a tenth.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// What each operation adds to that.
const BYTES_OF_ONE: usize = 4 * 1024;

/// Where a document leads, whatever its operations are.
pub(crate) fn leads(library: &DocumentSet) -> Result<ApiAddresses, DocumentError> {
    let root = library.root(0);
    let is_swagger = FormatVersion::of(root.value)?.is_swagger();
    let servers = if is_swagger { servers::of_swagger(root) } else { servers::declared(root) };
    Ok(ApiAddresses { servers, schemes: security::schemes(library, is_swagger) })
}

/// Converts all operations; one that cannot be is refused and costs no other.
pub(crate) fn convert(
    library: &DocumentSet,
    settings: &ApiSettings,
    notes: DocumentNotes,
) -> Result<ConvertedDocument, DocumentError> {
    let root = library.root(0);
    let format = FormatVersion::of(root.value)?;
    let (found, mut refused) = super::find(library)?;
    let named: Vec<_> = found.iter().map(DeclaredOperation::named).collect();
    let titles = names::names(&named);
    let keys = keys(&named);
    let is_wanted: Vec<bool> = titles.iter().map(|name| settings.pick.wants(name)).collect();
    let wanted = is_wanted.iter().filter(|is_wanted| **is_wanted).count();
    if wanted > MOST_TOOLS {
        return Err(DocumentError::TooManyOperations { limit: MOST_TOOLS });
    }
    let mut context = ConversionState::new(library, &format, (notes, wanted))?;
    library.expect(wanted);
    let mut operations = Vec::new();
    let total = wanted + refused.len();
    let all = found.iter().zip(keys).zip(&titles).zip(is_wanted);
    for (((found, key), name), _) in all.filter(|(_, is_wanted)| *is_wanted) {
        match context
            .operation(found, &key)
            .and_then(|(operation, takes)| context.tool(name, (operation, takes), found, settings))
        {
            Ok(converted) => operations.push(converted),
            Err(reason) => refused.push(RefusedOperation { key, reason }),
        }
    }
    context.tell_of_unknown(settings, &named);
    let words = std::mem::take(&mut context.notes.words);
    let mut notes: Vec<DocumentNote> = context.notes.into_vec();
    notes.extend(context.sent.notes.into_vec());
    notes.truncate(1_000);
    let report = DocumentReport {
        title: spec::about(root, "title"),
        version: spec::about(root, "version"),
        format: format.text,
        operations: total,
        refused,
        notes,
        words,
    };
    let is_request = |name: &&String| name.trim_start_matches("any_") == "request";
    let requests = titles.iter().filter(is_request).cloned().collect();
    let (servers, schemes) = (context.servers, context.schemes);
    Ok(ConvertedDocument { operations, requests, servers, schemes, report })
}

/// How operators name the operations: by the id, if no other has it.
fn keys(named: &[names::OperationIdentity<'_>]) -> Vec<String> {
    let mut holders: IndexMap<&str, usize> = IndexMap::new();
    for id in named.iter().filter_map(|named| named.id) {
        *holders.entry(id).or_default() += 1;
    }
    let only = |id: &&str| !id.is_empty() && id.len() <= 200 && holders.get(id) == Some(&1);
    let key = |named: &names::OperationIdentity<'_>| {
        named.id.filter(only).map_or_else(|| named.place(), str::to_owned)
    };
    named.iter().map(key).collect()
}

impl<'l> ConversionState<'l> {
    fn new(
        library: &'l DocumentSet,
        format: &FormatVersion,
        (notes, operations): (DocumentNotes, usize),
    ) -> Result<Self, DocumentError> {
        let ApiAddresses { servers, schemes } = leads(library)?;
        let alone = format.ref_stands_alone();
        Ok(Self {
            library,
            is_swagger: format.is_swagger(),
            schemes,
            sent: SchemaDefinitions::new(library, SchemaDirection::Request, alone, operations),
            received: SchemaDefinitions::new(library, SchemaDirection::Response, alone, operations),
            notes,
            servers,
            security: security::ways(library.root(0)).unwrap_or_default(),
            spent: 0,
            most: MOST_BYTES.saturating_add(BYTES_OF_ONE.saturating_mul(operations)),
        })
    }

    /// Tells of names in the settings that no operation has.
    fn tell_of_unknown(&mut self, settings: &ApiSettings, named: &[names::OperationIdentity<'_>]) {
        let is_known = |key: &str| named.iter().any(|it| it.id == Some(key) || it.place() == *key);
        for key in settings.effects.keys().filter(|key| !is_known(key)) {
            self.notes.add(key, "no operation of this name: its `effects` say nothing");
        }
        for key in settings.resend.iter().filter(|key| *key != "*" && !is_known(key)) {
            self.notes.add(key, "no operation of this name: `resend` does nothing for it");
        }
    }

    fn operation(
        &mut self,
        found: &DeclaredOperation<'l>,
        key: &str,
    ) -> Result<(ApiOperation, ToolInput), String> {
        if self.library.is_tired() || self.spent > self.most {
            return Err("the operations of the document share too much: split it".to_owned());
        }
        let (path, query) = path::template(found.path)?;
        let declared = parameters::declared(self, found, key)?;
        for name in path::placeholders(&path) {
            let is_it = |it: &DeclaredParameter<'_>| {
                it.into == DeclaredLocation::Place(ParameterLocation::Path) && it.name == name
            };
            if !declared.iter().any(is_it) {
                let name = line(name, 60);
                return Err(format!("its path has `{{{name}}}`, which is no declared parameter"));
            }
        }
        let mut parameters = Vec::new();
        let mut parts = Vec::new();
        for one in &declared {
            let DeclaredLocation::Place(place) = one.into else { continue };
            let is_in_path = path::placeholders(&path).any(|name| name == one.name);
            if place == ParameterLocation::Path && !is_in_path {
                let name = line(one.name, 60);
                self.notes.add(key, format!("left out: `{name}` is not in the path"));
                continue;
            }
            // The path says the value already, and a second one might be the one that counts.
            if place == ParameterLocation::Query && query.iter().any(|fixed| takes(fixed, one.name))
            {
                let name = line(one.name, 60);
                self.notes.add(key, format!("left out: the path says the value of `{name}`"));
                continue;
            }
            let (parameter, part) = parameters::convert(self, *one, place, (found.path, key));
            parameters.push(parameter);
            parts.push(part);
        }
        let mut taken = ArgumentNames::default();
        taken.name(&mut parameters);
        let list = parameters.iter().zip(parts);
        let list = list.map(|(parameter, part)| argument(parameter, part)).collect();
        let mut input = ToolInput { arguments: list, barred: None };
        let body = if self.is_swagger {
            body::of_parameters(self, found.operation, &declared, &mut taken, key)
        } else {
            body::of_operation(self, found, &mut taken, key)?
        };
        let body = body.map(|made| made.onto(&mut input));
        let operation = ApiOperation {
            key: key.to_owned(),
            method: found.method.clone(),
            effect: None,
            takes_key: false,
            path,
            query,
            parameters,
            body,
            server: self.server(found),
            security: security::ways(found.operation).unwrap_or_else(|| self.security.clone()),
            produces: Vec::new(),
        };
        Ok((operation, input))
    }

    fn server(&self, found: &DeclaredOperation<'l>) -> Option<String> {
        let own = |site| servers::declared(site).into_iter().next();
        let own = own(found.operation).or_else(|| own(found.item)).filter(|_| !self.is_swagger);
        own.or_else(|| self.servers.first().cloned()).map(|server| server.url)
    }

    fn tool(
        &mut self,
        name: &str,
        (mut operation, takes): (ApiOperation, ToolInput),
        found: &DeclaredOperation<'l>,
        settings: &ApiSettings,
    ) -> Result<(ApiOperation, ToolSpec), String> {
        let (produces, output) = responses::convert(self, found.operation, &operation.key);
        operation.produces = produces;
        let place = found.named().place();
        let mut spec = spec::spec(name, &place, &operation, found.operation, settings)
            .map_err(|error| error.to_string())?;
        spec.input = arguments(&mut self.sent, takes, &operation.key)?.into();
        spec.output = output;
        operation.effect = Some(spec.effect);
        let resends = |name: &String| name == "*" || *name == operation.key || *name == place;
        // Requests that HTTP calls safe carry no key.
        operation.takes_key = !operation.method.is_safe() && settings.resend.iter().any(resends);
        self.spent += weight(&operation) + spec.description.len();
        Ok((operation, spec))
    }
}

/// Whether a fixed pair of the query leaves nothing to say for a parameter of this name.
fn takes(fixed: &FixedPair, name: &str) -> bool {
    let fixed = as_read(&fixed.name);
    name.strip_prefix(&*fixed).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// About what an operation takes in memory.
fn weight(operation: &ApiOperation) -> usize {
    let parameters = operation.parameters.iter().map(|it| it.name.len() + 200);
    let fields = match operation.body.as_ref().map(|body| &body.shape) {
        Some(BodyShape::Fields(fields)) => fields.iter().map(|it| it.name.len() + 200).sum(),
        Some(BodyShape::Whole { .. }) | None => 0,
    };
    let ways = operation.security.iter().flatten().map(|name| name.len() + 24);
    let server = operation.server.as_ref().map_or(0, String::len);
    1_000 + parameters.sum::<usize>() + fields + ways.sum::<usize>() + server
}

fn argument(
    parameter: &OperationParameter,
    part: crate::document::schema::SchemaPart,
) -> ToolArgument {
    ToolArgument { name: parameter.argument.clone(), part, required: parameter.required }
}

/// The version that a document says, if it is one that is known.
impl FormatVersion {
    fn of(root: &serde_json::Value) -> Result<Self, DocumentError> {
        // YAML has `2.0` as a number where somebody forgot the quotes.
        let number = |key: &str| root.get(key).and_then(serde_json::Value::as_f64);
        let written = |key: &str| member(root, key).map(|text| line(text, 20));
        let text = written("openapi")
            .or_else(|| written("swagger"))
            .or_else(|| number("swagger").or(number("openapi")).map(|it| format!("{it:.1}")))
            .ok_or(DocumentError::NoVersion)?;
        let known = ["2.0", "3.0", "3.1", "3.2"];
        if known.iter().any(|known| text == *known || text.starts_with(&format!("{known}."))) {
            Ok(Self { text })
        } else {
            Err(DocumentError::UnknownVersion { version: text })
        }
    }

    fn is_swagger(&self) -> bool {
        self.text.starts_with('2')
    }

    /// Before 3.1, what stands beside a `$ref` means nothing.
    fn ref_stands_alone(&self) -> bool {
        self.is_swagger() || self.text.starts_with("3.0")
    }
}
