//! A model of a few kilobytes, and what becomes of folders that hold none.

use std::path::Path;

use serde_json::{Value, json};
use toolcrib_embed::{LocalEmbedder, Prefixes};
use toolcrib_search::{EmbedPurpose, Embedder as _};
use toolcrib_testkit::{SeededRandom, TestFolder};

const WIDTH: usize = 32;
const INNER: usize = 48;
const LAYERS: usize = 2;
const POSITIONS: usize = 24;
const WORDS: [&str; 14] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "find", "book", "##ing", "a", "flight", "e", "?",
    "東", "delete",
];

/// The files of a model whose numbers a seed makes.
pub(crate) struct Tiny {
    pub(crate) config: Value,
    pub(crate) tokenizer: Value,
    tensors: Vec<(String, Vec<usize>)>,
    seed: u64,
}

impl Tiny {
    pub(crate) fn new(seed: u64) -> Self {
        let words: serde_json::Map<String, Value> =
            WORDS.iter().enumerate().map(|(id, word)| ((*word).to_owned(), json!(id))).collect();
        let added = |id: usize| json!({"id": id, "content": WORDS[id], "special": true});
        let config = json!({
            "model_type": "bert", "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
            "num_attention_heads": 2, "intermediate_size": INNER, "vocab_size": WORDS.len(),
            "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "hidden_act": "gelu",
        });
        let tokenizer = json!({
            "added_tokens": [added(0), added(1), added(2), added(3), added(4)],
            "normalizer": {"type": "BertNormalizer", "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": words},
        });
        Self { config, tokenizer, tensors: tensors(), seed }
    }

    /// Writes everything into a folder.
    pub(crate) fn write(&self, folder: &TestFolder) {
        folder.write("config.json", self.config.to_string());
        folder.write("tokenizer.json", self.tokenizer.to_string());
        folder.write("model.safetensors", self.weights());
    }

    fn weights(&self) -> Vec<u8> {
        let mut random = SeededRandom::new(self.seed);
        let (mut list, mut numbers) = (serde_json::Map::new(), Vec::new());
        list.insert("__metadata__".to_owned(), json!({"format": "pt"}));
        for (name, shape) in &self.tensors {
            let begin = numbers.len();
            for _ in 0..shape.iter().product::<usize>() {
                #[expect(clippy::cast_precision_loss, reason = "a number below a thousand")]
                let number = random.below(1000) as f32 / 500.0 - 1.0;
                numbers.extend(number.to_le_bytes());
            }
            let place =
                json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, numbers.len()]});
            list.insert(name.clone(), place);
        }
        let list = Value::Object(list).to_string();
        [&(list.len() as u64).to_le_bytes(), list.as_bytes(), &numbers].concat()
    }
}

fn tensors() -> Vec<(String, Vec<usize>)> {
    let mut tensors = Vec::new();
    let mut add = |name: String, shape: &[usize]| tensors.push((name, shape.to_vec()));
    for (name, rows) in [("word", WORDS.len()), ("position", POSITIONS), ("token_type", 2)] {
        add(format!("embeddings.{name}_embeddings.weight"), &[rows, WIDTH]);
    }
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let at = |name: &str| format!("encoder.layer.{layer}.{name}");
        for (name, to, from) in [
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ] {
            add(at(&format!("{name}.weight")), &[to, from]);
            add(at(&format!("{name}.bias")), &[to]);
        }
        norms.extend([at("attention.output.LayerNorm"), at("output.LayerNorm")]);
    }
    for norm in norms {
        add(format!("{norm}.weight"), &[WIDTH]);
        add(format!("{norm}.bias"), &[WIDTH]);
    }
    tensors
}

fn open(folder: &Path) -> Result<LocalEmbedder, String> {
    LocalEmbedder::open(folder, Prefixes::default()).map_err(|error| error.to_string())
}

/// A folder with a model that somebody has changed, and what is said of it.
fn refusal(change: impl FnOnce(&mut Tiny, &TestFolder)) -> String {
    let folder = TestFolder::new();
    let mut tiny = Tiny::new(1);
    tiny.write(&folder);
    change(&mut tiny, &folder);
    let error = open(folder.path()).err().unwrap();
    error.replace(&folder.path().display().to_string(), "FOLDER")
}

