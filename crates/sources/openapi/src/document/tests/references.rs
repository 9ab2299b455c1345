//! Documents beside the document.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use futures_util::future::BoxFuture;
use serde_json::json;
use url::Url;

use super::super::{ConvertedDocument, DocumentFolder, ReferenceLoader, read};
use super::{document, settings};
use crate::settings::{ApiSettings, DocumentLocation};

/// A folder of this test alone, gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = format!("toolcrib-openapi-{name}-{}", uuid::Uuid::new_v4());
        let place = Self(std::env::temp_dir().join(folder));
        fs::create_dir_all(place.0.join("api/common")).unwrap();
        place
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.join(path);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn read_file(path: &Path) -> ConvertedDocument {
    let settings = ApiSettings::new(DocumentLocation::File(path.to_owned()));
    let text = fs::read_to_string(path).unwrap();
    read(&text, &DocumentFolder::of(path), &settings).await.unwrap()
}

fn notes(api: &ConvertedDocument) -> Vec<String> {
    api.report.notes.iter().map(|note| format!("{}: {}", note.about, note.text)).collect()
}

#[tokio::test]
async fn files_beside_the_document_are_read_and_refer_to_each_other() {
    let place = Place::new("beside");
    place.write(
        "api/common/pet.yaml",
        "Pet:\n  type: object\n  properties:\n    owner: {$ref: '../owner.json'}\n",
    );
    place.write("api/owner.json", r#"{"type":"object","properties":{"id":{"type":"integer"}}}"#);
    let schema = json!({ "$ref": "common/pet.yaml#/Pet" });
    let body = json!({ "content": { "application/json": { "schema": { "type": "object", "properties": { "pet": schema } } } } });
    let paths = json!({ "/a": { "post": { "requestBody": body } } });
    let main = place.write("api/main.json", &document("3.1.0", &paths, &json!({})).to_string());
    let api = read_file(&main).await;
    assert_eq!(notes(&api), Vec::<String>::new());
    let input = api.operations[0].1.input.value();
    let definition = |value: &serde_json::Value| {
        let pointer = value["$ref"].as_str().unwrap().trim_start_matches('#').to_owned();
        input.pointer(&pointer).unwrap()
    };
    let pet = definition(&input["properties"]["pet"]);
    assert_eq!(
        definition(&pet["properties"]["owner"])["properties"]["id"],
        json!({ "type": "integer" })
    );
}

#[tokio::test]
async fn no_reference_leads_out_of_the_folder_of_the_document() {
    let place = Place::new("confined");
    let secret = place.write("secret.json", r#"{"type":"object","title":"secret"}"#);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, place.0.join("api/link.json")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&place.0, place.0.join("api/common/up")).unwrap();
    let absolute = Url::from_file_path(&secret).unwrap();
    let references = [
        "../secret.json",
        "common/../../secret.json",
        "..%2fsecret.json",
        "link.json",
        "common/up/secret.json",
        "common",
        "none.json",
        absolute.as_str(),
        "/etc/hostname",
        "http://127.0.0.1:9/a.json",
    ];
    let properties: serde_json::Map<_, _> =
        references.iter().map(|it| ((*it).to_owned(), json!({ "$ref": it }))).collect();
    let body = json!({ "content": { "application/json": { "schema": { "type": "object", "properties": properties } } } });
    let paths = json!({ "/a": { "post": { "requestBody": body } } });
    let main = place.write("api/main.json", &document("3.1.0", &paths, &json!({})).to_string());
    let api = read_file(&main).await;
    let loaded: Vec<String> =
        notes(&api).into_iter().filter(|it| it.contains("not loaded")).collect();
    // Two of them are the same file, which is asked for once.
    assert_eq!(loaded.len(), references.len() - 2, "{loaded:#?}");
    let input = api.operations[0].1.input.value();
    assert_eq!(input.get("$defs"), None, "{input:#}");
}

/// Answers every address, and remembers which were asked for.
#[derive(Default)]
struct Everything(Mutex<Vec<String>>);

impl ReferenceLoader for Everything {
    fn get<'a>(&'a self, address: &'a Url, _: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        self.0.lock().unwrap().push(address.to_string());
        let next = json!({ "$ref": format!("n{}.json", self.0.lock().unwrap().len()) });
        Box::pin(async move { Ok(next.to_string().into_bytes()) })
    }
}

#[tokio::test]
async fn other_hosts_are_asked_only_if_they_may_be_and_not_without_end() {
    let paths = json!({ "/a": { "get": { "parameters": [
        { "name": "a", "in": "query", "schema": { "$ref": "https://other.example/a.json" } },
        { "name": "b", "in": "query", "schema": { "$ref": "file:///etc/hostname" } },
    ] } } });
    let text = document("3.1.0", &paths, &json!({})).to_string();
    let mut settings = settings();
    settings.document =
        DocumentLocation::Address(Url::parse("https://api.example/v1.json").unwrap());
    let beside = Everything::default();
    let api = read(&text, &beside, &settings).await.unwrap();
    assert_eq!(*beside.0.lock().unwrap(), Vec::<String>::new());
    assert_eq!(notes(&api).iter().filter(|it| it.contains("not loaded")).count(), 2);
    settings.remote_references = true;
    let api = read(&text, &beside, &settings).await.unwrap();
    let asked = beside.0.lock().unwrap().clone();
    assert!(asked.iter().all(|it| it.starts_with("https://other.example/")), "{asked:?}");
    assert!((1_000..=10_000).contains(&asked.len()), "{}", asked.len());
    assert_eq!(api.operations.len(), 1);
}

#[tokio::test]
async fn the_separate_petstore_is_read_with_the_files_beside_it() {
    let corpus =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/openapi/oai-examples/v2.0");
    for document in
        ["json/petstore-separate/spec/swagger.json", "yaml/petstore-separate/spec/swagger.yaml"]
    {
        let path = Path::new(corpus).join(document);
        if !path.is_file() {
            use std::io::Write;
            writeln!(std::io::stdout(), "[skipped] the corpus of documents is not there").unwrap();
            return;
        }
        let api = read_file(&path).await;
        assert_eq!((api.operations.len(), api.report.refused), (4, vec![]), "{document}");
        let (find, spec) = &api.operations[0];
        assert_eq!(find.key, "findPets");
        let arguments: Vec<_> = find.parameters.iter().map(|it| it.argument.as_str()).collect();
        assert_eq!(arguments, ["tags", "limit"], "{}", spec.input.value());
        // What every operation may answer with lies in a folder above.
        assert!(api.report.notes.iter().all(|note| note.about.contains("../common/Error")));
    }
}