/// The same with one field of a file changed.
fn changed(file: &str, pointer: &str, value: Value) -> String {
    refusal(|tiny, folder| {
        let content = if file == "config.json" { &mut tiny.config } else { &mut tiny.tokenizer };
        *content.pointer_mut(pointer).unwrap() = value;
        tiny.write(folder);
    })
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn vectors_have_length_one_and_do_not_depend_on_their_company() {
    let folder = TestFolder::new();
    Tiny::new(7).write(&folder);
    let model = open(folder.path()).unwrap();
    let long = "find a flight ".repeat(2000);
    let all = texts(&["", "book a flight?", "finding", "東東 x", "[MASK] é", &long]);
    let together = model.embed(EmbedPurpose::Tool, &all).await.unwrap();
    for (text, vector) in all.into_iter().zip(together) {
        let square: f32 = vector.iter().map(|number| number * number).sum();
        assert!((square - 1.0).abs() < 1e-5 && vector.len() == WIDTH, "{text:.40}: {square}");
        assert_eq!(model.embed(EmbedPurpose::Query, &[text]).await.unwrap(), [vector]);
    }
}

#[tokio::test]
async fn prefixes_stand_before_the_texts_and_make_another_embedder() {
    let folder = TestFolder::new();
    Tiny::new(7).write(&folder);
    let plain = open(folder.path()).unwrap();
    let prefixes = Prefixes { query: "find ".to_owned(), tool: "book ".to_owned() };
    let other = LocalEmbedder::open(folder.path(), prefixes).unwrap();
    assert_ne!(plain.name(), other.name());
    for (purpose, prefix) in [(EmbedPurpose::Query, "find "), (EmbedPurpose::Tool, "book ")] {
        assert_eq!(
            other.embed(purpose, &texts(&["a flight"])).await.unwrap(),
            plain.embed(purpose, &[format!("{prefix}a flight")]).await.unwrap(),
        );
    }
}

#[test]
fn other_numbers_make_another_embedder() {
    let name = |seed| {
        let folder = TestFolder::new();
        Tiny::new(seed).write(&folder);
        let whole = open(folder.path()).unwrap().name().to_owned();
        whole.split_once(' ').unwrap().1.to_owned()
    };
    assert_eq!(name(1), name(1));
    assert_ne!(name(1), name(2));
}

#[test]
fn a_folder_without_a_file_names_it_and_the_cure() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let error = refusal(|_, folder| std::fs::remove_file(folder.path().join(file)).unwrap());
        assert_eq!(
            error,
            format!(
                "cannot read `FOLDER/{file}`: name the folder of a sentence-transformer, with \
                 `config.json`, `tokenizer.json` and `model.safetensors` in it"
            )
        );
    }
}

const CURE: &str = "; take a BERT model with a WordPiece tokenizer, as `all-MiniLM-L6-v2` is, or an \
                    endpoint";

#[test]
fn a_model_that_cannot_be_run_is_told_with_its_file() {
    for (pointer, value, what) in [
        ("/model_type", json!("mpnet"), "a model of type `mpnet` cannot be run here"),
        ("/hidden_act", json!("relu"), "its `hidden_act` is not `gelu`"),
        ("/hidden_size", json!(0), "`hidden_size` is 0 and not between 1 and 4096"),
        ("/num_hidden_layers", json!(65), "`num_hidden_layers` is 65 and not between 1 and 64"),
        (
            "/num_attention_heads",
            json!(4),
            "its heads or layers have a size that is no multiple of 16",
        ),
    ] {
        let error = changed("config.json", pointer, value);
        assert_eq!(error, format!("`FOLDER/config.json`: {what}{CURE}"));
    }
    for (pointer, value, what) in [
        ("/model/type", json!("BPE"), "its tokenizer is no WordPiece"),
        ("/normalizer/type", json!("NFC"), "its tokenizer has another normalizer than BERT's"),
        (
            "/pre_tokenizer/type",
            json!("ByteLevel"),
            "its tokenizer cuts words in another way than BERT's",
        ),
    ] {
        let error = changed("tokenizer.json", pointer, value);
        assert_eq!(error, format!("`FOLDER/tokenizer.json`: {what}{CURE}"));
    }
}

#[test]
fn a_module_that_cannot_be_run_is_told() {
    let with = |kind: &str, pooling: Value| {
        refusal(|_, folder| {
            std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
            let modules = json!([
                {"path": "", "type": "sentence_transformers.models.Transformer"},
                {"path": "1_Pooling", "type": kind},
            ]);
            folder.write("modules.json", modules.to_string());
            folder.write("1_Pooling/config.json", pooling.to_string());
        })
    };
    assert_eq!(
        with("sentence_transformers.models.Dense", json!({})),
        format!(
            "`FOLDER/modules.json`: the module `Dense` in `1_Pooling` cannot be run here{CURE}"
        )
    );
    assert_eq!(
        with("sentence_transformers.models.Pooling", json!({"pooling_mode_max_tokens": true})),
        format!(
            "`FOLDER/1_Pooling/config.json`: only the mean and the first token are pooled here{CURE}"
        )
    );
}

#[test]
fn damaged_files_are_told_and_never_trusted() {
    let cut = refusal(|tiny, folder| {
        let weights = tiny.weights();
        folder.write("model.safetensors", &weights[..weights.len() - 4]);
    });
    assert!(cut.ends_with("does not stand where its list says; get the model anew"), "{cut}");
    let shape = changed("config.json", "/vocab_size", json!(20));
    assert_eq!(
        shape,
        "`FOLDER/model.safetensors` is broken: `embeddings.word_embeddings.weight` has the shape \
         [14, 32] instead of [20, 32]; get the model anew"
    );
    let beyond = changed("tokenizer.json", "/model/vocab/flight", json!(14));
    assert_eq!(
        beyond,
        "`FOLDER/tokenizer.json` is broken: it has tokens beyond the 14 of its model; get the \
         model anew"
    );
    for bytes in
        [&b""[..], b"12345678", &[0xff; 64], &[4, 0, 0, 0, 0, 0, 0, 0, b'n', b'u', b'l', b'l']]
    {
        let error = refusal(|_, folder| {
            folder.write("model.safetensors", bytes);
        });
        assert!(
            error.contains("`FOLDER/model.safetensors` is broken: its list")
                || error.contains("it has no beginning"),
            "{error}"
        );
    }
    let json = refusal(|_, folder| {
        folder.write("config.json", "{");
    });
    assert!(json.starts_with("`FOLDER/config.json` is broken: EOF"), "{json}");
}
